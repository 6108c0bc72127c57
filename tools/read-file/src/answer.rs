//! The answer of the tool.

use std::{cell::Cell, io, rc::Rc};

use ragmaker_text::{ByteSource, Chunks, Decode};
use ragmaker_tool::{JsonSchema, NextWithin};
use serde::{Serialize, Serializer, ser};
use sha2::{Digest, Sha256};

use crate::base64::Base64;

/// The largest file of which a checksum is taken.
const MAX_CHECKED: u64 = 16 << 20;

/// A file, or a page of it.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used; `-` is standard input.
    pub path: String,
    /// The text, newlines as they are in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The bytes in base64, where the file is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// The kind of the file by its content.
    pub kind: FileKind,
    /// Its MIME type.
    pub mime_type: &'static str,
    /// The width of an image in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// The height of an image in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
    /// The encoding that a text is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The ends of its first lines: lf, crlf, cr, mixed or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newline: Option<&'static str>,
    /// Whether bytes that are invalid in the encoding are shown as U+FFFD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossy: Option<Lossy>,
    /// The number of lines in the file; null if it is too large to count (over 256 MiB) or not text.
    pub total: Option<u64>,
    /// The first and the last line returned, counted from 1; null if they were not counted.
    pub range: Option<Range>,
    /// Whether requested lines remain after the returned ones, or the bytes of an image are too long for an answer.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<NextWithin>,
    /// The position of this page in the file, in words.
    pub message: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// When it was last changed, in UTC; null for standard input.
    pub modified: Option<String>,
    /// The SHA-256 of the whole file; null for a file over 16 MiB.
    pub sha256: Option<String>,
}

impl Answer {
    /// The facts about a file before it is read.
    pub(crate) fn of(path: String, modified: Option<String>) -> Self {
        Self {
            path,
            content: None,
            data: None,
            kind: FileKind::Text,
            mime_type: "text/plain",
            width: None,
            height: None,
            encoding: None,
            newline: None,
            lossy: None,
            total: None,
            range: None,
            truncated: false,
            next: None,
            message: String::new(),
            size: 0,
            modified,
            sha256: None,
        }
    }

    /// A frame to measure: `answer` with everything around its text as long as it can be printed.
    pub(crate) fn widest(answer: &Self) -> Self {
        Self {
            path: answer.path.clone(),
            content: None,
            data: None,
            kind: answer.kind,
            mime_type: answer.mime_type,
            width: Some(usize::MAX),
            height: Some(usize::MAX),
            encoding: Some("x".repeat(40)),
            newline: Some("mixed"),
            lossy: Some(Lossy::default()),
            total: Some(u64::MAX),
            range: Some(Range { start_line: u64::MAX, end_line: u64::MAX }),
            truncated: true,
            next: Some(NextWithin::WIDEST),
            message: "x".repeat(300),
            size: u64::MAX,
            modified: answer.modified.clone(),
            sha256: Some("x".repeat(64)),
        }
    }

    /// Adds the size and the checksum of `source`.
    pub(crate) fn measured(self, source: &ByteSource) -> io::Result<Self> {
        Ok(Self { size: source.size(), sha256: checksum(source)?, ..self })
    }
}

fn checksum(source: &ByteSource) -> io::Result<Option<String>> {
    if source.size() > MAX_CHECKED {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    let mut block = source.buffer(64 * 1024);
    let mut at = 0;
    loop {
        let read = source.read_at(at, &mut block)?;
        if read == 0 {
            return Ok(Some(format!("{:x}", hash.finalize())));
        }
        hash.update(&block[..read]);
        at += read as u64;
    }
}

/// The kind of a file by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Text in some encoding.
    Text,
    /// An image.
    Image,
    /// A PDF document.
    Pdf,
    /// An office document or a book, shown as Markdown.
    Document,
    /// Anything else.
    Binary,
}

/// The bytes of a file, printed as base64.
pub struct Data(pub ByteSource);

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failure = Cell::new(None);
        let done = serializer.collect_str(&Base64 { source: &self.0, failure: &failure })?;
        whole(done, failure, &self.0)
    }
}

/// The result `done`, if all of `source` was read: a text that ended early must not look complete.
fn whole<T, E: ser::Error>(done: T, failure: Cell<Option<io::Error>>, source: &ByteSource) -> Result<T, E> {
    let failure = failure.into_inner().map_or_else(|| source.check_not_truncated(), Err);
    failure.map(|()| done).map_err(E::custom)
}

/// Lines, counted from 1, both included.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct Range {
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
}

/// Text in memory, or text that is read during printing.
pub enum Content {
    /// Text in memory.
    Page(String),
    /// A part of a file that may be larger than memory.
    Stream(Stream),
}

/// Whether text was lossy: known when the content has been printed.
#[derive(Clone, Debug, Default)]
pub struct Lossy(Rc<Cell<bool>>);

