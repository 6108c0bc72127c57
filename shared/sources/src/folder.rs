//! A folder as a source: selects the documents among its files and saves each of them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use ragmaker_catalog::DocumentSource;
use ragmaker_convert::{DocumentKind, convert};
use ragmaker_files::{self as files, Opener, ResolvedPath, Root, Roots, Walk};
use ragmaker_ingest::{DocumentKey, PageResult, PageVerdict, Run, Skips, Store};
use ragmaker_knowledge::bytes_hash;
use ragmaker_project::knowledge_base;
use ragmaker_text::ByteSource as Text;
use ragmaker_tool::Error;
use url::Url;

/// The largest file that is read (64 MiB).
const MAX: u64 = 64 << 20;

/// A folder that is read.
#[derive(Clone, Debug)]
pub struct Folder<'a> {
    /// Its place; the ignore files of the root above it apply.
    pub place: ResolvedPath,
    /// Its absolute path, without links on the way.
    pub path: PathBuf,
    /// Globs of files to read; all documents without any.
    pub include: &'a [String],
    /// Globs of files to leave out.
    pub exclude: &'a [String],
    /// Whether to read what ignore files list.
    pub no_ignore: bool,
}

/// A document of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path in the folder, with forward slashes.
    pub path: String,
    /// Its address.
    pub url: String,
    kind: DocumentKind,
}

/// The folder at `path`, which is absolute and without links: beneath the project, whose ignore files count
/// then, or by itself, and those in it and above it count.
pub fn place(path: &Path, roots: Option<&Roots>) -> ResolvedPath {
    let in_project = roots.and_then(|roots| roots.place(&path.to_string_lossy()).ok());
    if let Some(place) =
        in_project.filter(|place| place.root.kind == files::RootKind::ProjectRoot && place.path() == path)
    {
        return place;
    }
    let source = ragmaker_project::RootSource::Argument;
    let root = Root { path: path.to_owned(), kind: files::RootKind::ProjectRoot, source, writable: false };
    ResolvedPath { root, relative: PathBuf::new() }
}

