//! The catalog of a knowledge base, `catalog.json`: its documents, with the origin, title and summary of each.
//!
//! ```json
//! {
//!   "title": "…", "summary": "…", "source_url": "…", "src_type": "web", "fetched_at": "2026-01-02T03:04:05Z",
//!   "documents": [
//!     {"url": "https://…", "title": "…", "path": "pages/….md", "fetched_at": "…", "content_hash": "…",
//!      "source": {"kind": "http", "etag": "…"}}
//!   ]
//! }
//! ```
//!
//! The catalog is one plain JSON file. People edit it, `jq` reads it, and any number of processes change it at the same
//! time. A change takes the lock beside the file (`lock`), checks the whole text (`outline`), finds the bytes to
//! replace (`edit`), and atomically replaces the file (`replace`). So all bytes outside the change stay as they are. A
//! reader sees the old catalog or the new one, and a killed writer leaves one of the two. A change that succeeded is
//! not lost when a process is killed. After a power cut, the catalog is complete, but changes of the last seconds may
//! be missing.
//!
//! A change reads, checks and writes the whole file. With 10,000 documents this takes a few milliseconds
//! (`cargo xtask bench catalog`).
//!
//! ```
//! use ragmaker_catalog::{Catalog, Entry, RecordOutcome};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let catalog = Catalog::at(folder.path().join("catalog.json"))?;
//! let entry = Entry::new("https://example.com/", "Example", folder.path().join("example.md"));
//! assert_eq!(catalog.record(&entry)?, RecordOutcome::Added);
//! assert_eq!(catalog.read()?.documents[0].path.as_deref(), Some("example.md"));
//! # Ok(())
//! # }
//! ```

mod batch;
mod edit;
mod enrich;
mod error;
mod file;
mod folder;
mod knowledge_bases;
mod location;
mod lock;
mod outline;
mod read;
mod replace;
mod source;

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ragmaker_files::Roots;
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, Invocation, JsonSchema};
use serde::Serialize;
use serde_json::{Map, Value};

use edit::Edit;
use file::LoadedCatalog;
use outline::{Corrupt, Outline};

pub use batch::Change;
pub use enrich::{DocumentName, Enriched, STALE, Update};
pub use error::{
    CATALOG_CORRUPT, CATALOG_LOCKED, CATALOG_NOT_FOUND, CATALOG_NOT_READABLE, CATALOG_NOT_WRITABLE, ERRORS, READ_ERRORS,
};
pub use folder::GONE;
pub use location::Access;
pub use lock::Lock;
pub use read::{Contents, Listed};
pub use source::{DocumentSource, SourceType};

/// The default time that a change waits for other writers.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// The current time in the form of catalogs and documents: RFC 3339, UTC, whole seconds.
pub fn now() -> String {
    ragmaker_fs::rfc3339(SystemTime::now())
}

/// A catalog. Its file need not exist.
#[derive(Clone, Debug)]
pub struct Catalog {
    file: PathBuf,
    wait: Duration,
    is_writable: bool,
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

    /// Adds a field to the entry. `url`, `title` and `path` cannot be replaced.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

/// The result of [`Catalog::record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// The URL is new to the catalog.
    Added,
    /// The URL had an entry: its given fields were replaced and its others kept.
    Updated,
}

/// The description of the whole knowledge base; a field is `None` if the catalog does not have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Header {
    /// The name of the knowledge base.
    pub title: Option<String>,
    /// The subject of the knowledge base.
    pub summary: Option<String>,
    /// The address of its source.
    pub source_url: Option<String>,
    /// The kind of its source: `web`, `github` or `local`.
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

    /// The texts of the existing fields, in the order of the file.
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

/// The result of [`Catalog::describe`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The complete header, including fields that existed before.
    pub header: Header,
    /// The number of documents.
    pub documents: usize,
}

impl Catalog {
    /// The catalog in the file `file`.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] where the path is empty or not UTF-8.
    pub fn at(file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let absolute = std::path::absolute(file).map_err(|error| {
            ARGUMENT_ERROR.error(format!("{} is not a valid path of a catalog: {error}", file.display()))
        })?;
        // Nobody could be told where it is.
        if absolute.to_str().is_none() {
            return Err(ARGUMENT_ERROR
                .error(format!("the catalog's path {} is not UTF-8", absolute.display()))
                .remedy("Rename the folder, or name a catalog elsewhere with --catalog-path."));
        }
        Ok(Self { file: absolute, wait: LOCK_WAIT, is_writable: true })
    }

