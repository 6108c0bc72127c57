//! Files of the knowledge base that the catalog does not know.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::finding::{Finding, Kind};

/// How many folders down strays are looked for.
const DEPTH: usize = 16;

/// What lies about in the catalog's `folder` and in the folders of the documents, `known`, that are
/// in the knowledge base. Nothing else of the knowledge base is the tools' business.
pub(crate) fn find(folder: &Path, known: &BTreeSet<PathBuf>) -> Vec<Finding> {
    let mut files = BTreeSet::new();
    walk(folder, DEPTH, &mut files);
    let folders: BTreeSet<&Path> = known.iter().filter_map(|file| file.parent()).collect();
    for other in folders.into_iter().filter(|other| !other.starts_with(folder)) {
        walk(other, 0, &mut files);
    }
    let strays = files.into_iter().filter(|file| !known.contains(file));
    strays.filter_map(|file| stray(&file, folder)).collect()
}

/// Adds the regular files in `folder` and, `depth` levels down, in its folders. Links are not
/// followed, and hidden folders are other programs' (a browser's profile among them).
fn walk(folder: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    // A folder that can not be listed has no file that could be told of.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
        if kind.is_file() {
            files.insert(entry.path());
        } else if kind.is_dir()
            && depth > 0
            && !name.as_encoded_bytes().starts_with(b".")
            && !PROFILES.iter().any(|other| name == *other)
        {
            walk(&entry.path(), depth - 1, files);
        }
    }
}

/// The folders of a project's browsers, which are beside the catalog of work in progress.
const PROFILES: [&str; 2] = ["browser_profile", "browser_profiles"];

fn stray(file: &Path, folder: &Path) -> Option<Finding> {
    let name = file.file_name()?.to_string_lossy();
    let (kind, message) = if name.starts_with(".ragmaker-") && name.ends_with(".tmp") || name == ".catalog.json.tmp" {
        (Kind::Leftover, "a write that was interrupted left this file")
    } else if !name.starts_with('.') && file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
        (Kind::Orphan, "the catalog does not list this document")
    } else {
        return None;
    };
    let shown = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    Some(Finding::new(kind, message).at(Some(&shown), None))
}