impl Folder<'_> {
    /// The documents of the folder, in the order of their paths. Files of a knowledge base in the folder are left out.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read, or a glob is invalid.
    pub fn files(&self, skips: &mut Skips, store: &Store<'_>) -> Result<Vec<Found>, Error> {
        let walk = Walk { include: self.include, exclude: self.exclude, no_ignore: self.no_ignore, ..Walk::default() };
        let mut bases = NestedKnowledgeBases::new(store);
        let mut found = vec![];
        for entry in files::walk(&self.place, walk)?.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if error.io_error().is_some_and(files::is_gone) => continue,
                Err(error) => {
                    if let Some(cause) = error.io_error().filter(|_| error.depth() == Some(0)) {
                        return Err(files::io_error(cause, &self.path));
                    }
                    skips.add("it cannot be read", &error.to_string());
                    continue;
                }
            };
            let path = entry.path();
            let Ok(relative) = path.strip_prefix(&self.path) else { continue };
            let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
            let shown = relative.to_string_lossy().replace('\\', "/");
            if bases.hold(path) {
                skips.add("it is a file of a knowledge base", &shown);
                continue;
            }
            if kind.is_symlink() {
                skips.add("it is a link, which is not followed", &shown);
            } else if !kind.is_file() {
                skips.add("it is not a regular file", &shown);
            } else if relative.to_str().is_none() {
                skips.add("its name is not UTF-8", &shown);
            } else if let Some(kind) = self.kind(&shown) {
                let url = Url::from_file_path(path).map(String::from).unwrap_or_default();
                found.push(Found { path: shown, url, kind });
            } else {
                let ending = relative.extension().map(|ending| format!(".{}", ending.to_string_lossy().to_lowercase()));
                let ending = ending.unwrap_or_else(|| "no ending".to_owned());
                skips.add(format!("not a type of document ({ending})"), &shown);
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// The kind of a file: a file that matches a glob of the caller is converted whatever its type is, unless it is not
    /// text.
    fn kind(&self, path: &str) -> Option<DocumentKind> {
        let known = DocumentKind::of(path);
        if self.include.is_empty() {
            known
        } else {
            Some(known.unwrap_or_else(|| DocumentKind::of_requested_file(path)))
        }
    }

    /// Saves the documents `found`, and reports those that are known and not among them.
    ///
    /// # Errors
    ///
    /// Where nothing can be written; what is wrong with a file is its verdict.
    pub fn sync(&self, found: &[Found], store: &mut Store<'_>, run: &mut Run) -> Result<(), Error> {
        let opener = self.place.opener()?;
        let present: HashSet<&str> = found.iter().map(|found| found.url.as_str()).collect();
        let mut vanished = self.vanished(&present, store);
        for found in found {
            let page = self.one(found, &opener, store, &mut vanished)?;
            run.end(page, ())?;
        }
        for url in vanished.into_values().flatten() {
            let reason = "it is no longer in the folder; a refresh of the knowledge base removes it";
            run.end(PageResult::new(url, PageVerdict::Gone, reason), ())?;
        }
        Ok(())
    }

    /// Compares the documents at the addresses `known`, which came from this folder, with their files. Documents whose
    /// file no longer exists are removed, unless a file with another name in this folder has the same content.
    ///
    /// # Errors
    ///
    /// Where nothing can be written; what is wrong with a file is its verdict.
    pub fn refresh(&self, known: &[String], store: &mut Store<'_>, run: &mut Run) -> Result<(), Error> {
        let opener = match self.place.opener() {
            Ok(opener) => opener,
            Err(error) => {
                // The folder may be on a disk that is not there now: that takes nothing out.
                return known.iter().try_for_each(|url| run.end(PageResult::failed(url, &error), ()));
            }
        };
        let mut vanished: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut present = HashSet::new();
        for url in known {
            let source = store.known(url).and_then(|listed| listed.source.clone());
            let Some(DocumentSource::File { path, sha256, .. }) = source else { continue };
            let is_gone = match self.path.join(&path).symlink_metadata() {
                Ok(_) => false,
                // A folder on the way may have become a file.
                Err(error) => files::is_gone(&error),
            };
            if is_gone {
                vanished.entry(sha256).or_default().push(url.clone());
                continue;
            }
            let found = Found { kind: DocumentKind::of_requested_file(&path), path, url: url.clone() };
            present.insert(url.clone());
            let page = self.one(&found, &opener, store, &mut BTreeMap::new())?;
            run.end(page, ())?;
        }
        if !vanished.is_empty() {
            let mut new = self.files(&mut Skips::default(), store)?;
            new.retain(|found| store.known(&found.url).is_none());
            for found in &new {
                let same = read(&opener, &self.path.join(&found.path))
                    .is_ok_and(|bytes| vanished.contains_key(&bytes_hash(&bytes)));
                if same && !present.contains(&found.url) {
                    let page = self.one(found, &opener, store, &mut vanished)?;
                    if page.verdict == PageVerdict::Moved {
                        run.end(page, ())?;
                    }
                    vanished.retain(|_, urls| !urls.is_empty());
                }
            }
        }
        for url in vanished.into_values().flatten() {
            let file = store.archive(&url)?;
            let page = PageResult::new(url, PageVerdict::Gone, "the file is gone");
            run.end(PageResult { file_path: file.map(|file| files::lossy_text(file).0), ..page }, ())?;
        }
        Ok(())
    }

    /// The addresses of documents of this folder whose files no longer exist, by the hash of their bytes. Documents
    /// outside the scope of this call are left out.
    fn vanished(&self, present: &HashSet<&str>, store: &Store<'_>) -> BTreeMap<String, Vec<String>> {
        let mut vanished: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (url, listed) in store.documents() {
            let Some(DocumentSource::File { folder, path, sha256 }) = &listed.source else { continue };
            let is_here = Path::new(folder) == self.path && !present.contains(url);
            if is_here && self.path.join(path).symlink_metadata().is_err() {
                vanished.entry(sha256.clone()).or_default().push(url.to_owned());
            }
        }
        for urls in vanished.values_mut() {
            urls.sort();
        }
        vanished
    }

    fn one(
        &self,
        found: &Found,
        opener: &Opener,
        store: &mut Store<'_>,
        vanished: &mut BTreeMap<String, Vec<String>>,
    ) -> Result<PageResult, Error> {
        let Found { path, url, kind } = found;
        let bytes = match read(opener, &self.path.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(PageResult::failed(url, &error)),
        };
        let sha256 = bytes_hash(&bytes);
        let source = DocumentSource::File {
            folder: self.path.to_string_lossy().into_owned(),
            path: path.clone(),
            sha256: sha256.clone(),
        };
        let known = store.known(url);
        let is_same = matches!(known.and_then(|known| known.source.as_ref()), Some(DocumentSource::File { sha256: known, .. }) if *known == sha256);
        if let Some(file) = known.filter(|_| is_same).and_then(|known| store.file_of(known)) {
            store.unchanged(url, Some(&source), None);
            let file_path = Some(file.to_string_lossy().into_owned());
            return Ok(PageResult {
                url: url.clone(),
                verdict: PageVerdict::Unchanged,
                reason: None,
                file_path,
                via: None,
                moved_to: None,
            });
        }
        // The same bytes under another name, where those of the old one are gone.
        let was = if known.is_none() { vanished.get_mut(&sha256).and_then(Vec::pop) } else { None };
        let base = Url::parse(url).ok();
        let document = match convert(path, *kind, &Text::Memory(bytes), base.as_ref()) {
            Ok(document) => document,
            Err(error) => return Ok(PageResult::conversion_failed(url, &error)),
        };
        let folder = self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        // Not after all folders above, which say nothing of it.
        let name = format!("{folder}/{path}");
        let key = DocumentKey { url, was: was.as_deref(), named_after: Some(&name), moved: was.is_some() };
        let stored = store.queue_save(document, key, &source)?;
        Ok(match was {
            Some(was) => PageResult::moved(was, url, Some(&stored)),
            None => PageResult::stored(url, &stored),
        })
    }
}

