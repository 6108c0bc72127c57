//! Deleting directory entries, to the trash or permanently.

use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

use crate::{IS_A_DIRECTORY, NOT_A_DIRECTORY, ResolvedPath, Roots, lossy_text};

/// The kind of entry that a call expects to delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedKind {
    /// A file or a link.
    File,
    /// A directory.
    Directory,
}

/// The result of a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    /// The absolute path of the deleted entry.
    pub path: String,
    /// Its new place in the trash; null if it was deleted permanently.
    pub trashed_to: Option<String>,
    /// The number of permanently deleted files, links and directories.
    pub deleted: u64,
}

/// Moves the entry at `path` to the trash, or deletes it permanently with `permanent`.
///
/// # Errors
/// `IS_A_DIRECTORY` and `NOT_A_DIRECTORY` where it is not what was expected, and whatever keeps it from being
/// changed.
pub fn delete(roots: &Roots, path: &str, expect: ExpectedKind, permanent: bool) -> Result<Deleted, Error> {
    let place = roots.entry_to_write(path)?;
    let path = place.path();
    let unexpected = match (expect, place.is_directory()?) {
        (ExpectedKind::File, true) => Some((IS_A_DIRECTORY, "is a directory", "Use ragmaker-delete-directory.")),
        (ExpectedKind::Directory, false) => Some((NOT_A_DIRECTORY, "is not a directory", "Use ragmaker-delete-file.")),
        _ => None,
    };
    if let Some((code, what, remedy)) = unexpected {
        let error = code.error(format!("{} {what}", path.display())).remedy(remedy);
        return Err(error.detail("path", path.to_string_lossy()));
    }
    let (trashed_to, deleted) =
        if permanent { (None, place.delete()?) } else { (Some(lossy_text(place.trash()?).0), 0) };
    Ok(Deleted { path: lossy_text(path).0, trashed_to, deleted })
}

impl ResolvedPath {
    /// Deletes the entry at this place permanently: a file, a link, or a directory with its contents. Returns the
    /// number of deleted entries.
    pub fn delete(&self) -> Result<u64, Error> {
        let entry = self.entry(false)?;
        entry.parent.remove(entry.name).map_err(|error| self.failure(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FILE_NOT_FOUND;
    use ragmaker_tool::HostOptions;
    use std::fs;

    fn roots(path: &std::path::Path) -> Roots {
        Roots::discover(&HostOptions { project_root: path.to_str().map(str::to_owned), ..HostOptions::default() })
            .unwrap()
    }

    #[test]
    fn trees_and_links_are_deleted() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path();
        for name in ["a/b/c", "a/b/d", "a/e/f/g", "kept/file"] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), "").unwrap();
        }
        fs::create_dir(top.join("a/empty")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../kept", top.join("a/link")).unwrap();
        #[cfg(windows)]
        fs::write(top.join("a/link"), "").unwrap();
        let roots = roots(top);
        let delete = |path, expect| super::delete(&roots, path, expect, true);
        assert!(delete("a", ExpectedKind::File).unwrap_err().is(IS_A_DIRECTORY));
        assert!(delete("a/link", ExpectedKind::Directory).unwrap_err().is(NOT_A_DIRECTORY));
        let deleted = delete("a", ExpectedKind::Directory).unwrap();
        // a, b, c, d, e, f, g, empty, link
        assert_eq!((deleted.deleted, deleted.trashed_to), (9, None));
        assert!(!top.join("a").exists() && top.join("kept/file").exists());
        assert!(delete("a", ExpectedKind::Directory).unwrap_err().is(FILE_NOT_FOUND));
    }
}
