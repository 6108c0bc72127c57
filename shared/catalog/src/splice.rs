//! Which bytes of a catalog's text a change replaces.
//!
//! One pass of serde over the text checks all of it, looks for the URL and notes where the members
//! of the outermost object are; nothing is built from the documents. Both sides of every change are
//! slices of the old text, so whatever this module does not know stays as it was: other fields,
//! their order, spelling of numbers and escapes, indentation.

use std::{ops::Range, path::Path};

use ragmaker_tool::{Code, Error};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, value::RawValue};

use crate::{Description, Header, Outcome};

/// The file is not a catalog; it was left as it is.
pub const CATALOG_CORRUPT: Code = Code::new(
    "CATALOG_CORRUPT",
    "The file was left as it is: repair it at that line, or move it away and a new one is made.",
);

/// The member of a catalog that holds its documents.
const DOCUMENTS: &str = "documents";

/// Why a text is not a catalog, and where.
#[derive(Debug)]
pub(crate) struct Corrupt {
    reason: String,
    line: usize,
    column: usize,
}

impl Corrupt {
    /// The error for the catalog in `file`.
    pub(crate) fn within(&self, file: &Path) -> Error {
        let Self { reason, line, column } = self;
        CATALOG_CORRUPT
            .error(format!("{} is not a catalog: {reason} (line {line}, column {column})", file.display()))
            .detail("path", file.to_string_lossy())
            .detail("line", *line)
            .detail("column", *column)
    }
}

impl From<serde_json::Error> for Corrupt {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let reason = error.to_string();
        let place = format!(" at line {line} column {column}");
        Self { reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(), line, column }
    }
}

/// One replacement in a text.
#[derive(Debug)]
pub(crate) struct Edit {
    at: Range<usize>,
    new: String,
}

/// `text` with `edits` made, as the pieces to write one after the other.
pub(crate) fn apply<'a>(text: &'a str, edits: &'a [Edit]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::with_capacity(2 * edits.len() + 1);
    let mut kept = 0;
    for edit in edits {
        pieces.push(&text.as_bytes()[kept..edit.at.start]);
        pieces.push(edit.new.as_bytes());
        kept = edit.at.end;
    }
    pieces.push(&text.as_bytes()[kept..]);
    pieces
}

/// The text of a catalog's bytes.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Corrupt> {
    let corrupt = |at: usize, reason: &str| {
        let line_start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
        Corrupt { reason: reason.to_owned(), line, column: 1 + at - line_start }
    };
    let text = str::from_utf8(bytes).map_err(|error| corrupt(error.valid_up_to(), "it is not UTF-8"))?;
    if text.starts_with('\u{feff}') {
        return Err(corrupt(0, "it starts with a byte order mark"));
    }
    Ok(text)
}

/// The edits that leave one entry for `url` with `fields`.
pub(crate) fn record(text: &str, url: &str, fields: &[(&str, Value)]) -> Result<(Vec<Edit>, Outcome), Corrupt> {
    let outline = Outline::of(text, Some(url))?;
    let array = outline.documents.value.clone();
    if let Some(index) = outline.found {
        let documents: Vec<&RawValue> = serde_json::from_str(&text[array])?;
        let members = Members { text }.deserialize(documents[index])?;
        return Ok((set(text, &members, fields, &Place::After), Outcome::Updated));
    }
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", quoted(name))).collect();
    let entry = format!("{{{}}}", fields.join(", "));
    let inside = array.start + 1..array.end - 1;
    let (first, last) = (inside.start + blank(&text[inside.clone()]), text[..inside.end].trim_end_matches(BLANK).len());
    let edit = if outline.count > 0 {
        // Stand where the others stand.
        Edit { at: last..last, new: format!(",{}{entry}", &text[inside.start..first]) }
    } else {
        // One step further in than `documents`, which is itself one step in.
        let line = before(text, outline.documents.key.start);
        let (newline, step) = line
            .rfind('\n')
            .map_or((line.len(), ""), |at| (if line[..at].ends_with('\r') { at - 1 } else { at }, &line[at + 1..]));
        let line = &line[newline..];
        let close = if text[inside.clone()].contains('\n') { "" } else { line };
        Edit { at: inside.start..inside.start, new: format!("{line}{step}{entry}{close}") }
    };
    Ok((vec![edit], Outcome::Added))
}

/// The edits that give the catalog the fields that `header` has, and how it reads then.
pub(crate) fn describe(
    text: &str,
    header: &Header,
    now: impl FnOnce() -> String,
) -> Result<(Vec<Edit>, Description), Corrupt> {
    let outline = Outline::of(text, None)?;
    let mut result = Header::default();
    let mut fresh = true;
    for member in &outline.others {
        let Some(field) = decoded(&text[member.key.clone()]).and_then(|name| result.field_mut(&name)) else { continue };
        fresh = false;
        // What is not text is shown as it is spelled; null is how some write that there is none.
        let value = &text[member.value.clone()];
        *field = decoded(value).or_else(|| (value != "null").then(|| value.to_owned()));
    }
    let mut given = header.clone();
    if fresh && given.fetched_at.is_none() {
        given.fetched_at = Some(now());
    }
    let mut fields = vec![];
    for (name, value) in given.fields() {
        if let (Some(value), Some(field)) = (value, result.field_mut(name)) {
            *field = Some(value.clone());
            fields.push((name, Value::from(value.as_str())));
        }
    }
    let edits = set(text, &outline.others, &fields, &Place::Before(&outline.documents));
    Ok((edits, Description { header: result, documents: outline.count }))
}

