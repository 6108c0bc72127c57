//! The layout of printed JSON: one line per element of a top-level array, with bounded length.
//!
//! Clients cut long lines, so the outermost object and its arrays are broken into lines, and everything else stays on
//! one line. Control characters that JSON permits (DEL, C1, the Unicode line separators) are escaped, so the text of a
//! page cannot control a terminal or break a line.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The characters that are written as `\uXXXX`, in addition to those that JSON requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8 as it is.
    Utf8,
    /// All characters outside ASCII are escaped, for consoles with another encoding.
    Ascii,
}

impl Charset {
    /// [`Charset::Ascii`] if the environment variable `RAGMAKER_ASCII_JSON` is set to a value other than `0` and the
    /// empty string.
    pub fn from_env() -> Self {
        match std::env::var_os("RAGMAKER_ASCII_JSON") {
            Some(value) if !value.is_empty() && value != "0" => Self::Ascii,
            _ => Self::Utf8,
        }
    }

    fn escapes(self, c: char) -> bool {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') || (self == Self::Ascii && !c.is_ascii())
    }
}

/// Writes `value` and a newline.
pub fn write(value: &impl Serialize, charset: Charset, mut out: impl io::Write) -> serde_json::Result<()> {
    // One kind of writer for all: what prints JSON is made once, not once for each.
    let out: &mut dyn io::Write = &mut out;
    let mut serializer = Serializer::with_formatter(out, Layout { charset, is_line: false, open: vec![] });
    value.serialize(&mut serializer)?;
    serializer.into_inner().write_all(b"\n").map_err(serde_json::Error::io)
}

/// `value` as [`write()`] prints it, without the last newline.
pub fn text(value: &impl Serialize, charset: Charset) -> String {
    let mut out = vec![];
    // Writing a value to memory cannot fail.
    let _ = write(value, charset, &mut out);
    String::from_utf8_lossy(&out).trim_end().to_owned()
}

/// Writes a value on one line, for streams of objects.
pub fn write_line(value: &impl Serialize, charset: Charset, mut out: impl io::Write) -> serde_json::Result<()> {
    let out: &mut dyn io::Write = &mut out;
    let mut serializer = Serializer::with_formatter(out, Layout { charset, is_line: true, open: vec![] });
    value.serialize(&mut serializer)?;
    serializer.into_inner().write_all(b"\n").map_err(serde_json::Error::io)
}

/// The number of characters that `value` takes when it is printed.
///
/// For the budget of a page: an element of a top-level array takes seven more for its line.
pub fn cost(value: &impl Serialize, charset: Charset) -> usize {
    let mut count = Count(0);
    // Counting cannot fail, and a value that cannot be serialized is reported when it is printed.
    let _ = write(value, charset, &mut count);
    count.0
}

/// Counts characters: every byte that does not continue one.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The project's JSON layout.
struct Layout {
    charset: Charset,
    /// Whether nothing is broken into lines.
    is_line: bool,
    /// For each open value: whether its members are on separate lines, and whether it has a member yet.
    open: Vec<Open>,
}

#[derive(Clone, Copy)]
struct Open {
    lines: bool,
    started: bool,
}

impl Layout {
    fn begin<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: u8, lines: bool) -> io::Result<()> {
        self.open.push(Open { lines, started: false });
        out.write_all(&[bracket])
    }

    fn member<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        let lines = self.open.last_mut().is_some_and(|open| {
            open.started = true;
            open.lines
        });
        if !first {
            out.write_all(if lines { b"," } else { b", " })?;
        }
        if lines { self.line(out) } else { Ok(()) }
    }

    fn end<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: u8) -> io::Result<()> {
        if let Some(Open { lines: true, started: true }) = self.open.pop() {
            self.line(out)?;
        }
        out.write_all(&[bracket])
    }

    fn line<W: ?Sized + io::Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        self.open.iter().filter(|open| open.lines).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b'[', !self.is_line)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b']')
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        let lines = self.open.is_empty() && !self.is_line;
        self.begin(out, b'{', lines)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b'}')
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(|c| self.charset.escapes(c)) {
            let (plain, special) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let c = special.chars().next().unwrap_or_default();
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &special[c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn print(value: &Value, charset: Charset) -> String {
        let mut out = vec![];
        write(value, charset, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn array_elements_stand_on_their_own_lines() {
        let value = json!({"n": 1, "links": [{"text": "a", "href": "b"}, {"text": "c"}], "none": [], "in": {"x": [1]}});
        let expected = "{\n  \"n\": 1,\n  \"links\": [\n    {\"text\": \"a\", \"href\": \"b\"},\n    {\"text\": \"c\"}\n  ],\n  \"none\": [],\n  \"in\": {\"x\": [\n    1\n  ]}\n}\n";
        assert_eq!(print(&value, Charset::Utf8), expected);
    }

    #[test]
    fn an_object_of_a_stream_is_one_line() {
        let mut out = vec![];
        let value = json!({"a": "b\u{9b}", "c": {"d": [1, {"e": []}]}, "f": ["g", "h"]});
        write_line(&value, Charset::Utf8, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\": \"b\\u009b\", \"c\": {\"d\": [1, {\"e\": []}]}, \"f\": [\"g\", \"h\"]}\n"
        );
    }

    #[test]
    fn terminal_control_sequences_are_escaped() {
        assert_eq!(print(&json!("a\u{9b}2Jb\u{2028}\u{7f}"), Charset::Utf8), "\"a\\u009b2Jb\\u2028\\u007f\"\n");
        assert_eq!(print(&json!("日😀"), Charset::Ascii), "\"\\u65e5\\ud83d\\ude00\"\n");
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back(text in ".*", ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Utf8 };
            let value = json!({"a": [text.clone(), {"b": [text]}]});
            let printed = print(&value, charset);
            prop_assert!(!ascii || printed.is_ascii());
            prop_assert_eq!(cost(&value, charset), printed.chars().count());
            prop_assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), value);
        }
    }
}
