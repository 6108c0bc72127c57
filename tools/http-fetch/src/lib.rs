//! `ragmaker-http-fetch`: a page without a browser, or a whole section of a site.
//!
//! One page is returned (`page`); a section is saved, or only planned (`plan`). The work is `ragmaker_site`'s.

mod page;
mod plan;

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_address::{Pattern, codes};
use ragmaker_http::{Client, Limits};
use ragmaker_knowledge::DestinationArgs;
use ragmaker_site::{Browser, Fetched, Scope, SectionRequest, UseBrowser};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, Error, Invocation, Isolation, Limit, OFFSET_BEYOND_END,
    Offset, Tool, ToolProfile, choice, host,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use page::{ContentSource, FetchedPage};
pub use plan::Plan;

/// Read a web page, PDF or text file as Markdown without saving it. With `--section`, save all pages below the address
/// in a knowledge base and get a verdict for each. To choose among pages, use `ragmaker-browser-navigate` and
/// `ragmaker-browser-extract`.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// URL of the page, or of the start of a section
    #[argh(option)]
    pub url: String,
    /// save every page of the section below the address
    #[argh(switch)]
    pub section: bool,
    /// URL prefix of the section (default: --url)
    #[argh(option)]
    pub prefix: Option<String>,
    /// maximum link depth from --url (default: any, and sitemaps and llms.txt)
    #[argh(option)]
    pub depth: Option<Bounded<0, 100>>,
    /// maximum number of pages
    #[argh(option, default = "Bounded::new(1000)")]
    pub max_pages: Bounded<1, 100_000>,
    /// only URLs that match this regular expression
    #[argh(option, long = "match")]
    #[serde(rename = "match")]
    pub matching: Option<String>,
    /// exclude URLs that match this regular expression
    #[argh(option)]
    pub exclude: Option<String>,
    /// save nothing; list which URLs would be saved or skipped, and why
    #[argh(switch)]
    pub dry_run: bool,
    /// folder of the knowledge base
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// folder to save to (default: documents beside the catalog)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// number of characters to skip in the text of a page; with --dry-run, number of URLs to skip in the plan
    #[argh(option, default = "Offset::new(0)")]
    pub offset: Offset,
    /// maximum number of characters of a page; with --dry-run, of URLs of the plan (default: as many as fit)
    #[argh(option)]
    pub limit: Option<Limit>,
    /// whether thin pages are opened in the browser session: auto or never
    #[argh(option, default = "UseBrowser::Auto", from_str_fn(choice))]
    pub browser: UseBrowser,
    /// name of the browser session
    #[argh(option)]
    pub session: Option<String>,
    /// number of parallel requests of a section
    #[argh(option, default = "Bounded::new(1)")]
    pub concurrency: Bounded<1, 16>,
    /// maximum wait in seconds that a site may request
    #[argh(option, default = "Bounded::new(60)")]
    pub max_wait: Bounded<0, 3600>,
    /// maximum size of a page in bytes
    #[argh(option, default = "MaxBytes::new(20_000_000)")]
    pub max_bytes: MaxBytes,
    /// print one line of JSON per page when it is done, instead of an answer
    #[argh(switch)]
    pub jsonl: bool,
}

/// A page, a section, or what a section would be.
#[derive(Serialize, JsonSchema, Debug)]
#[serde(untagged)]
pub enum Answer {
    /// Without --section.
    Page(Box<FetchedPage>),
    /// With --section.
    Section(Fetched),
    /// With --section and --dry-run.
    Plan(Plan),
}

/// The maximum size in bytes of a body.
pub type MaxBytes = Bounded<1, 100_000_000>;

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::FETCHING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    // What a model need not decide: it asks politely, and gets one value.
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--concurrency", "--max-wait", "--max-bytes", "--jsonl"];
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Fetch];
    const ALIASES: &'static [&'static str] = &["browser-fetch"];
    const OPERANDS: &'static [&'static str] = &["--url"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_http::ERRORS,
        ragmaker_address::ERRORS,
        &[
            codes::HTTP_ERROR,
            codes::BOT_DETECTED,
            codes::LOGIN_REQUIRED,
            codes::NOT_A_PAGE,
            ragmaker_site::WAIT_TOO_LONG,
            ragmaker_site::START_REFUSED,
        ],
        &[ragmaker_knowledge::EMPTY_CONTENT, ragmaker_text::NOT_TEXT, OFFSET_BEYOND_END],
        &[
            ragmaker_office::PDF_READER_MISSING,
            ragmaker_office::PDF_ENCRYPTED,
            ragmaker_office::PDF_UNREADABLE,
            ragmaker_office::DOCUMENT_UNREADABLE,
        ],
        ragmaker_project::ERRORS,
        ragmaker_ingest::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_files::IO_ERROR, ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        self.fetch(invocation)
    }

    fn stream(&self, invocation: &Invocation) -> Option<Result<(), Error>> {
        // Each page was printed as it ended.
        self.jsonl.then(|| self.fetch(invocation).map(drop))
    }
}

