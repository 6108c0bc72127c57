//! Bytes that are read at offsets: a file, or the buffered content of a pipe.

use std::{fs::File, io};

/// Bytes that are read at offsets and never as a whole.
#[derive(Debug)]
pub enum ByteSource {
    /// An open file and its size at opening; later appended bytes are ignored.
    File(File, u64),
    /// Bytes in memory.
    Memory(Vec<u8>),
}

impl ByteSource {
    /// The current content of `file`.
    pub fn file(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self::File(file, size))
    }

    /// The number of bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::File(_, size) => *size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// A buffer of `most` bytes, or of the size of the content if that is less. To clear three buffers of 64 KiB was a
    /// fifth of the instructions with which read-file prints a small file.
    pub fn buffer(&self, most: usize) -> Vec<u8> {
        vec![0; usize::try_from(self.size()).unwrap_or(most).min(most)]
    }

    /// Returns an error for a file that was truncated since it was opened.
    pub fn check_not_truncated(&self) -> io::Result<()> {
        match self {
            Self::File(file, size) if file.metadata()?.len() < *size => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Fills `buffer` with the bytes at `offset`. Returns fewer bytes only at the end, also of a file that was
    /// truncated.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        match self {
            Self::Memory(bytes) => {
                let start = bytes.len() - left;
                buffer[..wanted].copy_from_slice(&bytes[start..start + wanted]);
                Ok(wanted)
            }
            Self::File(file, _) => {
                let mut filled = 0;
                while filled < wanted {
                    match read_once(file, &mut buffer[filled..wanted], offset + filled as u64) {
                        Ok(0) => break,
                        Ok(count) => filled += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(filled)
            }
        }
    }
}

#[cfg(unix)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
