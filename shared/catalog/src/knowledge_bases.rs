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
/// The maximum number of folders that are looked at.
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
