//! The index file: tables of fixed records, postings, and a blob of texts.
//!
//! ```text
//! header | documents | chunks | lengths | terms (sorted by hash) | postings | blob
//! ```
//!
//! A query reads the header, the lengths, and of the rest only what it needs, by place. So a process at
//! 100,000 chunks reads a few hundred kilobytes. All places are checked: a damaged file is an error, and
//! whoever opened it builds another.

use std::{collections::HashMap, fs::File, hash::BuildHasherDefault, hash::Hasher, io, time::SystemTime};

use crate::tokens::Term;

/// Changes with the format and with everything that changes terms or chunks.
const MAGIC: u64 = u64::from_le_bytes(*b"RMINDX02");
const HEADER: usize = 16 * 8;
const DOCUMENT: usize = 56;
const CHUNK: usize = 36;
const TERM: usize = 24;

/// Size and time of a file, by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) modified: u64,
}

impl Stamp {
    /// Of a file that cannot be read.
    pub(crate) const NONE: Self = Self { size: u64::MAX, modified: 0 };

    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self { size: metadata.len(), modified: since.map_or(0, |since| since.as_nanos() as u64) }
    }
}

/// A place in the blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u32, u32);

/// A document of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    /// Seen from the root, with `/`.
    pub(crate) path: Place,
    pub(crate) url: Place,
    pub(crate) title: Place,
    pub(crate) fetched_at: Place,
    pub(crate) stamp: Stamp,
    pub(crate) stale: bool,
}

/// A chunk of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) document: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    pub(crate) heading: Place,
    pub(crate) slug: Place,
}

/// The hash of a term is its hash.
#[derive(Default)]
pub(crate) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// The postings of one term while they are collected.
#[derive(Default)]
struct List {
    bytes: Vec<u8>,
    last: u32,
    count: u32,
}

/// An index that is being built.
#[derive(Default)]
pub(crate) struct Builder {
    documents: Vec<u8>,
    chunks: Vec<u8>,
    lengths: Vec<u8>,
    total: u64,
    terms: HashMap<Term, List, BuildHasherDefault<Same>>,
    blob: Vec<u8>,
}

impl Builder {
    pub(crate) fn text(&mut self, text: &str) -> Place {
        let place = Place(self.blob.len() as u32, text.len() as u32);
        self.blob.extend_from_slice(text.as_bytes());
        place
    }

    /// Adds a document, and returns its number.
    pub(crate) fn document(&mut self, document: &Document) -> u32 {
        let number = self.documents.len() / DOCUMENT;
        for Place(at, length) in [document.path, document.url, document.title, document.fetched_at] {
            self.documents.extend(at.to_le_bytes());
            self.documents.extend(length.to_le_bytes());
        }
        self.documents.extend(document.stamp.size.to_le_bytes());
        self.documents.extend(document.stamp.modified.to_le_bytes());
        self.documents.extend(u64::from(document.stale).to_le_bytes());
        number as u32
    }

    /// Adds a chunk of `length` terms; `terms` has each with its weight, sorted and once.
    pub(crate) fn chunk(&mut self, chunk: &Chunk, length: u32, terms: impl Iterator<Item = (Term, u32)>) {
        let number = (self.chunks.len() / CHUNK) as u32;
        let Chunk { document, start, end, first_line, last_line, heading, slug } = *chunk;
        let places = [heading.0, heading.1, slug.0, slug.1];
        for value in [document, start, end, first_line, last_line].into_iter().chain(places) {
            self.chunks.extend(value.to_le_bytes());
        }
        self.lengths.extend(length.to_le_bytes());
        self.total += u64::from(length);
        for (term, weight) in terms {
            let list = self.terms.entry(term).or_default();
            push(&mut list.bytes, number - list.last);
            push(&mut list.bytes, weight);
            list.last = number;
            list.count += 1;
        }
    }