/// Where an object takes members that it does not have yet.
enum Place<'a> {
    /// After its last member.
    After,
    /// Before this one.
    Before(&'a Member),
}

/// The edits that give an object with `members` these `fields`.
fn set(text: &str, members: &[Member], fields: &[(&str, Value)], place: &Place<'_>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = vec![];
    for (name, value) in fields {
        // Of members with one name, the last is the one that parsers keep.
        if let Some(member) = members.iter().rev().find(|member| names(&text[member.key.clone()], name)) {
            edits.push(Edit { at: member.value.clone(), new: value.to_string() });
            continue;
        }
        let (model, at) = match place {
            Place::Before(member) => (*member, member.key.start),
            Place::After => match members.last() {
                Some(last) => (last, last.value.end),
                None => continue,
            },
        };
        let gap = before(text, model.key.start);
        let colon = &text[model.key.end..model.value.start];
        let new = format!("{}{colon}{value}", quoted(name));
        let new = if matches!(place, Place::After) { format!(",{gap}{new}") } else { format!("{new},{gap}") };
        edits.push(Edit { at: at..at, new });
    }
    edits.sort_by_key(|edit| edit.at.start);
    edits
}

/// What JSON allows between two tokens.
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// The length of the blank that `text` starts with.
fn blank(text: &str) -> usize {
    text.len() - text.trim_start_matches(BLANK).len()
}

/// The blank that ends at `at`.
fn before(text: &str, at: usize) -> &str {
    &text[text[..at].trim_end_matches(BLANK).len()..at]
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text that a JSON string stands for.
fn decoded(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

/// Whether the JSON string `json` stands for `text`, however it is escaped.
fn names(json: &str, text: &str) -> bool {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => plain == text,
        Some(_) => decoded(json).is_some_and(|json| json == text),
        None => false,
    }
}

/// One member of an object: where its key and its value are in the text.
#[derive(Clone, Debug)]
struct Member {
    key: Range<usize>,
    value: Range<usize>,
}

/// Where `part`, a slice of `text`, is in it.
fn span(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + part.get().len()
}

/// What a change has to know of a catalog.
struct Outline {
    documents: Member,
    /// The other members of the outermost object.
    others: Vec<Member>,
    /// The number of documents.
    count: usize,
    /// The first document with the URL asked for.
    found: Option<usize>,
}

impl Outline {
    fn of(text: &str, url: Option<&str>) -> Result<Self, Corrupt> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let mut outline = OutlineSeed { text, url }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        // Values are told where they start and end but for this one, which is not to be read twice.
        let Member { key, value } = &mut outline.documents;
        let next = outline.others.iter().map(|member| member.key.start).find(|&start| start > key.start);
        value.start = key.end + text[key.end..].find('[').unwrap_or_default();
        value.end = text[..next.unwrap_or(text.len())].rfind(']').unwrap_or_default() + 1;
        Ok(outline)
    }
}

#[derive(Clone, Copy)]
struct OutlineSeed<'a> {
    text: &'a str,
    url: Option<&'a str>,
}

impl<'de> DeserializeSeed<'de> for OutlineSeed<'_> {
    type Value = Outline;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Outline, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OutlineSeed<'_> {
    type Value = Outline;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with `documents`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outline, A::Error> {
        let (mut others, mut documents) = (vec![], None);
        while let Some(key) = map.next_key::<&RawValue>()? {
            let at = span(self.text, key);
            if !names(key.get(), DOCUMENTS) {
                others.push(Member { key: at, value: span(self.text, map.next_value()?) });
            } else if documents.replace((at, map.next_value_seed(Documents(self.url))?)).is_some() {
                return Err(A::Error::duplicate_field(DOCUMENTS));
            }
        }
        let (key, (count, found)) = documents.ok_or_else(|| A::Error::missing_field(DOCUMENTS))?;
        Ok(Outline { documents: Member { key, value: 0..0 }, others, count, found })
    }
}

/// Counts the documents and finds the one with this URL.
struct Documents<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Documents<'_> {
    type Value = (usize, Option<usize>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Documents<'_> {
    type Value = (usize, Option<usize>);

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of documents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut documents: A) -> Result<Self::Value, A::Error> {
        let (mut count, mut found) = (0, None);
        while let Some(same) = documents.next_element_seed(Document(self.0))? {
            if same && found.is_none() {
                found = Some(count);
            }
            count += 1;
        }
        Ok((count, found))
    }
}

/// Tells whether a document has this URL.
struct Document<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a document: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut same = false;
        while let Some(key) = map.next_key::<&RawValue>()? {
            match self.0 {
                Some(url) if names(key.get(), "url") => same = names(map.next_value::<&RawValue>()?.get(), url),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(same)
    }
}

/// Notes where the members of an object are.
struct Members<'a> {
    text: &'a str,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Vec<Member>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Member>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<Member>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
        let mut members = vec![];
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            members.push(Member { key: span(self.text, key), value: span(self.text, value) });
        }
        Ok(members)
    }
}
