//! How a directory is known to be a knowledge base.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// The file that makes a directory a knowledge base.
const CATALOG: &str = "catalog.json";

/// How far into a catalog its list of documents has to begin.
const HEAD: u64 = 1 << 20;

/// Whether `directory` is what the tools that gather a knowledge base call its root, or the folder in that
/// which holds its catalog.
pub(crate) fn is_knowledge_base_s(directory: &Path) -> bool {
    ["", "cache"].iter().any(|folder| is_knowledge_base(&directory.join(folder)))
}

/// Whether `directory` holds a catalog: a regular JSON file of this user's (or the system's) with
/// a list of documents.
///
/// A catalog opens its directory for reading, so one that somebody else has planted does not count.
pub(crate) fn is_knowledge_base(directory: &Path) -> bool {
    let path = directory.join(CATALOG);
    let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
    if !metadata.is_file() || !is_trusted(&metadata) {
        return false;
    }
    let mut head = vec![];
    let Ok(file) = fs::File::open(&path) else { return false };
    if file.take(HEAD).read_to_end(&mut head).is_err() {
        return false;
    }
    head.trim_ascii_start().starts_with(b"{") && head.windows(11).any(|word| word == b"\"documents\"")
}

#[cfg(unix)]
fn is_trusted(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    metadata.uid() == user || metadata.uid() == 0
}

#[cfg(not(unix))]
fn is_trusted(_: &fs::Metadata) -> bool {
    true
}

/// The nearest knowledge base that `path`, which has no links left in it, is in.
pub(crate) fn enclosing(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|directory| is_knowledge_base(directory)).map(Path::to_path_buf)
}
