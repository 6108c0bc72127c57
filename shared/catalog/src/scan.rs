//! A catalog's text, checked and measured in one pass, in little memory.
//!
//! The grammar of the outermost object and of the list of documents is here, since serde does not
//! tell where in the text a value is; every key, value and document is read by [`serde_json`].

use std::{
    io::{self, Read},
    ops::Range,
};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The bytes that are read at once: few calls, and still in the processor's cache when parsed.
const CHUNK: usize = 256 * 1024;

/// More bytes than the longest token that says nothing of being cut: a pair of `\uXXXX`.
const MOST_CUT: usize = 16;

/// The member of a catalog that holds its documents.
const DOCUMENTS: &str = "documents";

/// Why a text could not be scanned.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is not a catalog, for this reason, at this byte.
    Corrupt(String, u64),
    /// It could not be read.
    Unreadable(io::Error),
}

/// One member of an object, with what it takes to write another like it.
#[derive(Debug)]
pub(crate) struct Member {
    /// The blank before the key.
    pub(crate) gap: String,
    /// The key, as it is spelled.
    pub(crate) key: String,
    /// What stands between key and value: a colon and blanks.
    pub(crate) colon: String,
    /// The value, as it is spelled; empty for the documents.
    pub(crate) value: String,
    /// From the key's first byte to the value's last.
    pub(crate) at: Range<u64>,
}

impl Member {
    /// Where the value is.
    pub(crate) fn value_at(&self) -> Range<u64> {
        self.at.end - self.value.len() as u64..self.at.end
    }

    /// Whether the key is `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        spells(&self.key, name)
    }
}

/// The list of documents.
#[derive(Debug)]
pub(crate) struct Documents {
    /// The list's key and place.
    pub(crate) member: Member,
    /// How many there are.
    pub(crate) count: usize,
    /// The blank that follows the opening bracket.
    pub(crate) gap: String,
    /// The first byte after the last document, or after the opening bracket where there is none.
    pub(crate) end: u64,
    /// The first document with the URL looked for: its place and its members.
    pub(crate) found: Option<Vec<Member>>,
}

/// A whole catalog, but for its documents' contents.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The members of the outermost object, the documents aside.
    pub(crate) members: Vec<Member>,
    pub(crate) documents: Documents,
}

/// Scans the catalog in `input`, looking for the document with `url`.
pub(crate) fn outline(input: impl Read, url: Option<&str>) -> Result<Outline, Failure> {
    outline_in_chunks(input, url, CHUNK)
}

fn outline_in_chunks(input: impl Read, url: Option<&str>, chunk: usize) -> Result<Outline, Failure> {
    let mut scanner = Scanner::new(input, chunk);
    if scanner.peek()? == Some(0xEF) {
        return scanner.fail("it starts with a byte order mark, or is not UTF-8");
    }
    let mut documents = None;
    let members = scanner.object(|scanner, member| {
        if !member.is(DOCUMENTS) {
            return scanner.value();
        }
        if documents.is_some() {
            return scanner.fail("it has `documents` twice");
        }
        documents = Some(scanner.documents(url)?);
        Ok(String::new())
    })?;
    scanner.blank()?;
    if scanner.peek()?.is_some() {
        return scanner.fail("something follows the end of the object");
    }
    let (mut members, Some(mut documents)) = (members, documents) else {
        return scanner.fail("it has no `documents`");
    };
    if let Some(index) = members.iter().position(|member| member.is(DOCUMENTS)) {
        documents.member = members.remove(index);
    }
    Ok(Outline { members, documents })
}

/// The members of the JSON object `object`, which stands at `place` in a catalog.
pub(crate) fn members(object: &str, place: u64) -> Result<Vec<Member>, Failure> {
    let mut members = Scanner::new(object.as_bytes(), object.len()).object(|scanner, _| scanner.value())?;
    for member in &mut members {
        member.at = member.at.start + place..member.at.end + place;
    }
    Ok(members)
}

/// The documents of the catalog `bytes`, which were scanned to `outline`. Only what `T` asks for is read
/// of them, so what a scan lets pass is no failure here.
pub(crate) fn documents<'a, T: Deserialize<'a>>(bytes: &'a [u8], outline: &Outline) -> Result<Vec<T>, Failure> {
    let Member { key, colon, at, .. } = &outline.documents.member;
    let start = at.start as usize + key.len() + colon.len();
    let list = &bytes[start..at.end as usize];
    serde_json::from_slice(list)
        .map_err(|error| Failure::Corrupt(reason(&error), (start + error_at(list, &error)) as u64))
}

/// Whether the JSON string `json` stands for `text`, however it is escaped.
pub(crate) fn spells(json: &str, text: &str) -> bool {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => plain == text,
        Some(_) => serde_json::from_str::<String>(json).is_ok_and(|json| json == text),
        None => false,
    }
}

