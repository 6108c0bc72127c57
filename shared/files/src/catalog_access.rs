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
