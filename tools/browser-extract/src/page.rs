//! One page: visits, checks and converts it.

use std::{sync::Arc, time::Duration};

use ragmaker_address::Pattern;
use ragmaker_browser::{Capture, Expand, Load, RestrictedSession, Target, Visit};
use ragmaker_browser_pages::ConvertedPage;
use ragmaker_knowledge::{DocumentSource, EMPTY_CONTENT};
use ragmaker_tool::Error;
use url::Url;

/// The options for each page.
#[derive(Clone, Copy)]
pub(crate) struct Extraction<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) selector: Option<&'a str>,
    pub(crate) wait_for: Option<&'a str>,
    pub(crate) load: Load,
    pub(crate) expand: Expand,
    pub(crate) timeout: Option<Duration>,
    pub(crate) visible: bool,
    /// The requested screenshot and PDF.
    pub(crate) capture: Capture<'a>,
    pub(crate) declines_consent: bool,
    /// Which JSON answers are taken.
    pub(crate) json: Option<&'a Arc<Pattern>>,
}

impl Extraction<'_> {
    /// Where the catalog says that the document at `url` came from, for which `requested` was asked.
    pub(crate) fn source(&self, requested: Option<&Url>, url: &str) -> DocumentSource {
        let from = requested.map(ragmaker_address::canonical).filter(|from| from != url);
        let selector = self.selector.map(str::to_owned);
        let Expand { folded: expand, scroll } = self.expand;
        DocumentSource::Browser { session: self.session.map(str::to_owned), selector, from, expand, scroll }
    }

    /// Whether the document of `source` was taken in the same way: the same part, and as much of it expanded.
    pub(crate) fn is_way_of(&self, source: &DocumentSource) -> bool {
        let (selector, expand) = match source {
            DocumentSource::Browser { selector, expand, scroll, .. } => {
                (selector.as_deref(), Expand { folded: *expand, scroll: *scroll })
            }
            _ => (None, Expand::default()),
        };
        (selector, expand) == (self.selector, self.expand)
    }

    /// Goes to the page and converts its content.
    pub(crate) fn take(&self, session: &RestrictedSession, target: Target<'_>) -> Result<ConvertedPage, Error> {
        let visit = Visit {
            visible: self.visible,
            timeout: self.timeout,
            wait_for: self.wait_for,
            load: self.load,
            expand: self.expand,
            capture: self.capture,
            json_responses: self.json,
            declines_consent: self.declines_consent,
            ..session.visit(target)
        };
        ConvertedPage::of(&visit, self.selector).map_err(|error| error.remedy_for(EMPTY_CONTENT, EMPTY_REMEDY))
    }
}

/// The remedy for a page without text.
const EMPTY_REMEDY: &str =
    "Look at the page with ragmaker-browser-navigate; name its content with --selector or wait for it with --wait-for.";

#[cfg(test)]
mod tests {
    use super::*;

    fn extraction(selector: Option<&str>, expand: Expand) -> Extraction<'_> {
        Extraction {
            session: Some("work"),
            selector,
            wait_for: None,
            load: Load::default(),
            expand,
            timeout: None,
            visible: false,
            capture: Capture { screenshot: None, pdf: false },
            declines_consent: false,
            json: None,
        }
    }

    #[test]
    fn a_document_is_taken_in_the_same_way_only_with_the_same_part_and_expansion() {
        let folded = Expand { folded: true, scroll: false };
        let ways =
            [(None, Expand::default()), (Some("main"), Expand::default()), (None, folded), (Some("main"), folded)];
        for (at, (selector, expand)) in ways.iter().enumerate() {
            let source = extraction(*selector, *expand).source(None, "https://x.example/");
            for (other, (selector, expand)) in ways.iter().enumerate() {
                assert_eq!(extraction(*selector, *expand).is_way_of(&source), at == other, "{source:?}");
            }
        }
        // A plain request takes the main content as it is.
        let http = DocumentSource::Http { section: None, from: None, etag: None, last_modified: None };
        assert!(extraction(None, Expand::default()).is_way_of(&http));
        assert!(!extraction(Some("main"), Expand::default()).is_way_of(&http));
    }

    #[test]
    fn the_address_that_was_asked_for_is_recorded_where_it_is_another_one() {
        let from = |asked: Option<&str>, url: &str| {
            let asked = asked.map(|asked| Url::parse(asked).unwrap());
            let source = extraction(None, Expand::default()).source(asked.as_ref(), url);
            let DocumentSource::Browser { session, from, .. } = source else { panic!("{source:?}") };
            assert_eq!(session.as_deref(), Some("work"));
            from
        };
        let url = "https://x.example/new";
        assert_eq!(from(Some("https://x.example/old"), url).as_deref(), Some("https://x.example/old"));
        assert_eq!(from(Some("https://x.example/new#place"), url), None, "the same document");
        assert_eq!(from(None, url), None);
    }
}
