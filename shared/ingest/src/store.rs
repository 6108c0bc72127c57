//! The documents of a knowledge base, and the changes of a run.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ragmaker_catalog::{CATALOG_NOT_FOUND, Catalog, Change, DocumentName, DocumentSource, GONE, Listed, STALE};
use ragmaker_fs::{create_derived_folder, sweep_temporary};
use ragmaker_knowledge::{content_hash, entry, new_file, now, title_of, write};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use serde_json::{Map, Value};

use crate::{DocumentKey, PageVerdict};

/// The number of documents, or the time, after which new entries are recorded. Each recording writes the complete
/// catalog.
const BATCH: (usize, Duration) = (200, Duration::from_secs(2));

/// The age at which the temporary file of a document is one that a killed run left.
const LEFT: Duration = Duration::from_hours(1);

/// A knowledge base that a run changes. Documents that were written before an error are recorded when it is dropped.
#[derive(Debug)]
pub struct Store<'a> {
    catalog: &'a Catalog,
    folder: PathBuf,
    /// The documents by their address, as the run found them.
    listed: HashMap<String, Listed>,
    /// The files of documents; no two documents have the same file.
    files: HashSet<PathBuf>,
    /// The documents that were checked and are unchanged; they are recorded in one step at the end.
    checked: BTreeMap<String, Map<String, Value>>,
    /// The changes that are not recorded yet, and the time of the first.
    pending: Vec<Change>,
    since: Option<Instant>,
    /// Whether nothing is written (dry run).
    is_trial: bool,
}

/// A document that is in the knowledge base now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Whether it was added, changed or unchanged.
    pub verdict: PageVerdict,
    /// The absolute path of its file.
    pub file: PathBuf,
}

impl<'a> Store<'a> {
    /// The knowledge base of `catalog`, whose new documents go to `folder`.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::READ_ERRORS`]; a missing catalog is not an error.
    pub fn open(catalog: &'a Catalog, folder: PathBuf) -> Result<Self, Error> {
        let documents = match catalog.read() {
            Ok(contents) => contents.documents,
            Err(error) if error.is(CATALOG_NOT_FOUND) => vec![],
            Err(error) => return Err(error),
        };
        let mut listed = HashMap::new();
        for document in documents {
            if let Some(url) = document.url.clone() {
                // Of several with one address, the first is the one that recording updates.
                listed.entry(url).or_insert(document);
            }
        }
        let files = listed.values().filter_map(|listed| catalog.find(listed.path.as_deref()?)).collect();
        // As the catalog's paths read: without links.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let (checked, pending) = (BTreeMap::new(), vec![]);
        Ok(Self { catalog, folder, listed, files, checked, pending, since: None, is_trial: false })
    }

    /// Switches to a dry run: nothing is changed, and the verdicts say what would be done.
    #[must_use]
    pub fn dry_run(mut self, is_trial: bool) -> Self {
        self.is_trial = is_trial;
        self
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        self.catalog
    }

