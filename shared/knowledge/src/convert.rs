//! Conversion to Markdown, by the kind of the fetched document.

use std::path::Path;

use ragmaker_catalog::DocumentSource;
use ragmaker_document::DocumentText;
use ragmaker_markdown::{Document, Metadata, Options, Scope, convert};
use ragmaker_tool::{Code, Error};
use url::Url;

use crate::{
    body::{Body, decode},
    indent::indented,
};

/// The document has no text to save.
pub const EMPTY_CONTENT: Code =
    Code::new("EMPTY_CONTENT", "Check that there is text; a selector can name a part of a page.");

/// A fetched document.
#[derive(Clone, Copy, Debug)]
pub struct Fetched<'a> {
    /// The address under which the document is saved: after redirects, in the canonical spelling.
    pub url: &'a str,
    /// The address that relative links start from.
    pub base_url: Option<&'a Url>,
    /// The format of the document.
    pub format: ContentFormat,
    /// Its content.
    pub body: Body<'a>,
    /// The title from the source, which is used if the content has no title or is a selected part.
    pub title: &'a str,
    /// Whether the body is a selected part of the page: all of it is saved then, not its main content.
    pub selected: bool,
    /// When it was fetched (RFC 3339): see [`now`](crate::now).
    pub fetched_at: &'a str,
    /// The source, as the catalog records it.
    pub source: Option<&'a DocumentSource>,
}

/// A kind of document that can be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentFormat {
    /// HTML, of which the main content is converted.
    Html,
    /// Markdown, which stays as it is.
    Markdown,
    /// Text that becomes a code block in this language; JSON is indented.
    Code(&'static str),
}

impl ContentFormat {
    /// The format of a response with the media type `media_type`, with or without parameters, for `url`; `None` if it
    /// is not a document but, for example, an image.
    pub fn of(media_type: &str, url: &Url) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            "text/plain" if is_markdown(url) => Some(Self::Markdown),
            kind if kind.starts_with("image/") => None,
            "application/json" | "text/json" => Some(Self::Code("json")),
            kind if kind.ends_with("+json") => Some(Self::Code("json")),
            kind if kind.ends_with("/xml") || kind.ends_with("+xml") => Some(Self::Code("xml")),
            kind if kind.starts_with("text/") => Some(Self::Code("text")),
            _ => None,
        }
    }
}

fn is_markdown(url: &Url) -> bool {
    let extension = Path::new(url.path()).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

impl Fetched<'_> {
    /// Converts the body to Markdown.
    ///
    /// # Errors
    ///
    /// [`EMPTY_CONTENT`] where there is no text, [`ragmaker_text::NOT_TEXT`] where bytes are not text.
    pub fn convert(&self) -> Result<Document, Error> {
        let decoded;
        let text = match self.body {
            Body::Text(text) => text,
            Body::Bytes { bytes, content_type } => {
                decoded = decode(bytes, content_type)?.0;
                &*decoded
            }
        };
        let document = match self.format {
            ContentFormat::Html => self.html(text),
            ContentFormat::Markdown => as_it_is(text.to_owned(), text),
            ContentFormat::Code("json") => {
                as_it_is(fenced(&indented(text).unwrap_or_else(|| text.to_owned()), "json"), text)
            }
            ContentFormat::Code(language) => as_it_is(fenced(text, language), text),
        };
        let mut document = document.ok_or_else(|| {
            EMPTY_CONTENT.error(format!("the page has no text: {}", self.url)).detail("url", self.url)
        })?;
        if document.metadata.title.is_empty() || self.selected {
            self.title.clone_into(&mut document.metadata.title);
        }
        Ok(document)
    }

    fn html(&self, html: &str) -> Option<Document> {
        let has_text = |document: &Document| DocumentText::of(&document.markdown) != DocumentText::Missing;
        let within = |scope| convert(html, &Options { base_url: self.base_url, scope }).ok().filter(has_text);
        // A page of a few words may have no main content that can be distinguished from the rest: it is saved
        // whole.
        let main = if self.selected { None } else { within(Scope::Main) };
        main.or_else(|| within(Scope::Whole))
    }
}

