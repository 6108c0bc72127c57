//! A line of JSON: its members, and the page in them.

use std::{borrow::Cow, collections::HashSet, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use ragmaker_tool::Error;
use serde::{
    Deserializer as _,
    de::{self, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    codes::INVALID_RECORD,
    data::{InputPage, RecordData},
};

/// The members of a line, in their order.
type Members<'a> = Vec<(String, &'a RawValue)>;

/// The data of the record on `line`, and its page. After a syntax error, the data has the members before it.
pub(super) fn read(line: &str) -> (RecordData, Result<InputPage<'_>, Error>) {
    let mut members = vec![];
    let read = read_members(line, &mut members);
    let (known, page) = of_members(last_of_each_name(members));
    (known, read.and(page))
}

/// Reads the members of the JSON object on a line. The members before a syntax error stay in `members`.
fn read_members<'a>(line: &'a str, members: &mut Members<'a>) -> Result<(), Error> {
    struct Object<'m, 'a>(&'m mut Members<'a>);

    impl<'a> Visitor<'a> for Object<'_, 'a> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
            while let Some(member) = object.next_entry()? {
                self.0.push(member);
            }
            Ok(())
        }
    }

    let mut json = serde_json::Deserializer::from_str(line);
    let read = json.deserialize_map(Object(members)).and_then(|()| json.end());
    read.map_err(|error| INVALID_RECORD.error(format!("the line is not a JSON object: {error}")))
}

/// Of duplicate names, the last one counts.
fn last_of_each_name(mut members: Members<'_>) -> Members<'_> {
    let mut later = HashSet::new();
    let is_last: Vec<bool> = members.iter().rev().map(|(name, _)| later.insert(&**name)).collect();
    let mut is_last = is_last.into_iter().rev();
    members.retain(|_| is_last.next().unwrap_or_default());
    members
}

/// Separates the data of a line and its page.
fn of_members(members: Members<'_>) -> (RecordData, Result<InputPage<'_>, Error>) {
    let mut known = RecordData::default();
    let (mut url, mut html, mut encoded, mut charset) = (None, None, None, None);
    for (name, value) in members {
        let place = match &*name {
            "id" => {
                known.id = Some(value).filter(|value| value.get() != "null").map(ToOwned::to_owned);
                continue;
            }
            "url" => &mut url,
            "html" => &mut html,
            "html_base64" => &mut encoded,
            "charset" => &mut charset,
            _ => {
                known.rest.push((name, value.to_owned()));
                continue;
            }
        };
        *place = Some(value).filter(|value| value.get() != "null");
    }
    let url = url.map(|url| text("url", url)).transpose();
    let wrong_url = url.as_ref().err().cloned();
    known.url = url.unwrap_or_default().map(Cow::into_owned);
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
    let mut encoded = text("html_base64", encoded)?;
    // Spark 3.3 to 3.5 and coreutils break the lines of what they encode.
    if encoded.contains(['\r', '\n']) {
        encoded = encoded.replace(['\r', '\n'], "").into();
    }
    let bytes = STANDARD
        .decode(&*encoded)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The bytes of the page of the record on `line`.
    fn page_of(line: &str) -> Vec<u8> {
        read(line).1.map_or_else(|error| panic!("{line}: {error}"), |page| page.bytes.into_owned())
    }

    #[test]
    fn surrogates_without_their_partner_are_replaced() {
        for (escaped, text) in [
            (r"\ud83c\udf0a", "\u{1f30a}"),
            (r"a\ud800b", "a\u{fffd}b"),
            (r"\udc00", "\u{fffd}"),
            (r"\ud800\ud83c\udf0a", "\u{fffd}\u{1f30a}"),
            (r"\ud800\ud800", "\u{fffd}\u{fffd}"),
            // The character before the surrogates, and one of Hangul, which begins with the same byte.
            (r"\ud7ff\ud55c\ud800", "\u{d7ff}\u{d55c}\u{fffd}"),
        ] {
            let page = page_of(&format!(r#"{{"html": "{escaped}"}}"#));
            assert_eq!(String::from_utf8(page).unwrap(), text, "{escaped}");
        }
    }

    #[test]
    fn encoded_pages_may_have_lines() {
        assert_eq!(page_of(r#"{"html_base64": "PHA+\r\nYQ==\n"}"#), b"<p>a");
        assert!(read(r#"{"html_base64": "PHA YQ=="}"#).1.is_err());
    }

    #[test]
    fn the_last_of_several_members_of_a_name_counts() {
        assert_eq!(page_of(r#"{"html": "a", "html": "b", "k": 1, "k": 2}"#), b"b");
        let (known, _) = read(r#"{"k": 1, "html": "", "j": 3, "k": 2}"#);
        let rest: Vec<_> = known.rest.iter().map(|(name, value)| (&**name, value.get())).collect();
        assert_eq!(rest, [("j", "3"), ("k", "2")]);
    }

    #[test]
    fn a_record_may_have_many_members() {
        // In quadratic time, this would not end within ten minutes in a debug build.
        let members: Vec<String> = (0..200_000).map(|n| format!(r#""k{}": {n}, "#, n % 150_000)).collect();
        let line = format!(r#"{{{}"id": 7, "html": "a"}}"#, members.concat());
        let (known, page) = read(&line);
        assert!(page.is_ok() && known.id.unwrap().get() == "7");
        assert_eq!(known.rest.len(), 150_000);
    }

    #[test]
    fn null_is_as_good_as_nothing() {
        let line = json!({"id": null, "url": null, "html": "a", "html_base64": null, "charset": null}).to_string();
        assert_eq!(page_of(&line), b"a");
        let (known, _) = read(&line);
        assert!(known.id.is_none() && known.url.is_none());
    }

    #[test]
    fn the_charset_belongs_to_bytes_alone() {
        let of = |line: &str| read(line).1.map(|page| (page.is_text, page.content_type));
        let bytes = r#"{"html_base64": "YQ==", "charset": "Shift_JIS", "html": "b"}"#;
        assert_eq!(of(bytes).unwrap(), (false, Some("text/html; charset=Shift_JIS".to_owned())));
        assert_eq!(of(r#"{"html": "a", "charset": 5}"#).unwrap(), (true, None));
        assert!(of(r#"{"html_base64": "YQ==", "charset": 5}"#).unwrap_err().is(INVALID_RECORD));
    }

    #[test]
    fn the_members_before_a_syntax_error_are_kept() {
        for rest in ["", ",", r#", "html": "a"#, r#", "html": "a"} {}"#] {
            let line = format!(r#"{{"id": 7, "url": "u"{rest}"#);
            let (known, page) = read(&line);
            assert!(page.err().unwrap().is(INVALID_RECORD), "{line}");
            assert_eq!((known.id.unwrap().get(), known.url.as_deref()), ("7", Some("u")), "{line}");
        }
        // A wrong address is the error, not the page.
        let (known, page) = read(r#"{"url": [], "html": "a"}"#);
        assert!(known.url.is_none() && page.err().unwrap().message().starts_with("url"));
        // Nesting without end is an error of the record, and no overflow.
        assert!(read(&format!("{{\"k\": {}", "[".repeat(1 << 20))).1.is_err());
    }
}
