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
        ConvertedPage::of(&visit, self.selector)
            .map_err(|error| if error.is(EMPTY_CONTENT) { error.remedy(EMPTY_REMEDY) } else { error })
    }
}

/// The remedy for a page without text.
const EMPTY_REMEDY: &str =
    "Look at the page with ragmaker-browser-navigate; name its content with --selector or wait for it with --wait-for.";