    /// The folder that new documents go to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every document, by its address, as the run found it.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &Listed)> {
        self.listed.iter().map(|(url, listed)| (url.as_str(), listed))
    }

    /// The document at `url`, as the run found it.
    pub fn known(&self, url: &str) -> Option<&Listed> {
        self.listed.get(url)
    }

    /// The file of a document, if it exists in the knowledge base or in the folder for new files.
    pub fn file_of(&self, listed: &Listed) -> Option<PathBuf> {
        let path = listed.path.as_deref()?;
        let in_folder = || {
            let file = ragmaker_fs::canonicalize(self.catalog.folder()?.join(path)).ok()?;
            let folder = ragmaker_fs::canonicalize(&self.folder).ok()?;
            (file.starts_with(folder) && file.is_file()).then_some(file)
        };
        self.catalog.find(path).or_else(in_folder)
    }

    /// Writes and records `document`, unless it is the one that is there.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_knowledge::ERRORS`] and [`ragmaker_catalog::ERRORS`].
    pub fn save(&mut self, document: Document, url: &str, source: &DocumentSource) -> Result<Stored, Error> {
        self.save_as(document, DocumentKey::at(url), source)
    }

    /// Like `save`, for a document that may be known under another address.
    ///
    /// # Errors
    ///
    /// As for [`Store::save`].
    pub fn save_as(
        &mut self,
        document: Document,
        key: DocumentKey<'_>,
        source: &DocumentSource,
    ) -> Result<Stored, Error> {
        let stored = self.queue_save(document, key, source)?;
        self.record()?;
        Ok(stored)
    }

    /// Writes `document`, unless it is the one that is there, and records it together with others: a run over
    /// thousands of files would write the catalog as often. What is not recorded when a run is killed is done
    /// again by the next one.
    ///
    /// # Errors
    ///
    /// As for [`Store::save`].
    pub fn queue_save(
        &mut self,
        mut document: Document,
        key: DocumentKey<'_>,
        source: &DocumentSource,
    ) -> Result<Stored, Error> {
        let DocumentKey { url, was, named_after, moved } = key;
        let was = was.unwrap_or(url);
        if moved && was != url && self.listed.contains_key(url) {
            // It is known there already: one of the two is left.
            let stored = self.queue_save(document, DocumentKey::at(url), source)?;
            self.archive(was)?;
            return Ok(Stored { verdict: PageVerdict::Moved, ..stored });
        }
        document.metadata.title = title_of(&document, url);
        let hash = content_hash(&document.metadata.title, &document.markdown);
        let known = self.known(was).cloned();
        let known_file = known.as_ref().and_then(|listed| self.file_of(listed));
        let is_same =
            known.as_ref().zip(known_file.as_ref()).is_some_and(|(listed, file)| hash_of(listed, file) == hash);
        if let Some(file) = known_file.clone().filter(|_| is_same && !moved) {
            self.unchanged(was, Some(source), Some(hash));
            return Ok(Stored { verdict: PageVerdict::Unchanged, file });
        }
        let verdict = match &known {
            None => PageVerdict::Added,
            Some(_) if moved => PageVerdict::Moved,
            Some(_) => PageVerdict::Changed,
        };
        let name = || ragmaker_document::file_name(named_after.unwrap_or(url));
        let file = known_file.unwrap_or_else(|| self.unused_file(&name(), url));
        if self.is_trial {
            return Ok(Stored { verdict, file });
        }
        let fetched_at = now();
        write(&document, url, &fetched_at, &file)?;
        self.files.insert(file.clone());
        let mut entry = entry(&document, url, &fetched_at, Some(source), &file);
        let known = known.unwrap_or_default();
        // A new title does not change the text.
        let title = known.title.as_deref().unwrap_or_default();
        let has_same_text =
            known.content_hash.as_ref().is_some_and(|hash| *hash == content_hash(title, &document.markdown));
        if known.summary.is_some() && !is_same && !has_same_text {
            // The summary describes an earlier text; the mark is visible to writers of summaries.
            entry = entry.with("status", STALE);
        }
        self.checked.remove(was);
        self.listed.remove(was);
        let path = Some(file.to_string_lossy().into_owned());
        let title = Some(document.metadata.title.clone());
        let fields = Listed { url: Some(url.to_owned()), title, content_hash: Some(hash), path, ..known };
        self.listed.insert(url.to_owned(), Listed { source: Some(source.clone()), ..fields });
        let replaces = (was != url).then(|| DocumentName::Url(was.to_owned()));
        self.pending.push(Change::Record { entry, replaces });
        let since = *self.since.get_or_insert_with(Instant::now);
        if self.pending.len() >= BATCH.0 || since.elapsed() > BATCH.1 {
            self.record()?;
        }
        Ok(Stored { verdict, file })
    }

    /// The file for a new document at `url`: `name`, or with a suffix if another document has this name.
    fn unused_file(&self, name: &str, url: &str) -> PathBuf {
        new_file(&self.folder, name, url, |path| {
            self.files.contains(path) || ragmaker_fs::canonicalize(path).is_ok_and(|file| self.files.contains(&file))
        })
    }

    /// Records what was put.
    fn record(&mut self) -> Result<(), Error> {
        self.since = None;
        self.catalog.apply(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Notes that the document at `url` is as it was, with its present source and hash where they are known.
    /// [`Store::finish`] records it.
    pub fn unchanged(&mut self, url: &str, source: Option<&DocumentSource>, hash: Option<String>) {
        let Some(listed) = self.listed.get(url) else { return };
        let mut fields = Map::from_iter([("checked_at".to_owned(), Value::from(now()))]);
        if let Some(source) = source.filter(|source| listed.source.as_ref() != Some(source)) {
            fields.insert("source".to_owned(), source.to_json());
        }
        if let Some(hash) = hash.filter(|hash| listed.content_hash.as_ref() != Some(hash)) {
            fields.insert("content_hash".to_owned(), hash.into());
        }
        self.checked.insert(url.to_owned(), fields);
    }

    /// Removes the document at `url` from the catalog and moves its file to the folder `gone` beside it. Returns the
    /// new path of the file; `None` if the document had no file in the knowledge base.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::ERRORS`]. A file that cannot be moved stays where it is.
    pub fn archive(&mut self, url: &str) -> Result<Option<PathBuf>, Error> {
        let listed = self.listed.remove(url);
        let file = listed.and_then(|listed| self.file_of(&listed));
        if self.is_trial {
            return Ok(file);
        }
        self.checked.remove(url);
        self.pending.push(Change::Remove(DocumentName::Url(url.to_owned())));
        self.record()?;
        let shared = |file: &Path| self.listed.values().any(|other| self.file_of(other).as_deref() == Some(file));
        let Some(file) = file.filter(|file| !shared(file)) else { return Ok(None) };
        let moved = self.catalog.folder().and_then(|folder| move_to_unused_name(&file, &folder.join(GONE)));
        Ok(Some(moved.unwrap_or(file)))
    }

    /// Records what was put, and when the documents that are as they were have been checked.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::ERRORS`].
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.is_trial {
            return Ok(());
        }
        for (url, fields) in std::mem::take(&mut self.checked) {
            self.pending.push(Change::Set { document: DocumentName::Url(url), fields });
        }
        self.record()?;
        sweep_temporary(&self.folder, LEFT);
        Ok(())
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        // If something is left, the run failed, and its error is more important.
        let _ = if self.pending.is_empty() { Ok(()) } else { self.record() };
    }
}

