//! `ragmaker-browser-navigate`: goes to a page and says what it is and where it leads.

mod pattern;

use std::time::Duration;

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{
    Link, Profile, Ready, Target, Visit,
    address::{self, Domains},
    codes,
};
use ragmaker_tool::{Annotations, Code, Error, OFFSET_BEYOND_END, OUTPUT_LIMIT, Tool, Within, json};
use schemars::JsonSchema;
use serde::Serialize;
use url::{Host, Url};

use pattern::Pattern;

/// Go to a page in the browser and list the links a person could follow there.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// address of the page, http or https
    #[argh(option)]
    pub url: String,
    /// show the browser's window, and wait for a person to solve a bot challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session; each has a profile of its own
    #[argh(option)]
    pub session: Option<String>,
    /// seconds the call may take (default: 30; a person gets 300 for a challenge)
    #[argh(option)]
    pub timeout: Option<Within<1, 3600>>,
    /// CSS selector of an element to wait for, instead of waiting until the page is quiet
    #[argh(option)]
    pub wait_for: Option<String>,
    /// only links whose text or address matches this regular expression
    #[argh(option, long = "match")]
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// only links to the page's own host or a host above or below it
    #[argh(switch)]
    pub same_site: bool,
    /// domain whose pages may be opened, with the hosts below it; may be repeated (default: any)
    #[argh(option)]
    pub allow_domain: Vec<String>,
    /// number of links to pass over; with it, a page that is still open is not loaded again
    #[argh(option, default = "Within::new(0)")]
    pub offset: Within<0, { u64::MAX }>,
    /// most links to list, all of them however long (default: as many as fit the output)
    #[argh(option)]
    pub limit: Option<Within<1, { u64::MAX }>>,
}

/// A page and where it leads.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The page's address, after redirects.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The HTTP status that the server answered with; null where the browser does not know it.
    pub http_status: Option<u16>,
    /// The links, in the page's order, each page once.
    pub links: Vec<Link>,
    /// How many links there are with these filters, listed or not.
    pub links_total: usize,
    /// The arguments that list the rest; null when nothing is left.
    pub next: Option<Next>,
    /// Whether a bot challenge stands in the place of the page.
    pub is_bot_detected: bool,
    /// What ended the wait for the page's content.
    pub ready: Ready,
}

/// The arguments that go on.
#[derive(Serialize, JsonSchema, Debug, PartialEq, Eq)]
pub struct Next {
    /// Links to pass over.
    pub offset: usize,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: false, open_world_hint: true };
    const ERRORS: &'static [Code] = &[
        codes::BROWSER_NOT_FOUND,
        codes::BROWSER_FAILED,
        codes::NO_DISPLAY,
        codes::PROFILE_IN_USE,
        codes::BROWSER_BUSY,
        codes::BROWSER_LOST,
        codes::TIMEOUT,
        codes::PAGE_CRASHED,
        codes::NAVIGATION_FAILED,
        codes::NOT_A_PAGE,
        codes::URL_NOT_ALLOWED,
        codes::DOMAIN_NOT_ALLOWED,
        codes::SELECTOR_NOT_FOUND,
        OFFSET_BEYOND_END,
    ];

    fn run(self) -> Result<Answer, Error> {
        let url = address::parse(&self.url)?;
        let mut matching = self.matching.as_deref().map(Pattern::new).transpose()?;
        let domains = Domains::new(&self.allow_domain)?;
        let profile = Profile::of(self.session.as_deref())?;
        let offset = usize::try_from(self.offset.get()).unwrap_or(usize::MAX);
        let visit = Visit {
            profile: &profile,
            // The rest of a list is the rest of the same page.
            target: if offset > 0 { Target::Show(&url) } else { Target::Load(&url) },
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            wait_for: self.wait_for.as_deref(),
            domains: &domains,
        };
        let (page, mut links) = visit.links()?;
        let here = Url::parse(&page.url).ok();
        links.retain(|link| {
            // A longer one could not be gone to.
            link.href.len() <= address::LONGEST
                && (!self.same_site || here.as_ref().is_some_and(|here| same_site(here, &link.href)))
        });
        if let Some(pattern) = &mut matching {
            pattern.keep_in(&mut links, MATCHING)?;
        }
        let links_total = links.len();
        if offset > 0 && offset >= links_total {
            return Err(OFFSET_BEYOND_END
                .error(format!("there are {links_total} links: none is after the first {offset}"))
                .detail("argument", "--offset")
                .detail("url", page.url)
                .detail("links_total", links_total));
        }
        let limit = self.limit.map(|limit| usize::try_from(limit.get()).unwrap_or(usize::MAX));
        let charset = json::Charset::from_env();
        let room = OUTPUT_LIMIT - REST - json::cost(&page.url, charset) - json::cost(&page.title, charset);
        let links = window(links, offset, limit, room);
        let after = offset.saturating_add(links.len());
        Ok(Answer {
            url: page.url,
            title: page.title,
            http_status: (page.http_status > 0).then_some(page.http_status),
            next: (after < links_total).then_some(Next { offset: after }),
            links,
            links_total,
            is_bot_detected: page.challenge.is_some(),
            ready: page.ready,
        })
    }
}

