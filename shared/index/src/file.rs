//! The file of a segment: documents, lengths, a dictionary with short postings in it, and long postings.
//!
//! ```text
//! header | rows | rows' directory | lengths | dictionary | its directory | long postings | title, replaced documents
//! ```
//!
//! A query reads the header, the directory of rows, the lengths, and of the rest only the blocks that it needs, by
//! place. So a process at 100,000 chunks reads a few hundred kilobytes. Every part has a checksum: a damaged
//! file is an error, and whoever opened it builds another.

use std::{fs::File, io};

use crate::{broken::Broken, rows, stamp::Stamp};

/// Changes with the format and with everything that changes terms or chunks.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"RMINDX04");
pub(crate) const HEADER: usize = 24 * 8;
/// Sections of the file, in order.
pub(crate) const ROWS: usize = 0;
pub(crate) const ROW_BLOCKS: usize = 1;
pub(crate) const LENGTHS: usize = 2;
pub(crate) const TERMS: usize = 3;
pub(crate) const TERM_BLOCKS: usize = 4;
pub(crate) const LONG: usize = 5;
pub(crate) const ABOUT: usize = 6;
pub(crate) const SECTIONS: usize = 7;
/// Bytes of a checksum.
const SUM: usize = 4;

/// Where the bytes of a segment are.
#[derive(Debug)]
pub(crate) enum Source {
    File(File),
    Memory(Vec<u8>),
}

impl Source {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    pub(crate) fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Broken> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).map_err(|_| Broken::Damaged)?;
                let end = at.checked_add(length).ok_or(Broken::Damaged)?;
                Ok(bytes.get(at..end).ok_or(Broken::Damaged)?.to_vec())
            }
            Self::File(file) => {
                let mut bytes = vec![0; length];
                read_at(file, &mut bytes, at)?;
                Ok(bytes)
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use io::{Read, Seek};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Puts a checksum behind the bytes from `start` on.
pub(crate) fn seal(bytes: &mut Vec<u8>, start: usize) {
    let sum = crc32fast::hash(&bytes[start..]);
    bytes.extend_from_slice(&sum.to_le_bytes());
}

/// What [`seal`] closed.
pub(crate) fn unseal(mut bytes: Vec<u8>) -> Result<Vec<u8>, Broken> {
    let content = bytes.len().checked_sub(SUM).ok_or(Broken::Damaged)?;
    let is_whole = crc32fast::hash(&bytes[..content]).to_le_bytes() == bytes[content..];
    bytes.truncate(content);
    if is_whole { Ok(bytes) } else { Err(Broken::Damaged) }
}

/// What stands before the sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// Of the catalog, when the segment was made.
    pub(crate) catalog: Stamp,
    /// A number that no other segment has.
    pub(crate) id: u64,
    /// Of the segment that this one adds to; 0 where it stands alone.
    pub(crate) on: u64,
    /// Length of all chunks together.
    pub(crate) total: u64,
    /// How long each section is.
    pub(crate) sections: [u64; SECTIONS],
}

impl Header {
    pub(crate) fn write(&self) -> Vec<u8> {
        let Self { catalog, id, on, total, sections } = self;
        let values = [MAGIC, catalog.size, catalog.modified, *id, *on, *total];
        let mut bytes: Vec<u8> = values.iter().chain(sections).flat_map(|value| value.to_le_bytes()).collect();
        bytes.resize(HEADER - SUM, 0);
        seal(&mut bytes, 0);
        bytes
    }

    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, Broken> {
        let bytes = unseal(bytes)?;
        let values: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        let (Some([MAGIC, size, modified, id, on, total]), Some(sections)) =
            (values.first_chunk(), values.get(6..).and_then(|rest| rest.first_chunk()))
        else {
            return Err(Broken::Damaged);
        };
        let catalog = Stamp { size: *size, modified: *modified };
        Ok(Self { catalog, id: *id, on: *on, total: *total, sections: *sections })
    }
}

/// Of up to eight bytes, the lowest first.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A document of the segment below that is replaced or no longer listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dead {
    pub(crate) document: usize,
    pub(crate) first_chunk: usize,
    pub(crate) chunks: usize,
}

/// The last section: the title of the knowledge base, and what the segment replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) dead: Vec<Dead>,
}

impl About {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![];
        rows::put_text(&mut bytes, &self.title);
        for dead in &self.dead {
            for value in [dead.document, dead.first_chunk, dead.chunks] {
                rows::put(&mut bytes, value as u64);
            }
        }
        seal(&mut bytes, 0);
        bytes
    }

    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, Broken> {
        let bytes = unseal(bytes)?;
        let mut rest = bytes.as_slice();
        let mut about = Self { title: rows::take_text(&mut rest)?.to_owned(), dead: vec![] };
        while !rest.is_empty() {
            let mut next = || rows::take(&mut rest).map(|value| value as usize);
            about.dead.push(Dead { document: next()?, first_chunk: next()?, chunks: next()? });
        }
        Ok(about)
    }
}