/// A window on the text that moves over it.
struct Scanner<R> {
    input: R,
    /// The bytes to read at once.
    chunk: usize,
    buffer: Vec<u8>,
    /// Where in the buffer the next token is looked for.
    at: usize,
    /// Where in the buffer the text ends, so far.
    end: usize,
    /// The number of bytes before the buffer.
    before: u64,
    /// Whether the buffer holds the end of the text.
    ended: bool,
    /// The blank that was skipped last.
    gap: String,
}

impl<R: Read> Scanner<R> {
    fn new(input: R, chunk: usize) -> Self {
        Self { input, chunk, buffer: vec![0; chunk], at: 0, end: 0, before: 0, ended: false, gap: String::new() }
    }

    /// The place of the next token in the whole text.
    fn place(&self) -> u64 {
        self.before + self.at as u64
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, Failure> {
        Err(Failure::Corrupt(reason.into(), self.place()))
    }

    /// Reads on, forgetting what is before the next token.
    fn more(&mut self) -> Result<(), Failure> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.before += self.at as u64;
        (self.at, self.end) = (0, self.end - self.at);
        // A value that is larger than the buffer is parsed anew each time: twice the bytes, then.
        if self.end * 2 > self.buffer.len() {
            self.buffer.resize(self.end * 2 + self.chunk, 0);
        }
        while self.end < self.buffer.len() && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(length) => self.end += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Unreadable(error)),
            }
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, Failure> {
        while self.at == self.end && !self.ended {
            self.more()?;
        }
        Ok(self.buffer[..self.end].get(self.at).copied())
    }

    /// Skips the blank before the next token.
    fn blank(&mut self) -> Result<(), Failure> {
        self.gap.clear();
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek()? {
            self.gap.push(char::from(byte));
            self.at += 1;
        }
        Ok(())
    }

    /// Skips a blank and the one of `tokens` that follows it.
    fn token(&mut self, tokens: &[u8], expected: &str) -> Result<u8, Failure> {
        self.blank()?;
        match self.peek()? {
            Some(byte) if tokens.contains(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            Some(_) => self.fail(format!("expected {expected}")),
            None => self.fail(format!("it ends where {expected} should be")),
        }
    }

    /// Parses the value that starts here; says where in the buffer it is.
    fn parse<T>(
        &mut self,
        read: impl Fn(&[u8]) -> serde_json::Result<(usize, T)>,
    ) -> Result<(Range<usize>, T), Failure> {
        if self.peek()?.is_none() {
            return self.fail("it ends where a value should be");
        }
        loop {
            let rest = &self.buffer[self.at..self.end];
            match read(rest) {
                // A number at the end of the buffer may go on.
                Ok((length, value)) if length < rest.len() || self.ended => {
                    if let Err(error) = str::from_utf8(&rest[..length]) {
                        self.at += error.valid_up_to();
                        return self.fail("it is not UTF-8");
                    }
                    self.at += length;
                    return Ok((self.at - length..self.at, value));
                }
                // Nor is a number or an escape that is cut there always told as such.
                Err(error) if self.ended || error_at(rest, &error) + MOST_CUT < rest.len() => {
                    self.at += error_at(rest, &error);
                    return self.fail(reason(&error));
                }
                _ => self.more()?,
            }
        }
    }

    /// Any value, as it is spelled.
    fn value(&mut self) -> Result<String, Failure> {
        let (at, _) = self.parse(|bytes| first::<IgnoredAny>(bytes))?;
        Ok(String::from_utf8_lossy(&self.buffer[at]).into_owned())
    }

    /// An object; `value` reads the value of each member from where it starts.
    fn object(
        &mut self,
        mut value: impl FnMut(&mut Self, &Member) -> Result<String, Failure>,
    ) -> Result<Vec<Member>, Failure> {
        self.token(b"{", "an object")?;
        let mut members = vec![];
        loop {
            self.blank()?;
            if members.is_empty() && self.peek()? == Some(b'}') {
                self.at += 1;
                return Ok(members);
            }
            let (gap, start) = (self.gap.clone(), self.place());
            if !matches!(self.peek()?, Some(b'"')) {
                return self.fail("expected a key");
            }
            let key = self.value()?;
            self.token(b":", "`:`")?;
            let mut colon = format!("{}:", self.gap);
            self.blank()?;
            colon.push_str(&self.gap);
            let mut member = Member { gap, key, colon, value: String::new(), at: start..start };
            member.value = value(self, &member)?;
            member.at.end = self.place();
            members.push(member);
            if self.token(b",}", "`,` or `}`")? == b'}' {
                return Ok(members);
            }
        }
    }

    /// The list of documents; the caller knows its member.
    fn documents(&mut self, url: Option<&str>) -> Result<Documents, Failure> {
        self.token(b"[", "an array of documents")?;
        let start = self.place();
        self.blank()?;
        let member =
            Member { gap: String::new(), key: String::new(), colon: String::new(), value: String::new(), at: 0..0 };
        let mut documents = Documents { member, count: 0, gap: self.gap.clone(), end: start, found: None };
        if self.peek()? == Some(b']') {
            self.at += 1;
            return Ok(documents);
        }
        loop {
            let place = self.place();
            let (at, same) = self.parse(|bytes| {
                let (length, document) = first::<Document>(bytes)?;
                let same = url.is_some_and(|url| document.url.is_some_and(|found| spells(found.get(), url)));
                Ok((length, same))
            })?;
            if same && documents.found.is_none() {
                let mut members =
                    Scanner::new(&self.buffer[at.clone()], at.len()).object(|scanner, _| scanner.value())?;
                for member in &mut members {
                    member.at = member.at.start + place..member.at.end + place;
                }
                documents.found = Some(members);
            }
            documents.count += 1;
            documents.end = self.place();
            if self.token(b",]", "`,` or `]`")? == b']' {
                return Ok(documents);
            }
            self.blank()?;
        }
    }
}