    /// The catalog that the two arguments `--kb-root` and `--catalog-path` name.
    ///
    /// It is the file `catalog_path`, or `cache/catalog.json` in `kb_root` (`catalog.json` at its top where
    /// only that exists); with neither it is `.tmp/cache/catalog.json` in the project. Relative paths start
    /// at the working directory. Those of a model start at the project root and are confined to it and to
    /// the allowed roots.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] where both are given, or one is empty or names a folder as a file; the codes of
    /// [`ragmaker_files::PATH_ERRORS`] where a model names a place that it may not use.
    pub fn locate(
        kb_root: Option<&Path>,
        catalog_path: Option<&Path>,
        access: Access,
        invocation: &Invocation,
    ) -> Result<Self, Error> {
        let file = location::locate(kb_root, catalog_path, access, invocation)?;
        let is_writable = invocation.caller == Caller::Person || access == Access::Write || {
            let roots = Roots::discover(&invocation.host)?;
            roots.place_to_write(&file.to_string_lossy()).is_ok()
        };
        Ok(Self { is_writable, ..Self::at(file)? })
    }

    /// The catalogs of the knowledge bases that the arguments `--kb-root` name. Without these arguments, the catalogs
    /// of all knowledge bases in the project and in the roots that the host allows, in order.
    ///
    /// # Errors
    ///
    /// [`CATALOG_NOT_FOUND`] where there is none; those of [`Catalog::locate`].
    pub fn all(kb_roots: &[PathBuf], invocation: &Invocation) -> Result<Vec<Self>, Error> {
        knowledge_bases::catalogs(kb_roots, invocation)
    }

    /// Changes the time that a change waits for other writers; the default is 30 seconds.
    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Whether the caller may change files beside the catalog, such as those derived from the documents.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// The file's absolute path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Records a document: adds an entry, or updates the entry with the same URL.
    ///
    /// The path is stored relative to the folder of the catalog file (after resolving links), with forward slashes,
    /// also if it leads out of this folder (`../…`). It is stored as an absolute path if there is no relative one, on
    /// another drive. When this function returns, every reader sees the entry.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] where the document's path is not UTF-8, which JSON cannot contain, or its folder
    /// does not exist; otherwise one of [`ERRORS`]. The catalog is then as it was.
    pub fn record(&self, entry: &Entry) -> Result<RecordOutcome, Error> {
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
        self.change(&file, SourceType::of(&entry.more), |catalog| edit::record(catalog, &entry.url, &fields))
    }

    /// Sets the fields that `header` has and keeps the others. Creates the catalog if it does not exist.
    ///
    /// `fetched_at` is set to the current time if the catalog had no field of a header before. When this function
    /// returns, every reader sees the header.
    ///
    /// # Errors
    ///
    /// One of [`ERRORS`]; the catalog is then as it was.
    pub fn describe(&self, header: &Header) -> Result<Description, Error> {
        let file = file::resolve(&self.file)?;
        self.change(&file, SourceType::default(), |catalog| Ok(edit::describe(catalog, header, now)))
    }

    /// Names a knowledge base after its source: sets the title and the address that `header` has where the catalog has
    /// none. The address is only set if each document is of this source, and nothing is without a catalog.
    ///
    /// # Errors
    ///
    /// One of [`READ_ERRORS`] and [`ERRORS`].
    pub fn name_after(&self, header: Header, is_of_source: impl Fn(&Listed) -> bool) -> Result<(), Error> {
        let contents = match self.read() {
            Err(error) if error.is(CATALOG_NOT_FOUND) => return Ok(()),
            contents => contents?,
        };
        let has_one_source = || contents.documents.iter().all(is_of_source);
        let title = header.title.filter(|_| contents.header.title.is_none());
        let source_url = header.source_url.filter(|_| contents.header.source_url.is_none() && has_one_source());
        if title.is_none() && source_url.is_none() {
            return Ok(());
        }
        self.describe(&Header { title, source_url, ..Header::default() }).map(drop)
    }

