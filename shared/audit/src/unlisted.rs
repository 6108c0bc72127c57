//! Files of the knowledge base that the catalog does not list.

use std::{collections::BTreeSet, path::Path, path::PathBuf};

use ragmaker_catalog::Catalog;

use crate::finding::{Finding, FindingKind};

/// Finds the documents below `folder` that are not in `listed`, the files of `catalog`, and the temporary files
/// of interrupted writes.
pub(crate) fn find(catalog: &Catalog, folder: &Path, listed: &BTreeSet<PathBuf>) -> Vec<Finding> {
    let files = catalog.files(listed);
    files.difference(listed).filter_map(|file| finding(file, folder)).collect()
}

fn finding(file: &Path, folder: &Path) -> Option<Finding> {
    let name = file.file_name()?.to_string_lossy();
    let (kind, message) = if name.starts_with(".ragmaker-") && name.ends_with(".tmp") || name == ".catalog.json.tmp" {
        (FindingKind::Leftover, "an interrupted write left this file")
    } else if !name.starts_with('.') && file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
        (FindingKind::Orphan, "the catalog does not list this document")
    } else {
        return None;
    };
    let shown = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    Some(Finding::new(kind, message).at(Some(&shown), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_temporary_files_are_recognised() {
        let kind = |name: &str| finding(&Path::new("/kb/cache").join(name), Path::new("/kb/cache")).map(|one| one.kind);
        for name in ["documents/a.md", "A.MD"] {
            assert_eq!(kind(name), Some(FindingKind::Orphan), "{name}");
        }
        for name in [".catalog.json.tmp", "documents/.ragmaker-x.tmp"] {
            assert_eq!(kind(name), Some(FindingKind::Leftover), "{name}");
        }
        for name in ["catalog.json", ".catalog.json.lock", ".a.md", "a.txt", "x.tmp"] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
