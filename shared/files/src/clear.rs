//! Clearing a folder: moving entries of it to the trash, and keeping the others.

use std::path::Path;

use ragmaker_tool::{Budget, Code, Error, JsonSchema};
use serde::Serialize;

use crate::{
    ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, Deleted, ExpectedKind, IS_A_DIRECTORY, NOT_A_DIRECTORY,
    PATH_NOT_WRITABLE, Roots, delete, io_error,
};

/// The error codes of [`clear`], without [`PATH_ERRORS`](crate::PATH_ERRORS).
pub const CLEAR_ERRORS: &[Code] =
    &[PATH_NOT_WRITABLE, IS_A_DIRECTORY, NOT_A_DIRECTORY, ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY];

/// The entries of a folder that were moved, and those that were kept.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Cleared {
    /// The entries that were moved to the trash.
    pub trashed: Vec<Trashed>,
    /// The names of what was kept.
    pub kept: Vec<String>,
    /// The number of moved entries.
    pub total: usize,
    /// Whether some entries are not listed here.
    pub truncated: bool,
}

/// An entry that was moved to the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trashed {
    /// Its name in the folder.
    pub name: String,
    /// Its place in the trash.
    pub trashed_to: Option<String>,
}

/// Moves the entries of `folder` to the trash, except for those whose names `stays` accepts and those whose names are
/// not UTF-8. What is listed in the answer fits into `budget`.
///
/// # Errors
///
/// [`CLEAR_ERRORS`] and [`PATH_ERRORS`](crate::PATH_ERRORS). The entries moved before an error stay in the trash.
pub fn clear(roots: &Roots, folder: &Path, stays: impl Fn(&str) -> bool, mut budget: Budget) -> Result<Cleared, Error> {
    let failed = |error: std::io::Error| io_error(&error, folder);
    let (mut leaving, mut kept) = (vec![], vec![]);
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind =
            if entry.file_type().map_err(failed)?.is_dir() { ExpectedKind::Directory } else { ExpectedKind::File };
        match entry.file_name().into_string() {
            Ok(name) if !stays(&name) => leaving.push((name, kind)),
            Ok(name) => kept.push(name),
            Err(name) => kept.push(name.to_string_lossy().into_owned()),
        }
    }
    leaving.sort_by(|(one, _), (other, _)| one.cmp(other));
    kept.sort();
    let mut trashed = vec![];
    for (name, kind) in leaving {
        let path = folder.join(&name);
        let Deleted { trashed_to, .. } = delete(roots, &path.to_string_lossy(), kind, false)?;
        trashed.push(Trashed { name, trashed_to });
    }
    let (total, all) = (trashed.len(), kept.len());
    let (trashed, kept) = (budget.take_list(trashed), budget.take_list(kept));
    let truncated = trashed.len() < total || kept.len() < all;
    Ok(Cleared { trashed, kept, total, truncated })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ragmaker_tool::HostOptions;

    use super::*;

    /// A project whose folder `kb` has these entries; with a slash at the end, folders.
    fn project(entries: &[&str]) -> (tempfile::TempDir, Roots, std::path::PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = ragmaker_fs::canonicalize(temp.path()).unwrap();
        let folder = root.join("kb");
        fs::create_dir_all(&folder).unwrap();
        for entry in entries {
            match entry.strip_suffix('/') {
                Some(name) => fs::create_dir(folder.join(name)).unwrap(),
                None => fs::write(folder.join(entry), entry).unwrap(),
            }
        }
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        (temp, Roots::discover(&host).unwrap(), folder)
    }

    fn budget(most: usize) -> Budget {
        Budget::beside_in(&Cleared::default(), most)
    }

    /// Removes from the trash what a test moved there.
    fn empty(cleared: &Cleared) {
        for place in cleared.trashed.iter().filter_map(|entry| entry.trashed_to.as_deref()).map(Path::new) {
            let _ = if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) };
            let name = place.file_name().unwrap().to_string_lossy();
            let _ = fs::remove_file(place.parent().unwrap().with_file_name("info").join(format!("{name}.trashinfo")));
        }
    }

    #[test]
    fn entries_go_to_the_trash_except_for_those_that_stay() {
        let (_temp, roots, folder) = project(&["b.md", "a.md", "sub/", "kept.txt", "\u{6f6e}.md"]);
        fs::write(folder.join("sub/deep.md"), "deep").unwrap();
        let cleared = clear(&roots, &folder, |name| name == "kept.txt", budget(10_000)).unwrap();
        let names: Vec<_> = cleared.trashed.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["a.md", "b.md", "sub", "\u{6f6e}.md"]);
        assert_eq!((&cleared.kept[..], cleared.total, cleared.truncated), (&["kept.txt".to_owned()][..], 4, false));
        let there = |at: usize| Path::new(cleared.trashed[at].trashed_to.as_ref().unwrap());
        assert_eq!(fs::read_to_string(there(0)).unwrap(), "a.md");
        assert_eq!(fs::read_to_string(there(2).join("deep.md")).unwrap(), "deep");
        assert_eq!(folder.read_dir().unwrap().count(), 1);
        empty(&cleared);
    }

    #[test]
    fn all_entries_are_moved_if_the_answer_has_no_room_for_them() {
        let (_temp, roots, folder) = project(&["a.md", "b.md", "kept"]);
        let cleared = clear(&roots, &folder, |name| name == "kept", budget(1)).unwrap();
        assert_eq!((cleared.trashed.len(), cleared.kept.len(), cleared.total), (0, 0, 2));
        assert!(cleared.truncated && !folder.join("a.md").exists());
    }

    #[test]
    fn a_folder_outside_the_roots_is_not_cleared() {
        let (_temp, roots, folder) = project(&[]);
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("a.md"), "").unwrap();
        let error = clear(&roots, other.path(), |_| false, budget(100)).unwrap_err();
        assert!(error.is(crate::PATH_NOT_ALLOWED) && other.path().join("a.md").exists(), "{error}");
        assert!(clear(&roots, &folder.join("none"), |_| false, budget(100)).unwrap_err().is(crate::FILE_NOT_FOUND));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_is_moved_itself_and_a_name_that_is_not_utf_8_is_kept() {
        use std::os::unix::{ffi::OsStrExt, fs::symlink};
        let (_temp, roots, folder) = project(&[]);
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("a.md"), "").unwrap();
        symlink(other.path(), folder.join("link")).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"a\xff");
        fs::write(folder.join(name), "").unwrap();
        let cleared = clear(&roots, &folder, |_| false, budget(10_000)).unwrap();
        assert_eq!((cleared.total, cleared.kept.as_slice()), (1, &["a\u{fffd}".to_owned()][..]));
        assert!(folder.join(name).exists() && !folder.join("link").is_symlink());
        assert!(other.path().join("a.md").exists());
        empty(&cleared);
    }
}
