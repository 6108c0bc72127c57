//! `ragmaker-refresh-knowledge-base`: compares each document with its source and saves changed ones.

mod browser;
mod folders;
mod repositories;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{Catalog, DocumentSource};
use ragmaker_files::{PATH_NOT_ALLOWED, RootKind, Roots};
use ragmaker_ingest::{PageResult, PageVerdict, Report, Run, Store};
use ragmaker_knowledge::DestinationArgs;
use ragmaker_site::Refetch;
use ragmaker_tool::{
    Annotations, Caller, Code, ContentOrigin, Error, Invocation, Isolation, JsonSchema, Tool, ToolProfile, host,
};
use serde::Serialize;

/// Update a knowledge base: compare each document with its page, commit or file, and save those whose content
/// changed. Documents whose source no longer exists move to the folder `gone` and leave the catalog. Returns
/// counts and what is new; for pages that are not known yet, fetch the source again.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// folder of the knowledge base
    #[argh(option)]
    pub kb_root: PathBuf,
    /// change nothing; only report the changes
    #[argh(switch)]
    pub dry_run: bool,
    /// print one line of JSON per document when it is done, instead of an answer
    #[argh(switch)]
    pub jsonl: bool,
}

/// The summary of a refresh.
#[derive(Serialize, JsonSchema, Debug)]
pub struct RefreshSummary {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// The number of documents whose summary describes an older text; set new ones with `enrich_discovery`.
    pub stale_summaries: usize,
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
}

impl Tool for Args {
    type Answer = Report<RefreshSummary>;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::ADDITIVE.open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::FETCHING;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Web;
    const PROFILES: &'static [ToolProfile] = &[ToolProfile::Fetch];
    const COMMAND_LINE_FLAGS: &'static [&'static str] = &["--jsonl"];
    const OPERANDS: &'static [&'static str] = &["--kb-root"];
    const ERRORS: &'static [&'static [Code]] = &[
        ragmaker_catalog::ERRORS,
        ragmaker_catalog::READ_ERRORS,
        ragmaker_ingest::ERRORS,
        ragmaker_knowledge::ERRORS,
        ragmaker_project::ERRORS,
        ragmaker_address::ERRORS,
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
        &[ragmaker_files::PATH_NOT_WRITABLE, ragmaker_files::PATH_IGNORED, ragmaker_files::NOT_A_DIRECTORY],
    ];

    fn run(self, invocation: &Invocation) -> Result<Report<RefreshSummary>, Error> {
        self.refresh(invocation)
    }

    fn stream(&self, invocation: &Invocation) -> Option<Result<(), Error>> {
        // Each document was printed as it ended.
        self.jsonl.then(|| self.refresh(invocation).map(drop))
    }
}

impl Args {
    fn refresh(&self, invocation: &Invocation) -> Result<Report<RefreshSummary>, Error> {
        let at = DestinationArgs { kb_root: Some(&self.kb_root), ..DestinationArgs::default() }.locate(invocation)?;
        let catalog = at.catalog;
        // There has to be one: nothing is made here.
        let contents = catalog.read()?;
        let mut store = Store::open(&catalog, at.folder)?.dry_run(self.dry_run);
        // A run that was killed is not continued: what it saved is unchanged now, and asked for as such.
        // A dry run leaves the knowledge base as it is; its report goes to a folder for temporary files.
        let scratch = if self.dry_run { Some(scratch()?) } else { None };
        let reports = scratch.as_ref().unwrap_or(&catalog);
        let mut run = Run::start_over(reports, "refresh-knowledge-base", self.jsonl)?.told_to(invocation.caller);
        let DocumentsBySource { pages, shown, repositories, folders, others } = DocumentsBySource::of(&store);
        for url in others {
            let reason = "its source is unknown; fetch it again with the tool that made it";
            run.end(PageResult::new(url, PageVerdict::Refused, reason), ())?;
        }
        for listed in contents.documents.iter().filter(|listed| listed.url.is_none()) {
            let path = listed.path.as_deref().unwrap_or_default();
            run.end(PageResult::new(path, PageVerdict::Refused, "the catalog has no address for it"), ())?;
        }
        // Whoever made the catalog chose these sources, so a person's call gives no more access than a model's.
        let by_catalog = Invocation { caller: Caller::Model, ..invocation.clone() };
        for (folder, urls) in &folders {
            folders::refresh(folder, urls, &mut store, &mut run, &by_catalog)?;
        }
        for ((repository, reference), urls) in &repositories {
            repositories::refresh(repository, reference.as_deref(), urls, &mut store, &mut run, &by_catalog)?;
        }
        // The browser is signed in: the addresses of somebody else's catalog are not opened there.
        let may_browse = is_own(&catalog, invocation)?;
        let refetch = Refetch { urls: &pages, invocation: &by_catalog, may_browse };
        let (mut store, mut run) = refetch.refresh(store, run)?;
        if may_browse {
            browser::refresh(&shown, &mut store, &mut run, invocation)?;
        } else {
            failed(&shown, &not_browsed(&catalog), &mut run)?;
        }
        store.finish()?;
        let documents = catalog.read()?.documents;
        let stale = documents.iter().filter(|listed| listed.status.as_deref() == Some(ragmaker_catalog::STALE));
        run.finish_with(RefreshSummary {
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            stale_summaries: stale.count(),
            dry_run: self.dry_run,
        })
    }
}

