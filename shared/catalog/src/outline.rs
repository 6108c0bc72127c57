//! The outline of a catalog's text: the byte ranges of its members and documents.
//!
//! Parsing the text to values and printing them again would change what people wrote: the spelling of numbers and
//! escapes, white space, the order of members. So the outline keeps slices of the text with their positions, and an
//! edit replaces bytes. [`serde_json`] parses values and documents; this module reads only the punctuation between
//! them. A list of `RawValue` would give the positions of documents as well, but each document would have to be parsed
//! again for its URL (30 ms for 100,000), and its errors do not say which member is missing.

use std::ops::Range;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The member of a catalog that holds its documents.
const DOCUMENTS: &str = "documents";

/// The reason why a text is not a catalog.
#[derive(Debug)]
pub(crate) struct Corrupt {
    pub(crate) reason: String,
    /// The byte position of the error.
    pub(crate) at: usize,
}

/// One member of an object, with the layout of another like it.
#[derive(Clone, Debug)]
pub(crate) struct Member<'a> {
    /// The white space before the key.
    pub(crate) gap: &'a str,
    /// The key, as it is spelled.
    pub(crate) key: &'a str,
    /// The text between key and value: a colon and white space.
    pub(crate) colon: &'a str,
    /// The value, as it is spelled.
    pub(crate) value: &'a str,
    /// From the key's first byte to the value's last.
    pub(crate) range: Range<usize>,
}

impl Member<'_> {
    /// The range of the value.
    pub(crate) fn value_range(&self) -> Range<usize> {
        self.range.end - self.value.len()..self.range.end
    }

    /// Whether the key is `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        spells(self.key, name)
    }
}

/// A document in the list. There may be very many of them, so this is small.
#[derive(Debug)]
pub(crate) struct DocumentSpan<'a> {
    /// The range of the object.
    pub(crate) range: Range<usize>,
    url: Option<&'a RawValue>,
}

impl DocumentSpan<'_> {
    /// Whether it was fetched from `url`.
    pub(crate) fn has_url(&self, url: &str) -> bool {
        self.url.is_some_and(|json| spells(json.get(), url))
    }
}

/// The list of documents.
#[derive(Debug)]
pub(crate) struct DocumentSpans<'a> {
    /// The member of the list, including its key.
    pub(crate) member: Member<'a>,
    pub(crate) items: Vec<DocumentSpan<'a>>,
    /// The white space that follow the opening bracket.
    pub(crate) gap: &'a str,
    /// The byte position after the last document, or after the opening bracket if there are no documents.
    pub(crate) end: usize,
}

/// The outline of a catalog.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    text: &'a str,
    /// The members of the outermost object, the documents aside.
    pub(crate) members: Vec<Member<'a>>,
    pub(crate) documents: DocumentSpans<'a>,
}

