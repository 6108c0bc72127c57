//! What a knowledge base has, and what a run changes in it.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use ragmaker_catalog::{CATALOG_NOT_FOUND, Catalog, Entry, Listed, Source};
use ragmaker_knowledge::{Destination, content_hash, now, save_converted, title_of};
use ragmaker_markdown::Document;
use ragmaker_tool::Error;
use serde_json::Value;

use crate::Verdict;

/// The folder beside the catalog for the files of documents that are gone.
const GONE: &str = "gone";

/// A knowledge base that a run changes.
#[derive(Debug)]
pub struct Store<'a> {
    catalog: &'a Catalog,
    folder: PathBuf,
    /// The documents by their address, as the run found them.
    listed: HashMap<String, Listed>,
    /// What was asked for and is as it was: recorded in one step, at the end.
    checked: BTreeMap<String, Vec<(&'static str, Value)>>,
}

/// A document that is in the knowledge base now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Whether it was added, changed or unchanged.
    pub verdict: Verdict,
    /// The absolute path of its file.
    pub file: PathBuf,
}

impl<'a> Store<'a> {
    /// The knowledge base of `catalog`, whose new documents go to `folder`.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::READ_ERRORS`]; no catalog is no error.
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
        Ok(Self { catalog, folder, listed, checked: BTreeMap::new() })
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        self.catalog
    }

    /// Every document, by its address, as the run found it.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &Listed)> {
        self.listed.iter().map(|(url, listed)| (url.as_str(), listed))
    }

    /// The document at `url`, as the run found it.
    pub fn known(&self, url: &str) -> Option<&Listed> {
        self.listed.get(url)
    }

    /// The file of a document, where there is one in the knowledge base.
    pub fn file_of(&self, listed: &Listed) -> Option<PathBuf> {
        self.catalog.find(listed.path.as_deref()?)
    }

    /// Writes and records `document`, unless it is the one that is there.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_knowledge::ERRORS`] and [`ragmaker_catalog::ERRORS`].
    pub fn save(&mut self, document: Document, url: &str, source: &Source) -> Result<Stored, Error> {
        let hash = content_hash(&title_of(&document, url), &document.markdown);
        let known = self.known(url);
        if let Some(file) = known.and_then(|listed| self.file_of(listed).filter(|file| hash_of(listed, file) == hash)) {
            self.unchanged(url, Some(source), Some(hash));
            return Ok(Stored { verdict: Verdict::Unchanged, file });
        }
        let verdict = if known.is_some() { Verdict::Changed } else { Verdict::Added };
        let had_summary = known.is_some_and(|listed| listed.summary.is_some());
        let destination = Destination { folder: self.folder.clone(), catalog: Some(self.catalog) };
        let saved = save_converted(document, url, &now(), Some(source), &destination)?;
        if had_summary {
            // The summary tells of another text; whoever writes summaries sees it.
            let entry = Entry::new(url, saved.title.as_str(), &saved.file).with("summary_stale", true);
            self.catalog.record(&entry)?;
        }
        let fields = Listed { url: Some(url.to_owned()), content_hash: Some(hash), ..Listed::default() };
        let path = saved.file.to_string_lossy().into_owned();
        self.listed.insert(url.to_owned(), Listed { path: Some(path), source: Some(source.clone()), ..fields });
        Ok(Stored { verdict, file: saved.file })
    }

    /// Notes that the document at `url` is as it was, with its present source and hash where they are known.
    /// [`Store::finish`] records it.
    pub fn unchanged(&mut self, url: &str, source: Option<&Source>, hash: Option<String>) {
        let Some(listed) = self.listed.get(url) else { return };
        let mut fields = vec![("checked_at", Value::from(now()))];
        if let Some(source) = source.filter(|source| listed.source.as_ref() != Some(source)) {
            fields.push(("source", source.to_json()));
        }
        if let Some(hash) = hash.filter(|hash| listed.content_hash.as_ref() != Some(hash)) {
            fields.push(("content_hash", hash.into()));
        }
        if listed.status.is_some() {
            fields.push(("status", Value::Null));
        }
        self.checked.insert(url.to_owned(), fields);
    }

    /// Takes the document at `url` out of the catalog and moves its file to the folder `gone` beside it. Where
    /// the file is now; `None` where it had none in the knowledge base.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::ERRORS`]. A file that cannot be moved stays where it is.
    pub fn retire(&mut self, url: &str) -> Result<Option<PathBuf>, Error> {
        self.checked.remove(url);
        let file = self.listed.remove(url).and_then(|listed| self.file_of(&listed));
        self.catalog.remove(url)?;
        let shared = |file: &Path| self.listed.values().any(|other| self.file_of(other).as_deref() == Some(file));
        let Some(file) = file.filter(|file| !shared(file)) else { return Ok(None) };
        let moved = self.catalog.folder().and_then(|folder| shelve(&file, &folder.join(GONE)));
        Ok(Some(moved.unwrap_or(file)))
    }

    /// Records when the documents that are as they were have been checked.
    ///
    /// # Errors
    ///
    /// The codes of [`ragmaker_catalog::ERRORS`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.catalog.update(&std::mem::take(&mut self.checked))
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

