//! The rules for the addresses of a run: the site, its robots.txt, and the section.

use url::Url;

use crate::{redirect::Reach, robots::Robots, scope::is_same_host};

/// The reason why a page that robots.txt disallows is refused.
const DISALLOWED: &str = "robots.txt disallows it";

/// A site and its robots.txt.
#[derive(Debug)]
pub(crate) struct Rules {
    /// An address of the site.
    pub(crate) home: Url,
    pub(crate) robots: Robots,
    /// The error status with which the server answered the request for robots.txt: then nothing is known to be allowed.
    pub(crate) robots_failure: Option<u16>,
}

impl Rules {
    /// Why nothing of the site may be fetched: the server failed to return its robots.txt.
    pub(crate) fn failure(&self) -> Option<String> {
        self.robots_failure.map(|status| format!("the server answered {status} for robots.txt"))
    }

    /// The reason why `url` may not be requested; `None` if it may.
    pub(crate) fn refusal(&self, url: &Url, reach: Reach<'_>) -> Option<String> {
        let refusal = match reach {
            Reach::Section(scope) => scope.refusal(url),
            Reach::Prefix(scope) => scope.place_refusal(url),
            Reach::Site => (!is_same_host(url, &self.home)).then_some("it is of another site"),
            // It is of another site's rules.
            Reach::PartOfPage if !is_same_host(url, &self.home) => return None,
            Reach::PartOfPage => None,
        };
        if let Some(reason) = refusal {
            return Some(reason.to_owned());
        }
        self.failure().or_else(|| (!self.allows(url)).then(|| DISALLOWED.to_owned()))
    }

    /// Whether robots.txt lets `url` be fetched.
    fn allows(&self, url: &Url) -> bool {
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        self.robots.allows(&target)
    }
}