/// A document of `markdown`, made from `text`, without further metadata; `None` if it has no text.
fn as_it_is(markdown: String, text: &str) -> Option<Document> {
    if DocumentText::of(&markdown) == DocumentText::Missing {
        return None;
    }
    Some(Document { metadata: Metadata::default(), words: text.split_whitespace().count(), markdown })
}

/// `text` as a code block that no run of backticks in it can end.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn fetched(body: &str) -> Fetched<'_> {
        Fetched {
            url: "https://x.example/a",
            base_url: None,
            format: ContentFormat::Html,
            body: Body::Text(body),
            title: "Hint",
            selected: false,
            fetched_at: "t",
            source: None,
        }
    }

    #[test]
    fn a_fence_outlasts_the_text() {
        assert_eq!(fenced("a\n", "text"), "```text\na\n```\n");
        assert_eq!(fenced("```\nx\n````", "json"), "`````json\n```\nx\n````\n`````\n");
    }

    #[test]
    fn markdown_is_known_by_its_name() {
        assert!(is_markdown(&url("https://x.example/README.md?raw=1")));
        assert!(!is_markdown(&url("https://x.example/readme.txt")));
    }

    #[test]
    fn media_types_name_formats() {
        let page = url("https://x.example/a");
        for (media_type, format) in [
            ("text/html", Some(ContentFormat::Html)),
            ("Text/HTML; charset=utf-8", Some(ContentFormat::Html)),
            ("text/markdown", Some(ContentFormat::Markdown)),
            ("text/plain", Some(ContentFormat::Code("text"))),
            ("application/ld+json", Some(ContentFormat::Code("json"))),
            ("application/atom+xml", Some(ContentFormat::Code("xml"))),
            ("image/svg+xml", None),
            ("application/pdf", None),
            ("", None),
        ] {
            assert_eq!(ContentFormat::of(media_type, &page), format, "{media_type}");
        }
        assert_eq!(ContentFormat::of("text/plain", &url("https://x.example/A.MD")), Some(ContentFormat::Markdown));
    }

    #[test]
    fn a_hint_is_the_title_where_the_content_has_none() {
        assert_eq!(fetched("<title>Own</title><p>Text of the page.").convert().unwrap().metadata.title, "Own");
        assert_eq!(fetched("<p>Text of the page.").convert().unwrap().metadata.title, "Hint");
        let part = Fetched { selected: true, ..fetched("<h1>Own</h1><p>Text of the page.") };
        assert_eq!(part.convert().unwrap().metadata.title, "Hint");
        let code = Fetched { format: ContentFormat::Code("json"), ..fetched("{\"a\":1}") }.convert().unwrap();
        let block = "```json\n{\n  \"a\": 1\n}\n```\n";
        assert_eq!((code.metadata.title.as_str(), code.markdown.as_str()), ("Hint", block));
    }

    #[test]
    fn nothing_is_not_converted() {
        for format in [ContentFormat::Html, ContentFormat::Markdown, ContentFormat::Code("text")] {
            let nothing = Fetched { format, ..fetched(" \n") };
            assert!(nothing.convert().unwrap_err().is(EMPTY_CONTENT), "{format:?}");
        }
    }

    #[test]
    fn a_document_needs_a_word_or_code() {
        for (format, text) in [(ContentFormat::Html, "<hr>"), (ContentFormat::Markdown, "# \n\n---\n")] {
            assert!(Fetched { format, ..fetched(text) }.convert().unwrap_err().is(EMPTY_CONTENT), "{text:?}");
        }
        let json = Fetched { format: ContentFormat::Code("json"), ..fetched("[]") };
        assert_eq!(json.convert().unwrap().markdown, "```json\n[]\n```\n");
        assert_eq!(fetched("<h1>Tides</h1>").convert().unwrap().markdown, "# Tides\n");
    }

    #[test]
    fn bytes_and_text_are_converted_alike() {
        let html = "<p>Two <b>high</b> waters a day.";
        let expected = fetched(html).convert().unwrap().markdown;
        let body = Body::Bytes { bytes: html.as_bytes(), content_type: None };
        assert_eq!(Fetched { body, ..fetched("") }.convert().unwrap().markdown, expected);
    }
}
