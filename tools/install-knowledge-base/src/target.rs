//! A target knowledge base: built beside its place, then moved there in one step.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ragmaker_catalog::{Access, CATALOG_NOT_WRITABLE, Catalog};
use ragmaker_files::{FILE_LOCKED, NOT_A_DIRECTORY, PATH_NOT_WRITABLE, Roots};
use ragmaker_fs::{LockKind, exchange, lock_within, recover};
use ragmaker_project::{BROWSER_PROFILE, BROWSER_PROFILES, knowledge_base};
use ragmaker_tool::{
    ARGUMENT_ERROR, Caller, Error, Invocation,
    json::{self, Charset},
};
use serde_json::{Map, Value};

use crate::{
    Installed, SkippedDocument, TARGET_NOT_EMPTY, copy, failed,
    source::{SourceDocument, SourceKnowledgeBase},
};

/// The time that a call waits for another call that installs in the same folder.
const WAIT: Duration = Duration::from_secs(10);

/// A target, and what goes into it.
pub(crate) struct Target {
    /// Its folder: absolute, with links resolved if it exists.
    root: PathBuf,
    sources: Vec<SourceKnowledgeBase>,
    force: bool,
}

impl Target {
    /// The target in the folder `path`, which need not exist.
    pub(crate) fn open(
        path: &Path,
        sources: Vec<SourceKnowledgeBase>,
        force: bool,
        invocation: &Invocation,
    ) -> Result<Self, Error> {
        if path.as_os_str().is_empty() {
            return Err(ARGUMENT_ERROR.error("--target-kb-root is empty").detail("argument", "--target-kb-root"));
        }
        let root = match invocation.caller {
            Caller::Model => Roots::discover(&invocation.host)?.entry_to_write(&path.to_string_lossy())?.path(),
            Caller::Person => std::path::absolute(path).map_err(failed(path))?,
        };
        // A link changes places as what it leads to.
        let root = ragmaker_fs::canonicalize(&root).unwrap_or(root);
        let target = Self { root, sources, force };
        target.check()?;
        Ok(target)
    }

    /// Says what keeps the target from being made or added to.
    fn check(&self) -> Result<(), Error> {
        let Self { root, .. } = self;
        let about = |error: Error| error.detail("path", root.to_string_lossy());
        if root.file_name().is_none() || root.to_str().is_none() {
            return Err(about(ARGUMENT_ERROR.error(format!("{} cannot be a knowledge base", root.display()))));
        }
        if let Some(source) = self.sources.iter().find(|source| source.root == *root) {
            return Err(about(
                ARGUMENT_ERROR
                    .error(format!("{} is both source and target", source.root.display()))
                    .remedy("Choose another --target-kb-root.")
                    .detail("argument", "--target-kb-root"),
            ));
        }
        if root.symlink_metadata().is_err() {
            return Ok(());
        }
        if !root.is_dir() {
            return Err(about(NOT_A_DIRECTORY.error(format!("{} is not a directory", root.display()))));
        }
        if !self.force && fs::read_dir(root).map_err(failed(root))?.next().is_some() {
            return Err(about(TARGET_NOT_EMPTY.error(format!("{} is not empty", root.display()))));
        }
        // A browser works in its profile: it cannot change places.
        let cache = root.join(knowledge_base::CACHE);
        let has_profile = [root, &cache]
            .iter()
            .any(|folder| [BROWSER_PROFILE, BROWSER_PROFILES].iter().any(|name| folder.join(name).exists()));
        if has_profile {
            return Err(about(
                ARGUMENT_ERROR
                    .error(format!("{} contains browser profiles", root.display()))
                    .remedy("Choose another --target-kb-root, such as kb/NAME.")
                    .detail("argument", "--target-kb-root"),
            ));
        }
        Ok(())
    }

    /// Makes or adds to it.
    pub(crate) fn install(
        self,
        invocation: &Invocation,
        left_out: &mut Vec<SkippedDocument>,
    ) -> Result<Installed, Error> {
        let folder = self.root.parent().unwrap_or(&self.root).to_owned();
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let _lock = self.lock(&folder)?;
        let mut name = OsString::from(".");
        name.push(self.root.file_name().unwrap_or_default());
        name.push(".installing");
        let work = folder.join(name);
        recover(&work, &self.root).map_err(failed(&self.root))?;
        // Another call may have put something there while this one waited.
        self.check()?;
        // What a call left that was killed.
        remove(&work).map_err(failed(&work))?;
        let done = self.build(&work, invocation, left_out).and_then(|done| {
            self.put(&work).map_err(failed(&self.root))?;
            Ok(done)
        });
        // Nothing is lost with it: on success it is what was there before, all of which is in the new one.
        let removed = remove(&work);
        let done = done?;
        removed.map_err(failed(&work))?;
        Ok(done)
    }