/// Moves `file` to `folder` under a name that is free there. `None` where it stays.
fn shelve(file: &Path, folder: &Path) -> Option<PathBuf> {
    fs::create_dir_all(folder).ok()?;
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

    fn source(etag: &str) -> Source {
        Source::Http { from: None, etag: Some(etag.into()), last_modified: None }
    }

    #[test]
    fn only_what_is_new_or_another_text_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let open = || Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        let mut store = open();
        let first = store.save(document("Two waters a day."), URL, &source("1")).unwrap();
        assert_eq!(first.verdict, Verdict::Added);
        let written = fs::metadata(&first.file).unwrap().modified().unwrap();
        let before = fs::read_to_string(catalog.file()).unwrap();

        let mut store = open();
        let again = store.save(document("Two  waters a day."), URL, &source("1")).unwrap();
        assert_eq!((again.verdict, &again.file), (Verdict::Unchanged, &first.file.canonicalize().unwrap()));
        assert_eq!(fs::metadata(&first.file).unwrap().modified().unwrap(), written);
        assert_eq!(fs::read_to_string(catalog.file()).unwrap(), before);
        store.unchanged(URL, Some(&source("2")), None);
        store.finish().unwrap();
        assert_eq!(catalog.read().unwrap().documents[0].source, Some(source("2")));

        let mut store = open();
        assert_eq!(store.save(document("Three waters."), URL, &source("3")).unwrap().verdict, Verdict::Changed);
        fs::remove_file(&first.file).unwrap();
        assert_eq!(open().save(document("Three waters."), URL, &source("3")).unwrap().verdict, Verdict::Changed);
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
        assert_eq!(store.save(document("Two waters a day."), URL, &source("1")).unwrap().verdict, Verdict::Unchanged);
        store.finish().unwrap();
        let listed = catalog.read().unwrap().documents.remove(0);
        assert!(listed.content_hash.is_some() && listed.checked_at.is_some());
        assert_eq!(store.save(document("Three."), URL, &source("1")).unwrap().verdict, Verdict::Changed);
        assert!(fs::read_to_string(catalog.file()).unwrap().contains("\"summary_stale\":true"));
    }

    #[test]
    fn what_is_gone_is_moved_and_never_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::at(folder.path().join("cache/catalog.json")).unwrap();
        let mut store = Store::open(&catalog, folder.path().join("cache/documents")).unwrap();
        for _ in 0..2 {
            let stored = store.save(document("Two waters a day."), URL, &source("1")).unwrap();
            let moved = store.retire(URL).unwrap().unwrap();
            assert!(!stored.file.exists() && moved.is_file(), "{moved:?}");
            assert!(catalog.read().unwrap().documents.is_empty());
        }
        assert_eq!(fs::read_dir(folder.path().join("cache/gone")).unwrap().count(), 2);
        assert_eq!(store.retire(URL).unwrap(), None);
    }
}
