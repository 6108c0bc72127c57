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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn rules(robots: &str, robots_failure: Option<u16>) -> Rules {
        Rules {
            home: url("https://x.example/docs/"),
            robots: Robots::parse(robots.as_bytes(), "ragmaker"),
            robots_failure,
        }
    }

    #[test]
    fn an_address_is_refused_by_its_reach_and_then_by_robots_txt() {
        let rules = rules("User-agent: *\nDisallow: /docs/private\nDisallow: /*?print\n", None);
        let scope =
            Scope::new(&rules.home, None, None, Some(ragmaker_address::Pattern::new("--exclude", "draft").unwrap()));
        let scope = scope.unwrap();
        let (section, prefix) = (Reach::Section(&scope), Reach::Prefix(&scope));
        for (at, reach, expected) in [
            ("https://x.example/docs/a", section, None),
            ("https://x.example/docs/draft", section, Some("--exclude matches it")),
            ("https://x.example/docs/draft", prefix, None),
            ("https://x.example/a", section, Some("it is outside of the section")),
            ("https://x.example/a", prefix, Some("it is outside of the section")),
            ("https://x.example/a", Reach::Site, None),
            ("https://y.example/a", Reach::Site, Some("it is of another site")),
            ("https://y.example/a", Reach::PartOfPage, None),
            ("https://x.example/docs/private/a", section, Some(DISALLOWED)),
            ("https://x.example/docs/private", Reach::PartOfPage, Some(DISALLOWED)),
            // A query is part of what robots.txt decides on, a fragment is not.
            ("https://x.example/a?print=1", Reach::Site, Some(DISALLOWED)),
            ("https://x.example/a#?print", Reach::Site, None),
            ("https://x.example/robots.txt", Reach::Site, None),
        ] {
            assert_eq!(rules.refusal(&url(at), reach).as_deref(), expected, "{at} {reach:?}");
        }
    }

    #[test]
    fn nothing_of_a_site_is_fetched_whose_server_fails_to_return_robots_txt() {
        let rules = rules("", Some(503));
        let failure = "the server answered 503 for robots.txt";
        assert_eq!(rules.failure().as_deref(), Some(failure));
        for reach in [Reach::Site, Reach::PartOfPage] {
            assert_eq!(rules.refusal(&url("https://x.example/a"), reach).as_deref(), Some(failure));
        }
        // Another site has rules of its own.
        assert_eq!(rules.refusal(&url("https://y.example/a"), Reach::PartOfPage), None);
    }
}
