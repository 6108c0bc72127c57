//! Reading a segment.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    bits::BitReader,
    build::{SHORT, rice_bits},
    error::IndexError,
    file::{
        HEADER, Header, LENGTHS, LONG, ROW_BLOCKS, ROWS, SECTIONS, SegmentSource, TERM_BLOCKS, TERMS, TRAILER, Trailer,
        number, take_checked,
    },
    rows::{self, DecodedBlock, IndexedDocument},
};

/// The size of an entry of the row directory in bytes: the start of the block, its first document and its first
/// chunk.
const ROW_BLOCK: usize = 16;
/// The maximum number of terms with a common prefix that are read.
const MAX_PREFIX_TERMS: usize = 20_000;

/// An open segment.
pub(crate) struct Reader {
    source: SegmentSource,
    pub(crate) header: Header,
    pub(crate) about: Trailer,
    /// The start of each section.
    starts: [u64; SECTIONS],
    blocks: Vec<RowBlock>,
    dictionary: Vec<TermBlock>,
    documents: usize,
    chunks: usize,
    /// The blocks of rows that were read already.
    read: Mutex<HashMap<usize, Arc<DecodedBlock>>>,
}

struct RowBlock {
    start: u64,
    end: u64,
    first_document: usize,
    documents: usize,
    first_chunk: usize,
}

/// A block of the dictionary.
struct TermBlock {
    first: Vec<u8>,
    start: u64,
    end: u64,
}

impl Reader {
    /// Opens a segment that [`Builder::finish`](crate::build::Builder::finish) built.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] for a file of another version or a truncated one.
    pub(crate) fn open(source: SegmentSource) -> Result<Self, IndexError> {
        let header = Header::read(source.read(0, HEADER)?)?;
        let mut starts = [0; SECTIONS];
        let mut end = HEADER as u64;
        for (start, length) in starts.iter_mut().zip(header.sections) {
            *start = end;
            end = end.checked_add(length).ok_or(IndexError::Damaged)?;
        }
        if end != source.length()? {
            return Err(IndexError::Damaged);
        }
        let about = Trailer::default();
        let mut reader = Self {
            source,
            header,
            about,
            starts,
            blocks: vec![],
            dictionary: vec![],
            documents: 0,
            chunks: 0,
            read: Mutex::default(),
        };
        reader.about = Trailer::read(reader.section(TRAILER)?)?;
        reader.directory()?;
        Ok(reader)
    }

    fn directory(&mut self) -> Result<(), IndexError> {
        let bytes = take_checked(self.section(ROW_BLOCKS)?)?;
        let record = |bytes: &[u8]| {
            let value = |at: usize, end: usize| number(&bytes[at..end]);
            (value(0, 8), value(8, 12) as usize, value(12, 16) as usize)
        };
        let records: Vec<_> = bytes.chunks_exact(ROW_BLOCK).map(record).collect();
        for pair in records.windows(2) {
            let [(start, first_document, first_chunk), (end, next, _)] = *pair else { continue };
            let documents = next.checked_sub(first_document).ok_or(IndexError::Damaged)?;
            self.blocks.push(RowBlock { start, end, first_document, documents, first_chunk });
        }
        (_, self.documents, self.chunks) = *records.last().ok_or(IndexError::Damaged)?;
        let bytes = take_checked(self.section(TERM_BLOCKS)?)?;
        let mut rest = bytes.as_slice();
        let (mut first, mut start) = (vec![], 0);
        while !rest.is_empty() {
            take_term(&mut rest, &mut first)?;
            let end = rows::take(&mut rest)?.checked_add(start).ok_or(IndexError::Damaged)?;
            self.dictionary.push(TermBlock { first: first.clone(), start, end });
            start = end;
        }
        Ok(())
    }

    fn section(&self, section: usize) -> Result<Vec<u8>, IndexError> {
        self.part(section, 0, self.header.sections[section])
    }

