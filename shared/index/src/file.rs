//! The file of a segment: documents, lengths, a dictionary with short postings in it, and long postings.
//!
//! ```text
//! header | rows | rows' directory | lengths | dictionary | its directory | long postings | title, replaced documents
//! ```
//!
//! A query reads the header, the directory of rows, the lengths, and only those blocks of the rest that it
//! needs. So a search in 100,000 chunks reads a few hundred kilobytes. Every part has a checksum. A damaged
//! file is an error, and the caller builds a new one.

use std::{fs::File, io};

use crate::{error::IndexError, rows, stamp::Stamp};

/// Changes with the format and with everything that affects terms or chunks.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"RMINDX05");
pub(crate) const HEADER: usize = 24 * 8;
/// The sections of the file, in order.
pub(crate) const ROWS: usize = 0;
pub(crate) const ROW_BLOCKS: usize = 1;
pub(crate) const LENGTHS: usize = 2;
pub(crate) const TERMS: usize = 3;
pub(crate) const TERM_BLOCKS: usize = 4;
pub(crate) const LONG: usize = 5;
pub(crate) const TRAILER: usize = 6;
pub(crate) const SECTIONS: usize = 7;
/// The length of a checksum in bytes.
const SUM: usize = 4;

/// The storage of a segment.
#[derive(Debug)]
pub(crate) enum SegmentSource {
    File(File),
    Memory(Vec<u8>),
}

impl SegmentSource {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    pub(crate) fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, IndexError> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).map_err(|_| IndexError::Damaged)?;
                let end = at.checked_add(length).ok_or(IndexError::Damaged)?;
                Ok(bytes.get(at..end).ok_or(IndexError::Damaged)?.to_vec())
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

/// Appends a checksum of the bytes from `start` on.
pub(crate) fn append_checksum(bytes: &mut Vec<u8>, start: usize) {
    let sum = crc32fast::hash(&bytes[start..]);
    bytes.extend_from_slice(&sum.to_le_bytes());
}

/// Removes and verifies the checksum of [`append_checksum`].
pub(crate) fn take_checked(mut bytes: Vec<u8>) -> Result<Vec<u8>, IndexError> {
    let content = bytes.len().checked_sub(SUM).ok_or(IndexError::Damaged)?;
    let is_whole = crc32fast::hash(&bytes[..content]).to_le_bytes() == bytes[content..];
    bytes.truncate(content);
    if is_whole { Ok(bytes) } else { Err(IndexError::Damaged) }
}

/// The header of a segment file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// The stamp of the catalog when the segment was built.
    pub(crate) catalog: Stamp,
    /// The unique id of the segment.
    pub(crate) id: u64,
    /// The id of the segment that this one extends; 0 for a complete segment.
    pub(crate) on: u64,
    /// The sum of the lengths of all chunks.
    pub(crate) total: u64,
    /// The length of each section in bytes.
    pub(crate) sections: [u64; SECTIONS],
}

impl Header {
    pub(crate) fn write(&self) -> Vec<u8> {
        let Self { catalog, id, on, total, sections } = self;
        let values = [MAGIC, catalog.size, catalog.modified, *id, *on, *total];
        let mut bytes: Vec<u8> = values.iter().chain(sections).flat_map(|value| value.to_le_bytes()).collect();
        bytes.resize(HEADER - SUM, 0);
        append_checksum(&mut bytes, 0);
        bytes
    }

    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, IndexError> {
        let bytes = take_checked(bytes)?;
        let values: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        let (Some([MAGIC, size, modified, id, on, total]), Some(sections)) =
            (values.first_chunk(), values.get(6..).and_then(|rest| rest.first_chunk()))
        else {
            return Err(IndexError::Damaged);
        };
        let catalog = Stamp { size: *size, modified: *modified };
        Ok(Self { catalog, id: *id, on: *on, total: *total, sections: *sections })
    }
}