impl Args {
    fn fetch(&self, invocation: &Invocation) -> Result<Answer, Error> {
        let url = ragmaker_address::parse(&self.url)?;
        let limits = Limits { body: self.max_bytes.get(), ..Limits::default() };
        let client = Client::new(&invocation.host, Some(&url), limits)?;
        // The client has them.
        let url = ragmaker_address::without_credentials(&url).into_owned();
        client.check(&url)?;
        let browser = Browser::new(self.browser, self.session.as_deref(), invocation)?;
        if !self.section {
            self.refuse_options_of_a_section()?;
            let loaded = ragmaker_site::open(&url, &client, browser.as_ref())?;
            return page::part(loaded, self.offset, self.limit).map(|page| Answer::Page(Box::new(page)));
        }
        self.refuse_paging_of_a_run()?;
        let prefix = self.prefix.as_deref().map(ragmaker_address::parse).transpose()?;
        let prefix = prefix.map(|prefix| ragmaker_address::without_credentials(&prefix).into_owned());
        let same = (url.as_str(), &prefix, self.depth.map(Bounded::get), &self.matching, &self.exclude);
        let key = serde_json::to_string(&same).unwrap_or_default();
        let pattern = |name, text: &Option<String>| text.as_deref().map(|text| Pattern::new(name, text)).transpose();
        let include = pattern("--match", &self.matching)?;
        let scope = Scope::new(&url, prefix, include, pattern("--exclude", &self.exclude)?)?;
        let wanted = SectionRequest {
            start: &url,
            scope,
            depth: self.depth.map(|depth| depth.get() as u32),
            max_pages: self.max_pages.get() as usize,
            max_wait: Duration::from_secs(self.max_wait.get()),
            concurrency: self.concurrency.get() as usize,
            session: self.session.clone(),
            key,
            stream: self.jsonl,
        };
        if self.dry_run {
            let pages = ragmaker_site::plan(&wanted, &client)?;
            if self.jsonl {
                plan::print(&pages);
            }
            return Plan::of(pages, self.offset, self.limit).map(Answer::Plan);
        }
        let named = DestinationArgs {
            output_dir: self.output_dir.as_deref(),
            kb_root: self.kb_root.as_deref(),
            catalog_path: None,
        };
        let place = named.locate(invocation)?;
        ragmaker_site::fetch(&wanted, &client, browser.as_ref(), &place.catalog, place.folder).map(Answer::Section)
    }

    /// Refuses to page a run that saves: all its pages are in its report, and `--max-pages` is its limit.
    fn refuse_paging_of_a_run(&self) -> Result<(), Error> {
        let given = [("--offset", self.offset.index() > 0), ("--limit", self.limit.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given && !self.dry_run) {
            None => Ok(()),
            Some((argument, _)) => Err(ARGUMENT_ERROR
                .error(format!("{argument} cannot be used with --section: it would not limit what is saved"))
                .remedy("Limit a section with --max-pages, or add --dry-run to list its URLs.")
                .detail("argument", argument)),
        }
    }

    /// Refuses what would have no effect: a caller that names a knowledge base expects the page in it.
    fn refuse_options_of_a_section(&self) -> Result<(), Error> {
        let given = [
            ("--prefix", self.prefix.is_some()),
            ("--depth", self.depth.is_some()),
            ("--match", self.matching.is_some()),
            ("--exclude", self.exclude.is_some()),
            ("--kb-root", self.kb_root.is_some()),
            ("--output-dir", self.output_dir.is_some()),
            ("--dry-run", self.dry_run),
            ("--jsonl", self.jsonl),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((argument, _)) => Err(ARGUMENT_ERROR
                .error(format!("{argument} requires --section"))
                .remedy("Add --section, or save one page with ragmaker-browser-extract.")
                .detail("argument", argument)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_would_have_no_effect_is_named() {
        let refused = |line: &[&str]| {
            let args = Args::from_args(&["http-fetch"], &[&["--url", "https://x.example/"], line].concat()).unwrap();
            args.refuse_options_of_a_section().err().map(|error| error.details()["argument"].clone())
        };
        assert_eq!(refused(&["--offset", "10"]), None);
        for argument in ["--prefix", "--match", "--exclude", "--kb-root", "--output-dir"] {
            assert_eq!(refused(&[argument, "https://x.example/a"]), Some(argument.into()));
        }
        assert_eq!(refused(&["--depth", "1"]), Some("--depth".into()));
        assert_eq!(
            (refused(&["--dry-run"]), refused(&["--jsonl"])),
            (Some("--dry-run".into()), Some("--jsonl".into()))
        );
    }

    #[test]
    fn a_section_that_is_saved_is_not_paged() {
        let refused = |line: &[&str]| {
            let line = [&["--url", "https://x.example/", "--section"], line].concat();
            let args = Args::from_args(&["http-fetch"], &line).unwrap();
            args.refuse_paging_of_a_run().err().map(|error| error.details()["argument"].clone())
        };
        assert_eq!(
            (refused(&["--limit", "5"]), refused(&["--offset", "5"])),
            (Some("--limit".into()), Some("--offset".into()))
        );
        assert_eq!((refused(&["--max-pages", "5"]), refused(&["--offset", "0"])), (None, None));
        assert_eq!(refused(&["--limit", "5", "--offset", "5", "--dry-run"]), None);
    }
}
