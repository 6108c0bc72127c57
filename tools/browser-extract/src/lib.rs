//! `ragmaker-browser-extract`: saves what a page says as Markdown, and records it in the catalog.

mod content;

use std::{path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_browser::{
    Page, Profile, Ready, Target, Visit,
    address::{self, Domains},
    codes,
};
use ragmaker_catalog::{Catalog, Entry};
use ragmaker_document::{Document, OUTPUT_DIR_NOT_WRITABLE};
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Tool, Within};
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

pub use content::EMPTY_CONTENT;

/// Save a page's main content as a Markdown file and record it in the knowledge base's catalog.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// address of the page, http or https; a page that is still open is not loaded again (default: the page the session used last)
    #[argh(option)]
    pub url: Option<String>,
    /// folder to write the file to, which belongs in the knowledge base; made where it is missing
    #[argh(option)]
    pub output_dir: PathBuf,
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
    /// domain whose pages may be opened, with the hosts below it; may be repeated (default: any)
    #[argh(option)]
    pub allow_domain: Vec<String>,
    /// CSS selector of what to save, instead of the main content
    #[argh(option)]
    pub selector: Option<String>,
    /// folder of the knowledge base; its catalog is cache/catalog.json in it
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root; with neither it is .tmp/cache/catalog.json in the project
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
    /// What ended the wait for the content; after a cap, more of it may have been on its way.
    pub ready: Ready,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: true };
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
        codes::NO_PAGE,
        codes::HTTP_ERROR,
        codes::BOT_DETECTED,
        codes::SELECTOR_NOT_FOUND,
        EMPTY_CONTENT,
        OUTPUT_DIR_NOT_WRITABLE,
        ragmaker_catalog::CATALOG_CORRUPT,
        ragmaker_catalog::CATALOG_LOCKED,
        ragmaker_catalog::CATALOG_NOT_READABLE,
        ragmaker_catalog::CATALOG_NOT_WRITABLE,
    ];

    fn run(self) -> Result<Answer, Error> {
        let url = self.url.as_deref().map(address::parse).transpose()?;
        if self.output_dir.as_os_str().is_empty() {
            return Err(ARGUMENT_ERROR.error("--output-dir is empty").detail("argument", "--output-dir"));
        }
        let catalog = Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref())?;
        let domains = Domains::new(&self.allow_domain)?;
        let profile = Profile::of(self.session.as_deref())?;
        let visit = Visit {
            profile: &profile,
            target: url.as_ref().map_or(Target::Latest, Target::Show),
            visible: self.no_headless,
            timeout: self.timeout.map(|seconds| Duration::from_secs(seconds.get())),
            wait_for: self.wait_for.as_deref(),
            domains: &domains,
        };
        let (page, content) = visit.html(self.selector.as_deref())?;
        refuse(&page)?;
        let content = match (content, &self.selector) {
            (None, Some(selector)) => {
                return Err(codes::SELECTOR_NOT_FOUND
                    .error(format!("nothing on the page matches {selector:?}"))
                    .detail("selector", selector.as_str())
                    .detail("url", page.url.as_str()));
            }
            (content, _) => content.unwrap_or_default(),
        };
        let mut document = content::markdown(&page, &content, self.selector.is_some())?;
        if document.title.is_empty() || self.selector.is_some() {
            document.title.clone_from(&page.title);
        }
        document.title.retain(ragmaker_document::is_text);
        if document.title.trim().is_empty() {
            document.title = last_segment(&page.url);
        }
        self.save(&catalog, address::normal(address::page(&page.url)), document, page.ready)
    }
}

/// Refuses what would be no knowledge: a challenge, an error page.
fn refuse(page: &Page) -> Result<(), Error> {
    if let Some(vendor) = page.challenge {
        return Err(codes::BOT_DETECTED
            .error(format!("a bot challenge ({vendor}) stands in the place of {}", page.url))
            .detail("url", page.url.as_str())
            .detail("vendor", vendor)
            .detail("http_status", page.http_status));
    }
    if page.http_status >= 400 {
        return Err(codes::HTTP_ERROR
            .error(format!("the server answered {} for {}", page.http_status, page.url))
            .detail("url", page.url.as_str())
            .detail("http_status", page.http_status));
    }
    Ok(())
}

/// The most characters of a title, as of [`Page::title`].
const LONGEST_TITLE: usize = 500;

/// What a page without a title is called: the last part of its address.
fn last_segment(url: &str) -> String {
    let url = Url::parse(url).ok();
    let segment = url.as_ref().and_then(|url| url.path_segments()?.rfind(|segment| !segment.is_empty()));
    segment.or_else(|| url.as_ref()?.host_str()).unwrap_or("untitled").chars().take(LONGEST_TITLE).collect()
}

impl Args {
    fn save(
        self,
        catalog: &Catalog,
        url: String,
        document: ragmaker_markdown::Document,
        ready: Ready,
    ) -> Result<Answer, Error> {
        let fetched_at = ragmaker_catalog::now();
        let known = [
            ("author", &document.author),
            ("published", &document.published),
            ("site_name", &document.site_name),
            ("lang", &document.lang),
        ];
        let fields: Vec<(&str, &str)> =
            known.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let file = Document {
            source_url: &url,
            title: &document.title,
            fetched_at: &fetched_at,
            fields: &fields,
            markdown: &document.markdown,
        };
        let path = file.save(&self.output_dir)?;
        let entry = Entry::new(&url, &document.title, &path).with("fetched_at", fetched_at.as_str());
        catalog.record(&entry).map_err(|error| error.detail("file_path", path.to_string_lossy()))?;
        Ok(Answer {
            url,
            title: document.title,
            file_path: path.to_string_lossy().into_owned(),
            catalog_updated: true,
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            words: document.words,
            ready,
        })
    }
}
