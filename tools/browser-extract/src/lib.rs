//! `ragmaker-browser-extract`: saves what a page says as Markdown, and records it in the catalog.

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{Browsing, Load, Ready, Target, Visit, codes};
use ragmaker_knowledge::{Body, EMPTY_CONTENT, Fetched, Format, Named, Source, now, save};
use ragmaker_tool::{
    Annotations, Bounded, Code, ContentOrigin, Error, Invocation, Isolation, Tool, Toolset, choice, host,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Save a web page's main content as Markdown and list it in the knowledge base's catalog; a page that is
/// still open is not loaded again. For its links use `browser_navigate`. Returns file path, title and
/// words; error pages, challenges and sign-in forms are errors.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// address of the page (default: the one used last)
    #[argh(option)]
    pub url: Option<String>,
    /// folder to write the file to (default: cache/documents in --kb-root)
    #[argh(option)]
    pub output_dir: Option<PathBuf>,
    /// show the window, for a person to solve a challenge
    #[argh(switch)]
    pub no_headless: bool,
    /// name of the session
    #[argh(option)]
    pub session: Option<String>,
    /// seconds the call may take (default: 30, or 300 with a window)
    #[argh(option)]
    pub timeout: Option<Bounded<1, 3600>>,
    /// CSS selector to wait for
    #[argh(option)]
    pub wait_for: Option<String>,
    /// everything: load pictures, fonts and media, too
    #[argh(option, default = "Load::Text", from_str_fn(choice))]
    pub load: Load,
    /// CSS selector of what to save, instead of the main content
    #[argh(option)]
    pub selector: Option<String>,
    /// folder of the knowledge base to save in
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root (default: .tmp/cache/catalog.json in the project)
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
}

/// A page that was saved.
#[derive(Serialize, JsonSchema, Debug)]
pub struct Answer {
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
    /// How probable it is that the right content was chosen: 0 to 1. Low: extract again with a selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What ended the wait for the content; after a cap, more of it may have been on its way.
    pub ready: Ready,
    /// The hosts that had not answered yet; left out where nothing was open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::GATHERING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const TOOLSETS: &'static [Toolset] = &[Toolset::Gather];
    const ERRORS: &'static [&'static [Code]] = &[
        codes::SESSION_ERRORS,
        codes::VISIT_ERRORS,
        codes::PAGE_ERRORS,
        &[codes::NO_PAGE, EMPTY_CONTENT],
        ragmaker_address::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_catalog::ERRORS,
        ragmaker_files::PATH_ERRORS,
        &[ragmaker_address::ADDRESS_NOT_ALLOWED, ragmaker_files::PATH_NOT_WRITABLE],
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let url = self.url.as_deref().map(ragmaker_address::parse).transpose()?;
        let named = Named {
            output_dir: self.output_dir.as_deref(),
            kb_root: self.kb_root.as_deref(),
            catalog_path: self.catalog_path.as_deref(),
        };
        let place = named.locate(invocation)?;
        let browsing = Browsing::new(self.session.as_deref(), invocation)?;
        let visit = Visit {
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            wait_for: self.wait_for.as_deref(),
            load: self.load,
            ..browsing.visit(url.as_ref().map_or(Target::Latest, Target::Show))
        };
        let (page, content) = visit.html(self.selector.as_deref())?;
        if let Some(error) = page.refusal() {
            return Err(error);
        }
        let content = match (content, &self.selector) {
            (None, Some(selector)) => {
                return Err(codes::SELECTOR_NOT_FOUND
                    .error(format!("nothing on the page matches {selector:?}"))
                    .detail("selector", selector.as_str())
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
            source: Some(&Source::Browser { session: self.session.clone(), selector: self.selector.clone() }),
        };
        let saved = save(&fetched, &place.destination());
        let saved = saved.map_err(|error| if error.is(EMPTY_CONTENT) { error.remedy(EMPTY_REMEDY) } else { error })?;
        Ok(Answer {
            url,
            title: saved.title,
            file_path: saved.file.to_string_lossy().into_owned(),
            catalog_updated: saved.entry.is_some(),
            catalog_file: place.catalog.file().to_string_lossy().into_owned(),
            words: saved.words,
            confidence: saved.confidence,
            ready: page.ready,
            pending: page.pending,
        })
    }
}

/// What to do about a page without text.
const EMPTY_REMEDY: &str =
    "Look at the page with ragmaker-browser-navigate; name its content with --selector or wait for it with --wait-for.";
