//! One page, which is returned and not saved.

use ragmaker_site::{Content, ContentKind, LoadMethod, Loaded};
use ragmaker_tool::{Budget, Error, Limit, Next, Offset};
use schemars::JsonSchema;
use serde::Serialize;

/// A page, or a part of it.
#[derive(Serialize, JsonSchema, Debug)]
pub struct FetchedPage {
    /// The page's address, after redirects.
    pub url: String,
    /// The HTTP status.
    pub http_status: u16,
    /// Its media type; the body decides if it contradicts the server.
    pub media_type: String,
    /// The charset of a text.
    pub charset: Option<&'static str>,
    /// The page's title.
    pub title: String,
    /// HTML as Markdown of its main content, PDF and office files as text, other texts as they are.
    pub content: String,
    /// Whether the content is the publisher's own Markdown, the main content of HTML, or a file's text.
    pub content_from: ContentSource,
    /// The probability that the right content of HTML was selected: 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The number of characters of the whole content.
    pub total: usize,
    /// Whether something is left after this part.
    pub truncated: bool,
    /// The arguments for the next page; null on the last page.
    pub next: Option<Next>,
    /// The way in which it was fetched.
    pub via: LoadMethod,
    /// The reason why a plain request was not enough, or why the page may be incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The author of the returned content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ContentSource {
    /// The publisher, as Markdown.
    Publisher,
    /// It was extracted from HTML.
    Extracted,
    /// It is a file's.
    File,
}

impl ContentSource {
    fn of(kind: ContentKind) -> Self {
        match kind {
            ContentKind::Html => Self::Extracted,
            ContentKind::Markdown => Self::Publisher,
            ContentKind::Text | ContentKind::Office => Self::File,
        }
    }
}

/// The part of `loaded` after the first `offset` characters: `limit` characters, or without it as many as fit.
pub(crate) fn part(loaded: Loaded, offset: Offset, limit: Option<Limit>) -> Result<FetchedPage, Error> {
    let Loaded { content, via, reason } = loaded;
    let Content { url, http_status, media_type, charset, kind, document, as_it_is, .. } = content;
    let text = as_it_is.unwrap_or(document.markdown);
    let total = text.chars().count();
    let frame = FetchedPage {
        url: ragmaker_address::canonical(&url),
        http_status,
        media_type: media_type.chars().take(200).collect(),
        charset,
        title: document.metadata.title.chars().take(500).collect(),
        content: String::new(),
        content_from: ContentSource::of(kind),
        confidence: document.metadata.confidence.filter(|_| kind == ContentKind::Html),
        total,
        truncated: true,
        next: Some(Next::WIDEST),
        via,
        reason: reason.map(|reason| reason.chars().take(500).collect()),
    };
    let page = Budget::for_frame(&frame).page_of_text(&text, total, offset, limit)?;
    Ok(FetchedPage { content: text[page.range].to_owned(), truncated: page.next.is_some(), next: page.next, ..frame })
}

#[cfg(test)]
mod tests {
    use ragmaker_markdown::{Links, Options, Scope, convert};
    use ragmaker_tool::OFFSET_BEYOND_END;

    use super::*;

    /// A page of this kind, whose text is `text`.
    fn loaded(kind: ContentKind, text: &str) -> Loaded {
        let document = convert("<title>Tides</title><p>x", &Options { base_url: None, scope: Scope::Whole }).unwrap();
        let content = Content {
            url: "https://x.example/a#top".parse().unwrap(),
            http_status: 200,
            media_type: "x".repeat(1_000),
            charset: Some("UTF-8"),
            kind,
            document: ragmaker_markdown::Document { markdown: text.to_owned(), ..document },
            as_it_is: (kind == ContentKind::Text).then(|| text.to_owned()),
            links: Links::default(),
        };
        Loaded { content, via: LoadMethod::Http, reason: Some("y".repeat(1_000)) }
    }

    #[test]
    fn parts_of_a_page_join_to_the_whole() {
        for kind in [ContentKind::Html, ContentKind::Text] {
            let text = "\u{6f6e}a\n".repeat(30_000);
            let (mut joined, mut offset) = (String::new(), 0);
            loop {
                let page = part(loaded(kind, &text), Offset::new(offset), None).unwrap();
                assert_eq!((page.total, page.truncated), (90_000, page.next.is_some()));
                joined += &page.content;
                let Some(next) = page.next else { break };
                offset = next.offset as u64;
            }
            assert!(joined == text);
            let page = part(loaded(kind, &text), Offset::new(1), Some(Limit::new(40_000))).unwrap();
            assert_eq!((page.content.chars().count(), page.next), (40_000, Some(Next { offset: 40_001 })));
        }
    }

    #[test]
    fn a_page_says_whose_text_it_is_and_bounds_what_a_server_says() {
        for (kind, source, has_confidence) in [
            (ContentKind::Html, ContentSource::Extracted, true),
            (ContentKind::Markdown, ContentSource::Publisher, false),
            (ContentKind::Office, ContentSource::File, false),
        ] {
            let page = part(loaded(kind, "text"), Offset::new(0), None).unwrap();
            assert_eq!((page.content_from, page.content.as_str(), page.next.is_none()), (source, "text", true));
            assert!(has_confidence || page.confidence.is_none());
            assert_eq!((page.media_type.len(), page.reason.map(|reason| reason.len())), (200, Some(500)));
        }
    }

    #[test]
    fn an_empty_page_is_a_page_and_an_offset_after_the_end_is_an_error() {
        assert_eq!(part(loaded(ContentKind::Text, ""), Offset::new(0), None).unwrap().content, "");
        for (text, offset) in [("", 1), ("ab", 2), ("ab", 99)] {
            let error = part(loaded(ContentKind::Text, text), Offset::new(offset), None).unwrap_err();
            assert!(error.is(OFFSET_BEYOND_END) && error.details()["total"] == text.len(), "{error}");
        }
    }
}