impl<'a> Outline<'a> {
    /// Checks the catalog `bytes` and finds what is where in it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let text = str::from_utf8(bytes)
            .map_err(|error| Corrupt { reason: "it is not UTF-8".into(), at: error.valid_up_to() })?;
        // Some editors write a byte order mark.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut cursor = Cursor { text, at };
        let mut list = None;
        let mut members = cursor.object(|cursor, key| {
            if !spells(key, DOCUMENTS) {
                return cursor.value();
            }
            if list.is_some() {
                return cursor.fail("it has `documents` twice");
            }
            let start = cursor.at;
            list = Some(cursor.documents()?);
            Ok(&text[start..cursor.at])
        })?;
        cursor.blank();
        if cursor.peek().is_some() {
            return cursor.fail("something follows the end of the object");
        }
        let position = members.iter().position(|member| member.is(DOCUMENTS));
        let (Some(position), Some((items, gap, end))) = (position, list) else {
            return cursor.fail("it has no `documents`");
        };
        let member = members.remove(position);
        Ok(Self { text, members, documents: DocumentSpans { member, items, gap, end } })
    }

    /// The fields of `document` that callers ask for.
    pub(crate) fn fields_of(&self, document: &DocumentSpan<'_>) -> Result<Fields<'a>, Corrupt> {
        Cursor { text: self.text, at: document.range.start }.parse()
    }

    /// The members of `document`, with their places in the catalog.
    pub(crate) fn members_of(&self, document: &DocumentSpan<'_>) -> Result<Vec<Member<'a>>, Corrupt> {
        Cursor { text: self.text, at: document.range.start }.object(|cursor, _| cursor.value())
    }
}

/// Whether the JSON string `json` has the value `text`, however it is escaped.
fn spells(json: &str, text: &str) -> bool {
    let Some(spelled) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    if spelled.len() <= text.len() {
        // An escape is longer than what it stands for.
        return spelled == text;
    }
    spelled.contains('\\') && serde_json::from_str::<String>(json).is_ok_and(|json| json == text)
}

/// A place in a text, which moves over its tokens.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, Corrupt> {
        Err(Corrupt { reason: reason.into(), at: self.at })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips and returns the white space before the next token.
    fn blank(&mut self) -> &'a str {
        let start = self.at;
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Skips white space and the one of `tokens` that follows them.
    fn token(&mut self, tokens: &[u8], expected: &str) -> Result<u8, Corrupt> {
        self.blank();
        match self.peek() {
            Some(byte) if tokens.contains(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            Some(_) => self.fail(format!("expected {expected}")),
            None => self.fail(format!("it ends where {expected} should be")),
        }
    }

    /// Parses the value that starts here, and moves behind it.
    fn parse<T: Deserialize<'a>>(&mut self) -> Result<T, Corrupt> {
        let rest = &self.text[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => {
                self.at += offset_of(&error, rest);
                self.fail(reason(&error))
            }
            None => self.fail("it ends where a value should be"),
        }
    }

    /// Any value, as it is spelled.
    fn value(&mut self) -> Result<&'a str, Corrupt> {
        self.parse::<&RawValue>().map(RawValue::get)
    }

    /// Parses an object. For each member, `value` receives the key and the start of the value, and reads the value.
    fn object(
        &mut self,
        mut value: impl FnMut(&mut Self, &str) -> Result<&'a str, Corrupt>,
    ) -> Result<Vec<Member<'a>>, Corrupt> {
        self.token(b"{", "an object")?;
        let mut members = vec![];
        loop {
            let gap = self.blank();
            if members.is_empty() && self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(members);
            }
            if self.peek() != Some(b'"') {
                return self.fail("expected a key");
            }
            let start = self.at;
            let key = self.value()?;
            let colon = self.at;
            self.token(b":", "`:`")?;
            self.blank();
            let colon = &self.text[colon..self.at];
            let value = value(self, key)?;
            members.push(Member { gap, key, colon, value, range: start..self.at });
            if self.token(b",}", "`,` or `}`")? == b'}' {
                return Ok(members);
            }
        }
    }

    /// The list of documents: the documents, the white space before the first, where the last ends.
    fn documents(&mut self) -> Result<(Vec<DocumentSpan<'a>>, &'a str, usize), Corrupt> {
        self.token(b"[", "an array of documents")?;
        let start = self.at;
        let gap = self.blank();
        let mut documents = vec![];
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok((documents, gap, start));
        }
        loop {
            let start = self.at;
            let Fields { url, .. } = self.parse()?;
            let end = self.at;
            documents.push(DocumentSpan { range: start..end, url });
            if self.token(b",]", "`,` or `]`")? == b']' {
                return Ok((documents, gap, end));
            }
            self.blank();
        }
    }
}

/// The description of the error without its position, which is relative to the parsed part.
fn reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    reason.strip_suffix(&place).unwrap_or(&reason).to_owned()
}

/// The position of an error in `text`; serde counts lines and columns from 1.
fn offset_of(error: &serde_json::Error, text: &str) -> usize {
    let mut newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let line_start = match error.line() {
        0 | 1 => 0,
        line => newlines.nth(line - 2).map_or(0, |(at, _)| at + 1),
    };
    (line_start + error.column().saturating_sub(1)).min(text.len())
}