/// Whether the knowledge base of `catalog` is in the project or an allowed root. One that is elsewhere may come from
/// somebody else.
fn is_own(catalog: &Catalog, invocation: &Invocation) -> Result<bool, Error> {
    let roots = Roots::discover(&invocation.host)?;
    let folder = catalog.folder().unwrap_or_default();
    Ok(roots.all().iter().any(|root| root.kind != RootKind::KbRoot && folder.starts_with(&root.path)))
}

fn not_browsed(catalog: &Catalog) -> Error {
    let root = catalog.root().unwrap_or_default();
    PATH_NOT_ALLOWED.error(format!(
        "the knowledge base is outside the project, so its pages are not opened in the browser, which is signed in: add --allow-root {} if you made it",
        root.display()
    ))
}

/// The prefix of the names of folders for the reports of dry runs.
const SCRATCH: &str = "ragmaker-refresh-";

/// The age at which the report of a dry run is removed by the next one.
const OLD: Duration = Duration::from_hours(24);

/// A catalog in a new folder for temporary files, beside which a report can be written. The caller reads the report, so
/// the folder stays for a day.
fn scratch() -> Result<Catalog, Error> {
    ragmaker_fs::sweep_folders(SCRATCH, OLD);
    let folder = tempfile::Builder::new().prefix(SCRATCH).tempdir();
    let broken = |error: std::io::Error| ragmaker_files::io_error(&error, &std::env::temp_dir());
    Catalog::at(folder.map_err(broken)?.keep().join("catalog.json"))
}

/// The documents of a knowledge base, grouped by source; each list is in the order of the addresses.
#[derive(Default)]
struct DocumentsBySource {
    /// The documents from plain requests.
    pages: Vec<String>,
    /// The documents from a browser.
    shown: Vec<String>,
    /// The documents of a repository and a branch, tag or commit.
    repositories: BTreeMap<(String, Option<String>), Vec<String>>,
    folders: BTreeMap<String, Vec<String>>,
    others: Vec<String>,
}

impl DocumentsBySource {
    fn of(store: &Store<'_>) -> Self {
        let mut known = Self::default();
        let mut documents: Vec<_> = store.documents().collect();
        documents.sort_by_key(|(url, _)| *url);
        for (url, listed) in documents {
            let is_web = url.starts_with("http://") || url.starts_with("https://");
            let list = match &listed.source {
                Some(DocumentSource::File { folder, .. }) => known.folders.entry(folder.clone()).or_default(),
                Some(DocumentSource::Git { repository, reference, .. }) => {
                    known.repositories.entry((repository.clone(), reference.clone())).or_default()
                }
                Some(DocumentSource::Browser { .. }) if is_web => &mut known.shown,
                // Of older catalogs only the address says where a document came from.
                Some(DocumentSource::Http { .. }) | None if is_web => &mut known.pages,
                _ => &mut known.others,
            };
            list.push(url.to_owned());
        }
        known
    }
}

/// The page of each document that could not be compared for the same reason.
fn failed(urls: &[String], error: &Error, run: &mut Run) -> Result<(), Error> {
    urls.iter().try_for_each(|url| run.end(PageResult::failed(url, error), ()))
}
