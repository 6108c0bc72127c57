//! The layout of a knowledge base, and the rule that recognises a directory as one.
//!
//! A knowledge base is a folder with `cache/catalog.json`; its documents are beside the catalog and in its subfolders.
//! Older knowledge bases have `catalog.json` at the top. A path to the folder with the catalog is recognised, and so is
//! the parent of a catalog's folder that is named `cache`.

use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

/// The name of a catalog.
pub const CATALOG: &str = "catalog.json";

/// The folder in a knowledge base that contains the catalog.
pub const CACHE: &str = "cache";

/// The knowledge base that is being gathered, in the project root.
pub const IN_PROJECT: &str = ".tmp";

/// The folder beside the catalog for the reports of runs.
pub const REPORTS: &str = "reports";

/// The list of documents must begin within this number of bytes of a catalog.
const HEAD: u64 = 1 << 20;

/// The files and folders that gathering leaves in the catalog's folder, beside Markdown and JSON lines.
const GATHERED: [&str; 5] = [CATALOG, "documents", "gone", REPORTS, ".search"];

/// Whether an entry `name` of the catalog's folder was left there by gathering.
pub fn is_gathered(name: &str) -> bool {
    GATHERED.contains(&name)
        || [".md", ".jsonl"].iter().any(|extension| name.ends_with(extension) && !name.starts_with('.'))
}

/// The catalog of the knowledge base at `root`, whether or not it exists: `cache/catalog.json` in it, or
/// `catalog.json` at its top where only that exists.
pub fn catalog_of(root: &Path) -> PathBuf {
    let (inner, top) = (root.join(CACHE).join(CATALOG), root.join(CATALOG));
    if !inner.exists() && top.is_file() { top } else { inner }
}

/// The root of the knowledge base of the catalog file `catalog`: its folder, or the parent of this folder if it is
/// named `cache`.
pub fn root_of(catalog: &Path) -> Option<&Path> {
    let folder = catalog.parent()?;
    if folder.ends_with(CACHE) { folder.parent() } else { Some(folder) }
}

/// Whether `directory` is the root of a knowledge base, or the folder in it that contains the catalog.
pub fn is_knowledge_base(directory: &Path) -> bool {
    // A link could lead to a folder whose catalog somebody else writes.
    let cache = directory.join(CACHE);
    let is_own = || cache.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    holds_catalog(directory) || (is_own() && holds_catalog(&cache))
}

/// Whether `directory` contains a catalog: a regular JSON file with a list of documents, owned by this user or by root.
///
/// A catalog makes its directory readable for tools, so a catalog of another user does not count.
pub fn holds_catalog(directory: &Path) -> bool {
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
    let text = json_of(&head);
    text.trim_ascii_start().starts_with(b"{") && head.windows(11).any(|word| word == b"\"documents\"")
}

/// The JSON text of a catalog, of which an editor may have marked the encoding.
pub fn json_of(catalog: &[u8]) -> &[u8] {
    catalog.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(catalog)
}

/// The possible places of a document whose path in the catalog of `folder` is `given`: relative to this folder, to the
/// working directory, and to the folder that has a knowledge base's `cache`.
pub fn places(given: &str, folder: &Path) -> Vec<PathBuf> {
    let mut places = vec![folder.join(given)];
    places.extend(std::path::absolute(given));
    places.extend(folder.parent().map(|parent| parent.join(given)));
    places
}

/// The files beneath the root of the knowledge base that its catalog file `catalog` lists, with links resolved; none of
/// a catalog that cannot be read.
pub fn listed_files(catalog: &Path) -> HashSet<PathBuf> {
    #[derive(Deserialize)]
    struct Listed {
        #[serde(default)]
        path: Value,
    }
    #[derive(Deserialize)]
    struct Paths {
        documents: Vec<Listed>,
    }
    let Some((folder, root)) = catalog.parent().zip(root_of(catalog)) else { return HashSet::new() };
    let text = fs::read(catalog).unwrap_or_default();
    let text = json_of(&text);
    let listed: Vec<Listed> = serde_json::from_slice(text).map_or_else(|_| vec![], |paths: Paths| paths.documents);
    let file = |given: &str| {
        let real = places(given, folder).into_iter().filter_map(|place| ragmaker_fs::canonicalize(place).ok());
        real.filter(|place| place.starts_with(root)).find(|place| place.is_file())
    };
    listed.iter().filter_map(|listed| file(listed.path.as_str()?)).collect()
}

fn is_trusted(metadata: &fs::Metadata) -> bool {
    const ROOT: u32 = 0;
    let owner = ragmaker_fs::owner_id(metadata);
    owner == ragmaker_fs::user_id() || owner == Some(ROOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_are_recognised() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path();
        let catalog = catalog_of(&top.join("kb"));
        fs::create_dir_all(catalog.parent().unwrap()).unwrap();
        assert!(!is_knowledge_base(&top.join("kb")));
        fs::write(&catalog, "{\"documents\": []}").unwrap();
        for folder in ["kb", "kb/cache"] {
            assert!(is_knowledge_base(&top.join(folder)), "{folder}");
        }
        assert!(!is_knowledge_base(top));
        fs::create_dir(top.join("old")).unwrap();
        fs::write(top.join("old/catalog.json"), " {\"documents\": []}").unwrap();
        assert!(is_knowledge_base(&top.join("old")));
        fs::write(top.join("old/catalog.json"), "\u{feff}{\"documents\": []}").unwrap();
        assert!(is_knowledge_base(&top.join("old")));
        fs::write(top.join("old/catalog.json"), "[\"documents\"]").unwrap();
        assert!(!is_knowledge_base(&top.join("old")));
    }

    #[test]
    fn the_root_is_above_the_cache() {
        for (catalog, root) in
            [("kb/cache/catalog.json", Some("kb")), ("kb/catalog.json", Some("kb")), ("catalog.json", Some(""))]
        {
            assert_eq!(root_of(Path::new(catalog)), root.map(Path::new), "{catalog}");
        }
    }
}
