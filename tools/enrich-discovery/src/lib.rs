//! Enriches a catalog: sets titles and summaries of many documents in one locked, atomic step.

mod updates;

use std::{fs::File, io::Read, path::PathBuf};

use argh::{ArgsInfo, FromArgs};
use ragmaker_catalog::{CATALOG_NOT_FOUND, Catalog, Entry, Update, Which};
use ragmaker_tool::{Annotations, Code, Error, JsonSchema, OUTPUT_LIMIT, Tool, json};
use serde::Serialize;

pub use updates::UPDATES_NOT_READABLE;

/// Nothing that was named is in the knowledge base.
pub const NO_DOCUMENT_MATCHED: Code = Code::new(
    "NO_DOCUMENT_MATCHED",
    "Name documents by a path or a url that the catalog lists; ragmaker-read-file shows the catalog.",
);

/// Set titles and summaries of many documents of a knowledge base in one step. A saved page that the
/// catalog does not list yet is added to it.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema)]
#[argh(help_triggers("-h", "--help"))]
#[serde(rename_all = "kebab-case")]
pub struct Args {
    /// folder of the knowledge base; its catalog is cache/catalog.json in it
    #[argh(option)]
    pub kb_root: Option<PathBuf>,
    /// catalog file, instead of --kb-root; with neither it is .tmp/cache/catalog.json in the
    /// project
    #[argh(option)]
    pub catalog_path: Option<PathBuf>,
    /// JSON text: an array of objects with `path` or `url`, and `title`, `summary` or both; @FILE
    /// reads it from a file, - from standard input
    #[argh(option)]
    pub updates: String,
}

/// What was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The catalog's absolute path.
    pub catalog_file: String,
    /// Documents whose title or summary was set, as the catalog lists them.
    pub updated_paths: Vec<String>,
    /// Files that the catalog lists now and did not before.
    pub added_paths: Vec<String>,
    /// What was named and is neither in the catalog nor a file; nothing was set for it.
    pub unmatched: Vec<String>,
    /// How many documents were updated.
    pub updated: usize,
    /// How many documents were added.
    pub added: usize,
    /// Whether the lists are too long to be shown whole and were cut in this answer. The catalog
    /// has all of it.
    pub truncated: bool,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations =
        Annotations { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    const ERRORS: &'static [Code] = &[
        NO_DOCUMENT_MATCHED,
        UPDATES_NOT_READABLE,
        CATALOG_NOT_FOUND,
        ragmaker_catalog::CATALOG_CORRUPT,
        ragmaker_catalog::CATALOG_LOCKED,
        ragmaker_catalog::CATALOG_NOT_READABLE,
        ragmaker_catalog::CATALOG_NOT_WRITABLE,
    ];
    const JSON_TEXTS: &'static [&'static str] = &["--updates"];

    fn run(self) -> Result<Answer, Error> {
        let catalog = Catalog::locate(self.kb_root.as_deref(), self.catalog_path.as_deref())?;
        let mut updates = updates::read(&self.updates)?;
        for update in &mut updates {
            update.new = new_entry(&catalog, update);
        }
        let done = catalog.enrich(&updates)?;
        let mut budget = OUTPUT_LIMIT - AROUND;
        // What was not found is what the caller has to act on.
        let mut unmatched = shown(&done.unmatched, &mut budget);
        if done.updated.is_empty() && done.added.is_empty() {
            unmatched.truncate(IN_ERROR);
            return Err(NO_DOCUMENT_MATCHED
                .error("nothing that --updates names is a document of the knowledge base")
                .detail("unmatched", unmatched)
                .detail("catalog_file", catalog.file().to_string_lossy()));
        }
        let added_paths = shown(&done.added, &mut budget);
        let updated_paths = shown(&done.updated, &mut budget);
        Ok(Answer {
            catalog_file: catalog.file().to_string_lossy().into_owned(),
            truncated: (updated_paths.len(), added_paths.len(), unmatched.len())
                != (done.updated.len(), done.added.len(), done.unmatched.len()),
            updated_paths,
            added_paths,
            unmatched,
            updated: done.updated.len(),
            added: done.added.len(),
        })
    }
}

/// Characters that are kept for everything but the lists.
const AROUND: usize = 7_000;
/// The most names that an error shows.
const IN_ERROR: usize = 20;
/// What an element takes beside itself: its line, its indent, its comma.
const LINE: usize = 7;

/// As many of `names` as `budget` allows; one that is long is left out with all after it.
fn shown(names: &[String], budget: &mut usize) -> Vec<String> {
    let charset = json::Charset::from_env();
    let fits = |name: &&String| {
        let cost = json::cost(name, charset) + LINE;
        *budget = budget.saturating_sub(cost);
        *budget > 0
    };
    names.iter().take_while(fits).cloned().collect()
}

/// How much of a file is read for its front matter, in bytes.
const HEAD: u64 = 1 << 20;

/// The entry for a file that the catalog may not list yet: a saved page, as its front matter says.
fn new_entry(catalog: &Catalog, update: &Update) -> Option<Entry> {
    let Which::Path(given) = &update.document else { return None };
    let path = catalog.find(given)?;
    let mut bytes = vec![];
    File::open(&path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let parsed = ragmaker_document::parse(&text).ok()?;
    let entry = Entry::new(parsed.field("source_url")?, parsed.field("title").unwrap_or_default(), &path);
    Some(match parsed.field("fetched_at") {
        Some(fetched_at) => entry.with("fetched_at", fetched_at),
        None => entry,
    })
}
