//! The text of a part of a file, in chunks.

use std::io;

use crate::{ByteSource, Decode};

/// How many bytes are read at a time.
const BLOCK: usize = 64 * 1024;

/// Decodes the bytes `start..end` of a source in pieces, without the first `skip` characters.
pub struct Chunks<'a, D> {
    source: &'a ByteSource,
    at: u64,
    end: u64,
    /// The number of characters still to skip.
    skip: u64,
    decoder: D,
    block: Vec<u8>,
    text: String,
}

impl<'a, D: Decode> Chunks<'a, D> {
    /// Decodes from `start`, where a character begins, to `end`.
    pub fn new(source: &'a ByteSource, start: u64, end: u64, skip: u64, decoder: D) -> Self {
        Self { source, at: start, end, skip, decoder, block: vec![], text: String::new() }
    }

    /// The next piece, which is not empty; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "it lends its buffer, which an iterator cannot")]
    pub fn next(&mut self) -> io::Result<Option<&str>> {
        while self.at < self.end {
            let wanted = usize::try_from(self.end - self.at).unwrap_or(BLOCK).min(BLOCK);
            self.block.resize(wanted, 0);
            let count = self.source.read_at(self.at, &mut self.block)?;
            self.at += count as u64;
            // The file was truncated meanwhile.
            let last = self.at >= self.end || count < wanted;
            if last {
                self.at = self.end;
            }
            self.text.clear();
            self.decoder.decode(&self.block[..count], last, &mut self.text);
            let start = self.skipped();
            if start < self.text.len() {
                return Ok(Some(&self.text[start..]));
            }
        }
        Ok(None)
    }

    /// The offset of the first character after the skipped ones in the current piece.
    fn skipped(&mut self) -> usize {
        if self.skip == 0 {
            return 0;
        }
        let wanted = usize::try_from(self.skip).unwrap_or(usize::MAX);
        if let Some((at, _)) = self.text.char_indices().nth(wanted) {
            self.skip = 0;
            return at;
        }
        self.skip -= self.text.chars().count() as u64;
        self.text.len()
    }

    /// Whether there were invalid bytes so far.
    pub fn lossy(&self) -> bool {
        self.decoder.lossy()
    }
}