/// The fields of a document that callers ask for, as they are spelled.
///
/// Of several members with one name the last one counts, as for most parsers.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub(crate) url: Option<&'a RawValue>,
    pub(crate) title: Option<&'a RawValue>,
    pub(crate) summary: Option<&'a RawValue>,
    pub(crate) path: Option<&'a RawValue>,
    pub(crate) fetched_at: Option<&'a RawValue>,
    pub(crate) status: Option<&'a RawValue>,
    pub(crate) checked_at: Option<&'a RawValue>,
    pub(crate) content_hash: Option<&'a RawValue>,
    pub(crate) source: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Url,
    Title,
    Summary,
    Path,
    #[serde(rename = "fetched_at")]
    FetchedAt,
    Status,
    #[serde(rename = "checked_at")]
    CheckedAt,
    #[serde(rename = "content_hash")]
    ContentHash,
    Source,
    #[serde(other)]
    Other,
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key()? {
            let field = match key {
                Key::Url => &mut fields.url,
                Key::Title => &mut fields.title,
                Key::Summary => &mut fields.summary,
                Key::Path => &mut fields.path,
                Key::FetchedAt => &mut fields.fetched_at,
                Key::Status => &mut fields.status,
                Key::CheckedAt => &mut fields.checked_at,
                Key::ContentHash => &mut fields.content_hash,
                Key::Source => &mut fields.source,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = Some(map.next_value()?);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &[u8]) -> (String, usize) {
        match Outline::parse(text) {
            Err(Corrupt { reason, at }) => (reason, at),
            other => panic!("{:?} is refused, not {other:?}", String::from_utf8_lossy(text)),
        }
    }

    #[test]
    fn invalid_catalogs_are_rejected_with_the_position() {
        for (text, reason, at) in [
            (&b""[..], "it ends where an object should be", 0),
            (b" \n ", "it ends where an object should be", 3),
            (b"[]", "expected an object", 0),
            (b"\xEF\xBB\xBF[]", "expected an object", 3),
            (b"\xEF\xBB\xBF\xEF\xBB\xBF{\"documents\":[]}", "expected an object", 3),
            (b"{}", "it has no `documents`", 2),
            (b"{\"documents\": {}}", "expected an array of documents", 14),
            (b"{\"documents\": []", "it ends where `,` or `}` should be", 16),
            (b"{\"documents\": [{\"url\": \"x\"", "EOF while parsing an object", 25),
            (b"{\"documents\": [] x", "expected `,` or `}`", 17),
            (b"{\"documents\": []} x", "something follows the end of the object", 18),
            (b"{\"documents\": [], \"d\\u006fcuments\": []}", "it has `documents` twice", 36),
            (b"{\"documents\": [],}", "expected a key", 17),
            (b"{documents: []}", "expected a key", 1),
            (b"{\"documents\" []}", "expected `:`", 13),
            (b"{\"documents\": [{},]}", "expected value", 18),
            (b"{\"documents\": [{} {}]}", "expected `,` or `]`", 18),
            (b"{\"title\": \"\xff\", \"documents\": []}", "it is not UTF-8", 11),
            (b"{\"title\": 1.2.3, \"documents\": []}", "trailing characters", 13),
        ] {
            assert_eq!(refused(text), (reason.to_owned(), at), "{:?}", String::from_utf8_lossy(text));
        }
        assert!(refused(b"{\"documents\": [\n{},\n7]}").0.contains("expected a document: an object"));
    }

    #[test]
    fn any_spelling_of_the_url_is_found() {
        for spelling in [r#""https://x/é""#, r#""https:\/\/x\/\u00e9""#] {
            let text = format!(r#"{{"documents": [{{"url": 7}}, {{}}, {{"url": "", "url": {spelling}}}]}}"#);
            let outline = Outline::parse(text.as_bytes()).unwrap();
            let found = |url| outline.documents.items.iter().any(|document| document.has_url(url));
            assert!(found("https://x/é") && !found("https://x/"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_accepted(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(Outline::parse(&bytes).is_err());
        }

        #[test]
        fn what_serde_refuses_is_refused(at in 0..96_usize, byte in r#"[{}\[\]",:0\\ux\n]"#) {
            let mut text = br#"{"a": [1e5, {"b": null}], "documents": [{"url": "\u0041", "n": -0.50}, {}], "z": "a\"\\"}"#.to_vec();
            let end = text.len();
            text.splice(at.min(end)..(at + 1).min(end), byte.bytes());
            let parsed = serde_json::from_slice::<serde_json::Value>(&text);
            match Outline::parse(&text) {
                Ok(outline) => {
                    let parsed = parsed.unwrap();
                    prop_assert_eq!(outline.documents.items.len(), parsed["documents"].as_array().unwrap().len());
                    let found = outline.documents.items.iter().any(|document| document.has_url("A"));
                    prop_assert_eq!(found, parsed["documents"][0]["url"] == "A");
                }
                Err(Corrupt { at, .. }) => {
                    prop_assert!(at <= text.len());
                    let catalog = parsed.is_ok_and(|parsed| {
                        let documents = parsed["documents"].as_array();
                        documents.is_some_and(|documents| documents.iter().all(serde_json::Value::is_object))
                    });
                    prop_assert!(!catalog);
                }
            }
        }
    }
}
