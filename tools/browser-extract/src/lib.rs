//! `ragmaker-browser-extract`: saves the main content of a page as Markdown and records it in the catalog.

mod json;
mod list;
mod memory;
mod page;
mod queue;

use std::{path::PathBuf, sync::Arc, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_address::Pattern;
use ragmaker_browser::{Capture, Consent, Expand, Expanded, Load, Ready, RestrictedSession, Target, codes};
use ragmaker_browser_pages::{ConvertedPage, FileFacts};
use ragmaker_capture::{CaptureArgs, Files};
use ragmaker_knowledge::{DestinationArgs, EMPTY_CONTENT, now, save_converted};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, Error, Invocation, Isolation, Tool, ToolProfile, choice,
    host,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use json::{JsonResponses, SavedJson};
use list::List;
pub use list::Pages;
use page::Extraction;

/// Save the main content of a web page, or of each of `--urls`, as Markdown and list it in the knowledge base's
/// catalog. For links use `ragmaker-browser-navigate`. Returns file path, title and words, or counts and verdicts;
/// error pages, challenges and sign-in forms are errors.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Args {
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// folder for the file (default: cache/documents in --kb-root)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
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
    /// CSS selector of the content to save (default: the main content)
    #[argh(option)]
    pub selector: Option<String>,
    /// decline a consent banner first
    #[argh(switch)]
    #[serde(skip)]
    pub dismiss_consent: bool,
    /// also save JSON responses whose URL matches this regex
    #[argh(option)]
    #[serde(skip)]
    pub json_responses: Option<String>,
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
    /// folder of the knowledge base to save in
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// URLs of the pages
    #[argh(option)]
    pub urls: Vec<String>,
    /// file with one URL per line; - is standard input
    #[argh(option)]
    pub urls_file: Option<PathBuf>,
    /// reload pages that are open or in the catalog
    #[argh(switch)]
    pub reload: bool,
    /// number of tabs for many pages (default: 8)
    #[argh(option)]
    #[serde(skip)]
    pub tabs: Option<Bounded<1, 8>>,
    /// maximum number of tabs per host (default: 2)
    #[argh(option)]
    #[serde(skip)]
    pub per_host: Option<Bounded<1, 8>>,
    /// print one line of JSON per page when it is done, instead of an answer
    #[argh(switch)]
    #[serde(skip)]
    pub jsonl: bool,
}

/// A page, or many.
#[derive(Serialize, JsonSchema, Debug)]
#[serde(untagged)]
pub enum Answer {
    /// With --url, or the page used last.
    Page(Box<Saved>),
    /// With --urls or --urls-file.
    List(Pages),
}

/// A page that was saved.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Saved {
    /// The page's address, after redirects.
    pub url: String,
    /// The page's title.
    pub title: String,
    /// The absolute path of the Markdown file.
    pub file_path: String,
    /// Whether the catalog has the document now.
    pub catalog_updated: bool,
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// How many words were saved; each CJK character is one.
    pub words: usize,
    /// The probability that the right content was selected: 0 to 1. Low: extract again with a selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The reason why the wait for the content ended; after `cap`, more content may have been loading.
    pub ready: Ready,
    /// The hosts that had not answered yet; left out where nothing was open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// With --expand or --scroll-to-end: how much was expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<Expanded>,
    /// For a file in place of a page, such as a PDF: its type, size and SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileFacts>,
    /// With --dismiss-consent: the consent banner, and what was clicked to decline it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// With --json-responses: the JSON answers that the page received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_responses: Option<JsonResponses>,
    /// The files that were written.
    #[serde(flatten)]
    pub files: Files,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    // What a model need not decide.
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &[
        "--tabs",
        "--per-host",
        "--jsonl",
        "--dismiss-consent",
        "--json-responses",
        "--screenshot",
        "--full-page",
        "--screenshot-selector",
        "--print-pdf",
    ];
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Gather];
    const OPERANDS: &'static [&'static str] = &["--url"];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::SESSION_ERRORS,
        codes::VISIT_ERRORS,
        codes::PAGE_ERRORS,
        &[codes::NO_PAGE, EMPTY_CONTENT],
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_convert::ERRORS,
        ragmaker_ingest::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::IO_ERRORS,
        &[ragmaker_files::NOT_A_REGULAR_FILE, ragmaker_text::INPUT_TOO_LARGE, ragmaker_text::NOT_TEXT],
        &[ragmaker_address::ADDRESS_NOT_ALLOWED, ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.is_list() {
            return self.list(invocation).map(Answer::List);
        }
        self.page(invocation).map(Box::new).map(Answer::Page)
    }

    fn stream(&self, invocation: &Invocation) -> Option<Result<(), Error>> {
        // Each page was printed as it ended.
        (self.jsonl && self.is_list()).then(|| self.list(invocation).map(drop))
    }
}

