//! A record of the input, and its line of output.

use std::borrow::Cow;

use ragmaker_knowledge::{bytes_hash, decode, now};
use ragmaker_markdown::{Document, Options, Scope, convert};
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::{
    Error,
    json::{Charset, write_line},
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};
use url::Url;

use super::{
    data::{InputPage, Member, RecordData, WarcData},
    members,
    warc::Response,
};

/// The names of our members in `metadata`. Input members with these names are moved to `input`.
const OWN: [&str; 13] = [
    "words",
    "lang",
    "page_type",
    "confidence",
    "published",
    "author",
    "site_name",
    "charset",
    "sha256",
    "extractor",
    "version",
    "warc",
    "input",
];

/// The part of a page that is converted, as in [`Scope`].
#[derive(Clone, Debug)]
pub enum Content {
    /// The main content.
    Main,
    /// All visible content.
    Whole,
    /// The elements that match a CSS selector.
    Selected(String),
}

/// A record of the input.
#[derive(Debug)]
pub(super) enum Item {
    /// A line of JSON.
    Line(String),
    /// A line over the size limit, or one that is not UTF-8.
    Unread {
        /// The line without its long texts.
        outline: String,
        /// The error.
        error: Error,
    },
    /// An HTTP response in a WARC record.
    Response(Box<Response>),
}

/// A line of output.
#[derive(Debug)]
pub(super) struct OutputLine {
    /// The line, including its newline.
    pub(super) line: Vec<u8>,
    /// Whether the line contains an error instead of a text.
    pub(super) failed: bool,
}

/// Converts records.
#[derive(Clone, Debug)]
pub(super) struct Converter {
    pub(super) content: Content,
    /// The largest page, in bytes.
    pub(super) max_bytes: usize,
    /// The charset of the output lines.
    pub(super) charset: Charset,
}

/// A converted page.
struct Converted {
    document: Document,
    charset: &'static str,
}

impl Converter {
    /// Converts `page`, the page of an item with the data `known`, to a line of output.
    pub(super) fn convert(&self, known: &RecordData, page: Result<InputPage<'_>, Error>) -> OutputLine {
        let page = page.and_then(|page| {
            if page.bytes.len() <= self.max_bytes {
                return Ok(page);
            }
            let message = format!("the page has {} bytes: more than {}", page.bytes.len(), self.max_bytes);
            Err(INPUT_TOO_LARGE.error(message).remedy("Raise --max-bytes."))
        });
        let converted = page.and_then(|page| self.page(&page, known.url.as_deref()));
        self.line(known, converted.as_ref())
    }

    /// The line for a record that cannot be converted.
    pub(super) fn failure(&self, known: &RecordData, error: &Error) -> OutputLine {
        self.line(known, Err(error))
    }

    /// The data of `item`, and its page. This takes a time that is linear in the size of the item, which is bounded.
    pub(super) fn read<'a>(&self, item: &'a Item) -> (RecordData, Result<InputPage<'a>, Error>) {
        let (mut known, page) = match item {
            Item::Line(line) => members::read(line),
            Item::Unread { outline, error } => (members::read(outline).0, Err(error.clone())),
            Item::Response(response) => (of_response(response), response.page(self.max_bytes).map(Into::into)),
        };
        if let Ok(page) = &page {
            known.sha256 = Some(bytes_hash(&page.bytes));
            if known.id.is_none() {
                let url = known.url.as_deref().unwrap_or_default();
                let digest = Sha256::new_with_prefix(url).chain_update(&page.bytes).finalize();
                known.id = to_raw_value(&format!("{digest:x}")).ok();
            }
        }
        (known, page)
    }

    fn page(&self, page: &InputPage<'_>, url: Option<&str>) -> Result<Converted, Error> {
        let (html, charset) = match std::str::from_utf8(&page.bytes) {
            Ok(text) if page.is_text => (Cow::Borrowed(text), "UTF-8"),
            _ => {
                let (html, charset) = decode(&page.bytes, page.content_type.as_deref())?;
                (html, charset.name())
            }
        };
        // An invalid URL is not an error of the page; links then stay relative.
        let base = url.and_then(|url| Url::parse(url).ok()).filter(|url| !url.cannot_be_a_base());
        let scope = match &self.content {
            Content::Main => Scope::Main,
            Content::Whole => Scope::Whole,
            Content::Selected(css) => Scope::Selector(css),
        };
        let options = Options { base_url: base.as_ref(), scope };
        let document = convert(&html, &options).map_err(|error| crate::refusal(&error))?;
        Ok(Converted { document, charset })
    }

    fn line(&self, known: &RecordData, converted: Result<&Converted, &Error>) -> OutputLine {
        let document = converted.ok().map(|converted| &converted.document);
        let mut metadata = vec![];
        if let Ok(Converted { document: Document { metadata: page, words, .. }, charset }) = converted {
            metadata.extend([("words", own(words)), ("lang", own(&page.lang)), ("page_type", own(&page.page_type))]);
            metadata.extend(page.confidence.map(|confidence| ("confidence", own(&confidence))));
            metadata.extend([("published", own(&page.published)), ("author", own(&page.author))]);
            metadata.extend([("site_name", own(&page.site_name)), ("charset", own(charset))]);
        }
        metadata.extend(known.sha256.as_ref().map(|sha256| ("sha256", own(sha256))));
        metadata.extend([("extractor", own(env!("CARGO_PKG_NAME"))), ("version", own(env!("CARGO_PKG_VERSION")))]);
        metadata.extend(known.warc.as_ref().map(|warc| ("warc", own(warc))));
        let record = Record {
            id: known.id.as_deref(),
            url: known.url.as_deref().or(document.and_then(|document| document.metadata.url.as_deref())),
            text: document.map(|document| &*document.markdown),
            title: document.map(|document| &*document.metadata.title),
            error: converted.err().map(|error| Failure { error_code: error.code(), message: error.message() }),
            source: "ragmaker",
            added: now(),
            metadata: Metadata { own: metadata, rest: &known.rest },
        };
        let mut line = vec![];
        // Writing to memory cannot fail.
        let _ = write_line(&record, self.charset, &mut line);
        OutputLine { line, failed: converted.is_err() }
    }
}