/// A little-endian number of up to eight bytes.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A document of the extended segment that is replaced or no longer listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplacedDocument {
    pub(crate) document: usize,
    pub(crate) first_chunk: usize,
    pub(crate) chunks: usize,
}

/// The last section: facts about the knowledge base, and the replaced documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// The title of the knowledge base.
    pub(crate) title: String,
    /// The number of listed documents that are not indexed, because their files are outside the knowledge base.
    pub(crate) outside: usize,
    pub(crate) replaced: Vec<ReplacedDocument>,
}

impl Trailer {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![];
        rows::put_text(&mut bytes, &self.title);
        rows::put(&mut bytes, self.outside as u64);
        for replaced in &self.replaced {
            for value in [replaced.document, replaced.first_chunk, replaced.chunks] {
                rows::put(&mut bytes, value as u64);
            }
        }
        append_checksum(&mut bytes, 0);
        bytes
    }

    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, IndexError> {
        let bytes = take_checked(bytes)?;
        let mut rest = bytes.as_slice();
        let title = rows::take_text(&mut rest)?.to_owned();
        let mut about = Self { title, outside: rows::take(&mut rest)? as usize, replaced: vec![] };
        while !rest.is_empty() {
            let mut next = || rows::take(&mut rest).map(|value| value as usize);
            about.replaced.push(ReplacedDocument { document: next()?, first_chunk: next()?, chunks: next()? });
        }
        Ok(about)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> Header {
        let catalog = Stamp { size: 7, modified: u64::MAX };
        Header { catalog, id: 1, on: 2, total: 3, sections: [9, 8, 7, 6, 5, 4, u64::MAX] }
    }

    #[test]
    fn a_header_of_another_version_is_damaged() {
        let bytes = header().write();
        assert_eq!(bytes.len(), HEADER);
        assert_eq!(Header::read(bytes.clone()).unwrap(), header());
        let mut other = bytes;
        other[7] += 1;
        other.truncate(HEADER - SUM);
        append_checksum(&mut other, 0);
        assert!(matches!(Header::read(other), Err(IndexError::Damaged)));
    }

    #[test]
    fn bytes_outside_the_source_are_damaged() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4).unwrap();
        for source in [SegmentSource::Memory(vec![0; 4]), SegmentSource::File(file)] {
            assert_eq!(source.length().unwrap(), 4);
            assert_eq!(source.read(1, 3).unwrap(), [0; 3]);
            assert!(
                source.read(1, 4).is_err() && source.read(5, 0).is_err() | matches!(source, SegmentSource::File(_))
            );
        }
        assert!(SegmentSource::Memory(vec![]).read(u64::MAX, 1).is_err());
    }

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!((number(&[]), number(&[1, 2]), number(&[255; 8])), (0, 0x201, u64::MAX));
    }

    proptest! {
        #[test]
        fn any_trailer_is_read_back_and_any_damage_is_found(
            title in "\\PC{0,8}",
            outside: usize,
            replaced in prop::collection::vec(any::<[usize; 3]>(), 0..5),
            at: usize,
            change in 1_u8..,
        ) {
            let replaced = replaced.into_iter().map(|[document, first_chunk, chunks]| ReplacedDocument { document, first_chunk, chunks });
            let trailer = Trailer { title, outside, replaced: replaced.collect() };
            let bytes = trailer.write();
            let mut damaged = bytes.clone();
            let at = at % damaged.len();
            damaged[at] ^= change;
            prop_assert!(Trailer::read(damaged).is_err());
            prop_assert!(Trailer::read(bytes[..at].to_vec()).is_err());
            prop_assert_eq!(Trailer::read(bytes).unwrap(), trailer);
        }

        #[test]
        fn any_bytes_with_a_checksum_are_read_or_damaged(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            append_checksum(&mut bytes, 0);
            let _ = Trailer::read(bytes.clone());
            prop_assert!(Header::read(bytes).is_err());
        }
    }
}
