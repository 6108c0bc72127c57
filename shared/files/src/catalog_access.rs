//! Read access through a catalog: in an unnamed knowledge base outside all roots, only the catalog, the documents that
//! it lists and the reports of runs are readable.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_project::knowledge_base;

/// The readable files and folders of such a knowledge base.
#[derive(Debug)]
pub(crate) struct Catalogued {
    /// The folder that was recognised as a knowledge base.
    folder: PathBuf,
    files: HashSet<PathBuf>,
    /// The folders that lead to the files.
    folders: HashSet<PathBuf>,
    reports: PathBuf,
}

impl Catalogued {
    /// The files that the catalog of the knowledge base `folder` makes readable. `folder` is absolute and without
    /// links.
    pub(crate) fn of(folder: &Path) -> Self {
        let catalog = if knowledge_base::holds_catalog(folder) {
            folder.join(knowledge_base::CATALOG)
        } else {
            folder.join(knowledge_base::CACHE).join(knowledge_base::CATALOG)
        };
        let mut files = knowledge_base::listed_files(&catalog);
        let reports = catalog.with_file_name(knowledge_base::REPORTS);
        files.insert(catalog);
        files.retain(|file| file.starts_with(folder));
        let mut folders = HashSet::from([folder.to_owned(), reports.clone()]);
        for file in files.iter().chain([&reports]) {
            let leading = file.ancestors().skip(1).take_while(|leading| leading.starts_with(folder));
            folders.extend(leading.map(Path::to_owned));
        }
        Self { folder: folder.to_owned(), files, folders, reports }
    }

    /// The folder of the knowledge base.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether `path`, absolute and without links, is open. What does not exist is: its absence is all that can be
    /// seen.
    pub(crate) fn opens(&self, path: &Path) -> bool {
        match fs::symlink_metadata(path) {
            Err(_) => true,
            Ok(found) if found.is_dir() => self.folders.contains(path),
            Ok(found) => self.files.contains(path) || (found.is_file() && path.parent() == Some(&self.reports)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_catalog_its_documents_and_the_reports_are_open() {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        let folder = top.join("kb");
        for file in ["kb/cache/documents/a.md", "kb/cache/b.md", "kb/cache/reports/r.jsonl", "kb/notes.md", "secret"] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "").unwrap();
        }
        fs::create_dir_all(folder.join("cache/reports/deep")).unwrap();
        fs::create_dir_all(folder.join("private")).unwrap();
        let outside = top.join("secret");
        let listed = ["documents/a.md", "../../secret", "none.md", outside.to_str().unwrap()];
        let listed = listed.map(|path| format!("{{\"path\": {path:?}}}")).join(",");
        fs::write(folder.join("cache/catalog.json"), format!("{{\"documents\": [{listed}]}}")).unwrap();
        #[cfg(unix)]
        for link in ["kb/cache/link.md", "kb/cache/reports/link"] {
            std::os::unix::fs::symlink(&outside, top.join(link)).unwrap();
        }
        // The folder of the catalog is a knowledge base, too.
        for start in [folder.clone(), folder.join("cache")] {
            let catalogued = Catalogued::of(&start);
            assert_eq!(catalogued.folder(), start);
            for open in [
                "cache",
                "cache/catalog.json",
                "cache/documents",
                "cache/documents/a.md",
                "cache/reports/r.jsonl",
                "cache/none.md",
            ] {
                assert!(catalogued.opens(&folder.join(open)), "{open}");
            }
            for closed in ["cache/b.md", "notes.md", "private", "cache/reports/deep", "../secret"] {
                assert!(!catalogued.opens(&folder.join(closed)), "{closed}");
            }
            #[cfg(unix)]
            assert!(
                !catalogued.opens(&folder.join("cache/link.md"))
                    && !catalogued.opens(&folder.join("cache/reports/link"))
            );
            assert_eq!(catalogued.opens(&folder), start == folder);
            assert!(!catalogued.opens(&top) && !catalogued.opens(&outside));
        }
    }

    #[test]
    fn a_catalog_that_cannot_be_read_opens_no_document() {
        let temp = tempfile::tempdir().unwrap();
        let folder = ragmaker_fs::canonicalize(temp.path()).unwrap();
        fs::write(folder.join("a.md"), "").unwrap();
        for catalog in ["", "{", "[]", "{\"documents\": 1}", "{\"documents\": [{\"path\": 1}, {}]}"] {
            fs::write(folder.join("catalog.json"), catalog).unwrap();
            assert!(!Catalogued::of(&folder).opens(&folder.join("a.md")), "{catalog}");
        }
    }
}
