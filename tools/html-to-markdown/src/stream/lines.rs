//! The lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

use super::{codes::INVALID_RECORD, record::Item};

/// The longest text of an outline, in bytes.
const MAX_TEXT: usize = 1 << 13;
/// The longest outline, in bytes.
const MAX_OUTLINE: usize = 1 << 16;

/// The lines of `input` as items. Of a line over the limit and of one that is not UTF-8, the outline is kept.
pub(super) struct InputLines<R> {
    input: R,
    /// The longest line, in bytes.
    most: usize,
    max_bytes: usize,
    ended: bool,
}

impl<R: BufRead> InputLines<R> {
    /// `max_bytes` is the largest page. The other members have 1 MiB.
    ///
    /// An escape such as `\u0041` takes six bytes for a character of one to three bytes, so no page within the limit is
    /// refused for its escapes. A page of Russian takes three times its bytes, one of Japanese twice, and base64 a third
    /// more. The bound costs no memory unless a line is so long: each line takes as much as it has.
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input, most: max_bytes.saturating_mul(6).saturating_add(1 << 20), max_bytes, ended: false }
    }

    fn read(&mut self) -> io::Result<Option<Item>> {
        let mut line = vec![];
        let read = self.input.by_ref().take(self.most as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
            return Ok(Some(whole(line)));
        }
        if read < self.most {
            return Ok(Some(whole(line)));
        }
        let mut outline = Outline::default();
        outline.add(&line);
        let skipped = skip_line(&mut self.input, &mut outline)?;
        let message = format!(
            "the line has {} bytes: more than a page of {} bytes can take",
            read as u64 + skipped,
            self.max_bytes
        );
        Ok(Some(outline.item(INPUT_TOO_LARGE.error(message).remedy("Raise --max-bytes."))))
    }
}

/// The item for a line that was read to its end.
fn whole(line: Vec<u8>) -> Item {
    String::from_utf8(line).map_or_else(
        |not_utf8| {
            // A JSON parser stops at the first such byte, and does not find an id after it.
            let mut outline = Outline::default();
            outline.add(not_utf8.as_bytes());
            outline.item(INVALID_RECORD.error(format!("the line is not UTF-8: {}", not_utf8.utf8_error())))
        },
        Item::Line,
    )
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
    /// The item for a line that is not read because of `error`.
    fn item(self, error: Error) -> Item {
        Item::Unread { outline: String::from_utf8_lossy(&self.line).into_owned(), error }
    }

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
        let [Item::Line(a), Item::Line(empty), Item::Unread { outline, error }, Item::Line(last)] = &items[..] else {
            panic!("{items:?}")
        };
        assert_eq!((&a[..], &empty[..], &last[..]), ("a", "", "last"));
        assert_eq!(outline.len(), MAX_OUTLINE);
        assert!(error.is(INPUT_TOO_LARGE) && error.message().contains("3145729 bytes"), "{error}");
    }

    #[test]
    fn a_page_within_the_limit_is_read_however_it_is_escaped() {
        for character in ["a", "\u{43f}", "\u{6f6e}", "\u{1f30a}"] {
            let size = 1 << 20;
            let escaped: String =
                character.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
            let line = format!(r#"{{"html": "{}"}}"#, escaped.repeat(size / character.len()));
            let items: Vec<Item> = InputLines::new(line.as_bytes(), size).map(Result::unwrap).collect();
            assert!(matches!(&items[..], [Item::Line(read)] if *read == line), "{character}");
        }
    }

    #[test]
    fn the_outline_of_a_long_line_has_the_members_after_its_page() {
        let page = r#"<p class=\"a\">\\"#.repeat(1 << 18);
        let line = format!(r#"{{"html": "{page}", "id": "a\"b", "tags": ["", "{page}", 3]}}"#);
        for line in [line.clone(), line + "\n"] {
            let items: Vec<Item> = InputLines::new(line.as_bytes(), 1 << 10).map(Result::unwrap).collect();
            let [Item::Unread { outline, error }] = &items[..] else { panic!("{items:?}") };
            assert_eq!(outline, r#"{"html": null, "id": "a\"b", "tags": ["", null, 3]}"#);
            assert!(error.message().contains(&format!("{} bytes", line.len())), "{error}");
        }
    }

    #[test]
    fn the_outline_of_a_line_that_is_not_utf8_has_the_members_after_the_wrong_byte() {
        for (line, expected) in [
            (&b"{\"html\": \"caf\xE9\", \"id\": 7}"[..], "{\"html\": \"caf\u{FFFD}\", \"id\": 7}"),
            (b"{\"html\": \"\xE9\\\"\", \"id\": 7}", "{\"html\": \"\u{FFFD}\\\"\", \"id\": 7}"),
            (b"\xFF", "\u{FFFD}"),
        ] {
            let items: Vec<Item> = InputLines::new(line, 1 << 10).map(Result::unwrap).collect();
            let [Item::Unread { outline, error }] = &items[..] else { panic!("{items:?}") };
            assert_eq!(outline, expected);
            assert!(error.is(INVALID_RECORD), "{error}");
        }
    }

    #[test]
    fn empty_input_has_no_lines() {
        assert_eq!(InputLines::new(&b""[..], 10).count(), 0);
        assert_eq!(InputLines::new(&b"\n"[..], 10).count(), 1);
    }
}