/// A record of the output.
#[derive(Serialize)]
struct Record<'a> {
    id: Option<&'a RawValue>,
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure<'a>>,
    source: &'static str,
    added: String,
    metadata: Metadata<'a>,
}

/// The reason why a record has no text.
#[derive(Serialize)]
struct Failure<'a> {
    error_code: &'a str,
    message: &'a str,
}

/// The metadata of a record.
struct Metadata<'a> {
    own: Vec<(&'static str, Box<RawValue>)>,
    rest: &'a [Member],
}

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (taken, free): (Vec<_>, Vec<_>) = self.rest.iter().partition(|(name, _)| OWN.contains(&&**name));
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.own {
            map.serialize_entry(name, value)?;
        }
        for (name, value) in free {
            map.serialize_entry(name, value)?;
        }
        if !taken.is_empty() {
            map.serialize_entry("input", &Group(taken))?;
        }
        map.end()
    }
}

/// The members of `metadata.input`.
struct Group<'a>(Vec<&'a Member>);

impl Serialize for Group<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn own(value: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_default()
}

fn of_response(response: &Response) -> RecordData {
    RecordData {
        id: response.id.as_ref().and_then(|id| to_raw_value(id).ok()),
        url: response.url.clone(),
        warc: Some(WarcData { date: response.date.clone(), http_status: response.status }),
        ..RecordData::default()
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde_json::{Value, json};

    use super::*;

    const HTML: &str = "<html><title>Tides</title><p>High water comes <b>twice</b> a day.</html>";

    fn converter() -> Converter {
        Converter { content: Content::Whole, max_bytes: 1000, charset: Charset::Utf8 }
    }

    fn converted(item: &Item) -> OutputLine {
        let (known, page) = converter().read(item);
        converter().convert(&known, page)
    }

    fn convert_line(line: &str) -> Value {
        let output = converted(&Item::Line(line.into()));
        let text = String::from_utf8(output.line).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(output.failed, record["error"].is_object(), "{record}");
        assert_eq!(output.failed, record["text"].is_null(), "{record}");
        record
    }

    #[test]
    fn a_page_becomes_a_record() {
        let input = json!({"id": 7, "url": "https://x.example/a", "html": HTML, "lang": "x", "warc": 1, "group": [1, {"a": null}]});
        let record = convert_line(&input.to_string());
        assert_eq!(record["text"], "High water comes **twice** a day.\n");
        assert_eq!(
            (&record["id"], &record["title"], &record["source"]),
            (&json!(7), &json!("Tides"), &json!("ragmaker"))
        );
        assert_eq!(record["url"], "https://x.example/a");
        let metadata = &record["metadata"];
        assert_eq!(metadata["sha256"], bytes_hash(HTML.as_bytes()));
        assert_eq!((&metadata["words"], &metadata["group"]), (&json!(6), &json!([1, {"a": null}])));
        assert_eq!((&metadata["lang"], &metadata["input"]), (&Value::Null, &json!({"lang": "x", "warc": 1})));
        assert_eq!(metadata["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn an_id_is_passed_through_unchanged() {
        for id in ["1.0", "12345678901234567890123", "\"\\u00e9\"", "{\"a\": 1}"] {
            let line = format!("{{\"id\": {id}, \"html\": \"<p>a\"}}");
            let output = converted(&Item::Line(line));
            let text = String::from_utf8(output.line).unwrap();
            assert!(text.starts_with(&format!("{{\"id\": {id}, ")), "{text}");
        }
        let named = convert_line(&json!({"url": "u", "html": HTML}).to_string());
        assert_eq!(named["id"], bytes_hash(format!("u{HTML}").as_bytes()));
        assert_eq!(convert_line(&json!({"id": null, "url": "u", "html": HTML}).to_string())["id"], named["id"]);
    }

    #[test]
    fn bytes_are_decoded_by_their_charset() {
        let shift_jis = STANDARD.encode(b"<p>\x93\xFA\x96\x7B\x8C\xEA");
        let record =
            convert_line(&json!({"html": "<p>no", "html_base64": shift_jis, "charset": "Shift_JIS"}).to_string());
        assert_eq!((&record["text"], &record["metadata"]["charset"]), (&json!("日本語\n"), &json!("Shift_JIS")));
    }

    #[test]
    fn a_failure_keeps_the_data_of_the_record() {
        let big = "x".repeat(1001);
        for (line, id, code) in [
            (String::new(), Value::Null, "INVALID_RECORD"),
            ("[]".to_owned(), Value::Null, "INVALID_RECORD"),
            (r#"{"id": 1, "html": "<p>"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html": 2, "k": 3}"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html": null}"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html_base64": "?"}"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html": "<p>a", "html_base64": 5}"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html": ["<p>a"]}"#.to_owned(), json!(1), "INVALID_RECORD"),
            (r#"{"id": 1, "html": "<p> "}"#.to_owned(), json!(1), "EMPTY_CONTENT"),
            (format!(r#"{{"id": 1, "html": "{big}"}}"#), json!(1), "INPUT_TOO_LARGE"),
            (json!({"id": 1, "html_base64": STANDARD.encode(b"%PDF-1.7")}).to_string(), json!(1), "NOT_TEXT"),
            (r#"{"id": 1, "html": "<p>a"} x"#.to_owned(), json!(1), "INVALID_RECORD"),
        ] {
            let record = convert_line(&line);
            assert_eq!((&record["id"], &record["error"]["error_code"]), (&id, &json!(code)), "{line}: {record}");
        }
        assert_eq!(convert_line(r#"{"id": 1, "html": 2, "k": 3}"#)["metadata"]["k"], 3);
        let cut = Item::Unread { outline: r#"{"id": 5, "html": "<p>"#.into(), error: INPUT_TOO_LARGE.error("long") };
        let output = converted(&cut);
        let record: Value = serde_json::from_slice(&output.line).unwrap();
        assert_eq!((&record["id"], &record["error"]["message"]), (&json!(5), &json!("long")));
    }

    #[test]
    fn html_is_ignored_beside_html_base64() {
        for html in ["5", "null", r#""<p>no""#] {
            let record = convert_line(&format!(r#"{{"html": {html}, "html_base64": "PHA+eA=="}}"#));
            assert_eq!(record["text"], "x\n", "{record}");
        }
        assert_eq!(convert_line(r#"{"html": "<p>x", "html_base64": null}"#)["text"], "x\n");
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let record = convert_line(r#"{"url": "u\udfff", "html": "<p>a\ud800b \ud83d\ude00 \ud83d\n\u00e9"}"#);
        assert_eq!(record["text"], "a\u{fffd}b \u{1f600} \u{fffd} \u{e9}\n", "{record}");
        assert_eq!(record["url"], "u\u{fffd}");
    }

    #[test]
    fn a_page_that_was_read_has_its_checksum_and_id_in_an_error() {
        let big = format!("<p>{}", "x".repeat(1000));
        let checksum = json!(bytes_hash(big.as_bytes()));
        let id = json!(bytes_hash(format!("u{big}").as_bytes()));
        let line = json!({"url": "u", "html": big}).to_string();
        let record = convert_line(&line);
        assert_eq!(record["error"]["error_code"], "INPUT_TOO_LARGE");
        assert_eq!((&record["id"], &record["metadata"]["sha256"]), (&id, &checksum));
        // The page is not known as a whole.
        let cut = Item::Unread { outline: r#"{"url": "u", "html": "<p>"#.into(), error: INPUT_TOO_LARGE.error("long") };
        let record: Value = serde_json::from_slice(&converted(&cut).line).unwrap();
        assert_eq!((&record["id"], &record["error"]["error_code"]), (&Value::Null, &json!("INPUT_TOO_LARGE")));
        assert!(record["metadata"]["sha256"].is_null(), "{record}");
    }
}