/// The value that `bytes` start with, and its length.
fn first<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<(usize, T)> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter();
    let value = values.next().unwrap_or_else(|| Err(serde::de::Error::custom("expected a value")))?;
    Ok((values.byte_offset(), value))
}

/// What is wrong, without the place: that is within what was parsed.
fn reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    reason.strip_suffix(&place).unwrap_or(&reason).to_owned()
}

/// Where in `bytes` an error is; serde counts lines and columns from 1.
fn error_at(bytes: &[u8], error: &serde_json::Error) -> usize {
    let mut newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let line_start = match error.line() {
        0 | 1 => 0,
        line => newlines.nth(line - 2).map_or(0, |(at, _)| at + 1),
    };
    (line_start + error.column().saturating_sub(1)).min(bytes.len())
}

/// What is looked at in a document.
struct Document<'a> {
    /// The URL, as it is spelled; the last one where there are several, as parsers do.
    url: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Document<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DocumentVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Url,
    #[serde(other)]
    Other,
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document<'de>, A::Error> {
        let mut url = None;
        while let Some(key) = map.next_key()? {
            match key {
                Key::Url => url = Some(map.next_value()?),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Document { url })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &[u8]) -> (String, u64) {
        match outline(text, None) {
            Err(Failure::Corrupt(reason, at)) => (reason, at),
            other => panic!("{:?} is refused, not {other:?}", String::from_utf8_lossy(text)),
        }
    }

    #[test]
    fn what_is_no_catalog_is_refused_at_its_place() {
        for (text, reason, at) in [
            (&b""[..], "it ends where an object should be", 0),
            (b" \n ", "it ends where an object should be", 3),
            (b"[]", "expected an object", 0),
            (b"\xEF\xBB\xBF{\"documents\":[]}", "it starts with a byte order mark, or is not UTF-8", 0),
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
            assert!(outline(text.as_bytes(), Some("https://x/é")).unwrap().documents.found.is_some(), "{text}");
            assert!(outline(text.as_bytes(), Some("https://x/")).unwrap().documents.found.is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(outline(bytes.as_slice(), None).is_err());
        }

        #[test]
        fn what_serde_refuses_is_refused(at in 0..96_usize, byte in r#"[{}\[\]",:0\\ux\n]"#, chunk in 1..40_usize) {
            let mut text = br#"{"a": [1e5, {"b": null}], "documents": [{"url": "\u0041", "n": -0.50}, {}], "z": "a\"\\"}"#.to_vec();
            let end = text.len();
            text.splice(at.min(end)..(at + 1).min(end), byte.bytes());
            let parsed = serde_json::from_slice::<serde_json::Value>(&text);
            let scanned = outline_in_chunks(text.as_slice(), Some("A"), chunk);
            match scanned {
                Ok(outline) => {
                    let parsed = parsed.unwrap();
                    prop_assert_eq!(outline.documents.count, parsed["documents"].as_array().unwrap().len());
                    prop_assert_eq!(outline.documents.found.is_some(), parsed["documents"][0]["url"] == "A");
                }
                Err(Failure::Corrupt(_, at)) => {
                    prop_assert!(at <= text.len() as u64);
                    let catalog = parsed.is_ok_and(|parsed| {
                        let documents = parsed["documents"].as_array();
                        documents.is_some_and(|documents| documents.iter().all(serde_json::Value::is_object))
                    });
                    prop_assert!(!catalog);
                }
                Err(Failure::Unreadable(error)) => prop_assert!(false, "{error}"),
            }
        }
    }
}