impl Args {
    fn is_list(&self) -> bool {
        self.urls_file.is_some() || !self.urls.is_empty()
    }

    fn named(&self) -> DestinationArgs<'_> {
        DestinationArgs {
            output_dir: self.output_dir.as_deref(),
            kb_root: self.kb_root.as_deref(),
            catalog_path: self.catalog_path.as_deref(),
        }
    }

    fn json(&self) -> Result<Option<Arc<Pattern>>, Error> {
        let pattern = |text: &str| Pattern::new("--json-responses", text).map(Arc::new);
        self.json_responses.as_deref().map(pattern).transpose()
    }

    fn extraction<'a>(&'a self, json: Option<&'a Arc<Pattern>>) -> Extraction<'a> {
        Extraction {
            session: self.session.as_deref(),
            selector: self.selector.as_deref(),
            wait_for: self.wait_for.as_deref(),
            load: self.load,
            expand: Expand { folded: self.expand, scroll: self.scroll_to_end },
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            visible: self.no_headless,
            capture: Capture::default(),
            declines_consent: self.dismiss_consent,
            json,
        }
    }

    fn page(&self, invocation: &Invocation) -> Result<Saved, Error> {
        let of_lists =
            [("--tabs", self.tabs.is_some()), ("--per-host", self.per_host.is_some()), ("--jsonl", self.jsonl)];
        if let Some((flag, _)) = of_lists.into_iter().find(|(_, is_given)| *is_given) {
            return Err(ARGUMENT_ERROR.error(format!("{flag} needs --urls or --urls-file")).detail("argument", flag));
        }
        let address = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let plan = CaptureArgs {
            screenshot: self.screenshot.as_deref(),
            full_page: self.full_page,
            selector: self.screenshot_selector.as_deref(),
            annotate: false,
            image: false,
            print_pdf: self.print_pdf.as_deref(),
        }
        .plan(invocation)?;
        let json = self.json()?;
        let place = self.named().locate(invocation)?;
        let session = RestrictedSession::new(self.session.as_deref(), invocation)?;
        let target = Target::new(address.as_ref(), self.reload)?;
        let extraction = Extraction { capture: plan.capture(), ..self.extraction(json.as_ref()) };
        let ConvertedPage { mut page, url, document, file, json, .. } = extraction.take(&session, target)?;
        let (files, _) = plan.save(page.captured.take())?;
        let saved = save_converted(
            document,
            &url,
            &now(),
            Some(&extraction.source(address.as_ref(), &url)),
            &place.destination(),
        )?;
        let save_json = |answers| JsonResponses::save_to(&place.destination(), extraction.session, answers);
        let json_responses = json.map(save_json).transpose()?;
        Ok(Saved {
            url,
            title: saved.title,
            file_path: saved.file.to_string_lossy().into_owned(),
            catalog_updated: saved.entry.is_some(),
            catalog_file: place.catalog.file().to_string_lossy().into_owned(),
            words: saved.words,
            confidence: saved.confidence,
            ready: page.ready,
            pending: page.pending,
            expanded: page.expanded,
            file,
            consent: page.consent,
            json_responses,
            files,
        })
    }

    fn list(&self, invocation: &Invocation) -> Result<Pages, Error> {
        for (flag, is_given) in [
            ("--url", self.url.is_some()),
            ("--no-headless", self.no_headless),
            ("--screenshot", self.screenshot.is_some()),
            ("--print-pdf", self.print_pdf.is_some()),
        ] {
            if is_given {
                let message = format!("{flag} and --urls or --urls-file cannot be combined");
                return Err(ARGUMENT_ERROR.error(message).detail("argument", flag));
            }
        }
        let mut addresses = self.urls.clone();
        if let Some(path) = &self.urls_file {
            addresses.extend(list::read(path, invocation)?);
        }
        let json = self.json()?;
        let place = self.named().locate(invocation)?;
        let list = List {
            addresses,
            extraction: self.extraction(json.as_ref()),
            place: &place,
            tabs: self.tabs.map_or(8, Bounded::index),
            per_host: self.per_host.map_or(2, Bounded::index),
            reload: self.reload,
            jsonl: self.jsonl,
        };
        list::run(&list, invocation)
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;

    use super::*;

    fn args(words: &[&str]) -> Args {
        Args::from_args(&["extract"], words).unwrap()
    }

    #[test]
    fn a_refused_call_makes_nothing() {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let invocation = Invocation { host, ..Invocation::default() };
        let (page, list) = (["--url", "https://a.example/"], ["--urls", "https://a.example/"]);
        for (first, words, argument) in [
            (page, &["--per-host", "2"][..], "--per-host"),
            (page, &["--json-responses", "("], "--json-responses"),
            (list, &["--json-responses", "("], "--json-responses"),
            (list, &["--screenshot", "a.png"], "--screenshot"),
            (list, &["--print-pdf", "a.pdf"], "--print-pdf"),
        ] {
            let error = args(&[&first[..], words].concat()).run(&invocation).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == argument, "{words:?}: {error}");
        }
        assert_eq!(root.read_dir().unwrap().count(), 0);
    }

    #[test]
    fn only_a_list_is_printed_page_by_page() {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let invocation = Invocation { host, ..Invocation::default() };
        // With an address as well, a list is refused before a browser is started.
        let streamed = |words: &[&str]| args(words).stream(&invocation).map(|result| result.unwrap_err());
        let both = ["--url", "u", "--urls", "u", "--jsonl"];
        assert!(streamed(&both).unwrap().is(ARGUMENT_ERROR));
        assert!(streamed(&["--url", "u", "--urls-file", "f", "--jsonl"]).unwrap().is(ARGUMENT_ERROR));
        assert!(streamed(&both[..4]).is_none() && streamed(&["--url", "u", "--jsonl"]).is_none());
    }

    #[test]
    fn the_options_of_a_page_are_those_of_the_call() {
        let words = ["--session", "s", "--selector", "main", "--wait-for", "p", "--load", "everything"];
        let given = args(&[&words[..], &["--scroll-to-end", "--timeout", "7", "--dismiss-consent"]].concat());
        let of = given.extraction(None);
        assert_eq!((of.session, of.selector, of.wait_for), (Some("s"), Some("main"), Some("p")));
        assert_eq!((of.load, of.timeout), (Load::Everything, Some(Duration::from_secs(7))));
        assert_eq!(of.expand, Expand { folded: false, scroll: true });
        assert!(of.declines_consent && !of.visible);
        let other = args(&["--expand", "--no-headless"]);
        let of = other.extraction(None);
        assert_eq!((of.expand, of.visible, of.timeout), (Expand { folded: true, scroll: false }, true, None));
        assert!(of.session.is_none() && of.load == Load::Text && !of.declines_consent);
    }
}