/// The most time that looking for a pattern may take.
const MATCHING: Duration = Duration::from_secs(5);

/// What of an answer is neither links, nor the page's address and title.
const REST: usize = 1000;

/// Those of `links` after `offset`: `limit` of them, or without one as many as fit into `room`.
fn window(links: Vec<Link>, offset: usize, limit: Option<usize>, room: usize) -> Vec<Link> {
    let rest = links.into_iter().skip(offset);
    if let Some(limit) = limit {
        return rest.take(limit).collect();
    }
    let charset = json::Charset::from_env();
    let mut left = room;
    rest.take_while(|link| {
        let cost = json::cost(link, charset) + 7;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    })
    .collect()
}

/// Whether `href` leads to the host of `here`, or to one above or below it (`docs.example.com` and
/// `example.com`); a leading `www.` does not count. An address in numbers, or `localhost`, is one
/// site only with its port.
fn same_site(here: &Url, href: &str) -> bool {
    let Ok(there) = Url::parse(href) else { return false };
    match (here.host(), there.host()) {
        (Some(Host::Domain(a)), Some(Host::Domain(b))) if a != "localhost" => {
            let (a, b) = (a.trim_start_matches("www."), b.trim_start_matches("www."));
            let below = |low: &str, high: &str| low.strip_suffix(high).is_some_and(|rest| rest.ends_with('.'));
            a == b || below(a, b) || below(b, a)
        }
        (a, b) => a == b && here.port_or_known_default() == there.port_or_known_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_site_is_the_host_and_those_above_and_below() {
        let same = |a: &str, b: &str| same_site(&Url::parse(a).unwrap(), b);
        assert!(same("https://www.example.com/a", "http://example.com/b"));
        assert!(same("https://docs.example.com/", "https://example.com/"));
        assert!(same("https://example.com/", "https://docs.example.com:8443/"));
        assert!(!same("https://example.com/", "https://notexample.com/"));
        assert!(!same("https://example.com/", "https://example.com.evil.test/"));
        assert!(same("http://127.0.0.1:8000/", "http://127.0.0.1:8000/x"));
        assert!(!same("http://127.0.0.1:8000/", "http://127.0.0.1:8001/x"));
        assert!(!same("http://localhost:1/", "http://localhost:2/"));
    }

    #[test]
    fn a_window_fits_the_output_and_a_limit_is_kept() {
        let links: Vec<Link> =
            (0..5000).map(|i| Link { text: format!("日本語 {i}"), href: format!("https://example.com/{i}") }).collect();
        let room = OUTPUT_LIMIT - REST;
        let first = window(links.clone(), 0, None, room);
        assert!(json::cost(&first, json::Charset::Utf8) < OUTPUT_LIMIT && first.len() > 100);
        assert_eq!(window(links.clone(), first.len(), None, room)[0], links[first.len()]);
        assert_eq!(window(links.clone(), 10, Some(2000), room).len(), 2000);
        assert!(window(links, 9999, None, room).is_empty());
    }
}
