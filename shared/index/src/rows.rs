//! The data of documents and their chunks, in compressed blocks of consecutive documents.

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use ragmaker_document::sections::slugify;

use crate::{error::IndexError, stamp::Stamp};

/// A document of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentRow {
    /// The path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) fetched_at: String,
    pub(crate) stamp: Stamp,
    pub(crate) stale: bool,
    /// One bit each for title, URL and time: whether it is from the catalog and not from the document.
    pub(crate) listed: u8,
    pub(crate) chunks: Vec<Row>,
}

/// A chunk of a document: whole lines below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The byte range in the file.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The first and the last line in the file, from 1.
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    /// The headings above it, joined with ` > `.
    pub(crate) heading: String,
    /// The anchor of the last heading as on GitHub; empty before the first heading.
    pub(crate) slug: String,
}

/// A block that is being written.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    modified: u64,
    pub(crate) documents: usize,
}

/// The length at which a block is closed, in bytes. Reading a block for a hit takes about 0.05 ms.
const BLOCK_BYTES: usize = 16 << 10;

impl Block {
    pub(crate) fn add(&mut self, document: &DocumentRow) {
        let DocumentRow { path, url, title, fetched_at, stamp, stale, listed, chunks } = document;
        for text in [path, url, title, fetched_at] {
            put_text(&mut self.bytes, text);
        }
        self.bytes.push(listed << 1 | u8::from(*stale));
        // Files that were written one after another have similar times.
        let later = stamp.modified.wrapping_sub(self.modified).cast_signed();
        self.modified = stamp.modified;
        put(&mut self.bytes, stamp.size.wrapping_add(1));
        put(&mut self.bytes, (later << 1 ^ later >> 63).cast_unsigned());
        put(&mut self.bytes, chunks.len() as u64);
        let (mut end, mut line) = (0, 0);
        for row in chunks {
            for value in [row.start - end, row.end - row.start, row.first_line - line, row.last_line - row.first_line] {
                put(&mut self.bytes, value as u64);
            }
            (end, line) = (row.end, row.last_line);
            put_text(&mut self.bytes, &row.heading);
            if row.slug == regular(&row.heading) {
                put(&mut self.bytes, 0);
            } else {
                put(&mut self.bytes, row.slug.len() as u64 + 1);
                self.bytes.extend_from_slice(row.slug.as_bytes());
            }
        }
        self.documents += 1;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= BLOCK_BYTES
    }

    /// The block, compressed (zlib) and with a checksum.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(vec![], Compression::best());
        let written = encoder.write_all(&self.bytes);
        written.and_then(|()| encoder.finish()).expect("a vector takes all bytes")
    }
}

/// The usual slug of a chunk: that of its last heading.
fn regular(heading: &str) -> String {
    heading.rsplit(" > ").next().map(slugify).unwrap_or_default()
}

/// A block that was read.
pub(crate) struct DecodedBlock {
    bytes: Vec<u8>,
    places: Vec<DocumentPosition>,
}

/// The position of a document in a block.
struct DocumentPosition {
    at: usize,
    /// Its first chunk, counted within the block.
    chunk: usize,
    /// The modification time of the previous document.
    modified: u64,
}

/// A document of a block; its chunks are decoded on demand.
pub(crate) struct IndexedDocument<'a> {
    pub(crate) path: &'a str,
    pub(crate) url: &'a str,
    pub(crate) title: &'a str,
    pub(crate) fetched_at: &'a str,
    pub(crate) stamp: Stamp,
    pub(crate) stale: bool,
    pub(crate) listed: u8,
    pub(crate) chunks: usize,
    rows: &'a [u8],
}

impl DecodedBlock {
    /// Reads a block of `documents` that [`Block::finish`] wrote.
    pub(crate) fn of(block: &[u8], documents: usize) -> Result<Self, IndexError> {
        let mut bytes = Vec::with_capacity(BLOCK_BYTES * 2);
        ZlibDecoder::new(block).take(1 << 30).read_to_end(&mut bytes)?;
        let mut places = Vec::with_capacity(documents);
        let mut rest = bytes.as_slice();
        let (mut chunk, mut modified) = (0, 0);
        while !rest.is_empty() {
            places.push(DocumentPosition { at: bytes.len() - rest.len(), chunk, modified });
            let document = IndexedDocument::take(&mut rest, modified)?;
            modified = document.stamp.modified;
            for _ in 0..document.chunks {
                RowParts::take(&mut rest)?;
            }
            chunk += document.chunks;
        }
        if places.len() == documents { Ok(Self { bytes, places }) } else { Err(IndexError::Damaged) }
    }

    /// The document with this index in the block.
    pub(crate) fn document(&self, number: usize) -> Result<IndexedDocument<'_>, IndexError> {
        let place = self.places.get(number).ok_or(IndexError::Damaged)?;
        IndexedDocument::take(&mut &self.bytes[place.at..], place.modified)
    }

    /// The index of the document that has chunk `chunk` of the block, and the index of the chunk in the
    /// document.
    pub(crate) fn with_chunk(&self, chunk: usize) -> Result<(usize, usize), IndexError> {
        // Documents without chunks have the same first chunk as the next document.
        let number =
            self.places.partition_point(|place| place.chunk <= chunk).checked_sub(1).ok_or(IndexError::Damaged)?;
        Ok((number, chunk - self.places[number].chunk))
    }
}

