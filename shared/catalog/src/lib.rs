//! A knowledge base's `catalog.json`: which documents it has, where each came from, what it is about.
//!
//! ```json
//! {
//!   "title": "…", "summary": "…", "source_url": "…", "src_type": "web", "fetched_at": "2026-01-02T03:04:05Z",
//!   "documents": [
//!     {"url": "https://…", "title": "…", "path": "pages/….md"}
//!   ]
//! }
//! ```
//!
//! It is one plain JSON file that people edit and `jq` reads, and that any number of processes
//! write at once. A change takes the lock beside the file (`lock`), checks the whole text and finds
//! the bytes to replace in it (`scan`, `splice`), and puts the new text in the place of the old in
//! one step (`draft`). So every byte outside the change stays, a reader sees the old catalog or the
//! new one, and a writer killed at any moment leaves one of the two. What was acknowledged is not
//! lost, whatever process is killed; a power cut leaves a whole catalog, which may be the one before
//! the changes of the last seconds.

mod draft;
mod enrich;
mod file;
mod location;
mod lock;
mod read;
mod scan;
mod splice;

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use ragmaker_tool::{ARGUMENT_ERROR, Code, Error, JsonSchema};
use serde::Serialize;
use serde_json::{Map, Value};

use draft::Draft;
use file::Source;
use lock::Lock;
use scan::Failure;
use splice::Edit;

pub use draft::CATALOG_NOT_WRITABLE;
pub use enrich::{Enriched, Update, Which};
pub use file::{CATALOG_CORRUPT, CATALOG_NOT_READABLE};
pub use lock::CATALOG_LOCKED;
pub use read::{CATALOG_NOT_FOUND, Contents, Listed};

/// Every code that a change of a catalog can fail with, [`ARGUMENT_ERROR`] aside.
pub const ERRORS: &[Code] = &[CATALOG_CORRUPT, CATALOG_LOCKED, CATALOG_NOT_READABLE, CATALOG_NOT_WRITABLE];

/// How long a change waits for other writers unless it is told otherwise.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// The present time as catalogs and documents record it: RFC 3339, UTC, whole seconds.
pub fn now() -> String {
    // A clock that is set before 1970 has no such time; its epoch is the nearest one.
    humantime::format_rfc3339_seconds(SystemTime::now().max(SystemTime::UNIX_EPOCH)).to_string()
}

/// A catalog at a place where there may be no file yet.
#[derive(Clone, Debug)]
pub struct Catalog {
    file: PathBuf,
    wait: Duration,
}

/// A document, as it is recorded.
#[derive(Clone, Debug)]
pub struct Entry {
    url: String,
    title: String,
    path: PathBuf,
    more: Map<String, Value>,
}

impl Entry {
    /// The document in the file `path`, whose folder exists, fetched from `url`.
    pub fn new(url: impl Into<String>, title: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { url: url.into(), title: title.into(), path: path.into(), more: Map::new() }
    }

    /// The same entry with one more field; `url`, `title` and `path` are not replaced by it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

/// What [`Catalog::record`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The URL is new to the catalog.
    Added,
    /// The URL had an entry: its given fields were replaced and its others kept.
    Updated,
}

/// What the knowledge base as a whole is about; a field is `None` where the catalog has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Header {
    /// The name of the knowledge base.
    pub title: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// Where it was taken from.
    pub source_url: Option<String>,
    /// What kind of source that is: `web`, `github` or `local`.
    pub src_type: Option<String>,
    /// When the header was first made (RFC 3339, UTC).
    pub fetched_at: Option<String>,
}

impl Header {
    fn fields(&self) -> [(&'static str, Option<&String>); 5] {
        [
            ("title", self.title.as_ref()),
            ("summary", self.summary.as_ref()),
            ("source_url", self.source_url.as_ref()),
            ("src_type", self.src_type.as_ref()),
            ("fetched_at", self.fetched_at.as_ref()),
        ]
    }

    /// The texts of the fields that there are, in the order of the file.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { title, summary, source_url, src_type, fetched_at } = self;
        [title, summary, source_url, src_type, fetched_at].into_iter().flatten()
    }

    fn field_mut(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "title" => Some(&mut self.title),
            "summary" => Some(&mut self.summary),
            "source_url" => Some(&mut self.source_url),
            "src_type" => Some(&mut self.src_type),
            "fetched_at" => Some(&mut self.fetched_at),
            _ => None,
        }
    }
}

/// What [`Catalog::describe`] left in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The whole header, fields that were there before included.
    pub header: Header,
    /// The number of documents.
    pub documents: usize,
}

