//! One page: visited, checked and converted.

use std::time::Duration;

use ragmaker_browser::{Browsing, Load, Page, Target, Visit, codes};
use ragmaker_knowledge::{Body, EMPTY_CONTENT, Fetched, Format, Source, now};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;

/// What is taken of each page, and how.
#[derive(Clone, Copy)]
pub(crate) struct Extraction<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) selector: Option<&'a str>,
    pub(crate) wait_for: Option<&'a str>,
    pub(crate) load: Load,
    pub(crate) timeout: Option<Duration>,
    pub(crate) visible: bool,
}

/// A page that is to be saved.
pub(crate) struct Taken {
    pub(crate) page: Page,
    /// The address that it is saved under.
    pub(crate) url: String,
    pub(crate) document: Document,
}

impl Extraction<'_> {
    /// Where the catalog says that the document came from.
    pub(crate) fn source(&self) -> Source {
        Source::Browser { session: self.session.map(str::to_owned), selector: self.selector.map(str::to_owned) }
    }

    /// Goes to the page and converts its content.
    pub(crate) fn take(&self, browsing: &Browsing, target: Target<'_>) -> Result<Taken, Error> {
        let visit = Visit {
            visible: self.visible,
            timeout: self.timeout,
            wait_for: self.wait_for,
            load: self.load,
            ..browsing.visit(target)
        };
        let (page, content) = visit.html(self.selector)?;
        if let Some(error) = page.refusal() {
            return Err(error);
        }
        let content = match (content, self.selector) {
            (None, Some(selector)) => {
                return Err(codes::SELECTOR_NOT_FOUND
                    .error(format!("nothing on the page matches {selector:?}"))
                    .detail("selector", selector)
                    .detail("url", page.url.as_str()));
            }
            (content, _) => content.unwrap_or_default(),
        };
        let format = Format::of(&page.content_type, &page.url).ok_or_else(|| {
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
            body: Body::Text(&content),
            title: &page.title,
            selected: self.selector.is_some(),
            fetched_at: &now(),
            source: None,
        };
        let document = fetched
            .convert()
            .map_err(|error| if error.is(EMPTY_CONTENT) { error.remedy(EMPTY_REMEDY) } else { error })?;
        Ok(Taken { page, url, document })
    }
}

/// What to do about a page without text.
const EMPTY_REMEDY: &str =
    "Look at the page with ragmaker-browser-navigate; name its content with --selector or wait for it with --wait-for.";