impl<'a> IndexedDocument<'a> {
    fn take(rest: &mut &'a [u8], modified: u64) -> Result<Self, IndexError> {
        let mut text = || take_text(rest);
        let (path, url, title, fetched_at) = (text()?, text()?, text()?, text()?);
        let (flags, after) = rest.split_first().ok_or(IndexError::Damaged)?;
        *rest = after;
        let mut next = || take(rest);
        let (size, later, chunks) = (next()?.wrapping_sub(1), next()?, next()? as usize);
        let modified = modified.wrapping_add((later >> 1) ^ (later & 1).wrapping_neg());
        let stamp = Stamp { size, modified };
        let (stale, listed) = (flags & 1 != 0, flags >> 1);
        Ok(Self { path, url, title, fetched_at, stamp, stale, listed, chunks, rows: rest })
    }

    /// The chunk with this index.
    pub(crate) fn row(&self, number: usize) -> Result<Row, IndexError> {
        let mut rest = self.rows;
        let (mut end, mut line) = (0_usize, 0_usize);
        for _ in 0..number {
            let parts = RowParts::take(&mut rest)?;
            (_, end) = after(end, parts.bytes)?;
            (_, line) = after(line, parts.lines)?;
        }
        let RowParts { bytes, lines, heading, slug } = RowParts::take(&mut rest)?;
        let ((start, end), (first_line, last_line)) = (after(end, bytes)?, after(line, lines)?);
        let slug = slug.map_or_else(|| regular(heading), ToOwned::to_owned);
        Ok(Row { start, end, first_line, last_line, heading: heading.to_owned(), slug })
    }
}

/// A row as it is stored.
struct RowParts<'a> {
    /// The distance from the end of the previous row, and the length.
    bytes: [u64; 2],
    lines: [u64; 2],
    heading: &'a str,
    /// The slug, if it is not the usual one.
    slug: Option<&'a str>,
}

impl<'a> RowParts<'a> {
    fn take(rest: &mut &'a [u8]) -> Result<Self, IndexError> {
        let mut pair = || -> Result<[u64; 2], IndexError> { Ok([take(rest)?, take(rest)?]) };
        let (bytes, lines) = (pair()?, pair()?);
        let heading = take_text(rest)?;
        let slug = take(rest)?.checked_sub(1).map(|length| text_of(rest, length)).transpose()?;
        Ok(Self { bytes, lines, heading, slug })
    }
}

/// The start and end of a range `distance` after `end`.
fn after(end: usize, [distance, length]: [u64; 2]) -> Result<(usize, usize), IndexError> {
    let start = end.checked_add(distance as usize).ok_or(IndexError::Damaged)?;
    Ok((start, start.checked_add(length as usize).ok_or(IndexError::Damaged)?))
}

/// Writes a number, seven bits per byte.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

pub(crate) fn take(rest: &mut &[u8]) -> Result<u64, IndexError> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, after) = rest.split_first().ok_or(IndexError::Damaged)?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift).ok_or(IndexError::Damaged)?;
        if *byte < 0x80 {
            return Ok(value);
        }
        shift += 7;
    }
}

pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

pub(crate) fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, IndexError> {
    let length = take(rest)?;
    text_of(rest, length)
}

fn text_of<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a str, IndexError> {
    let (text, after) = rest.split_at_checked(length as usize).ok_or(IndexError::Damaged)?;
    *rest = after;
    std::str::from_utf8(text).map_err(|_| IndexError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_of_each_byte() {
        for value in [0, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = vec![];
            put(&mut bytes, value);
            let mut rest = bytes.as_slice();
            assert_eq!(take(&mut rest).ok(), Some(value));
            assert!(rest.is_empty());
        }
        assert!(take(&mut [0x80_u8].as_slice()).is_err(), "a cut number");
        assert!(take(&mut [0xff_u8; 12].as_slice()).is_err(), "a number of more than 64 bits");
    }

    fn document(path: &str, modified: u64, chunks: usize) -> DocumentRow {
        let row = |number: usize| Row {
            start: number * 10,
            end: number * 10 + 7,
            first_line: number + 1,
            last_line: number + 1,
            heading: format!("A > Part {number}"),
            // The first is as derived from its heading.
            slug: if number == 0 { "part-0".into() } else { format!("own-{number}") },
        };
        let stamp = Stamp { size: 5, modified };
        DocumentRow { path: path.into(), stamp, chunks: (0..chunks).map(row).collect(), ..DocumentRow::default() }
    }

    #[test]
    fn a_block_is_read_as_it_was_written() {
        let documents = [document("a", 1_000, 2), document("b", 10, 0), document("c", u64::MAX, 3)];
        let mut block = Block::default();
        for document in &documents {
            block.add(document);
        }
        let bytes = block.finish();
        let block = DecodedBlock::of(&bytes, 3).ok().unwrap();
        for (number, expected) in documents.iter().enumerate() {
            let found = block.document(number).ok().unwrap();
            assert_eq!(
                (found.path, found.stamp.modified, found.chunks),
                (&*expected.path, expected.stamp.modified, expected.chunks.len())
            );
            for (at, row) in expected.chunks.iter().enumerate() {
                assert_eq!(found.row(at).ok().as_ref(), Some(row));
            }
        }
        assert_eq!(block.with_chunk(1).ok(), Some((0, 1)));
        assert_eq!(block.with_chunk(2).ok(), Some((2, 0)), "the second document has no chunk");
        assert!(block.document(3).is_err());
        assert!(DecodedBlock::of(&bytes, 2).is_err() && DecodedBlock::of(&bytes[..bytes.len() / 2], 3).is_err());
    }

    #[test]
    fn the_usual_slug_is_that_of_the_last_heading() {
        assert_eq!((regular("A > Part One").as_str(), regular("")), ("part-one", String::new()));
    }
}