    fn part(&self, section: usize, start: u64, end: u64) -> Result<Vec<u8>, IndexError> {
        if start > end || end > self.header.sections[section] {
            return Err(IndexError::Damaged);
        }
        self.source.read(self.starts[section] + start, (end - start) as usize)
    }

    pub(crate) fn documents(&self) -> usize {
        self.documents
    }

    pub(crate) fn chunks(&self) -> usize {
        self.chunks
    }

    fn block(&self, number: usize) -> Result<Arc<DecodedBlock>, IndexError> {
        if let Some(known) = self.known().get(&number) {
            return Ok(Arc::clone(known));
        }
        let RowBlock { start, end, documents, .. } = self.blocks[number];
        let block = Arc::new(DecodedBlock::of(&self.part(ROWS, start, end)?, documents)?);
        self.known().insert(number, Arc::clone(&block));
        Ok(block)
    }

    /// A panic cannot leave the data behind this lock inconsistent.
    fn known(&self) -> MutexGuard<'_, HashMap<usize, Arc<DecodedBlock>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of blocks of documents.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Calls `see` with every document of some blocks, its number and the number of its first chunk.
    pub(crate) fn each(
        &self,
        blocks: Range<usize>,
        mut see: impl FnMut(usize, usize, &IndexedDocument<'_>),
    ) -> Result<(), IndexError> {
        for number in blocks {
            let (block, unpacked) = (&self.blocks[number], self.block(number)?);
            let mut chunk = block.first_chunk;
            for at in 0..block.documents {
                let document = unpacked.document(at)?;
                see(block.first_document + at, chunk, &document);
                chunk += document.chunks;
            }
        }
        Ok(())
    }

    /// Calls `see` with the document of chunk `number`, and the index of the chunk in the document.
    pub(crate) fn chunk<T>(
        &self,
        number: usize,
        see: impl FnOnce(usize, &IndexedDocument<'_>, usize) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let at = self.blocks.partition_point(|block| block.first_chunk <= number);
        // Blocks without chunks have the same first chunk as the next block.
        let at = at.checked_sub(1).ok_or(IndexError::Damaged)?;
        let (block, unpacked) = (&self.blocks[at], self.block(at)?);
        let (document, nth) = unpacked.with_chunk(number - block.first_chunk)?;
        see(block.first_document + document, &unpacked.document(document)?, nth)
    }

    /// The number of terms of every chunk.
    pub(crate) fn lengths(&self) -> Result<Vec<u16>, IndexError> {
        let bytes = take_checked(self.section(LENGTHS)?)?;
        if bytes.len() != self.chunks * 2 {
            return Err(IndexError::Damaged);
        }
        Ok(bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect())
    }

    /// Calls `see` with each chunk that contains the term `text`, or with `is_prefix` a term that starts with
    /// it, and the weight. For each term, the chunks are in order.
    pub(crate) fn postings(
        &self,
        text: &str,
        is_prefix: bool,
        mut see: impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        let is_wanted = |term: &[u8]| term == text.as_bytes() || is_prefix && term.starts_with(text.as_bytes());
        let first = self.dictionary.partition_point(|block| block.first.as_slice() <= text.as_bytes());
        let mut seen = 0;
        // Later blocks may also have terms with the prefix.
        for (number, block) in self.dictionary.iter().enumerate().skip(first.saturating_sub(1)) {
            if number >= first && !is_wanted(&block.first) || seen > MAX_PREFIX_TERMS {
                break;
            }
            let bytes = take_checked(self.part(TERMS, block.start, block.end)?)?;
            let mut rest = bytes.as_slice();
            let (long, count) = (rows::take(&mut rest)?, rows::take(&mut rest)? as usize);
            let mut term = block.first.clone();
            let (mut from, mut to) = (count, 0);
            for nth in 0..count {
                if nth > 0 {
                    take_term(&mut rest, &mut term)?;
                }
                if is_wanted(&term) {
                    from = from.min(nth);
                    to = nth + 1;
                }
            }
            if from < to {
                self.lists(rest, long, from..to, &mut see)?;
                seen += to - from;
            }
        }
        Ok(())
    }

    /// Reads the posting lists of the terms `wanted` of a block. `lists` are the short ones; the long ones
    /// start at `long`.
    fn lists(
        &self,
        lists: &[u8],
        mut long: u64,
        wanted: Range<usize>,
        see: &mut impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        let mut bits = BitReader::new(lists);
        for term in 0..wanted.end {
            let held = bits.gamma().ok_or(IndexError::Damaged)?;
            let is_wanted = wanted.contains(&term);
            if held <= SHORT {
                self.list(&mut bits, held, |chunk, weight| {
                    if is_wanted {
                        see(chunk, weight);
                    }
                })?;
                continue;
            }
            let end = long + u64::from(bits.gamma().ok_or(IndexError::Damaged)?);
            if is_wanted {
                let bytes = take_checked(self.part(LONG, long, end)?)?;
                self.list(&mut BitReader::new(bytes), held, &mut *see)?;
            }
            long = end;
        }
        Ok(())
    }

    fn list<B: AsRef<[u8]>>(
        &self,
        bits: &mut BitReader<B>,
        count: u32,
        mut see: impl FnMut(usize, u32),
    ) -> Result<(), IndexError> {
        let code = rice_bits(self.chunks as u32, count);
        // Counted from 1, as stored.
        let mut last = 0_u32;
        for _ in 0..count {
            let (distance, weight) = bits.rice(code).zip(bits.gamma()).ok_or(IndexError::Damaged)?;
            let chunk = last.checked_add(distance).filter(|chunk| (*chunk as usize) < self.chunks);
            let chunk = chunk.ok_or(IndexError::Damaged)?;
            see(chunk as usize, weight);
            last = chunk + 1;
        }
        Ok(())
    }
}

/// Reads the next term, which is stored as a difference to the previous one.
fn take_term(rest: &mut &[u8], term: &mut Vec<u8>) -> Result<(), IndexError> {
    let (lengths, after) = rest.split_first().ok_or(IndexError::Damaged)?;
    *rest = after;
    let mut length = |short: u8| match short {
        15 => rows::take(rest),
        short => Ok(u64::from(short)),
    };
    let (shared, own) = (length(lengths >> 4)? as usize, length(lengths & 15)? as usize);
    let (own, after) = rest.split_at_checked(own).ok_or(IndexError::Damaged)?;
    *rest = after;
    term.truncate(shared);
    term.extend_from_slice(own);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_term_is_the_beginning_of_the_one_before_and_its_own_end() {
        let mut term = b"moon".to_vec();
        let long = [b"\xff\x10\x11".as_slice(), &[b'x'; 17]].concat();
        for (bytes, expected) in [
            (&b"\x32stX"[..], &b"moost"[..]),
            (b"\x50", b"moost"),
            (b"\x01a", b"a"),
            (&long, &[&b"a"[..], &[b'x'; 17]].concat()),
        ] {
            let mut rest = bytes;
            take_term(&mut rest, &mut term).unwrap();
            assert_eq!(term, expected);
        }
        for bytes in [&b""[..], b"\x03ab", b"\x0f", b"\x0f\xff"] {
            assert!(take_term(&mut &*bytes, &mut term).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_terms_or_damaged(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let (mut rest, mut term) = (bytes.as_slice(), vec![]);
            while take_term(&mut rest, &mut term).is_ok() {}
            prop_assert!(term.len() <= bytes.len());
        }
    }

    #[test]
    fn a_file_that_is_longer_or_shorter_than_its_header_says_is_damaged() {
        let whole = crate::build::Builder::new().finish(crate::stamp::Stamp::NONE, 1, 0, &Trailer::default());
        assert_eq!(Reader::open(SegmentSource::Memory(whole.clone())).unwrap().chunks(), 0);
        let longer = [whole.as_slice(), b"x"].concat();
        for bytes in [&b""[..], &whole[..HEADER - 1], &whole[..whole.len() - 1], &longer] {
            assert!(Reader::open(SegmentSource::Memory(bytes.to_vec())).is_err(), "{}", bytes.len());
        }
    }
}
