//! The lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

use ragmaker_text::INPUT_TOO_LARGE;

use super::record::Item;

/// The longest text of an outline, in bytes.
const MAX_TEXT: usize = 1 << 13;
/// The longest outline, in bytes.
const MAX_OUTLINE: usize = 1 << 16;

/// The lines of `input` as items. Of a line over the limit, the outline is kept.
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
        let mut outline = Outline::default();
        outline.add(&line);
        let skipped = skip_line(&mut self.input, &mut outline)?;
        let message = format!(
            "the line has {} bytes: more than a page of {} bytes can take",
            read as u64 + skipped,
            self.max_bytes
        );
        Ok(Some(Item::Cut {
            outline: outline.line,
            error: INPUT_TOO_LARGE.error(message).remedy("Raise --max-bytes."),
        }))
    }
}

/// A line of JSON with `null` in place of long texts, so that the members after the page are known.
#[derive(Default)]
struct Outline {
    line: Vec<u8>,
    /// Where the current text starts, with its quotation mark.
    text: Option<usize>,
    is_long: bool,
    is_escaped: bool,
}

impl Outline {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let has_room = self.line.len() < MAX_OUTLINE;
            let Some(start) = self.text else {
                self.text = (byte == b'"').then_some(self.line.len());
                self.line.extend(has_room.then_some(byte));
                continue;
            };
            let ends = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.is_long |= self.line.len() - start > MAX_TEXT;
            if !self.is_long {
                self.line.extend(has_room.then_some(byte));
            }
            if ends {
                if self.is_long {
                    self.line.truncate(start);
                    self.line.extend(b"null");
                }
                (self.text, self.is_long) = (None, false);
            }
        }
    }
}

/// Adds the rest of a line to its outline, and returns the number of its bytes.
fn skip_line(input: &mut impl BufRead, outline: &mut Outline) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        outline.add(&buffer[..end.unwrap_or(used)]);
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
        let [Item::Line(a), Item::Line(empty), Item::Cut { outline, error }, Item::Line(last)] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!((&a[..], &empty[..], &last[..]), (&b"a"[..], &b""[..], &b"last"[..]));
        assert_eq!(outline.len(), MAX_OUTLINE);
        assert!(error.is(INPUT_TOO_LARGE) && error.message().contains("3145729 bytes"), "{error}");
    }

    #[test]
    fn the_outline_of_a_long_line_has_the_members_after_its_page() {
        let page = r#"<p class=\"a\">\\"#.repeat(1 << 18);
        let line = format!(r#"{{"html": "{page}", "id": "a\"b", "tags": ["", "{page}", 3]}}"#);
        for line in [line.clone(), line + "\n"] {
            let items: Vec<Item> = InputLines::new(line.as_bytes(), 1 << 10).map(Result::unwrap).collect();
            let [Item::Cut { outline, error }] = &items[..] else { panic!("{items:?}") };
            assert_eq!(outline, br#"{"html": null, "id": "a\"b", "tags": ["", null, 3]}"#);
            assert!(error.message().contains(&format!("{} bytes", line.len())), "{error}");
        }
    }

    #[test]
    fn empty_input_has_no_lines() {
        assert_eq!(InputLines::new(&b""[..], 10).count(), 0);
        assert_eq!(InputLines::new(&b"\n"[..], 10).count(), 1);
    }
}