    /// Creates the catalog with the fields of `header`, unless it exists. Returns whether it was created: of several
    /// callers at the same time, by one.
    ///
    /// # Errors
    ///
    /// One of [`ERRORS`].
    pub fn create(&self, header: &Header) -> Result<bool, Error> {
        let file = file::resolve(&self.file)?;
        let _lock = Lock::acquire(&file, self.wait)?;
        let current = LoadedCatalog::read(&file, SourceType::default())?;
        if current.exists() {
            return Ok(false);
        }
        self.edit(&file, &current, |catalog| Ok(edit::describe(catalog, header, now)))?;
        Ok(true)
    }

    /// Waits for other writers and blocks them until the returned lock is dropped. It is for callers that replace the
    /// whole folder of the catalog.
    ///
    /// # Errors
    ///
    /// One of [`ERRORS`].
    pub fn lock(&self) -> Result<Lock, Error> {
        Lock::acquire(&file::resolve(&self.file)?, self.wait)
    }

    /// Makes the edits that `plan` finds for the catalog in `file`, while nobody else does. If there is no catalog
    /// yet, they are made in an empty one for sources of type `new`.
    fn change<T>(
        &self,
        file: &Path,
        new: SourceType,
        plan: impl FnOnce(&Outline<'_>) -> Result<(Vec<Edit>, T), Corrupt>,
    ) -> Result<T, Error> {
        let _lock = Lock::acquire(file, self.wait)?;
        self.edit(file, &LoadedCatalog::read(file, new)?, plan)
    }

    /// Makes the edits that `plan` finds for `current`, which is what `file` has while the caller holds the lock.
    fn edit<T>(
        &self,
        file: &Path,
        current: &LoadedCatalog,
        plan: impl FnOnce(&Outline<'_>) -> Result<(Vec<Edit>, T), Corrupt>,
    ) -> Result<T, Error> {
        let outline = current.outline(&self.file)?;
        let (edits, done) = plan(&outline).map_err(|corrupt| current.error(&corrupt, &self.file))?;
        replace::replace(file, current, &edits).map_err(|error| error::not_writable(&self.file, &error))?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn further_fields_do_not_replace_those_of_the_entry() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("catalog.json")).unwrap();
        let entry = Entry::new("https://x.example/\u{6f6e}", "T \"x\"", folder.path().join("a.md"));
        let entry = entry.with("path", "../../etc/passwd").with("url", 1).with("note", serde_json::json!([null]));
        assert_eq!(catalog.record(&entry).unwrap(), RecordOutcome::Added);
        assert_eq!(catalog.record(&entry).unwrap(), RecordOutcome::Updated);
        let text: Value = serde_json::from_slice(&fs::read(catalog.file()).unwrap()).unwrap();
        let listed = &text["documents"][0];
        assert_eq!((&listed["path"], &listed["url"]), (&"a.md".into(), &"https://x.example/\u{6f6e}".into()));
        assert_eq!((&listed["title"], &listed["note"]), (&"T \"x\"".into(), &serde_json::json!([null])));
    }

    #[test]
    fn one_caller_creates_a_catalog_and_its_header_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("new/catalog.json")).unwrap();
        fs::create_dir(folder.path().join("new")).unwrap();
        let header = |title: Option<&str>, summary: Option<&str>| Header {
            title: title.map(str::to_owned),
            summary: summary.map(str::to_owned),
            ..Header::default()
        };
        assert!(catalog.create(&header(Some("Tides"), None)).unwrap());
        assert!(!catalog.create(&header(Some("Other"), None)).unwrap());
        let described = catalog.describe(&header(None, Some("S"))).unwrap();
        let found = &described.header;
        assert_eq!(
            (found.title.as_deref(), found.summary.as_deref(), described.documents),
            (Some("Tides"), Some("S"), 0)
        );
        assert!(found.fetched_at.is_some() && found.fetched_at == catalog.read().unwrap().header.fetched_at);
    }

    #[test]
    fn a_catalog_needs_a_path() {
        assert!(Catalog::at("").unwrap_err().is(ARGUMENT_ERROR));
        assert!(Catalog::at("a/catalog.json").unwrap().file().is_absolute());
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let odd = Path::new(std::ffi::OsStr::from_bytes(b"/\xff/catalog.json"));
            assert!(Catalog::at(odd).unwrap_err().is(ARGUMENT_ERROR));
        }
    }
}
