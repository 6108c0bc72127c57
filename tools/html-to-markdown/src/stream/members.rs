//! A line of JSON: its members, and the page in them.

use std::{borrow::Cow, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_tool::Error;
use serde::{
    Deserializer as _,
    de::{self, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    codes::INVALID_RECORD,
    data::{InputPage, Member, RecordData},
};

/// The data of the record on `line`, and its page. After a syntax error, the data has the members before it.
pub(super) fn read(line: &[u8]) -> (RecordData<'_>, Result<InputPage<'_>, Error>) {
    let mut members = vec![];
    let read = read_members(line, &mut members);
    let (known, page) = of_members(members);
    (known, read.and(page))
}

/// Reads the members of the JSON object on a line. The members before a syntax error stay in `members`.
fn read_members<'a>(line: &'a [u8], members: &mut Vec<Member<'a>>) -> Result<(), Error> {
    struct Members<'m, 'a>(&'m mut Vec<Member<'a>>);

    impl<'a> Visitor<'a> for Members<'_, 'a> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
            while let Some((name, value)) = object.next_entry::<String, _>()? {
                // Of duplicate names, the last one counts.
                self.0.retain(|(earlier, _)| *earlier != name);
                self.0.push((name.into(), value));
            }
            Ok(())
        }
    }

    let mut json = serde_json::Deserializer::from_slice(line);
    let read = json.deserialize_map(Members(members)).and_then(|()| json.end());
    read.map_err(|error| INVALID_RECORD.error(format!("the line is not a JSON object: {error}")))
}

/// Separates the data of a line and its page.
fn of_members(members: Vec<Member<'_>>) -> (RecordData<'_>, Result<InputPage<'_>, Error>) {
    let mut known = RecordData::default();
    let (mut url, mut html, mut encoded, mut charset) = (None, None, None, None);
    for (name, value) in members {
        let place = match &*name {
            "id" => {
                known.id = Some(value).filter(|value| value.get() != "null").map(Cow::Borrowed);
                continue;
            }
            "url" => &mut url,
            "html" => &mut html,
            "html_base64" => &mut encoded,
            "charset" => &mut charset,
            _ => {
                known.rest.push((name, value));
                continue;
            }
        };
        *place = Some(value).filter(|value| value.get() != "null");
    }
    let url = url.map(|url| text("url", url)).transpose();
    let wrong_url = url.as_ref().err().cloned();
    known.url = url.unwrap_or_default();
    let page = page(html, encoded, charset);
    (known, wrong_url.map_or(page, Err))
}

/// The page of a line. Without `html_base64`, it is `html`.
fn page<'a>(
    html: Option<&'a RawValue>,
    encoded: Option<&'a RawValue>,
    charset: Option<&'a RawValue>,
) -> Result<InputPage<'a>, Error> {
    let Some(encoded) = encoded else {
        let html = html.ok_or_else(|| INVALID_RECORD.error("there is neither html nor html_base64"))?;
        let bytes = match text("html", html)? {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        };
        return Ok(InputPage { bytes, is_text: true, content_type: None });
    };
    let charset = charset.map(|charset| text("charset", charset)).transpose()?;
    let bytes = STANDARD
        .decode(&*text("html_base64", encoded)?)
        .map_err(|error| INVALID_RECORD.error(format!("html_base64 cannot be decoded: {error}")))?;
    let content_type = charset.map(|charset| format!("text/html; charset={charset}"));
    Ok(InputPage { bytes: bytes.into(), is_text: false, content_type })
}

/// The text of the member `name`, borrowed if it contains no escapes.
fn text<'a>(name: &str, value: &'a RawValue) -> Result<Cow<'a, str>, Error> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    if let Ok(Text(text)) = serde_json::from_str(value.get()) {
        return Ok(text);
    }
    let mut json = serde_json::Deserializer::from_str(value.get());
    let text = json.deserialize_bytes(WithoutSurrogates);
    text.map(Cow::Owned).map_err(|_| INVALID_RECORD.error(format!("{name} is not a text")))
}

/// Reads a text that has surrogates without their partner, such as the escape `\ud800`. As in a browser, each becomes
/// U+FFFD.
struct WithoutSurrogates;

impl Visitor<'_> for WithoutSurrogates {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    /// A surrogate comes as it would be encoded in UTF-8, in three bytes that UTF-8 excludes.
    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<String, E> {
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len().saturating_sub(2) {
            if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
                bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
            }
        }
        String::from_utf8(bytes).map_err(E::custom)
    }
}