/// The hash of the document in `file`: what the catalog says, or what the text of an older one has.
fn hash_of(listed: &Listed, file: &Path) -> String {
    if let Some(hash) = &listed.content_hash {
        return hash.clone();
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    match ragmaker_document::parse(&text) {
        Ok(parsed) => content_hash(parsed.field("title").unwrap_or_default(), parsed.body),
        Err(_) => String::new(),
    }
}

/// Moves `file` to `folder` under an unused name. `None` if it could not be moved, such as to a folder that is a link.
fn move_to_unused_name(file: &Path, folder: &Path) -> Option<PathBuf> {
    create_derived_folder(folder).ok()?;
    let name = file.file_name()?.to_string_lossy().into_owned();
    let stem = name.strip_suffix(".md").unwrap_or(&name);
    let names = std::iter::once(name.clone()).chain((2..1000).map(|number| format!("{stem}-{number}.md")));
    for name in names {
        let to = folder.join(name);
        // A hard link is made only where nothing has the name, which a rename would replace.
        match fs::hard_link(file, &to) {
            Ok(()) => return fs::remove_file(file).is_ok().then_some(to),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => return (!to.exists() && fs::rename(file, &to).is_ok()).then_some(to),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_markdown::{Options, convert};

    const URL: &str = "https://x.example/a";

    fn document(text: &str) -> Document {
        convert(&format!("<title>T</title><p>{text}"), &Options::default()).unwrap()
    }

    fn source(etag: &str) -> DocumentSource {
        DocumentSource::Http { section: None, from: None, etag: Some(etag.into()), last_modified: None }
    }

    #[test]
    fn only_what_is_new_or_another_text_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let open = || Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        let mut store = open();
        let first = store.save(document("Two waters a day."), URL, &source("1")).unwrap();
        assert_eq!(first.verdict, PageVerdict::Added);
        let written = fs::metadata(&first.file).unwrap().modified().unwrap();
        let before = fs::read_to_string(catalog.file()).unwrap();

        let mut store = open();
        let again = store.save(document("Two  waters a day."), URL, &source("1")).unwrap();
        assert_eq!((again.verdict, &again.file), (PageVerdict::Unchanged, &first.file.canonicalize().unwrap()));
        assert_eq!(fs::metadata(&first.file).unwrap().modified().unwrap(), written);
        assert_eq!(fs::read_to_string(catalog.file()).unwrap(), before);
        store.unchanged(URL, Some(&source("2")), None);
        store.finish().unwrap();
        assert_eq!(catalog.read().unwrap().documents[0].source, Some(source("2")));

        let mut store = open();
        assert_eq!(store.save(document("Three waters."), URL, &source("3")).unwrap().verdict, PageVerdict::Changed);
        fs::remove_file(&first.file).unwrap();
        assert_eq!(open().save(document("Three waters."), URL, &source("3")).unwrap().verdict, PageVerdict::Changed);
    }

    #[test]
    fn a_file_that_the_catalog_does_not_list_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = |name: &str| Catalog::at(folder.path().join(name)).unwrap();
        let (ours, theirs) = (catalog("ours.json"), catalog("theirs.json"));
        let put = |catalog: &Catalog, url: &str, text: &str| {
            let key = DocumentKey { named_after: Some("docs/a.md"), ..DocumentKey::at(url) };
            let mut store = Store::open(catalog, folder.path().join("documents")).unwrap();
            store.save_as(document(text), key, &source("1")).unwrap().file
        };
        let first = put(&theirs, "file:///theirs/docs/a.md", "Two waters a day.");
        let second = put(&ours, "file:///ours/docs/a.md", "Three waters.");
        assert_ne!(first, second);
        assert!(fs::read_to_string(&first).unwrap().contains("Two waters a day."));
        // What a killed run wrote and did not record is taken over.
        fs::remove_file(ours.file()).unwrap();
        assert_eq!(put(&ours, "file:///ours/docs/a.md", "Four waters."), second);
        assert_eq!(fs::read_dir(folder.path().join("documents")).unwrap().count(), 2);
    }

    #[test]
    fn documents_written_before_an_error_are_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let documents = folder.path().join("cache/documents");
        let mut store = Store::open(&catalog, documents.clone()).unwrap();
        store.queue_save(document("Two waters a day."), DocumentKey::at(URL), &source("1")).unwrap();
        drop(store);
        assert_eq!(catalog.read().unwrap().documents.len(), 1);
        // What a killed run left is removed by the next one.
        let left = fs::File::create(documents.join(".a.md.1-2-3.tmp")).unwrap();
        left.set_modified(std::time::SystemTime::now() - 2 * LEFT).unwrap();
        Store::open(&catalog, documents.clone()).unwrap().finish().unwrap();
        assert_eq!(fs::read_dir(documents).unwrap().count(), 1);
    }

    #[test]
    fn an_older_catalog_is_compared_by_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let mut store = Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        store.save(document("Two waters a day."), URL, &source("1")).unwrap();
        let text = fs::read_to_string(catalog.file()).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        let entry = value["documents"][0].as_object_mut().unwrap();
        entry.retain(|name, _| ["url", "title", "path", "fetched_at"].contains(&name.as_str()));
        entry.insert("summary".into(), "of two waters".into());
        fs::write(catalog.file(), value.to_string()).unwrap();

        let mut store = Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        assert_eq!(
            store.save(document("Two waters a day."), URL, &source("1")).unwrap().verdict,
            PageVerdict::Unchanged
        );
        store.finish().unwrap();
        let listed = catalog.read().unwrap().documents.remove(0);
        assert!(listed.content_hash.is_some() && listed.checked_at.is_some());
        assert_eq!(store.save(document("Three."), URL, &source("1")).unwrap().verdict, PageVerdict::Changed);
        assert_eq!(catalog.read().unwrap().documents[0].status.as_deref(), Some(STALE));
        // It stays so until there is another summary, whatever the source says then.
        assert_eq!(store.save(document("Three."), URL, &source("2")).unwrap().verdict, PageVerdict::Unchanged);
        store.finish().unwrap();
        assert_eq!(catalog.read().unwrap().documents[0].status.as_deref(), Some(STALE));
    }

    #[test]
    fn a_document_that_moved_keeps_its_file_and_summary() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let open = || Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        let first = open().save(document("Two waters a day."), URL, &source("1")).unwrap();
        let key = |moved| DocumentKey { url: "https://x.example/b", was: Some(URL), named_after: None, moved };
        // The same text at another commit, say: what is recorded stays valid.
        let mut store = open();
        assert_eq!(
            store.queue_save(document("Two waters a day."), key(false), &source("1")).unwrap().verdict,
            PageVerdict::Unchanged
        );
        let moved = store.queue_save(document("Two waters a day."), key(true), &source("1")).unwrap();
        assert_eq!((moved.verdict, moved.file), (PageVerdict::Moved, first.file.canonicalize().unwrap()));
        store.finish().unwrap();
        let listed = catalog.read().unwrap().documents;
        assert_eq!((listed.len(), listed[0].url.as_deref()), (1, Some("https://x.example/b")));
        assert!(fs::read_to_string(&first.file).unwrap().contains("source_url: \"https://x.example/b\""));
        // Another document at the old address gets a file of its own.
        let other = open().save(document("Three."), URL, &source("1")).unwrap();
        assert_eq!(other.verdict, PageVerdict::Added);
        assert_ne!(other.file.file_name(), first.file.file_name());
        assert_eq!(catalog.read().unwrap().documents.len(), 2);
    }

    #[test]
    fn a_trial_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let open = || Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        open().save(document("Two waters a day."), URL, &source("1")).unwrap();
        let before = fs::read_to_string(catalog.file()).unwrap();
        let mut store = open().dry_run(true);
        assert_eq!(store.save(document("Three."), URL, &source("2")).unwrap().verdict, PageVerdict::Changed);
        assert_eq!(
            store.save(document("New."), "https://x.example/new", &source("2")).unwrap().verdict,
            PageVerdict::Added
        );
        store.archive(URL).unwrap();
        store.finish().unwrap();
        assert_eq!(fs::read_to_string(catalog.file()).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path().join("cache/documents")).unwrap().count(), 1);
    }

    #[test]
    fn gone_documents_move_to_the_gone_folder() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let mut store = Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        for _ in 0..2 {
            let stored = store.save(document("Two waters a day."), URL, &source("1")).unwrap();
            let moved = store.archive(URL).unwrap().unwrap();
            assert!(!stored.file.exists() && moved.is_file(), "{moved:?}");
            assert!(catalog.read().unwrap().documents.is_empty());
        }
        let gone = folder.path().join("cache/gone");
        assert_eq!(fs::read_dir(&gone).unwrap().count(), 2);
        assert_eq!(store.archive(URL).unwrap(), None);
        #[cfg(unix)]
        {
            // A link there could lead out of the knowledge base.
            let elsewhere = tempfile::tempdir().unwrap();
            fs::remove_dir_all(&gone).unwrap();
            std::os::unix::fs::symlink(elsewhere.path(), &gone).unwrap();
            let stored = store.save(document("Two waters a day."), URL, &source("1")).unwrap();
            let kept = store.archive(URL).unwrap().unwrap();
            assert!(kept.is_file() && kept == stored.file.canonicalize().unwrap());
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        }
    }
}
