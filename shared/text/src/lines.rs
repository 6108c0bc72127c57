//! The byte positions of lines, without decoding.
//!
//! A line ends after its newline. In every encoding here except UTF-16 and UTF-32, the byte 0x0A is always a newline.
//! In those two, a newline is a code unit, at an offset that is a multiple of its size.

use std::io;

use crate::{ByteSource, unicode::plain};

/// How many bytes are read at a time; a multiple of every code unit.
const BLOCK: usize = 64 * 1024;

/// A range of lines of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The start of the first line.
    pub start: u64,
    /// The end of the last line.
    pub end: u64,
    /// The number of lines before the range, if counted.
    pub before: Option<u64>,
    /// The number of lines of the text, if counted.
    pub total: Option<u64>,
    /// The text up to this offset is known to be ASCII.
    pub ascii: u64,
}

/// A text in `source` that starts at byte `begin` (after its byte order mark), with `newline` as its newline.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// The bytes.
    pub source: &'a ByteSource,
    /// The offset of the start of the text.
    pub begin: u64,
    /// The bytes of U+000A in the encoding; their length is that of a code unit.
    pub newline: &'static [u8],
}

impl Lines<'_> {
    /// `count` lines from line `first` (counted from 0) on, or all lines if `count` is `None`.
    ///
    /// All lines are counted if the text has at most `count_up_to` bytes; a longer text is read only as far as
    /// needed. `start` is `None` if the text has fewer than `first` lines.
    pub fn from_start(&self, first: u64, count: Option<u64>, count_up_to: u64) -> io::Result<(Option<u64>, Span)> {
        let size = self.source.size();
        let last = count.map(|count| first.saturating_add(count));
        let (mut start, mut end) = ((first == 0).then_some(self.begin), None);
        if last == Some(0) {
            end = Some(self.begin);
        }
        let (mut at, mut newlines, mut ascii, mut all_ascii) = (self.begin, 0, self.begin, true);
        // The end of the last newline. Text after it is a line without a newline.
        let mut ended = self.begin;
        let mut block = self.source.buffer(BLOCK);
        while at < size {
            if start.is_some() && (last.is_none() || end.is_some()) && size > count_up_to {
                break;
            }
            let read = self.source.read_at(at, &mut block)?;
            if read == 0 {
                break;
            }
            let bytes = &block[..read];
            if all_ascii {
                let plain = plain(bytes);
                all_ascii = plain == read;
                ascii = at + plain as u64;
            }
            let found = self.count(bytes);
            let mut find = |wanted: u64| {
                let index = usize::try_from(wanted - newlines - 1).unwrap_or(usize::MAX);
                self.newlines(bytes).nth(index).map(|offset| at + offset as u64)
            };
            if start.is_none() && newlines + found >= first {
                start = find(first);
            }
            if end.is_none() && last.is_some_and(|last| last > newlines && newlines + found >= last) {
                end = last.and_then(&mut find);
            }
            if let Some(offset) = self.last(bytes) {
                ended = at + offset as u64;
            }
            newlines += found;
            at += read as u64;
        }
        let total = (at >= size || at < self.begin).then(|| newlines + u64::from(ended < at));
        // A line starts after the last newline only if there is text.
        if start == Some(at) && first > 0 && total.is_some() {
            start = None;
        }
        let span = Span { start: start.unwrap_or(at), end: end.unwrap_or(size), before: Some(first), total, ascii };
        Ok((start, span))
    }

    /// The last `count` lines, searched from the end.
    ///
    /// All lines are counted if the text has at most `count_up_to` bytes.
    pub fn from_end(&self, count: u64, count_up_to: u64) -> io::Result<Span> {
        let size = self.source.size();
        let unit = self.newline.len() as u64;
        let mut start = if count == 0 { size } else { self.begin };
        let (mut at, mut found) = (size, 0);
        let mut block = self.source.buffer(BLOCK);
        while count > 0 && at > self.begin {
            // Blocks are aligned to code units, counted from the start of the text.
            let from = at.saturating_sub(BLOCK as u64).max(self.begin);
            let from = from + (from - self.begin).next_multiple_of(unit) - (from - self.begin);
            let from = if from >= at { self.begin } else { from };
            let length = usize::try_from(at - from).unwrap_or(BLOCK).min(BLOCK);
            let read = self.source.read_at(from, &mut block[..length])?;
            let ends: Vec<u64> = self.newlines(&block[..read]).map(|offset| from + offset as u64).collect();
            // A newline at the end of the text does not start another line.
            let begins = ends.iter().rev().filter(|&&end| end < size);
            let needed = usize::try_from(count - found - 1).unwrap_or(usize::MAX);
            if let Some(&offset) = begins.clone().nth(needed) {
                start = offset;
                break;
            }
            found += begins.count() as u64;
            at = from;
        }
        if size > count_up_to {
            // At the start of the text, all lines are counted.
            let all = (start == self.begin && size > self.begin).then_some(found + 1);
            return Ok(Span { start, end: size, before: all.map(|_| 0), total: all, ascii: self.begin });
        }
        let (_, span) = self.from_start(0, None, u64::MAX)?;
        let mut before = 0;
        if let Some(total) = span.total {
            before = total.saturating_sub(count);
        }
        Ok(Span { start, before: Some(before), ..span })
    }

    /// The ends of the newlines in `bytes`, which must start at a code unit.
    fn newlines<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = usize> + use<'b> {
        let newline = self.newline;
        let before = newline.iter().position(|&byte| byte == b'\n').unwrap_or_default();
        memchr::memchr_iter(b'\n', bytes).filter_map(move |at| {
            if newline.len() == 1 {
                return Some(at + 1);
            }
            let start = at.checked_sub(before)?;
            let whole = start % newline.len() == 0 && bytes[start..].starts_with(newline);
            whole.then_some(start + newline.len())
        })
    }

    fn count(&self, bytes: &[u8]) -> u64 {
        if self.newline.len() == 1 {
            // Faster than finding each newline.
            return memchr::memchr_iter(b'\n', bytes).count() as u64;
        }
        self.newlines(bytes).count() as u64
    }

    fn last(&self, bytes: &[u8]) -> Option<usize> {
        if self.newline.len() == 1 {
            return memchr::memrchr(b'\n', bytes).map(|at| at + 1);
        }
        self.newlines(bytes).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unicode;
    use proptest::prelude::*;

    fn span(text: &str, first: u64, count: Option<u64>) -> (Option<String>, Option<u64>) {
        let source = ByteSource::Memory(text.as_bytes().to_vec());
        let lines = Lines { source: &source, begin: 0, newline: b"\n" };
        let (start, span) = lines.from_start(first, count, u64::MAX).unwrap();
        let cut = |start: u64| text[usize::try_from(start).unwrap()..usize::try_from(span.end).unwrap()].to_owned();
        (start.map(cut), span.total)
    }

    #[test]
    fn lines_are_counted_with_and_without_a_final_newline() {
        assert_eq!(span("", 0, None), (Some(String::new()), Some(0)));
        assert_eq!(span("a", 0, None), (Some("a".into()), Some(1)));
        assert_eq!(span("a\n", 0, None), (Some("a\n".into()), Some(1)));
        assert_eq!(span("a\n", 1, None), (None, Some(1)));
        assert_eq!(span("a\nb\nc", 1, Some(1)), (Some("b\n".into()), Some(3)));
        assert_eq!(span("a\nb\nc", 2, Some(9)), (Some("c".into()), Some(3)));
        assert_eq!(span("a\nb\nc", 3, None), (None, Some(3)));
        assert_eq!(span("a\nb", 0, Some(0)), (Some(String::new()), Some(2)));
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(
            text in "[a\u{10a}\u{a0a}\u{d40a}\n]{0,40}", first in 0_usize..8, count in 0_usize..8, filler in 0_usize..3,
        ) {
            // Lines that cross from block to block.
            let text = "x".repeat(filler * (BLOCK / 2 - 3)) + &text;
            let expected: Vec<&str> = text.split_inclusive('\n').collect();
            for unicode in Unicode::ALL {
                let encode = |text: &str| -> Vec<u8> {
                    match unicode {
                        Unicode::Utf8 => text.as_bytes().to_vec(),
                        Unicode::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                        Unicode::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                        Unicode::Utf32Le => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
                        Unicode::Utf32Be => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
                    }
                };
                let bytes = [unicode.mark(), &encode(&text)].concat();
                let source = ByteSource::Memory(bytes.clone());
                let lines = Lines { source: &source, begin: unicode.mark().len() as u64, newline: unicode.newline() };
                let cut = |start: u64, end: u64| &bytes[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];

                let (start, span) = lines.from_start(first as u64, Some(count as u64), u64::MAX).unwrap();
                prop_assert_eq!(span.total, Some(expected.len() as u64));
                prop_assert_eq!(start.is_some(), first < expected.len() || first == 0);
                if let Some(start) = start {
                    let wanted: String = expected.iter().skip(first).take(count).copied().collect();
                    prop_assert_eq!(cut(start, span.end), &encode(&wanted));
                }
                let tail = lines.from_end(count as u64, u64::MAX).unwrap();
                let wanted: String = expected[expected.len().saturating_sub(count)..].concat();
                prop_assert_eq!(cut(tail.start, tail.end), &encode(&wanted));
            }
        }
    }
}