    /// The bytes of the file, which starts with the `catalog`'s stamp and the `title` of the knowledge base.
    pub(crate) fn finish(mut self, catalog: Stamp, title: &str) -> Vec<u8> {
        let title = self.text(title);
        let mut sorted: Vec<(Term, List)> = self.terms.into_iter().collect();
        sorted.sort_unstable_by_key(|(term, _)| *term);
        let (mut terms, mut postings) = (Vec::with_capacity(sorted.len() * TERM), vec![]);
        for (term, list) in &sorted {
            terms.extend(term.to_le_bytes());
            terms.extend((postings.len() as u64).to_le_bytes());
            terms.extend((list.bytes.len() as u32).to_le_bytes());
            terms.extend(list.count.to_le_bytes());
            postings.extend_from_slice(&list.bytes);
        }
        let sections = [&self.documents, &self.chunks, &self.lengths, &terms, &postings, &self.blob];
        let mut header = vec![MAGIC, catalog.size, catalog.modified, self.total];
        header.extend(sections.iter().map(|section| section.len() as u64));
        header.extend([u64::from(title.0), u64::from(title.1)]);
        header.resize(HEADER / 8 - 1, 0);
        header.push(checksum(&header));
        let mut bytes: Vec<u8> = header.iter().flat_map(|value| value.to_le_bytes()).collect();
        for section in sections {
            bytes.extend_from_slice(section);
        }
        bytes
    }
}

fn checksum(values: &[u64]) -> u64 {
    values.iter().fold(MAGIC, |sum, value| (sum ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(23))
}

fn push(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Where the bytes of an index are.
#[derive(Debug)]
pub(crate) enum Source {
    File(File),
    Memory(Vec<u8>),
}

impl Source {
    fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).map_err(|_| damaged())?;
                let end = at.checked_add(length).ok_or_else(damaged)?;
                Ok(bytes.get(at..end).ok_or_else(damaged)?.to_vec())
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

pub(crate) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the index is damaged")
}

/// An index that can be searched.
#[derive(Debug)]
pub(crate) struct Reader {
    source: Source,
    /// Where each section starts, and where the last one ends.
    starts: [u64; 7],
    pub(crate) catalog: Stamp,
    /// Number of terms in all chunks.
    pub(crate) total: u64,
    title: Place,
}

impl Reader {
    /// Opens what [`Builder::finish`] made.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] where it is of another version, or is cut off.
    pub(crate) fn open(source: Source) -> io::Result<Self> {
        let bytes = source.read(0, HEADER)?;
        let header: Vec<u64> = (0..HEADER / 8).map(|n| u64_at(&bytes, n * 8)).collect();
        let (sum, values) = header.split_last().ok_or_else(damaged)?;
        if values[0] != MAGIC || *sum != checksum(values) {
            return Err(damaged());
        }
        let mut starts = [HEADER as u64; 7];
        for n in 0..6 {
            starts[n + 1] = starts[n].checked_add(values[4 + n]).ok_or_else(damaged)?;
        }
        let length = match &source {
            Source::File(file) => file.metadata()?.len(),
            Source::Memory(bytes) => bytes.len() as u64,
        };
        if starts[6] != length {
            return Err(damaged());
        }
        let catalog = Stamp { size: values[1], modified: values[2] };
        let title = Place(values[10] as u32, values[11] as u32);
        Ok(Self { source, starts, catalog, total: values[3], title })
    }

    fn records(&self, section: usize, size: usize) -> usize {
        (self.starts[section + 1] - self.starts[section]) as usize / size
    }

    fn record(&self, section: usize, size: usize, number: usize) -> io::Result<Vec<u8>> {
        if number >= self.records(section, size) {
            return Err(damaged());
        }
        self.source.read(self.starts[section] + (number * size) as u64, size)
    }

    fn section(&self, section: usize) -> io::Result<Vec<u8>> {
        self.source.read(self.starts[section], (self.starts[section + 1] - self.starts[section]) as usize)
    }

    pub(crate) fn chunks(&self) -> usize {
        self.records(1, CHUNK)
    }

    pub(crate) fn title(&self) -> io::Result<String> {
        self.text(self.title)
    }

    pub(crate) fn text(&self, Place(at, length): Place) -> io::Result<String> {
        if u64::from(at) + u64::from(length) > self.starts[6] - self.starts[5] {
            return Err(damaged());
        }
        let bytes = self.source.read(self.starts[5] + u64::from(at), length as usize)?;
        String::from_utf8(bytes).map_err(|_| damaged())
    }

    pub(crate) fn document(&self, number: u32) -> io::Result<Document> {
        Ok(document(&self.record(0, DOCUMENT, number as usize)?))
    }

    /// Every document.
    pub(crate) fn documents(&self) -> io::Result<Vec<Document>> {
        Ok(self.section(0)?.chunks_exact(DOCUMENT).map(document).collect())
    }

    pub(crate) fn chunk(&self, number: u32) -> io::Result<Chunk> {
        Ok(chunk(&self.record(1, CHUNK, number as usize)?))
    }

    /// The number of terms of every chunk.
    pub(crate) fn lengths(&self) -> io::Result<Vec<u32>> {
        Ok(self.section(2)?.chunks_exact(4).map(|bytes| u32_at(bytes, 0)).collect())
    }

    /// The chunks that hold `term`, with its weight in each.
    pub(crate) fn postings(&self, term: Term) -> io::Result<Postings> {
        let (mut low, mut high) = (0, self.records(3, TERM));
        while low < high {
            let middle = low.midpoint(high);
            let record = self.record(3, TERM, middle)?;
            match u64_at(&record, 0).cmp(&term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let (at, length, count) = (u64_at(&record, 8), u32_at(&record, 16), u32_at(&record, 20));
                    let end = at.checked_add(u64::from(length)).ok_or_else(damaged)?;
                    if end > self.starts[5] - self.starts[4] {
                        return Err(damaged());
                    }
                    let bytes = self.source.read(self.starts[4] + at, length as usize)?;
                    return Ok(Postings { bytes, at: 0, last: 0, count, chunks: self.chunks() as u32 });
                }
            }
        }
        Ok(Postings { bytes: vec![], at: 0, last: 0, count: 0, chunks: 0 })
    }
}

