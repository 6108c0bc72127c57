//! Building a segment.

use crate::{
    bits::BitWriter,
    file::{Header, SECTIONS, Trailer, append_checksum},
    rows::{Block, DocumentRow, Row, put, take},
    stamp::Stamp,
    tokens::{Term, Tokenizer},
};

/// The number of terms of a block of the dictionary.
pub(crate) const TERMS_OF_BLOCK: usize = 128;
/// A longer posting list is stored outside the dictionary, so that it is not read with its neighbours.
pub(crate) const SHORT: u32 = 32;

/// The posting list of a term that is being built.
#[derive(Default)]
struct PostingList {
    /// For each chunk except the last: the distance to the previous one, and the weight.
    bytes: Vec<u8>,
    /// The last chunk, counted from 1, its distance and weight; 0 before the first one.
    last: u32,
    distance: u32,
    weight: u32,
    count: u32,
}

impl PostingList {
    /// Adds `weight` to `chunk`, which must not precede the last one.
    fn add(&mut self, chunk: u32, weight: u32) {
        if self.last == chunk + 1 {
            self.weight += weight;
            return;
        }
        if self.count > 0 {
            self.close();
        }
        (self.distance, self.weight) = (chunk - self.last, weight);
        self.last = chunk + 1;
        self.count += 1;
    }

    fn close(&mut self) {
        put(&mut self.bytes, u64::from(self.distance));
        put(&mut self.bytes, u64::from(self.weight));
    }

    /// Writes the list for a segment of `chunks` chunks.
    fn write(&mut self, writer: &mut BitWriter, chunks: u32) {
        self.close();
        let bits = rice_bits(chunks, self.count);
        let mut rest = self.bytes.as_slice();
        while let (Ok(distance), Ok(weight)) = (take(&mut rest), take(&mut rest)) {
            writer.rice(distance as u32, bits);
            writer.gamma(weight as u32);
        }
    }
}

/// The Rice parameter for the distances of `count` chunks among `all`: the logarithm of the mean times ln 2.
pub(crate) fn rice_bits(all: u32, count: u32) -> u32 {
    (u64::from(all) * 7 / 10 / u64::from(count.max(1))).checked_ilog2().unwrap_or(0)
}

/// A segment that is being built.
pub(crate) struct Builder {
    tokenizer: Tokenizer,
    block: Block,
    rows: Vec<u8>,
    row_blocks: Vec<u8>,
    /// The first document and chunk of the block.
    first: (u32, u32),
    documents: u32,
    lengths: Vec<u8>,
    chunks: u32,
    total: u64,
    lists: Vec<PostingList>,
}