impl Catalog {
    /// The catalog in the file `file`.
    pub fn at(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let absolute = std::path::absolute(file)
            .map_err(|error| ARGUMENT_ERROR.error(format!("{} can not name a catalog: {error}", file.display())))?;
        // Nobody could be told where it is.
        if absolute.to_str().is_none() {
            return Err(ARGUMENT_ERROR
                .error(format!("the catalog's path {} is not UTF-8", absolute.display()))
                .remedy("Rename the folder, or name a catalog elsewhere with --catalog-path."));
        }
        Ok(Self { file: absolute, wait: LOCK_WAIT })
    }

    /// The catalog that the two arguments `--kb-root` and `--catalog-path` name.
    ///
    /// It is the file `catalog_path`, or `cache/catalog.json` in `kb_root`; with neither it is
    /// `.tmp/cache/catalog.json` in the folder that the environment variable
    /// `RAGMAKER_PROJECT_ROOT` names, or else in the working directory.
    pub fn locate(kb_root: Option<&Path>, catalog_path: Option<&Path>) -> Result<Self, Error> {
        Self::at(location::choose(kb_root, catalog_path, std::env::var_os(location::PROJECT_ROOT))?)
    }

    /// The same catalog, waiting up to `wait` for other writers instead of 30 seconds.
    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The file's absolute path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Records a document: adds an entry, or updates the one that has the same URL.
    ///
    /// The path is stored relative to the folder of the catalog file itself (not of a symbolic link
    /// to it), with forward slashes, also where that leads out of the folder (`../…`); it is
    /// absolute where there is no such way, on another drive. JSON can not hold a path that is not
    /// UTF-8: that is an [`ARGUMENT_ERROR`] and nothing is recorded. When this returns, every reader
    /// sees the entry.
    pub fn record(&self, entry: &Entry) -> Result<Outcome, Error> {
        let file = file::resolve(&self.file)?;
        let path = location::relative(&entry.path, file.parent().unwrap_or(&file))?;
        let mut fields = vec![
            ("url", Value::from(entry.url.as_str())),
            ("title", Value::from(entry.title.as_str())),
            ("path", Value::from(path)),
        ];
        let own = fields.len();
        for (name, value) in &entry.more {
            if fields[..own].iter().all(|(known, _)| known != name) {
                fields.push((name, value.clone()));
            }
        }
        let guess = |end: &[u8], start| splice::guess(end, start, &fields).into_iter().collect();
        self.change(&file, guess, |catalog| splice::record(catalog, &entry.url, &fields))
    }

    /// Sets the fields that `header` has and leaves the others; makes the catalog where there is none.
    ///
    /// `fetched_at` becomes the present time when the catalog had no field of a header before.
    /// When this returns, every reader sees the header.
    pub fn describe(&self, header: &Header) -> Result<Description, Error> {
        let file = file::resolve(&self.file)?;
        self.change(&file, |_, _| vec![], |catalog| splice::describe(catalog, header, now))
    }

    /// Makes the edits that `plan` finds for the catalog in `file`, while nobody else does.
    ///
    /// `guess` is told how a long catalog ends, and from which byte on, and says what the edits are likely to
    /// be: the nearer it comes, the less waits for the disk after `plan` has read the whole.
    fn change<T: Send>(
        &self,
        file: &Path,
        guess: impl FnOnce(&[u8], u64) -> Vec<Edit>,
        plan: impl FnOnce(&mut dyn Read) -> Result<(Vec<Edit>, T), Failure> + Send,
    ) -> Result<T, Error> {
        let refuse = |error: io::Error| draft::not_writable(&self.file, &error);
        let _lock = Lock::acquire(file, self.wait)?;
        let old = Source::open(file)?;
        let (planned, draft) = if old.is_held() {
            (plan(&mut old.all()), Draft::begin(file))
        } else {
            thread::scope(|scope| {
                // This thread copies, which ends in waiting for the disk: a new one gets its processor then
                // at the latest, and would have to wait for the end of the check if it were to copy.
                let planner = scope.spawn(|| plan(&mut old.all()));
                let draft = Draft::begin(file).and_then(|mut draft| {
                    let (end, start) = old.end()?;
                    draft.expect(&old, guess(&end, start))?;
                    Ok(draft)
                });
                (planner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), draft)
            })
        };
        let (edits, done) = planned.map_err(|failure| old.error(failure, &self.file))?;
        let mut draft = draft.map_err(refuse)?;
        draft.write(&old, &edits).and_then(|()| old.check_unchanged()).map_err(refuse)?;
        draft.commit(file).map_err(refuse)?;
        Ok(done)
    }
}
