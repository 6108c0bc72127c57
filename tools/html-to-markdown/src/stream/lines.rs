//! The lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

use ragmaker_text::INPUT_TOO_LARGE;

use super::record::Item;

/// The lines of `input` as items. A line over the limit is truncated, and its rest is skipped.
pub(super) struct InputLines<R> {
    input: R,
    /// The longest line, in bytes.
    most: usize,
    max_bytes: usize,
    ended: bool,
}

impl<R: BufRead> InputLines<R> {
    /// `max_bytes` is the largest page. A Japanese page escaped as JSON takes up to twice as many bytes, and
    /// base64 a third more.
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input, most: max_bytes.saturating_mul(2).saturating_add(1 << 20), max_bytes, ended: false }
    }

    fn read(&mut self) -> io::Result<Option<Item>> {
        let mut line = vec![];
        let read = self.input.by_ref().take(self.most as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
            return Ok(Some(Item::Line(line)));
        }
        if read < self.most {
            return Ok(Some(Item::Line(line)));
        }
        let skipped = skip_line(&mut self.input)?;
        line.truncate(1 << 16);
        let message = format!(
            "the line has {} bytes: more than a page of {} bytes can take",
            read as u64 + skipped,
            self.max_bytes
        );
        Ok(Some(Item::Cut { start: line, error: INPUT_TOO_LARGE.error(message).remedy("Raise --max-bytes.") }))
    }
}

/// Skips the rest of a line, and returns the number of its bytes.
fn skip_line(input: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        skipped += used as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}

impl<R: BufRead> Iterator for InputLines<R> {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(3 << 20);
        let text = format!("a\r\n\n{long}\nlast");
        let items: Vec<Item> = InputLines::new(text.as_bytes(), 1 << 10).map(Result::unwrap).collect();
        let [Item::Line(a), Item::Line(empty), Item::Cut { start, error }, Item::Line(last)] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!((&a[..], &empty[..], &last[..]), (&b"a"[..], &b""[..], &b"last"[..]));
        assert_eq!(start.len(), 1 << 16);
        assert!(error.is(INPUT_TOO_LARGE) && error.message().contains("3145729 bytes"), "{error}");
    }

    #[test]
    fn empty_input_has_no_lines() {
        assert_eq!(InputLines::new(&b""[..], 10).count(), 0);
        assert_eq!(InputLines::new(&b"\n"[..], 10).count(), 1);
    }
}