/// The chunks with one term, and its weight in each.
pub(crate) struct Postings {
    bytes: Vec<u8>,
    at: usize,
    last: u32,
    pub(crate) count: u32,
    chunks: u32,
}

impl Postings {
    fn value(&mut self) -> Option<u32> {
        let (mut value, mut shift) = (0_u32, 0);
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }
}

impl Iterator for Postings {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let chunk = self.last.checked_add(self.value()?)?;
        self.last = chunk;
        let weight = self.value()?;
        (chunk < self.chunks).then_some((chunk, weight))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn place(bytes: &[u8], at: usize) -> Place {
    Place(u32_at(bytes, at), u32_at(bytes, at + 4))
}

fn document(bytes: &[u8]) -> Document {
    Document {
        path: place(bytes, 0),
        url: place(bytes, 8),
        title: place(bytes, 16),
        fetched_at: place(bytes, 24),
        stamp: Stamp { size: u64_at(bytes, 32), modified: u64_at(bytes, 40) },
        stale: u64_at(bytes, 48) != 0,
    }
}

fn chunk(bytes: &[u8]) -> Chunk {
    Chunk {
        document: u32_at(bytes, 0),
        start: u32_at(bytes, 4),
        end: u32_at(bytes, 8),
        first_line: u32_at(bytes, 12),
        last_line: u32_at(bytes, 16),
        heading: place(bytes, 20),
        slug: place(bytes, 28),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn built() -> Vec<u8> {
        let mut builder = Builder::default();
        let place = builder.text("a.md");
        let stamp = Stamp { size: 1, modified: 2 };
        let all = Document { path: place, url: place, title: place, fetched_at: place, stamp, stale: true };
        let document = builder.document(&all);
        for n in 0..300 {
            let chunk = Chunk { document, start: n, end: n, first_line: 1, last_line: 2, heading: place, slug: place };
            builder.chunk(&chunk, 7, [(u64::from(n % 2), 1), (9, n)].into_iter());
        }
        builder.finish(stamp, "T")
    }

    #[test]
    fn what_was_written_is_read() {
        let reader = Reader::open(Source::Memory(built())).unwrap();
        assert_eq!((reader.chunks(), reader.total, reader.title().unwrap().as_str()), (300, 2100, "T"));
        assert!(reader.documents().unwrap()[0].stale);
        assert_eq!(
            reader.postings(1).unwrap().map(|(chunk, _)| chunk).collect::<Vec<_>>(),
            (1..300).step_by(2).collect::<Vec<_>>()
        );
        assert_eq!(reader.postings(9).unwrap().last(), Some((299, 299)));
        assert_eq!(reader.postings(5).unwrap().count, 0);
        let chunk = reader.chunk(7).unwrap();
        assert_eq!((chunk.start, reader.text(chunk.slug).unwrap().as_str()), (7, "a.md"));
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_an_error_and_no_panic(at in 0_usize..20_000, value: u8, cut in 0_usize..20_000) {
            let mut bytes = built();
            let length = bytes.len();
            bytes[at % length] ^= value;
            bytes.truncate(cut.max(length / 2));
            if let Ok(reader) = Reader::open(Source::Memory(bytes)) {
                let _ = reader.documents().map(|all| all.iter().filter(|one| reader.text(one.path).is_ok()).count());
                for term in [0, 1, 9] {
                    let _ = reader.postings(term).map(Iterator::count);
                }
                let _ = (0..300).filter(|&n| reader.chunk(n).is_ok()).count();
            }
        }
    }
}
