//! The content of a response, as text and as Markdown.

use ragmaker_address::codes::{HTTP_ERROR, NOT_A_PAGE};
use ragmaker_convert::redirect_error;
use ragmaker_document::{DocumentText, FormFields, SignInForm, WrongPage, is_headed_login};
use ragmaker_http::Response;
use ragmaker_knowledge::{Body, ContentFormat, EMPTY_CONTENT, Fetched, decode};
use ragmaker_markdown::{Document, Links, Metadata, links, sign_in};
use ragmaker_text::ByteSource;
use ragmaker_tool::Error;
use url::Url;

use crate::refusal::{PART, block_error, challenge_error, refusal};

/// The start of an HTML document, after white space and comments, in lower case.
const HTML: [&str; 5] = ["<!doctype html", "<html", "<head", "<body", "<?xml"];

/// The number of bytes of a file that decide whether it is HTML.
const START: usize = 64 * 1024;

/// A response whose content was read.
#[derive(Debug)]
pub struct Content {
    /// Its address, after redirects.
    pub url: Url,
    /// The HTTP status.
    pub http_status: u16,
    /// Its media type; the body decides if it contradicts the server.
    pub media_type: String,
    /// The charset of a text.
    pub charset: Option<&'static str>,
    /// Its kind by its body.
    pub kind: ContentKind,
    /// It as Markdown.
    pub document: Document,
    /// The unchanged text, if it is not a page.
    pub as_it_is: Option<String>,
    /// Its links.
    pub links: Links,
}

/// The kind of a response by its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML, of which the main content is taken.
    Html,
    /// Markdown of the publisher's.
    Markdown,
    /// Text of another kind.
    Text,
    /// A PDF, an office document or a book.
    Office,
}

/// The error for a page that is a challenge or a sign-in page.
fn wrong_page(response: &Response, html: &str, links: &Links, document: &Document) -> Option<Error> {
    let (title, markdown) = (&document.metadata.title, &document.markdown);
    if is_block(html, document) {
        return Some(block_error(response));
    }
    // A challenge has a script that solves it.
    if is_challenge(document) && has_scripts(links) {
        return Some(challenge_error(response, None));
    }
    let is_little = markdown.chars().nth(BESIDE).is_none() && !markdown.lines().any(is_prose);
    // Most pages have more text, and need not be read again. What such a page says of its site may be a paragraph.
    if !is_little && !is_headed_login(title, markdown) {
        return None;
    }
    let found = sign_in(html, &response.url);
    let first_line = || markdown.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let form = SignInForm {
        url: &response.url,
        title,
        heading: if found.heading.is_empty() { first_line() } else { &found.heading },
        fields: FormFields {
            passwords: found.passwords,
            new_passwords: found.new_passwords,
            current_passwords: found.current_passwords,
            fields: found.fields,
            identifiers: found.identifiers,
            posts: found.posts,
            providers: found.providers,
        },
        links: &found.links,
    };
    // A page that asks for no password has little text, so that it is not about the sign-in.
    ((is_little || found.passwords > 0) && form.asks()).then(|| {
        ragmaker_address::codes::LOGIN_REQUIRED
            .error(format!("{} is a sign-in page", response.url))
            .detail("url", response.url.as_str())
            .detail("http_status", response.status)
    })
}

/// Whether the page says that it is a bot challenge. It has little text; a page about challenges has more.
fn is_challenge(document: &Document) -> bool {
    document.words < CHALLENGE
        && WrongPage::recognize(&document.metadata.title, &document.markdown) == Some(WrongPage::Challenge)
}

/// Whether the page is the one with which Cloudflare blocks a visitor, of any status.
fn is_block(html: &str, document: &Document) -> bool {
    html.contains(CLOUDFLARE_BLOCK) && is_challenge(document)
}

/// Whether a line of Markdown is a paragraph that a page is for.
pub(crate) fn is_prose(line: &str) -> bool {
    !line.contains("](") && line.chars().nth(ARTICLE).is_some()
}

fn has_scripts(links: &Links) -> bool {
    !links.scripts.is_empty() || links.inline_scripts > 0
}

/// A response that has no content to keep.
#[derive(Debug)]
pub(crate) struct NoContent {
    pub(crate) error: Error,
    /// Whether a browser may find some: it runs scripts, and may be signed in.
    pub(crate) may_be_in_browser: bool,
}

