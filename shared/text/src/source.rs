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

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;

    /// A file with `bytes`, open for writing and reading.
    fn file(name: &str, bytes: &[u8]) -> (File, std::path::PathBuf) {
        let path = env::temp_dir().join(format!("ragmaker-text-{}-{name}", process::id()));
        fs::write(&path, bytes).unwrap();
        (File::options().read(true).write(true).open(&path).unwrap(), path)
    }

    #[test]
    fn a_file_and_memory_are_read_alike() {
        let (opened, path) = file("alike", b"12345");
        for source in [ByteSource::file(opened).unwrap(), ByteSource::Memory(b"12345".to_vec())] {
            let read = |offset, length| {
                let mut buffer = vec![0; length];
                let count = source.read_at(offset, &mut buffer).unwrap();
                buffer.truncate(count);
                buffer
            };
            assert_eq!((read(0, 2), read(3, 9), read(0, 0)), (b"12".to_vec(), b"45".to_vec(), vec![]));
            assert_eq!((read(5, 1), read(6, 1), read(u64::MAX, 1)), (vec![], vec![], vec![]));
            assert_eq!((source.size(), source.buffer(3).len(), source.buffer(9).len()), (5, 3, 5));
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_changes_is_read_to_its_size_at_opening() {
        let (opened, path) = file("changes", b"123");
        let writer = opened.try_clone().unwrap();
        let source = ByteSource::file(opened).unwrap();
        fs::write(&path, b"123456").unwrap();
        let mut buffer = [0; 9];
        assert_eq!(source.read_at(0, &mut buffer).unwrap(), 3);
        assert!(source.check_not_truncated().is_ok());
        writer.set_len(1).unwrap();
        assert_eq!(source.read_at(0, &mut buffer).unwrap(), 1);
        assert_eq!(source.check_not_truncated().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        fs::remove_file(path).unwrap();
    }
}