    /// Keeps other calls that install in `folder` out.
    fn lock(&self, folder: &Path) -> Result<Option<File>, Error> {
        // Windows cannot open a directory as a file.
        if cfg!(windows) {
            return Ok(None);
        }
        let opened = File::open(folder).map_err(failed(folder))?;
        match lock_within(opened, LockKind::Exclusive, Instant::now() + WAIT) {
            Ok(None) => Err(FILE_LOCKED
                .error(format!("{} is still locked after {} seconds", folder.display(), WAIT.as_secs()))
                .detail("path", self.root.to_string_lossy())),
            Ok(lock) => Ok(lock),
            // Some network file systems have no locks.
            Err(_) => Ok(None),
        }
    }

    /// Builds the complete knowledge base in the folder `work`.
    fn build(
        &self,
        work: &Path,
        invocation: &Invocation,
        left_out: &mut Vec<SkippedDocument>,
    ) -> Result<Installed, Error> {
        let catalog_file = knowledge_base::catalog_of(&self.root);
        // For a model, the file itself has to be within the roots.
        Catalog::locate(Some(&self.root), None, Access::Write, invocation)?;
        let catalog = Catalog::at(&catalog_file)?;
        let (mut header, mut entries) = (None, vec![]);
        // Who records a document waits until it is clear where the catalog is.
        let _held = if catalog_file.exists() {
            let held = catalog.lock()?;
            catalog.read()?;
            let text = fs::read(&catalog_file).map_err(failed(&catalog_file))?;
            let mut members: Map<String, Value> =
                serde_json::from_slice(knowledge_base::json_of(&text)).unwrap_or_default();
            if let Some(Value::Array(listed)) = members.shift_remove("documents") {
                entries = listed;
            }
            header = Some(members);
            Some(held)
        } else {
            None
        };
        fs::create_dir(work).map_err(failed(work))?;
        if self.root.exists() {
            copy::add_missing(&self.root, work).map_err(failed(&self.root))?;
        }
        let catalog_path = catalog_file.strip_prefix(&self.root).unwrap_or(&catalog_file);
        let new_catalog = work.join(catalog_path);
        let documents_in = new_catalog.parent().unwrap_or(work).to_owned();
        let mut list = List::of(entries);
        for source in &self.sources {
            for document in source.documents(invocation, left_out)? {
                list.add(document, &documents_in, work)?;
            }
        }
        let documents = list.entries.len();
        let mut members = header.unwrap_or_else(|| self.sources[0].header.clone());
        members.insert("documents".to_owned(), Value::Array(list.entries));
        write(&new_catalog, &Value::Object(members)).map_err(|error| {
            CATALOG_NOT_WRITABLE.error(format!("the catalog {} cannot be written: {error}", catalog_file.display()))
        })?;
        if self.root.exists() {
            copy::set_permissions(&self.root, work).map_err(failed(&self.root))?;
        }
        Ok(Installed {
            kb_root: self.root.to_string_lossy().into_owned(),
            catalog_file: catalog_file.to_string_lossy().into_owned(),
            documents,
            added: list.added,
            replaced: list.replaced,
        })
    }

    /// Puts `work` in its place.
    fn put(&self, work: &Path) -> io::Result<()> {
        if self.root.symlink_metadata().is_err() {
            return fs::rename(work, &self.root);
        }
        exchange(work, &self.root)?;
        // What others saved there meanwhile, before they recorded it.
        copy::add_missing(work, &self.root)
    }
}

/// Removes a folder with its contents, if it exists.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a catalog with one document per line.
fn write(file: &Path, catalog: &Value) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // It may be the old one under a second name.
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = BufWriter::new(File::create_new(file)?);
    json::write(catalog, Charset::Utf8, &mut out).map_err(io::Error::from)?;
    out.flush()?;
    out.get_ref().sync_all()
}

/// The documents of the new catalog.
struct List {
    entries: Vec<Value>,
    /// The index of the entry for each address.
    by_url: BTreeMap<String, usize>,
    /// The paths that are taken, as seen from the catalog.
    taken: BTreeSet<String>,
    added: usize,
    replaced: usize,
}

impl List {
    fn of(entries: Vec<Value>) -> Self {
        let text = |entry: &Value, name: &str| entry[name].as_str().map(str::to_owned);
        let by_url = entries.iter().enumerate().filter_map(|(at, entry)| Some((text(entry, "url")?, at))).collect();
        let taken = entries.iter().filter_map(|entry| text(entry, "path")).collect();
        Self { entries, by_url, taken, added: 0, replaced: 0 }
    }