/// Reads what `response` holds.
pub(crate) fn read(response: &Response) -> Result<Content, NoContent> {
    let no_browser = |error: Error| NoContent { error: at(error, &response.url), may_be_in_browser: false };
    if response.status == PART
        && let Some(error) = refusal(response, &Links::default())
    {
        return Err(no_browser(error));
    }
    if (200..300).contains(&response.status)
        && ragmaker_office::OfficeDocument::may_start_with(&response.body)
        && let Some((document, media_type)) = office(response).map_err(no_browser)?
    {
        let plain = Content::of(response, media_type.to_owned(), ContentKind::Office);
        return Ok(Content { document, ..plain });
    }
    if (200..300).contains(&response.status)
        && let Some(document) = data(response)
    {
        let plain = Content::of(response, response.media_type(), ContentKind::Office);
        return Ok(Content { document, ..plain });
    }
    let content_type = response.content_type();
    let media_type = response.media_type();
    let declared = ContentFormat::of(&media_type, &response.url);
    let is_file = declared.is_none() && !media_type.is_empty() && (200..300).contains(&response.status);
    // The body decides what it is.
    if is_file && !is_html(&String::from_utf8_lossy(&response.body[..response.body.len().min(START)])) {
        return Err(no_browser(
            NOT_A_PAGE
                .error(format!("the URL leads to a file of type {media_type}, not a page"))
                .detail("content_type", media_type),
        ));
    }
    let (text, charset) = decode(&response.body, Some(&content_type)).map_err(|error| {
        // What a server sends along with an error matters less than the error.
        no_browser(refusal(response, &Links::default()).unwrap_or(error))
    })?;
    let format = match declared {
        Some(ContentFormat::Markdown) | None if is_html(&text) => ContentFormat::Html,
        Some(format) => format,
        None => ContentFormat::Code("text"),
    };
    let links = if format == ContentFormat::Html { links(&text, &response.url) } else { Links::default() };
    let fetched = Fetched {
        url: response.url.as_str(),
        base_url: Some(&response.url),
        format,
        body: Body::Text(&text),
        title: "",
        selected: false,
        fetched_at: "",
        source: None,
    };
    if let Some(error) = refusal(response, &links) {
        // The site chooses the status of Cloudflare's page; its usual one is 403.
        let may_be_blocked =
            error.is(HTTP_ERROR) && matches!(response.status, 403 | 503) && text.contains(CLOUDFLARE_BLOCK);
        if may_be_blocked && fetched.convert().is_ok_and(|document| is_block(&text, &document)) {
            return Err(NoContent { error: block_error(response), may_be_in_browser: true });
        }
        let may_be_in_browser = matches!(response.status, 200..300 | 401 | 403 | 405 | 428 | 429 | 503)
            && !matches!(response.status, 429 | 503 if error.is(HTTP_ERROR));
        return Err(NoContent { error, may_be_in_browser });
    }
    let converted = fetched.convert();
    let words = converted.as_ref().map_or(0, |document| document.words);
    if let Some(error) = redirect_error(words, || links.refresh.clone(), &response.url) {
        return Err(no_browser(error));
    }
    let mut document = converted.map_err(|error| {
        let error = error.remedy_for(EMPTY_CONTENT, EMPTY_REMEDY);
        NoContent { error, may_be_in_browser: format == ContentFormat::Html && has_scripts(&links) }
    })?;
    if format == ContentFormat::Markdown && document.metadata.title.is_empty() {
        document.metadata.title = first_heading(&document.markdown).unwrap_or_default().to_owned();
    }
    if format == ContentFormat::Html
        && let Some(error) = wrong_page(response, &text, &links, &document)
    {
        return Err(NoContent { error, may_be_in_browser: true });
    }
    let kind = match format {
        ContentFormat::Html => ContentKind::Html,
        ContentFormat::Markdown => ContentKind::Markdown,
        ContentFormat::Code(_) => ContentKind::Text,
    };
    let as_it_is = (kind == ContentKind::Text).then(|| text.into_owned());
    let media_type = if media_type.is_empty() || (kind == ContentKind::Html && declared != Some(ContentFormat::Html)) {
        // The body decides what it is.
        if kind == ContentKind::Html { "text/html".to_owned() } else { "text/plain".to_owned() }
    } else {
        media_type
    };
    let plain = Content::of(response, media_type, kind);
    Ok(Content { charset: Some(charset.name()), document, as_it_is, links, ..plain })
}

impl Content {
    fn of(response: &Response, media_type: String, kind: ContentKind) -> Self {
        Self {
            url: response.url.clone(),
            http_status: response.status,
            media_type,
            charset: None,
            kind,
            document: Document::default(),
            as_it_is: None,
            links: Links::default(),
        }
    }