/// The bytes of a file. What has become a link or a FIFO since it was found is not opened.
fn read(opener: &Opener, path: &Path) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    let fail = |error: std::io::Error| files::io_error(&error, path);
    let (file, size) = opener.open(path).map_err(fail)?;
    if size > MAX {
        return Err(fail(std::io::Error::other(format!("it has {size} bytes, more than {MAX}"))));
    }
    let mut bytes = vec![];
    file.take(MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}

/// Knowledge bases within the folder; their documents have other sources.
struct NestedKnowledgeBases {
    own: Vec<PathBuf>,
    known: HashMap<PathBuf, bool>,
}

impl NestedKnowledgeBases {
    fn new(store: &Store<'_>) -> Self {
        let catalog = store.catalog().file();
        let own = [catalog.parent().map(Path::to_owned), Some(store.folder().to_owned())];
        let own =
            own.into_iter().flatten().map(|folder| ragmaker_fs::canonicalize(&folder).unwrap_or(folder)).collect();
        Self { own, known: HashMap::new() }
    }

    /// Whether `path` is in one.
    fn hold(&mut self, path: &Path) -> bool {
        let Some(folder) = path.parent() else { return false };
        if self.own.iter().any(|own| folder.starts_with(own)) {
            return true;
        }
        // Only the folder `cache` of a knowledge base is made by tools.
        folder.ancestors().filter(|folder| folder.ends_with(knowledge_base::CACHE)).any(|folder| {
            let is_base = || folder.parent().is_some_and(knowledge_base::is_knowledge_base);
            *self.known.entry(folder.to_owned()).or_insert_with(is_base)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_base::{Base, reasons};

    fn folder<'a>(base: &Base, include: &'a [String], exclude: &'a [String]) -> Folder<'a> {
        let path = base.top.join("source");
        Folder { place: place(&path, None), path, include, exclude, no_ignore: false }
    }

    fn paths(folder: &Folder<'_>, base: &Base, skips: &mut Skips) -> Vec<String> {
        folder.files(skips, &base.store()).unwrap().into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn documents_are_found_in_order_and_each_file_left_out_has_a_reason() {
        let base = Base::new();
        for path in
            ["b.md", "a/\u{6f6e}.md", "a/x.rst", "ignored/c.md", "image.bin", "LICENSE-x.TXT", "kb2/cache/pages/d.md"]
        {
            base.write(&format!("source/{path}"), "# T\n");
        }
        base.write("source/kb2/cache/catalog.json", "{\"documents\": []}");
        base.write("source/.gitignore", "ignored\n");
        let mut skips = Skips::default();
        assert_eq!(
            paths(&folder(&base, &[], &[]), &base, &mut skips),
            ["LICENSE-x.TXT", "a/x.rst", "a/\u{6f6e}.md", "b.md"]
        );
        let expected =
            ["1 image.bin not a type of document (.bin)", "2 kb2/cache/catalog.json it is a file of a knowledge base"];
        assert_eq!(reasons(skips), expected);
        let all = Folder { no_ignore: true, ..folder(&base, &[], &[]) };
        assert!(paths(&all, &base, &mut Skips::default()).contains(&"ignored/c.md".to_owned()));
    }

    #[test]
    fn globs_choose_files_of_any_kind() {
        let base = Base::new();
        for path in ["a.md", "b.md", "notes.conf"] {
            base.write(&format!("source/{path}"), "x = 1\n");
        }
        let (include, exclude) = (["*.conf".to_owned(), "a*".to_owned()], ["a.md".to_owned()]);
        let folder = folder(&base, &include, &exclude);
        assert_eq!(paths(&folder, &base, &mut Skips::default()), ["notes.conf"]);
        let bad = ["[".to_owned()];
        assert!(Folder { include: &bad, ..folder }.files(&mut Skips::default(), &base.store()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let base = Base::new();
        base.write("secret/s.md", "# S\n");
        base.write("source/a.md", "# A\n");
        std::os::unix::fs::symlink("../secret", base.top.join("source/out")).unwrap();
        std::os::unix::fs::symlink("a.md", base.top.join("source/b.md")).unwrap();
        let mut skips = Skips::default();
        let folder = folder(&base, &[], &[]);
        assert_eq!(paths(&folder, &base, &mut skips), ["a.md"]);
        assert_eq!(reasons(skips), ["2 b.md it is a link, which is not followed"]);
        // It became a link after it was found.
        let found = folder.files(&mut Skips::default(), &base.store()).unwrap();
        fs::remove_file(base.top.join("source/a.md")).unwrap();
        std::os::unix::fs::symlink("../secret/s.md", base.top.join("source/a.md")).unwrap();
        assert_eq!(base.verdicts(|store, run| folder.sync(&found, store, run)), ["Failed a.md"]);
        assert_eq!(base.catalog.read().map(|contents| contents.documents.len()).unwrap_or_default(), 0);
    }

    #[test]
    fn a_second_run_saves_only_what_changed() {
        let base = Base::new();
        for (path, text) in
            [("same.md", "# Same\n"), ("new.md", "# Old\n"), ("old-name.md", "# Moved\n"), ("gone.md", "# Gone\n")]
        {
            base.write(&format!("source/{path}"), text);
        }
        let folder = folder(&base, &[], &[]);
        let sync = || {
            let found = folder.files(&mut Skips::default(), &base.store()).unwrap();
            base.verdicts(|store, run| folder.sync(&found, store, run))
        };
        assert_eq!(sync(), ["Added gone.md", "Added new.md", "Added old-name.md", "Added same.md"]);
        base.write("source/new.md", "# New\n");
        fs::rename(base.top.join("source/old-name.md"), base.top.join("source/name.md")).unwrap();
        fs::remove_file(base.top.join("source/gone.md")).unwrap();
        assert_eq!(sync(), ["Changed new.md", "Gone gone.md", "Moved old-name.md to name.md", "Unchanged same.md"]);
        // It is only told; a refresh takes it out.
        let listed = || base.catalog.read().unwrap().documents.len();
        assert_eq!(listed(), 4);
        let known: Vec<String> = base.store().documents().map(|(url, _)| url.to_owned()).collect();
        let refresh = || base.verdicts(|store, run| folder.refresh(&known, store, run));
        assert_eq!(refresh(), ["Gone gone.md", "Unchanged name.md", "Unchanged new.md", "Unchanged same.md"]);
        assert_eq!(listed(), 3);
    }

    #[test]
    fn a_refresh_follows_a_file_to_its_new_name_and_a_missing_folder_takes_nothing_out() {
        let base = Base::new();
        base.write("source/a.md", "# A\n");
        base.write("source/b.md", "# B\n");
        let folder = folder(&base, &[], &[]);
        let found = folder.files(&mut Skips::default(), &base.store()).unwrap();
        base.verdicts(|store, run| folder.sync(&found, store, run));
        let known: Vec<String> = found.into_iter().map(|found| found.url).collect();
        let refresh = || base.verdicts(|store, run| folder.refresh(&known, store, run));
        fs::create_dir(base.top.join("source/deep")).unwrap();
        fs::rename(base.top.join("source/a.md"), base.top.join("source/deep/c.md")).unwrap();
        assert_eq!(refresh(), ["Moved a.md to c.md", "Unchanged b.md"]);
        fs::rename(base.top.join("source"), base.top.join("elsewhere")).unwrap();
        assert_eq!(refresh(), ["Failed a.md", "Failed b.md"]);
        assert_eq!(base.catalog.read().unwrap().documents.len(), 2);
    }
}