    /// Copies the document below `folder`, the folder of the catalog in `work`, and lists it.
    fn add(&mut self, document: SourceDocument, folder: &Path, work: &Path) -> Result<(), Error> {
        let SourceDocument { mut entry, file, path } = document;
        let url = entry.get("url").and_then(Value::as_str).filter(|url| !url.is_empty()).map(str::to_owned);
        let known = url.as_ref().and_then(|url| self.by_url.get(url).copied());
        // A document keeps its file, where that is in this knowledge base.
        let old = known.and_then(|at| self.entries[at]["path"].as_str()).filter(|old| is_below(old)).map(str::to_owned);
        let path = old.unwrap_or_else(|| self.free(&path, folder));
        let to = folder.join(&path);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
            let (real, work) = (ragmaker_fs::canonicalize(parent), ragmaker_fs::canonicalize(work));
            if !real.map_err(failed(parent))?.starts_with(work.map_err(failed(parent))?) {
                return Err(PATH_NOT_WRITABLE
                    .error(format!("{path} leads out of the knowledge base by a link"))
                    .remedy("Replace the link by a folder, or choose another --target-kb-root.")
                    .detail("path", path.as_str()));
            }
        }
        // It may be the old one under a second name, or a link.
        match fs::remove_file(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&to)(error)),
            _ => {}
        }
        fs::copy(&file, &to).map_err(failed(&file))?;
        self.taken.insert(path.clone());
        entry.insert("path".to_owned(), path.into());
        if let Some(at) = known {
            self.entries[at] = Value::Object(entry);
            self.replaced += 1;
        } else {
            if let Some(url) = url {
                self.by_url.insert(url, self.entries.len());
            }
            self.entries.push(Value::Object(entry));
            self.added += 1;
        }
        Ok(())
    }

    /// `wanted` with forward slashes, or a similar name that no file has.
    fn free(&self, wanted: &Path, folder: &Path) -> String {
        let names: Vec<_> = wanted.iter().map(|name| name.to_string_lossy()).collect();
        let wanted = names.join("/");
        let (stem, extension) = match wanted.rsplit_once('.') {
            Some((stem, extension)) if !extension.contains('/') => (stem, format!(".{extension}")),
            _ => (&*wanted, String::new()),
        };
        let is_free = |path: &String| !self.taken.contains(path) && folder.join(path).symlink_metadata().is_err();
        let numbered = (2_u32..).map(|number| format!("{stem}-{number}{extension}"));
        std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
    }
}

/// Whether a path of a catalog stays below the catalog's folder.
fn is_below(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write as put};
    use serde_json::json;

    use super::*;

    fn document(root: &Path, entry: Value, path: &str) -> SourceDocument {
        let Value::Object(entry) = entry else { unreachable!() };
        SourceDocument { entry, file: put(root, path, format!("text of {path}")), path: path.into() }
    }

    #[test]
    fn a_document_with_a_known_address_keeps_its_file_and_a_new_one_gets_a_free_name() {
        let (_holder, root) = folder("kb");
        let (work, source) = (root.join("work"), root.join("source"));
        put(&work, "a.md", "old");
        put(&work, "unlisted.md", "kept");
        let listed = vec![json!({"url": "u1", "path": "a.md", "summary": "S"}), json!({"url": "u2", "path": ""})];
        let mut list = List::of(listed);
        for (url, path) in [
            ("u1", "b.md"),
            ("u3", "a.md"),
            ("u4", "unlisted.md"),
            ("", "deep/a.b/c"),
            ("", "deep/a.b/c"),
            ("u2", "e.md"),
        ] {
            list.add(document(&source, json!({"url": url, "title": "T"}), path), &work, &work).unwrap();
        }
        assert_eq!((list.added, list.replaced), (4, 2));
        let paths: Vec<_> = list.entries.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
        // A path that says nothing is replaced.
        assert_eq!(paths, ["a.md", "e.md", "a-2.md", "unlisted-2.md", "deep/a.b/c", "deep/a.b/c-2"]);
        let text = |path: &str| fs::read_to_string(work.join(path)).unwrap();
        assert_eq!(
            (text("a.md"), text("a-2.md"), text("unlisted.md")),
            ("text of b.md".into(), "text of a.md".into(), "kept".into())
        );
    }

    #[cfg(unix)]
    #[test]
    fn no_document_is_written_through_a_link() {
        let (_holder, root) = folder("kb");
        let (work, outside) = (root.join("work"), root.join("outside"));
        fs::create_dir_all(&work).unwrap();
        put(&outside, "kept.md", "kept");
        std::os::unix::fs::symlink(&outside, work.join("docs")).unwrap();
        let mut list = List::of(vec![]);
        let error = list.add(document(&root, json!({"url": "u"}), "docs/new.md"), &work, &work);
        // The file of the source is at the same path.
        assert!(error.unwrap_err().is(PATH_NOT_WRITABLE));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        std::os::unix::fs::symlink(outside.join("kept.md"), work.join("a.md")).unwrap();
        let mut list = List::of(vec![json!({"url": "u", "path": "a.md"})]);
        list.add(document(&root.join("source"), json!({"url": "u"}), "b.md"), &work, &work).unwrap();
        assert_eq!(fs::read_to_string(outside.join("kept.md")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(work.join("a.md")).unwrap(), "text of b.md");
    }

    #[test]
    fn a_path_of_a_catalog_stays_in_its_folder_or_is_not_used() {
        for path in ["a.md", "deep/\u{6f6e}.md", "a..b"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["", ".", "../a.md", "/etc/passwd", "a/../../b"] {
            assert!(!is_below(path), "{path}");
        }
    }
}
