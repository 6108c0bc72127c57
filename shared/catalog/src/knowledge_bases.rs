//! The list of the knowledge bases in a folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_files::Roots;
use ragmaker_project::knowledge_base;
use ragmaker_tool::{Error, Invocation};

use crate::{Access, CATALOG_NOT_FOUND, Catalog};

/// The number of folder levels below a root that are searched.
const DEPTH: usize = 3;
/// The maximum number of folders that are searched.
const FOLDERS: usize = 10_000;
/// Folders that programs fill with files and that are never knowledge bases.
const SKIPPED: [&str; 2] = ["node_modules", "target"];

/// The catalogs of the knowledge bases `kb_roots`, or of all in the project and the roots that the host allows.
pub(crate) fn catalogs(kb_roots: &[PathBuf], invocation: &Invocation) -> Result<Vec<Catalog>, Error> {
    if !kb_roots.is_empty() {
        let named = kb_roots.iter().map(|root| Catalog::locate(Some(root), None, Access::Read, invocation));
        return named.collect();
    }
    let roots = Roots::discover(&invocation.host)?;
    let mut found = vec![];
    let mut left = FOLDERS;
    find(&roots.project().root().join(knowledge_base::IN_PROJECT), 0, &mut left, &mut found);
    for root in roots.all() {
        find(&root.path, DEPTH, &mut left, &mut found);
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(CATALOG_NOT_FOUND
            .error("there is no knowledge base in the project and its roots")
            .remedy("Gather one with /rag, or name one with --kb-root."));
    }
    let catalog = |file: PathBuf| {
        let is_writable = roots.place_to_write(&file.to_string_lossy()).is_ok();
        Ok(Catalog { is_writable, ..Catalog::at(file)? })
    };
    found.into_iter().map(catalog).collect()
}

/// Adds the catalogs of the knowledge bases in `folder`; one within another is not looked for.
fn find(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    if knowledge_base::is_knowledge_base(folder) {
        found.push(knowledge_base::catalog_of(folder));
        return;
    }
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden || SKIPPED.iter().any(|skipped| name == *skipped) || *left == 0 {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            *left -= 1;
            find(&entry.path(), depth - 1, left, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_tool::HostOptions;

    use super::*;

    fn write(catalog: &Path) {
        fs::create_dir_all(catalog.parent().unwrap()).unwrap();
        fs::write(catalog, "{\"documents\": []}").unwrap();
    }

    /// The catalogs that are found in a folder with these ones, without its path.
    fn found(catalogs: &[&str], left: usize) -> Vec<String> {
        let temp = tempfile::tempdir().unwrap();
        for catalog in catalogs {
            write(&temp.path().join(catalog));
        }
        let (mut found, mut left) = (vec![], left);
        find(temp.path(), DEPTH, &mut left, &mut found);
        found.sort();
        found.iter().map(|path| path.strip_prefix(temp.path()).unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn knowledge_bases_are_found_to_a_depth_and_not_within_others() {
        let catalogs = [
            "a/cache/catalog.json",
            "a/inner/cache/catalog.json",
            "1/2/3/catalog.json",
            "1/2/3b/4/catalog.json",
            ".hidden/cache/catalog.json",
            "node_modules/x/catalog.json",
            "target/catalog.json",
        ];
        assert_eq!(found(&catalogs, FOLDERS), ["1/2/3/catalog.json", "a/cache/catalog.json"]);
        assert_eq!(found(&["cache/catalog.json", "b/catalog.json"], FOLDERS), ["cache/catalog.json"]);
        assert!(found(&["a/catalog.json"], 0).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        write(&temp.path().join("other/kb/catalog.json"));
        fs::create_dir(temp.path().join("project")).unwrap();
        for (target, link) in [("../other/kb", "project/kb"), ("..", "project/loop")] {
            std::os::unix::fs::symlink(target, temp.path().join(link)).unwrap();
        }
        let mut found = vec![];
        find(&temp.path().join("project"), DEPTH, &mut FOLDERS.clone(), &mut found);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn the_catalogs_are_those_of_the_project_and_the_allowed_roots_once_each() {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        for catalog in ["project/.tmp/cache/catalog.json", "project/kb/catalog.json", "other/cache/catalog.json"] {
            write(&top.join(catalog));
        }
        fs::create_dir_all(top.join("empty")).unwrap();
        let catalogs_of = |project: &str, roots: &[&str]| {
            let text = |path: &str| top.join(path).to_str().unwrap().to_owned();
            let host = HostOptions {
                project_root: Some(text(project)),
                allow_root: roots.iter().map(|root| text(root)).collect(),
                ..HostOptions::default()
            };
            catalogs(&[], &Invocation { host, ..Invocation::default() })
        };
        let found = catalogs_of("project", &["other", "project/kb"]).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|catalog| (catalog.file.strip_prefix(&top).unwrap().to_str().unwrap(), catalog.is_writable))
            .collect();
        let expected = [
            ("other/cache/catalog.json", false),
            ("project/.tmp/cache/catalog.json", true),
            // An allowed root is read-only, also in the project.
            ("project/kb/catalog.json", false),
        ];
        assert_eq!(found, expected);
        assert!(catalogs_of("empty", &[]).unwrap_err().is(CATALOG_NOT_FOUND));
    }
}
