//! The document files of a knowledge base, and whether the catalog lists each of them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_project::{is_of_sessions, knowledge_base::places};

use crate::{Catalog, Contents};

/// The number of folder levels below the catalog's folder that are searched.
const DEPTH: usize = 16;

/// The folder beside the catalog for the files of documents whose source is gone.
pub const GONE: &str = "gone";

impl Catalog {
    /// The folder of the knowledge base, with links resolved: the folder of the catalog, or its parent if that folder
    /// is named `cache`. `None` if there is no catalog.
    pub fn root(&self) -> Option<PathBuf> {
        let folder = self.folder()?;
        let root = if folder.ends_with("cache") { folder.parent()? } else { &folder };
        Some(root.to_owned())
    }

    /// The folder of the catalog, with links resolved. `None` if there is no catalog.
    pub fn folder(&self) -> Option<PathBuf> {
        Some(ragmaker_fs::canonicalize(&self.file).ok()?.parent()?.to_owned())
    }

    /// The regular file for a document's path, if the knowledge base has one: see
    /// [`DocumentName::Path`](crate::DocumentName::Path).
    pub fn find(&self, given: &str) -> Option<PathBuf> {
        let (folder, root) = (self.folder()?, self.root()?);
        let inside = |place: PathBuf| ragmaker_fs::canonicalize(place).ok().filter(|place| place.starts_with(&root));
        places(given, &folder).into_iter().filter_map(inside).find(|place| place.is_file())
    }

    /// The files in the knowledge base that `contents` lists, links followed; those that do not exist
    /// or are outside are left out.
    pub fn listed_files(&self, contents: &Contents) -> BTreeSet<PathBuf> {
        let (Some(folder), Some(root)) = (self.folder(), self.root()) else { return BTreeSet::new() };
        let paths = contents.documents.iter().filter_map(|document| document.path.as_ref());
        let files = paths.filter_map(|path| ragmaker_fs::canonicalize(folder.join(path)).ok());
        files.filter(|file| file.starts_with(&root)).collect()
    }

    /// The absolute paths of all regular files of the knowledge base: those below the catalog's folder, and those
    /// beside the documents `listed` that are elsewhere. Links are not followed. Hidden folders, those of sessions in
    /// a project's cache and that of documents whose source is gone are left out.
    pub fn files(&self, listed: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        let Some(own) = self.folder() else { return files };
        collect(&own, DEPTH, &mut files);
        let folders: BTreeSet<&Path> = listed.iter().filter_map(|file| file.parent()).collect();
        for other in folders.into_iter().filter(|other| !other.starts_with(&own)) {
            collect(other, 0, &mut files);
        }
        files
    }
}

/// Adds the regular files in `folder` and, `depth` levels down, in its folders.
fn collect(folder: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    // A folder that cannot be listed has no file that could be reported.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
        if kind.is_file() {
            files.insert(entry.path());
        } else if kind.is_dir()
            && depth > 0
            && !name.as_encoded_bytes().starts_with(b".")
            // Beside the catalog of a project's cache; a document's folder may have any name.
            && (depth < DEPTH || !name.to_str().is_some_and(is_of_sessions))
            && name != GONE
        {
            collect(&entry.path(), depth - 1, files);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Listed;

    #[test]
    fn files_are_those_below_the_catalog_and_beside_its_documents() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        for file in [
            "kb/cache/catalog.json",
            "kb/cache/a/b/deep.md",
            "kb/cache/.hidden/x.md",
            "kb/cache/gone/x.md",
            "kb/cache/browser_profile/x.md",
            "kb/cache/documents/commands/ls.md",
            "kb/pages/listed.md",
            "kb/pages/beside.md",
            "kb/pages/below/x.md",
            "kb/README.md",
            "outside.md",
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        let listed = |path: &str| Listed { path: Some(path.into()), ..Listed::default() };
        let documents = vec![listed("../pages/listed.md"), listed("../../outside.md"), listed("gone.md")];
        let catalog = Catalog::at(root.join("kb/cache/catalog.json")).unwrap();
        let known = catalog.listed_files(&Contents { header: crate::Header::default(), documents });
        assert_eq!(known, BTreeSet::from([root.join("kb/pages/listed.md")]));
        let found = catalog.files(&known);
        let expected = [
            "kb/cache/a/b/deep.md",
            "kb/cache/catalog.json",
            "kb/cache/documents/commands/ls.md",
            "kb/pages/beside.md",
            "kb/pages/listed.md",
        ];
        assert_eq!(found, expected.map(|file| root.join(file)).into());
        assert_eq!((catalog.root(), catalog.folder()), (Some(root.join("kb")), Some(root.join("kb/cache"))));
    }
}
