//! `ragmaker-browser-navigate`: opens a page and returns its title, its kind and its links.

mod matching;

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_address::{Pattern, same_site};
use ragmaker_browser::{Consent, Expand, Expanded, Link, Load, Ready, RestrictedSession, Target, Visit, codes};
use ragmaker_capture::{CaptureArgs, Files};
use ragmaker_tool::{
    Annotations, Bounded, Budget, Code, ContentOrigin, Error, Invocation, Isolation, Limit, Next, OFFSET_BEYOND_END,
    Offset, Tool, ToolProfile, choice, host,
};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use matching::keep_matching;

/// Open a web page and list the links that a person could follow there. Use it to choose pages;
/// `ragmaker-browser-extract` saves one. Returns title, HTTP status and links, paged by next; obstacle names a bot
/// challenge or a sign-in form.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// show a window, for a person to solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// timeout in seconds (default: 30, or 300 with a window)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
    /// CSS selector to wait for
    #[argh(option)]
    pub wait_for: Option<String>,
    /// everything also loads images, fonts and media
    #[argh(option, default = "Load::Text", from_str_fn(choice))]
    pub load: Load,
    /// first open collapsed sections and tabs
    #[argh(switch)]
    pub expand: bool,
    /// first scroll to the end
    #[argh(switch)]
    pub scroll_to_end: bool,
    /// reload the page
    #[argh(switch)]
    pub reload: bool,
    /// only links whose text or address matches this regex
    #[argh(option, long = "match")]
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// only links to the page's own site
    #[argh(switch)]
    pub same_site: bool,
    /// decline a consent banner first
    #[argh(switch)]
    #[serde(skip)]
    pub dismiss_consent: bool,
    /// screenshot file: .png or .webp
    #[argh(option)]
    #[serde(skip)]
    pub screenshot: Option<PathBuf>,
    /// capture the whole page, not only the visible part
    #[argh(switch)]
    #[serde(skip)]
    pub full_page: bool,
    /// CSS selector of the element to capture
    #[argh(option)]
    #[serde(skip)]
    pub screenshot_selector: Option<String>,
    /// PDF file of the page
    #[argh(option)]
    #[serde(skip)]
    pub print_pdf: Option<PathBuf>,
    /// number of links to skip (from `next`)
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of links (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
}

/// A page and its links.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
    /// The page's address, after redirects.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The HTTP status; null if the browser does not know it.
    pub http_status: Option<u16>,
    /// The links in the order of the page, without duplicates.
    pub links: Vec<Link>,
    /// The number of links that match the filters.
    pub total: usize,
    /// Whether there are more links than were returned.
    pub truncated: bool,
    /// The arguments that return the rest; null if there is none.
    pub next: Option<Next>,
    /// Whether a bot challenge is shown instead of the page.
    pub is_bot_detected: bool,
    /// The error code with which browser-extract refuses the page; null where it has content.
    pub obstacle: Option<&'static str>,
    /// The reason why the wait for the page's content ended.
    pub ready: Ready,
    /// The hosts with open requests; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// With --expand or --scroll-to-end: how much was expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<Expanded>,
    /// With --dismiss-consent: the consent banner, and what was clicked to decline it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// The files that were written.
    #[serde(flatten)]
    pub files: Files,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.repeating().open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    // What a gathering model rarely needs; browser-look takes screenshots for it.
    const COMMAND_LINE_FLAGS: &'static [&'static str] =
        &["--dismiss-consent", "--screenshot", "--full-page", "--screenshot-selector", "--print-pdf"];
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather];
    const OPERANDS: &'static [&'static str] = &["--url"];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::SESSION_ERRORS,
        codes::VISIT_ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[ragmaker_files::NOT_A_REGULAR_FILE, ragmaker_files::PATH_NOT_WRITABLE],
        &[codes::NO_PAGE, ragmaker_address::ADDRESS_NOT_ALLOWED, OFFSET_BEYOND_END],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let url = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let matching = self.matching.as_deref().map(|text| Pattern::new("--match", text)).transpose()?;
        let plan = CaptureArgs {
            screenshot: self.screenshot.as_deref(),
            full_page: self.full_page,
            selector: self.screenshot_selector.as_deref(),
            annotate: false,
            image: false,
            print_pdf: self.print_pdf.as_deref(),
        }
        .plan(invocation)?;
        let session = RestrictedSession::new(self.session.as_deref(), invocation)?;
        let target = self.target(url.as_ref())?;
        let visit = Visit {
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            wait_for: self.wait_for.as_deref(),
            load: self.load,
            expand: Expand { folded: self.expand, scroll: self.scroll_to_end },
            capture: plan.capture(),
            declines_consent: self.dismiss_consent,
            ..session.visit(target)
        };
        let (mut page, mut links) = visit.links()?;
        links.retain(|link| self.is_listed(link, &page.url));
        if let Some(pattern) = &matching {
            keep_matching(&mut links, pattern, MATCHING)?;
        }
        let (files, _) = plan.save(page.captured.take())?;
        let frame = Answer {
            obstacle: page.refusal().map(|error| error.code()),
            url: page.url.into(),
            title: page.title,
            http_status: (page.http_status > 0).then_some(page.http_status),
            links: vec![],
            total: links.len(),
            truncated: false,
            next: Some(Next::WIDEST),
            is_bot_detected: page.challenge.is_some(),
            ready: page.ready,
            pending: page.pending,
            expanded: page.expanded,
            consent: page.consent,
            files,
        };
        let page = Budget::for_frame(&frame).page(links, self.offset, self.limit);
        let page = page.map_err(|error| error.detail("url", frame.url.as_str()))?;
        Ok(Answer { links: page.items, truncated: page.next.is_some(), next: page.next, ..frame })
    }
}

