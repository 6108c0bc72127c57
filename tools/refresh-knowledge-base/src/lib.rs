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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragmaker_tool::HostOptions;
    use serde_json::json;

    use super::*;

    /// The catalog of the knowledge base `kb` in `root`, with these documents.
    fn catalog(root: &Path, documents: &serde_json::Value) -> Catalog {
        let text = json!({"documents": documents}).to_string();
        Catalog::at(ragmaker_testkit::write(root, "kb/cache/catalog.json", text)).unwrap()
    }

    #[test]
    fn documents_are_grouped_by_their_source() {
        let (_folder, root) = ragmaker_testkit::folder("project");
        let git = |reference: Option<&str>| json!({"kind": "git", "repository": "r", "ref": reference, "commit": "c", "path": "p", "blob": "b"});
        let file = |folder: &str| json!({"kind": "file", "folder": folder, "path": "p", "sha256": "0"});
        let documents: Vec<_> = [
            ("https://b.example/", json!({"kind": "http"})),
            ("https://a.example/", json!(null)),
            ("http://c.example/", json!({"kind": "browser"})),
            ("ftp://d.example/", json!({"kind": "http"})),
            ("about:blank", json!({"kind": "browser"})),
            ("https://e.example/", json!({"kind": "unknown"})),
            ("https://f.example/1", git(Some("v1"))),
            ("https://f.example/2", git(None)),
            ("https://f.example/3", git(Some("v1"))),
            ("file:///g/1", file("/g")),
            ("file:///h/1", file("/h")),
        ]
        .into_iter()
        .map(|(url, source)| json!({"url": url, "path": "x.md", "source": source}))
        .collect();
        let catalog = catalog(&root, &documents.into());
        let store = Store::open(&catalog, root).unwrap();
        let DocumentsBySource { pages, shown, repositories, folders, others } = DocumentsBySource::of(&store);
        assert_eq!(pages, ["https://a.example/", "https://b.example/", "https://e.example/"]);
        assert_eq!(shown, ["http://c.example/"]);
        assert_eq!(others, ["about:blank", "ftp://d.example/"]);
        let of = |reference: Option<&str>| &repositories[&("r".to_owned(), reference.map(String::from))];
        assert_eq!(of(Some("v1")), &["https://f.example/1", "https://f.example/3"]);
        assert_eq!(of(None), &["https://f.example/2"]);
        assert_eq!(
            (&folders["/g"][..], &folders["/h"][..]),
            (&["file:///g/1".to_owned()][..], &["file:///h/1".to_owned()][..])
        );
    }

    #[test]
    fn a_knowledge_base_is_own_in_the_project_and_in_allowed_roots() {
        let (_folder, root) = ragmaker_testkit::folder("all");
        let (project, elsewhere) = (root.join("project"), root.join("elsewhere"));
        let catalogs = [&project, &elsewhere].map(|root| catalog(root, &json!([])));
        let own = |allow_root: Option<String>, kb_root: Option<String>| {
            let host = HostOptions {
                project_root: Some(project.display().to_string()),
                allow_root: allow_root.into_iter().collect(),
                kb_root: kb_root.into_iter().collect(),
                ..HostOptions::default()
            };
            let invocation = Invocation { host, ..Invocation::default() };
            [&catalogs[0], &catalogs[1]].map(|catalog| is_own(catalog, &invocation).unwrap())
        };
        assert_eq!(own(None, None), [true, false]);
        assert_eq!(own(Some(elsewhere.display().to_string()), None), [true, true]);
        // It may be read, which does not say that the person made it.
        assert_eq!(own(None, Some(elsewhere.join("kb").display().to_string())), [true, false]);
        let refusal = not_browsed(&catalogs[1]);
        assert!(refusal.message().contains(&format!("--allow-root {}", elsewhere.join("kb").display())), "{refusal}");
    }

    #[test]
    fn the_report_of_a_dry_run_has_a_folder_of_its_own() {
        let (one, two) = (scratch().unwrap(), scratch().unwrap());
        assert_ne!(one.file(), two.file());
        for catalog in [one, two] {
            let folder = catalog.file().parent().unwrap();
            assert!(folder.is_dir() && !catalog.file().exists(), "{}", folder.display());
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}