impl Lossy {
    /// A new flag with its value before printing.
    pub fn new(lossy: bool) -> Self {
        Self(Rc::new(Cell::new(lossy)))
    }

    /// Says that it was, if it was.
    pub fn add(&self, lossy: bool) {
        self.0.set(self.0.get() || lossy);
    }
}

/// A part of a file.
pub struct Stream {
    /// The file.
    pub source: ByteSource,
    /// Makes a decoder of its encoding.
    pub decoder: Box<dyn Fn() -> Box<dyn Decode>>,
    /// The start of the part, in bytes.
    pub start: u64,
    /// The end of the part, in bytes.
    pub end: u64,
    /// The number of characters to skip.
    pub skip: u64,
    /// The flag that is set if bytes are not valid text.
    pub lossy: Lossy,
}

impl Serialize for Lossy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.get().serialize(serializer)
    }
}

/// Types that are printed as another type.
macro_rules! printed_as {
    ($($own:ty: $printed:ty),*) => {$(
        impl JsonSchema for $own {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$printed>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$printed>::json_schema(generator)
            }
        }
    )*};
}

printed_as!(Lossy: bool, Content: String, Data: String);

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Page(text) => serializer.serialize_str(text),
            Self::Stream(stream) => {
                let failure = Cell::new(None);
                let done = serializer.collect_str(&StreamText { stream, failure: &failure })?;
                whole(done, failure, &stream.source)
            }
        }
    }
}

/// A stream as `serde` takes text of unknown length: by its `Display`.
struct StreamText<'a> {
    stream: &'a Stream,
    failure: &'a Cell<Option<io::Error>>,
}

impl std::fmt::Display for StreamText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stream { source, decoder, start, end, skip, lossy } = self.stream;
        let mut chunks = Chunks::new(source, *start, *end, *skip, decoder());
        loop {
            match chunks.next() {
                Ok(Some(text)) => f.write_str(text)?,
                Ok(None) => break,
                Err(error) => {
                    self.failure.set(Some(error));
                    break;
                }
            }
        }
        lossy.add(chunks.lossy());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_text::{Unicode, UnicodeDecoder};

    use super::*;

    fn stream(bytes: &[u8], start: u64, end: u64, skip: u64) -> Content {
        let decoder = Box::new(|| Box::new(UnicodeDecoder::new(Unicode::Utf8)) as Box<dyn Decode>);
        let source = ByteSource::Memory(bytes.to_vec());
        Content::Stream(Stream { source, decoder, start, end, skip, lossy: Lossy::default() })
    }

    #[test]
    fn a_stream_is_printed_as_the_text_would_be() {
        let text = "a\"b\\\n\u{6f6e}\u{1f30a}\u{1}".as_bytes();
        for (start, end, skip) in [(0, text.len() as u64, 0), (2, 8, 1), (5, 12, 0)] {
            let expected: String =
                String::from_utf8_lossy(&text[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()])
                    .chars()
                    .skip(usize::try_from(skip).unwrap())
                    .collect();
            let printed = serde_json::to_string(&stream(text, start, end, skip)).unwrap();
            assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), expected);
        }
    }

    #[test]
    fn whether_text_was_replaced_is_known_when_it_was_printed() {
        let content = stream(b"caf\xe9", 0, 4, 0);
        let Content::Stream(Stream { lossy, .. }) = &content else { unreachable!() };
        let lossy = lossy.clone();
        assert_eq!(serde_json::to_value(&lossy).unwrap(), false);
        assert_eq!(serde_json::to_value(&content).unwrap(), "caf\u{fffd}");
        assert_eq!(serde_json::to_value(&lossy).unwrap(), true);
        lossy.add(false);
        assert_eq!(serde_json::to_value(&lossy).unwrap(), true);
    }

    #[test]
    fn bytes_are_printed_as_base64() {
        for (bytes, expected) in [(&b""[..], ""), (b"\0", "AA=="), (b"abc\xff", "YWJj/w==")] {
            assert_eq!(serde_json::to_value(Data(ByteSource::Memory(bytes.to_vec()))).unwrap(), expected);
        }
    }

    #[test]
    fn the_checksum_is_of_the_whole_file() {
        let measured = |bytes: &[u8]| {
            let answer = Answer::of("a".to_owned(), None).measured(&ByteSource::Memory(bytes.to_vec())).unwrap();
            (answer.size, answer.sha256.unwrap())
        };
        assert_eq!(measured(b"").1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            measured(b"abc"),
            (3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned())
        );
    }

    #[test]
    fn no_answer_is_wider_than_its_frame() {
        let answer = Answer::of("/\u{6f6e}/a.md".to_owned(), Some("2026-11-27T04:00:00Z".to_owned()));
        let length = |answer: &Answer| serde_json::to_string(answer).unwrap().len();
        assert!(length(&answer) < length(&Answer::widest(&answer)));
    }
}