impl Args {
    /// The page to go to.
    fn target<'a>(&self, url: Option<&'a Url>) -> Result<Target<'a>, Error> {
        Ok(match Target::new(url, self.reload)? {
            // The page is loaded again, unless a call acted in it or the rest of its links is requested.
            Target::Show(url) if self.offset.get() == 0 => Target::Acted(url),
            target => target,
        })
    }

    /// Whether `link` of the page at `page` is listed if it matches.
    fn is_listed(&self, link: &Link, page: &Url) -> bool {
        // A longer URL could not be opened.
        link.href.len() <= ragmaker_address::MAX_BYTES
            && (!self.same_site || Url::parse(&link.href).is_ok_and(|there| same_site(page, &there)))
    }
}

/// The time limit for matching the pattern.
const MATCHING: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use ragmaker_tool::ARGUMENT_ERROR;

    use super::*;

    fn args(words: &[&str]) -> Args {
        Args::from_args(&["navigate"], words).unwrap()
    }

    #[test]
    fn the_first_page_of_links_is_of_a_page_that_is_loaded_again() {
        let url = Url::parse("https://a.example/").unwrap();
        let to = |words: &[&str]| args(words).target(Some(&url)).unwrap();
        assert!(matches!(to(&[]), Target::Acted(_)));
        assert!(matches!(to(&["--offset", "1"]), Target::Show(_)));
        for words in [&["--reload"][..], &["--reload", "--offset", "1"]] {
            assert!(matches!(to(words), Target::Load(_)), "{words:?}");
        }
    }

    #[test]
    fn without_a_url_the_last_page_is_listed_and_not_reloaded() {
        assert!(matches!(args(&[]).target(None), Ok(Target::Latest)));
        let error = args(&["--reload"]).target(None).err().unwrap();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--reload", "{error}");
    }

    #[test]
    fn links_that_cannot_be_opened_or_lead_to_another_site_are_left_out() {
        let page = Url::parse("https://www.a.example/docs/").unwrap();
        let listed = |words: &[&str], href: &str| {
            args(words).is_listed(&Link { text: "a".to_owned(), href: href.to_owned() }, &page)
        };
        let long = |length: usize| format!("https://a.example/{}", "x".repeat(length - "https://a.example/".len()));
        for (href, anywhere, on_the_site) in [
            ("https://docs.a.example/b", true, true),
            ("http://a.example:8080/", true, true),
            ("https://b.example/?from=https://a.example/", true, false),
            ("mailto:a@a.example", true, false),
            ("no address", true, false),
            (&long(ragmaker_address::MAX_BYTES), true, true),
            (&long(ragmaker_address::MAX_BYTES + 1), false, false),
        ] {
            assert_eq!(listed(&[], href), anywhere, "{href}");
            assert_eq!(listed(&["--same-site"], href), on_the_site, "{href}");
        }
    }
}
