//! One page, which is returned and not saved.

use ragmaker_site::{Content, ContentKind, LoadMethod, Loaded};
use ragmaker_tool::{Budget, Error, Next, OFFSET_BEYOND_END, Offset};
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

/// The part of `loaded` after the first `offset` characters that fits an answer.
pub(crate) fn part(loaded: Loaded, offset: Offset) -> Result<FetchedPage, Error> {
    let Loaded { content, via, reason } = loaded;
    let Content { url, http_status, media_type, charset, kind, document, as_it_is, .. } = content;
    let text = as_it_is.unwrap_or(document.markdown);
    let total = text.chars().count();
    let skipped = offset.index();
    if skipped > 0 && skipped >= total {
        return Err(OFFSET_BEYOND_END
            .error(format!("the content has {total} characters: none is left after the first {skipped}"))
            .detail("argument", "--offset")
            .detail("total", total));
    }
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
    let start = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    let content = Budget::for_frame(&frame).take_text(rest);
    let next = (content.len() < rest.len()).then(|| Next { offset: skipped + content.chars().count() });
    Ok(FetchedPage { content: content.to_owned(), truncated: next.is_some(), next, ..frame })
}
