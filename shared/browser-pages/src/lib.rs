//! Pages from the browser: checked for obstacles and converted to documents, for all tools that save pages. Files in
//! place of pages, such as PDFs, are converted as well.

mod file;
mod json;

use ragmaker_browser::{LoadedPage, Visit, codes};
use ragmaker_knowledge::{Body, ContentFormat, Fetched, now};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;

pub use file::FileFacts;
pub use json::JsonDocument;

/// A page with its content.
#[derive(Debug)]
pub struct ConvertedPage {
    /// The page.
    pub page: LoadedPage,
    /// The address that it is saved under: after redirects, in the spelling that all its equivalents are brought to.
    pub url: String,
    /// Its HTML, or what the selector matched; the text where it is not HTML.
    pub html: String,
    /// Its content as Markdown.
    pub document: Document,
    /// The file that the document was made of, if it is not a page.
    pub file: Option<FileFacts>,
    /// The JSON answers of the page as documents, and how many are left out, if they were asked for.
    pub json: Option<(Vec<JsonDocument>, usize)>,
}

impl ConvertedPage {
    /// Makes `visit` and converts the main content, or what a CSS `selector` matches.
    ///
    /// # Errors
    ///
    /// Those of [`Visit::html`] and [`LoadedPage::refusal`]; `SELECTOR_NOT_FOUND`, `NOT_A_PAGE` for content that is not
    /// a document, `EMPTY_CONTENT` for a page without text; [`ragmaker_convert::ERRORS`] for a file.
    pub fn of(visit: &Visit<'_>, selector: Option<&str>) -> Result<Self, Error> {
        let (mut page, content) = Visit { takes_files: true, ..*visit }.html(selector)?;
        if let Some(file) = page.file.take() {
            if let Some(error) = page.refusal() {
                return Err(error);
            }
            let url = ragmaker_address::canonical(&page.url);
            let (document, facts) = file::document(&page.url, &file)?;
            let json = page.json_responses.take().map(|answers| json::documents(&answers, &url));
            return Ok(Self { page, url, html: String::new(), document, file: Some(facts), json });
        }
        if let Some(error) = page.refusal() {
            return Err(error);
        }
        let html = match (content, selector) {
            (None, Some(selector)) => {
                return Err(codes::SELECTOR_NOT_FOUND
                    .error(format!("nothing on the page matches {selector:?}"))
                    .detail("selector", selector)
                    .detail("url", page.url.as_str()));
            }
            (content, _) => content.unwrap_or_default(),
        };
        let format = ContentFormat::of(&page.content_type, &page.url).ok_or_else(|| {
            codes::NOT_A_PAGE
                .error(format!("the URL leads to a file of type {}, not a page", page.content_type))
                .detail("url", page.url.as_str())
                .detail("content_type", page.content_type.as_str())
        })?;
        let url = ragmaker_address::canonical(&page.url);
        let fetched = Fetched {
            url: &url,
            base_url: Some(&page.base),
            format,
            body: Body::Text(&html),
            title: &page.title,
            selected: selector.is_some(),
            fetched_at: &now(),
            source: None,
        };
        let document = fetched.convert()?;
        let json = page.json_responses.take().map(|answers| json::documents(&answers, &url));
        Ok(Self { page, url, html, document, file: None, json })
    }
}
