//! What the tool prints.

use std::{cell::Cell, io, rc::Rc};

use ragmaker_text::{Chunks, Source, UnicodeDecoder};
use ragmaker_tool::JsonSchema;
use serde::{Serialize, Serializer, ser};
use serde_json::{Map, Value};

/// A file's text, or a page of it.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The absolute path that was used; `-` is standard input.
    pub path: String,
    /// The text, newlines as they are in the file.
    pub content: Content,
    /// The encoding it was in.
    pub encoding: String,
    /// How its first lines end.
    pub newline: &'static str,
    /// Whether bytes that are no text of the encoding are shown as U+FFFD.
    pub lossy: Lossy,
    /// The number of lines in the file; null where it is too large to count.
    pub total_lines: Option<u64>,
    /// The first and the last line returned, counted from 1; null where that was not counted.
    pub range: Option<Range>,
    /// Whether something is left after this page.
    pub truncated: bool,
    /// The arguments that continue; null when nothing is left.
    pub next: Option<Map<String, Value>>,
    /// Where this page stands, in words.
    pub message: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// When it was last changed, in UTC.
    pub modified: Option<String>,
}

/// Lines, counted from 1, both included.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct Range {
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
}

/// Text that is at hand, or that is read as it is printed.
pub enum Content {
    /// Text at hand.
    Page(String),
    /// A part of a file that may be larger than memory.
    Stream(Stream),
}

/// Whether text was lossy: known when the content has been printed.
#[derive(Clone, Debug, Default)]
pub struct Lossy(Rc<Cell<bool>>);

impl Lossy {
    /// Says whether it was.
    pub fn set(&self, lossy: bool) {
        self.0.set(lossy);
    }
}

/// A part of a file.
pub struct Stream {
    /// The file.
    pub source: Source,
    /// Its encoding.
    pub decoder: fn() -> UnicodeDecoder,
    /// Where the part begins, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// How many characters to leave out.
    pub skip: u64,
    /// Where to say that bytes were no text.
    pub lossy: Lossy,
}

impl Serialize for Lossy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.get().serialize(serializer)
    }
}

impl JsonSchema for Lossy {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        bool::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        bool::json_schema(generator)
    }
}

impl JsonSchema for Content {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Page(text) => serializer.serialize_str(text),
            Self::Stream(stream) => {
                let failure = Cell::new(None);
                let done = serializer.collect_str(&Printed { stream, failure: &failure })?;
                // The text has ended early: the JSON must not look whole.
                failure.into_inner().map_or(Ok(done), |error: io::Error| Err(ser::Error::custom(error)))
            }
        }
    }
}

/// A stream as `serde` takes text of unknown length: by its `Display`.
struct Printed<'a> {
    stream: &'a Stream,
    failure: &'a Cell<Option<io::Error>>,
}

impl std::fmt::Display for Printed<'_> {
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
        lossy.set(chunks.lossy());
        Ok(())
    }
}
