//! A folder of a Git commit as a source: selects the documents among its files and saves each of them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use ragmaker_catalog::DocumentSource;
use ragmaker_convert::{DocumentKind, convert};
use ragmaker_files::Glob;
use ragmaker_git::{Address, Repository};
use ragmaker_ingest::{DocumentKey, PageResult, PageVerdict, Run, Skips, Store};
use ragmaker_text::ByteSource as Text;
use ragmaker_tool::Error;
use url::Url;

/// A part of a commit.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// The address of the repository.
    pub address: &'a Address,
    /// The commit.
    pub repository: &'a Repository,
    /// The folder or file; empty for all.
    pub path: &'a str,
}

/// A document of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path in the repository.
    pub path: String,
    blob: String,
    kind: DocumentKind,
}

/// A document that is to be read.
struct PendingDocument<'a> {
    found: &'a Found,
    /// The address that it is known under.
    was: Option<String>,
    moved: bool,
}

impl Tree<'_> {
    /// Its documents, in the order of their paths.
    ///
    /// # Errors
    ///
    /// Those of [`Repository::list`]; `ARGUMENT_ERROR` where a glob is invalid.
    pub fn files(&self, include: &[String], exclude: &[String], skips: &mut Skips) -> Result<Vec<Found>, Error> {
        // Globs are for paths beneath a folder; of a repository, that is its top.
        let base = Path::new("/repository");
        let globs = |patterns: &[String]| {
            patterns.iter().map(|pattern| Glob::new(base, pattern)).collect::<Result<Vec<_>, _>>()
        };
        let (include, exclude) = (globs(include)?, globs(exclude)?);
        let mut found = vec![];
        for file in self.repository.list(self.path)? {
            let place = base.join(&file.path);
            let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(&place));
            if matches(&exclude) || (!include.is_empty() && !matches(&include)) {
                continue;
            }
            let kind = DocumentKind::of(&file.path);
            let kind = if include.is_empty() {
                kind
            } else {
                Some(kind.unwrap_or_else(|| DocumentKind::of_requested_file(&file.path)))
            };
            match (file.other, kind) {
                (Some(other), _) => skips.add(format!("it is a {other}, which is not followed"), &file.path),
                (None, Some(kind)) => found.push(Found { path: file.path, blob: file.blob, kind }),
                (None, None) => {
                    let ending = Path::new(&file.path)
                        .extension()
                        .map(|ending| format!(".{}", ending.to_string_lossy().to_lowercase()));
                    let ending = ending.unwrap_or_else(|| "no ending".to_owned());
                    skips.add(format!("not a type of document ({ending})"), &file.path);
                }
            }
        }
        Ok(found)
    }

    /// Saves the documents `found`, and reports those that are known and not among the files of the commit.
    ///
    /// # Errors
    ///
    /// Where nothing can be fetched or written; what is wrong with a file is its verdict.
    pub fn sync(&self, found: &[Found], store: &mut Store<'_>, run: &mut Run) -> Result<(), Error> {
        let known = self.known(store);
        let mut vanished = self.vanished(&known)?;
        let (mut wanted, mut blobs) = (HashMap::<&str, Vec<PendingDocument<'_>>>::new(), vec![]);
        for found in found {
            let (was, is_same) = match known.get(found.path.as_str()) {
                Some((url, blob)) => (Some(url.clone()), *blob == found.blob),
                None => (None, false),
            };
            if let Some(url) = was.as_deref().filter(|_| is_same)
                && store.known(url).and_then(|listed| store.file_of(listed)).is_some()
            {
                run.end(unchanged(url, store), ())?;
                continue;
            }
            let gone = if was.is_none() { vanished.get_mut(&found.blob).and_then(Vec::pop) } else { None };
            let moved = gone.is_some();
            let same = wanted.entry(&found.blob).or_default();
            if same.is_empty() {
                blobs.push(found.blob.as_str());
            }
            same.push(PendingDocument { found, was: was.or(gone), moved });
        }
        self.save(&wanted, &blobs, store, run)?;
        for url in vanished.into_values().flatten() {
            let reason = "it is no longer in the repository; a refresh of the knowledge base removes it";
            run.end(PageResult::new(url, PageVerdict::Gone, reason), ())?;
        }
        Ok(())
    }

    /// Compares the documents at the addresses `known`, which came from this repository, with the commit. Documents
    /// whose file no longer exists are removed, unless a file with another name has the same content.
    ///
    /// # Errors
    ///
    /// As for [`Tree::sync`].
    pub fn refresh(&self, known: &[String], store: &mut Store<'_>, run: &mut Run) -> Result<(), Error> {
        let files = self.repository.list("")?;
        let by_path: HashMap<&str, &ragmaker_git::File> = files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut recorded: HashMap<String, (String, String)> = HashMap::new();
        for url in known {
            if let Some(DocumentSource::Git { path, blob, .. }) =
                store.known(url).and_then(|listed| listed.source.as_ref())
            {
                recorded.insert(path.clone(), (url.clone(), blob.clone()));
            }
        }
        let mut vanished: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut changed: Vec<(Found, String, bool)> = vec![];
        let mut paths: Vec<&String> = recorded.keys().collect();
        paths.sort();
        for path in paths {
            let (url, blob) = &recorded[path];
            match by_path.get(path.as_str()).filter(|file| file.other.is_none()) {
                None => vanished.entry(blob.clone()).or_default().push(url.clone()),
                Some(file)
                    if file.blob == *blob && store.known(url).and_then(|listed| store.file_of(listed)).is_some() =>
                {
                    run.end(unchanged(url, store), ())?;
                }
                Some(file) => {
                    let found = Found {
                        path: path.clone(),
                        blob: file.blob.clone(),
                        kind: DocumentKind::of_requested_file(path),
                    };
                    changed.push((found, url.clone(), false));
                }
            }
        }
        for file in files.iter().filter(|file| file.other.is_none() && !recorded.contains_key(&file.path)) {
            if let Some(url) = vanished.get_mut(&file.blob).and_then(Vec::pop) {
                let found = Found {
                    path: file.path.clone(),
                    blob: file.blob.clone(),
                    kind: DocumentKind::of_requested_file(&file.path),
                };
                changed.push((found, url, true));
            }
        }
        let (mut wanted, mut blobs) = (HashMap::<&str, Vec<PendingDocument<'_>>>::new(), vec![]);
        for (found, url, moved) in &changed {
            let same = wanted.entry(&found.blob).or_default();
            if same.is_empty() {
                blobs.push(found.blob.as_str());
            }
            same.push(PendingDocument { found, was: Some(url.clone()), moved: *moved });
        }
        self.save(&wanted, &blobs, store, run)?;
        for url in vanished.into_values().flatten() {
            let file = store.archive(&url)?;
            let reason = format!("the repository does not have it at {}", self.repository.commit());
            let page = PageResult::new(url, PageVerdict::Gone, reason);
            run.end(PageResult { file_path: file.map(|file| ragmaker_files::lossy_text(file).0), ..page }, ())?;
        }
        Ok(())
    }

    /// Reads `blobs` and saves the documents that are `wanted` of them.
    fn save(
        &self,
        wanted: &HashMap<&str, Vec<PendingDocument<'_>>>,
        blobs: &[&str],
        store: &mut Store<'_>,
        run: &mut Run,
    ) -> Result<(), Error> {
        let mut failure = None;
        self.repository.read(blobs, |blob, content| {
            for wanted in &wanted[blob] {
                if failure.is_none() {
                    let ended = self.one(wanted, content.as_deref(), store).and_then(|page| run.end(page, ()));
                    failure = ended.err();
                }
            }
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// The documents of this repository that the knowledge base has, by their paths: address and blob.
    fn known(&self, store: &Store<'_>) -> HashMap<String, (String, String)> {
        let own = |(url, listed): (&str, &ragmaker_catalog::Listed)| match &listed.source {
            // Another branch may be in the same knowledge base.
            Some(DocumentSource::Git { repository, reference, path, blob, .. })
                if repository == self.address.repository() && reference.as_deref() == self.repository.reference() =>
            {
                Some((path.clone(), (url.to_owned(), blob.clone())))
            }
            _ => None,
        };
        store.documents().filter_map(own).collect()
    }

    /// The addresses of known documents of this part that the commit does not have, by their blobs.
    fn vanished(&self, known: &HashMap<String, (String, String)>) -> Result<BTreeMap<String, Vec<String>>, Error> {
        let files = self.repository.list(self.path)?;
        let present: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let is_within = |path: &str| {
            self.path.is_empty()
                || self.path == "."
                || path.strip_prefix(self.path).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut vanished: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, (url, blob)) in known {
            if is_within(path) && !present.contains(path.as_str()) {
                vanished.entry(blob.clone()).or_default().push(url.clone());
            }
        }
        for urls in vanished.values_mut() {
            urls.sort();
        }
        Ok(vanished)
    }

    fn one(
        &self,
        wanted: &PendingDocument<'_>,
        content: Option<&[u8]>,
        store: &mut Store<'_>,
    ) -> Result<PageResult, Error> {
        let Found { path, blob, kind } = wanted.found;
        let url = self.address.document(self.repository.commit(), path);
        let Some(content) = content else {
            return Ok(PageResult::new(
                url,
                PageVerdict::Failed,
                "FILE_TOO_LARGE: it has more than 64 MiB, or was not sent",
            ));
        };
        let base = Url::parse(&url).ok().filter(|url| !url.cannot_be_a_base());
        let document = match convert(path, *kind, &Text::Memory(content.to_vec()), base.as_ref()) {
            Ok(document) => document,
            Err(error) => return Ok(PageResult::conversion_failed(url, &error)),
        };
        let source = DocumentSource::Git {
            repository: self.address.repository().to_owned(),
            reference: self.repository.reference().map(str::to_owned),
            commit: self.repository.commit().to_owned(),
            path: path.clone(),
            blob: blob.clone(),
        };
        let identity = self.address.identity(path);
        let key =
            DocumentKey { url: &url, was: wanted.was.as_deref(), named_after: Some(&identity), moved: wanted.moved };
        let stored = store.queue_save(document, key, &source)?;
        Ok(match &wanted.was {
            Some(was) if wanted.moved => PageResult::moved(was, url, Some(&stored)),
            _ => PageResult::stored(&url, &stored),
        })
    }
}

/// Notes that the document at `url` is as it was.
pub fn unchanged(url: &str, store: &mut Store<'_>) -> PageResult {
    store.unchanged(url, None, None);
    let file = store.known(url).and_then(|listed| store.file_of(listed));
    let file_path = file.map(|file| ragmaker_files::lossy_text(file).0);
    PageResult {
        url: url.to_owned(),
        verdict: PageVerdict::Unchanged,
        reason: None,
        file_path,
        via: None,
        moved_to: None,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;
    use crate::test_base::{Base, reasons};

    fn git(base: &Base, arguments: &[&str]) {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@x.example", "-C", "work"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(&base.top).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    /// Commits all that is in the folder `work`, and calls `see` with that commit.
    fn committed<T>(base: &Base, path: &str, see: impl FnOnce(&Tree<'_>) -> T) -> T {
        if !base.top.join("work/.git").exists() {
            git(base, &["init", "--quiet"]);
        }
        git(base, &["add", "--all"]);
        git(base, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
        let address = Address::parse(base.top.join("work").to_str().unwrap()).unwrap();
        let repository = Repository::open(&address, None).unwrap();
        see(&Tree { address: &address, repository: &repository, path })
    }

    fn paths(tree: &Tree<'_>, include: &[String], exclude: &[String], skips: &mut Skips) -> Vec<String> {
        tree.files(include, exclude, skips).unwrap().into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn documents_of_a_commit_are_found_and_others_have_a_reason() {
        let base = Base::new();
        for path in ["README.md", "docs/\u{6f6e} a.md", "docs/b.rst", "src/main.bin"] {
            base.write(&format!("work/{path}"), "# T\n");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("README.md", base.top.join("work/link.md")).unwrap();
        let mut skips = Skips::default();
        let all = committed(&base, "", |tree| paths(tree, &[], &[], &mut skips));
        assert_eq!(all, ["README.md", "docs/b.rst", "docs/\u{6f6e} a.md"]);
        let expected =
            ["1 link.md it is a link, which is not followed", "1 src/main.bin not a type of document (.bin)"];
        assert_eq!(reasons(skips), expected[usize::from(cfg!(not(unix)))..]);
        let (include, exclude) = (["**/*.bin".to_owned(), "docs/*".to_owned()], ["*.rst".to_owned()]);
        let chosen = committed(&base, "", |tree| paths(tree, &include, &exclude, &mut Skips::default()));
        assert_eq!(chosen, ["docs/\u{6f6e} a.md", "src/main.bin"]);
        let part = committed(&base, "docs", |tree| paths(tree, &[], &[], &mut Skips::default()));
        assert_eq!(part, ["docs/b.rst", "docs/\u{6f6e} a.md"]);
    }

    #[test]
    fn a_later_commit_saves_only_what_changed() {
        let base = Base::new();
        for (path, text) in
            [("same.md", "# Same\n"), ("new.md", "# Old\n"), ("old-name.md", "# Moved\n"), ("docs/gone.md", "# Gone\n")]
        {
            base.write(&format!("work/{path}"), text);
        }
        let sync = |path: &str| {
            committed(&base, path, |tree| {
                let found = tree.files(&[], &[], &mut Skips::default()).unwrap();
                base.verdicts(|store, run| tree.sync(&found, store, run))
            })
        };
        assert_eq!(sync("").iter().filter(|page| page.starts_with("Added")).count(), 4);
        base.write("work/new.md", "# New\n");
        base.write("work/docs/kept.md", "# Kept\n");
        fs::rename(base.top.join("work/old-name.md"), base.top.join("work/name.md")).unwrap();
        fs::remove_file(base.top.join("work/docs/gone.md")).unwrap();
        // Of a part, nothing is told about the rest.
        assert_eq!(sync("docs"), ["Added kept.md", "Gone gone.md"]);
        let expected = [
            "Changed new.md",
            "Gone gone.md",
            "Moved old-name.md to name.md",
            "Unchanged kept.md",
            "Unchanged same.md",
        ];
        assert_eq!(sync(""), expected);
        let known: Vec<String> = base.store().documents().map(|(url, _)| url.to_owned()).collect();
        let refreshed = committed(&base, "", |tree| base.verdicts(|store, run| tree.refresh(&known, store, run)));
        assert_eq!(
            refreshed,
            ["Gone gone.md", "Unchanged kept.md", "Unchanged name.md", "Unchanged new.md", "Unchanged same.md"]
        );
        assert_eq!(base.catalog.read().unwrap().documents.len(), 4);
    }

    #[test]
    fn files_with_the_same_content_are_documents_of_their_own() {
        let base = Base::new();
        base.write("work/a.md", "# Same\n");
        base.write("work/b.md", "# Same\n");
        let added = committed(&base, "", |tree| {
            let found = tree.files(&[], &[], &mut Skips::default()).unwrap();
            base.verdicts(|store, run| tree.sync(&found, store, run))
        });
        assert_eq!(added, ["Added a.md", "Added b.md"]);
        fs::rename(base.top.join("work/b.md"), base.top.join("work/c.md")).unwrap();
        let known: Vec<String> = base.store().documents().map(|(url, _)| url.to_owned()).collect();
        let refreshed = committed(&base, "", |tree| base.verdicts(|store, run| tree.refresh(&known, store, run)));
        assert_eq!(refreshed, ["Moved b.md to c.md", "Unchanged a.md"]);
    }
}
