//! The data of documents and their chunks, in compressed blocks of consecutive documents.

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use ragmaker_document::sections::slugify;

use crate::{broken::Broken, stamp::Stamp};

/// A document of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// Seen from the root, with `/`.
    pub(crate) path: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) fetched_at: String,
    pub(crate) stamp: Stamp,
    pub(crate) stale: bool,
    /// One bit each for title, URL and time: whether the catalog gave it, not the document.
    pub(crate) listed: u8,
    pub(crate) chunks: Vec<Row>,
}

/// A part of a document: whole lines below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// First and last byte (exclusive) in the file.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// First and last line in the file, from 1.
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    /// The headings that lead to it, joined with ` > `.
    pub(crate) heading: String,
    /// The anchor of the last of them as GitHub makes it; empty before the first heading.
    pub(crate) slug: String,
}

/// Writes one block.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    modified: u64,
    pub(crate) documents: usize,
}

/// Blocks are closed at this length: a hit costs one, about 0.05 ms.
const FULL: usize = 16 << 10;

impl Block {
    pub(crate) fn add(&mut self, document: &Document) {
        let Document { path, url, title, fetched_at, stamp, stale, listed, chunks } = document;
        for text in [path, url, title, fetched_at] {
            put_text(&mut self.bytes, text);
        }
        self.bytes.push(listed << 1 | u8::from(*stale));
        // Of files that were written one after another the times differ by little.
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
        self.bytes.len() >= FULL
    }

    /// The block, compressed and with a checksum (zlib).
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(vec![], Compression::best());
        let written = encoder.write_all(&self.bytes);
        written.and_then(|()| encoder.finish()).expect("a vector takes all bytes")
    }
}

/// The slug of most chunks: that of the last heading.
fn regular(heading: &str) -> String {
    heading.rsplit(" > ").next().map(slugify).unwrap_or_default()
}

/// The documents of a block.
pub(crate) fn documents(block: &[u8], most: usize) -> Result<Vec<Document>, Broken> {
    let mut bytes = vec![];
    ZlibDecoder::new(block).take(1 << 30).read_to_end(&mut bytes)?;
    let mut rest = bytes.as_slice();
    let mut documents = vec![];
    let mut modified = 0_u64;
    while !rest.is_empty() && documents.len() < most {
        let mut text = || take_text(&mut rest);
        let (path, url, title, fetched_at) = (text()?, text()?, text()?, text()?);
        let (flags, after) = rest.split_first().ok_or(Broken::Damaged)?;
        rest = after;
        let mut next = || take(&mut rest);
        let (size, later, count) = (next()?.wrapping_sub(1), next()?, next()?);
        modified = modified.wrapping_add((later >> 1) ^ (later & 1).wrapping_neg());
        let mut chunks = vec![];
        let (mut end, mut line) = (0_usize, 0_usize);
        for _ in 0..count {
            let mut add = |to: usize| to.checked_add(take(&mut rest)? as usize).ok_or(Broken::Damaged);
            let start = add(end)?;
            end = add(start)?;
            let first_line = add(line)?;
            line = add(first_line)?;
            let heading = take_text(&mut rest)?;
            let slug = match take(&mut rest)?.checked_sub(1) {
                None => regular(&heading),
                Some(length) => text_of(&mut rest, length)?,
            };
            chunks.push(Row { start, end, first_line, last_line: line, heading, slug });
        }
        documents.push(Document {
            path,
            url,
            title,
            fetched_at,
            stamp: Stamp { size, modified },
            stale: flags & 1 != 0,
            listed: flags >> 1,
            chunks,
        });
    }
    Ok(documents)
}

/// A number, seven bits to a byte.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

pub(crate) fn take(rest: &mut &[u8]) -> Result<u64, Broken> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, after) = rest.split_first().ok_or(Broken::Damaged)?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift).ok_or(Broken::Damaged)?;
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

pub(crate) fn take_text(rest: &mut &[u8]) -> Result<String, Broken> {
    let length = take(rest)?;
    text_of(rest, length)
}

fn text_of(rest: &mut &[u8], length: u64) -> Result<String, Broken> {
    let (text, after) = rest.split_at_checked(length as usize).ok_or(Broken::Damaged)?;
    *rest = after;
    String::from_utf8(text.to_vec()).map_err(|_| Broken::Damaged)
}
