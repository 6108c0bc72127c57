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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Unicode};

    /// The pieces of `bytes[start..end]` without `skip` characters, and whether some of it was invalid.
    fn pieces(bytes: &[u8], (start, end): (u64, u64), skip: u64) -> (Vec<String>, bool) {
        let source = ByteSource::Memory(bytes.to_vec());
        let mut chunks = Chunks::new(&source, start, end, skip, Encoding::Unicode(Unicode::Utf8).decoder());
        let mut pieces = vec![];
        while let Some(piece) = chunks.next().unwrap() {
            pieces.push(piece.to_owned());
        }
        (pieces, chunks.lossy())
    }

    #[test]
    fn a_character_across_two_blocks_is_one_and_no_piece_is_empty() {
        let text = format!("a{}", "\u{6f6e}".repeat(BLOCK));
        let end = text.len() as u64;
        let (all, lossy) = pieces(text.as_bytes(), (0, end), 0);
        assert_eq!((all.len(), all.concat() == text, lossy), (4, true, false));
        // Both more and less than the characters of a block are skipped.
        for skip in [0, 1, 5, BLOCK as u64 - 1, BLOCK as u64, BLOCK as u64 + 1] {
            let (all, _) = pieces(text.as_bytes(), (0, end), skip);
            assert!(all.iter().all(|piece| !piece.is_empty()));
            assert_eq!(all.concat().chars().count() as u64, BLOCK as u64 + 1 - skip, "{skip}");
        }
    }

    #[test]
    fn a_part_ends_where_it_is_to_end_or_where_the_source_ends() {
        assert_eq!(pieces(b"012345", (1, 4), 1).0, ["23"]);
        assert_eq!(pieces(b"012345", (4, 99), 0).0, ["45"]);
        for (range, skip) in [((3, 3), 0), ((5, 2), 0), ((9, 12), 0), ((0, 6), 6), ((0, 6), u64::MAX)] {
            assert!(pieces(b"012345", range, skip).0.is_empty(), "{range:?} {skip}");
        }
        // A character that the end cuts is invalid.
        assert_eq!(pieces("\u{6f6e}".as_bytes(), (0, 2), 0), (vec!["\u{fffd}".to_owned()], true));
    }
}