/// The texts of a chunk whose terms are indexed.
pub(crate) struct IndexedTexts<'a> {
    /// Each text with the weight of its terms; the first one determines the length of the chunk.
    pub(crate) measured: [(&'a str, u32); 2],
    pub(crate) title: (&'a str, u32),
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            tokenizer: Tokenizer::new(),
            block: Block::default(),
            rows: vec![],
            row_blocks: vec![],
            first: (0, 0),
            documents: 0,
            lengths: vec![],
            chunks: 0,
            total: 0,
            lists: vec![],
        }
    }

    /// Adds a document; `fields` returns the indexed texts of a chunk.
    pub(crate) fn document<'a>(
        &mut self,
        document: &'a DocumentRow,
        mut fields: impl FnMut(&'a Row) -> IndexedTexts<'a>,
    ) {
        for row in &document.chunks {
            let IndexedTexts { measured, title } = fields(row);
            let (chunk, lists) = (self.chunks, &mut self.lists);
            let mut count = |term: Term, weight: u32| {
                if term as usize >= lists.len() {
                    lists.resize_with(term as usize + 1, PostingList::default);
                }
                lists[term as usize].add(chunk, weight);
            };
            let mut length = 0;
            for (text, weight) in measured {
                length += self.tokenizer.terms(text, |term| count(term, weight));
            }
            self.tokenizer.terms(title.0, |term| count(term, title.1));
            self.lengths.extend_from_slice(&(length.min(u32::from(u16::MAX)) as u16).to_le_bytes());
            self.total += u64::from(length);
            self.chunks += 1;
        }
        self.block.add(document);
        self.documents += 1;
        if self.block.is_full() {
            self.close_block();
        }
    }

    fn close_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.documents > 0 {
            self.row_blocks.extend_from_slice(&(self.rows.len() as u64).to_le_bytes());
            self.row_blocks.extend_from_slice(&self.first.0.to_le_bytes());
            self.row_blocks.extend_from_slice(&self.first.1.to_le_bytes());
            self.rows.extend(block.finish());
        }
        self.first = (self.documents, self.chunks);
    }

    /// The bytes of the segment file.
    pub(crate) fn finish(mut self, catalog: Stamp, id: u64, on: u64, about: &Trailer) -> Vec<u8> {
        self.close_block();
        // The end of the last block, and the numbers of documents and chunks.
        self.row_blocks.extend_from_slice(&(self.rows.len() as u64).to_le_bytes());
        self.row_blocks.extend_from_slice(&self.documents.to_le_bytes());
        self.row_blocks.extend_from_slice(&self.chunks.to_le_bytes());
        append_checksum(&mut self.row_blocks, 0);
        append_checksum(&mut self.lengths, 0);
        let texts = self.tokenizer.texts();
        let mut order: Vec<u32> =
            (0..self.lists.len() as u32).filter(|&term| self.lists[term as usize].count > 0).collect();
        order.sort_unstable_by_key(|&term| &*texts[term as usize]);
        let (mut terms, mut term_blocks, mut long) = (vec![], vec![], vec![]);
        let mut first = "";
        for block in order.chunks(TERMS_OF_BLOCK) {
            let start = terms.len();
            put(&mut terms, long.len() as u64);
            put(&mut terms, block.len() as u64);
            let mut before = &*texts[block[0] as usize];
            put_term(&mut term_blocks, first, before);
            first = before;
            for &term in &block[1..] {
                let text = &*texts[term as usize];
                put_term(&mut terms, before, text);
                before = text;
            }
            let mut inline = BitWriter::default();
            for &term in block {
                let list = &mut self.lists[term as usize];
                inline.gamma(list.count);
                if list.count <= SHORT {
                    list.write(&mut inline, self.chunks);
                } else {
                    let start = long.len();
                    let mut writer = BitWriter::default();
                    list.write(&mut writer, self.chunks);
                    long.extend(writer.finish());
                    append_checksum(&mut long, start);
                    inline.gamma((long.len() - start) as u32);
                }
                list.bytes = vec![];
            }
            terms.extend(inline.finish());
            append_checksum(&mut terms, start);
            put(&mut term_blocks, (terms.len() - start) as u64);
        }
        append_checksum(&mut term_blocks, 0);
        let sections: [Vec<u8>; SECTIONS] =
            [self.rows, self.row_blocks, self.lengths, terms, term_blocks, long, about.write()];
        let lengths = std::array::from_fn(|n| sections[n].len() as u64);
        let mut bytes = Header { catalog, id, on, total: self.total, sections: lengths }.write();
        bytes.extend(sections.into_iter().flatten());
        bytes
    }
}

/// Writes `text` without its common prefix with `before`, the previous term. Both lengths usually fit in one
/// byte.
fn put_term(bytes: &mut Vec<u8>, before: &str, text: &str) {
    let shared = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    let rest = text.len() - shared;
    bytes.push((shared.min(15) << 4 | rest.min(15)) as u8);
    for length in [shared, rest].into_iter().filter(|length| *length >= 15) {
        put(bytes, length as u64);
    }
    bytes.extend_from_slice(&text.as_bytes()[shared..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_have_longer_distances() {
        assert_eq!([rice_bits(1_000, 1_000), rice_bits(1_000, 10), rice_bits(1_000, 1), rice_bits(0, 0)], [0, 6, 9, 0]);
    }
}