    /// Whether a browser is likely to show more: hardly any text, and scripts that may add it.
    pub(crate) fn is_thin(&self) -> bool {
        self.kind == ContentKind::Html && self.document.words < THIN && has_scripts(&self.links)
    }
}

/// Fewer words than these, on a page with scripts, may be no more than its frame.
const THIN: usize = 25;

/// The maximum number of characters beside the form of a sign-in page. If the browser may be used, the position of the
/// form on the page decides instead.
const BESIDE: usize = 300;

/// A page with more words is not a bot challenge. Cloudflare's page for blocked visitors has about 120.
const CHALLENGE: usize = 150;

/// An element of the page with which Cloudflare blocks a visitor.
const CLOUDFLARE_BLOCK: &str = "cf-error-details";

/// A paragraph that is longer, in characters, is what the page is for.
const ARTICLE: usize = 80;

/// The remedy for a page without text.
const EMPTY_REMEDY: &str = "Look at the page with the browser tools: scripts may create its content, or it is empty.";

fn at(error: Error, url: &Url) -> Error {
    if error.details().contains_key("url") { error } else { error.detail("url", url.as_str()) }
}

/// The heading that Markdown begins with, after front matter.
fn first_heading(markdown: &str) -> Option<&str> {
    let body = markdown.trim_start_matches('\u{feff}');
    let after = body.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(_, after)| after);
    let line = after.unwrap_or(body).lines().find(|line| !line.trim().is_empty())?;
    Some(line.strip_prefix("# ")?.trim().trim_end_matches('#').trim_end())
}

/// Whether a text is an HTML document, independent of its media type.
pub(crate) fn is_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { return false };
        rest = after.trim_start();
    }
    let start: String = rest.chars().take(16).collect::<String>().to_ascii_lowercase();
    HTML.iter().any(|html| start.starts_with(html))
}

/// The text of a PDF, an office document or a book, and its media type; `None` for other responses.
fn office(response: &Response) -> Result<Option<(Document, &'static str)>, Error> {
    let source = ByteSource::Memory(response.body.clone());
    let name = response.url.as_str();
    let broken = |error: std::io::Error| ragmaker_office::ConversionFailure::from(error).at(name);
    let Some(document) = ragmaker_office::OfficeDocument::open(&source).map_err(broken)? else { return Ok(None) };
    let media_type = document.format().mime_type();
    let text = document.convert(&source, None).map_err(|failure| failure.at(name))?;
    let mut bytes = vec![];
    let mut block = vec![0; 64 * 1024];
    loop {
        match text.read_at(bytes.len() as u64, &mut block).map_err(broken)? {
            0 => break,
            read => bytes.extend_from_slice(&block[..read]),
        }
    }
    // A form feed ends each page of a PDF.
    let markdown = String::from_utf8_lossy(&bytes).replace('\u{c}', "\n");
    if DocumentText::of(&markdown) == DocumentText::Missing {
        return Err(EMPTY_CONTENT
            .error(format!("{name} has no text"))
            .remedy("It may consist of scanned pages, which have no text."));
    }
    let words = markdown.split_whitespace().count();
    Ok(Some((Document { metadata: Metadata::default(), markdown, words }, media_type)))
}

/// The text of a notebook, delimited rows or a message, recognised by media type or name; `None` for other responses.
fn data(response: &Response) -> Option<Document> {
    use ragmaker_convert::DocumentKind as File;
    let name = response.url.path();
    let is_data = |kind: &File| matches!(kind, File::Notebook | File::Delimited | File::Mail);
    let kind = match response.media_type().as_str() {
        "application/x-ipynb+json" => File::Notebook,
        "text/csv" | "text/tab-separated-values" => File::Delimited,
        "message/rfc822" => File::Mail,
        // A page about such a file, or one in its place.
        "text/html" | "application/xhtml+xml" => return None,
        _ => File::of(name).filter(is_data)?,
    };
    if std::str::from_utf8(&response.body).is_ok_and(is_html) {
        return None;
    }
    ragmaker_convert::convert(name, kind, &ByteSource::Memory(response.body.clone()), Some(&response.url)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_known_by_its_start() {
        for html in ["<!DOCTYPE html><p>x", "\u{feff} <!-- a --> <HTML lang=en>", "<head>", "<!--x--><!--y--><body>"] {
            assert!(is_html(html), "{html}");
        }
        for other in ["# Title", "<p>in Markdown", "<!-- a", "text <html>", "", "<div>"] {
            assert!(!is_html(other), "{other}");
        }
    }
}
