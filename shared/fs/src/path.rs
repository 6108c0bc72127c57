//! Paths and names as the system compares them.

use std::{
    fs::Metadata,
    io,
    path::{Path, PathBuf},
};

use crate::system;

/// Whether the usual file systems of this system take names that differ in case only as the same.
const IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// The absolute path of what is at `path`, without links. On Windows it is not a verbatim path, which starts with
/// `\\?\`, unless only that names the file.
///
/// # Errors
/// The system's error.
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    system::canonicalize(path.as_ref())
}

/// The identity of the volume that `path` is on, which may be a link.
///
/// # Errors
/// The system's error.
pub fn volume(path: &Path) -> io::Result<u64> {
    system::volume(path)
}

/// The number of this user, where users have numbers.
pub fn user_id() -> Option<u32> {
    system::user_id()
}

/// Whether this process is that of root. Package managers need root, and Chromium's sandbox does not work for root.
pub fn is_root() -> bool {
    user_id() == Some(0)
}

/// The number of the user that a file belongs to, where users have numbers.
pub fn owner_id(metadata: &Metadata) -> Option<u32> {
    system::owner_id(metadata)
}

/// Gives the open `file` to the user `owner` and to `group`, where this user may do that. Only root may give files away; for
/// others a file of their own is as good, in the same group if it is theirs.
#[cfg(unix)]
pub fn keep_owner(file: impl std::os::fd::AsFd, owner: u32, group: u32) {
    system::keep_owner(file, owner, group);
}

/// Whether two names, of which one is ASCII, name the same entry of a directory.
pub fn is_same_name(one: &str, other: &str) -> bool {
    if IGNORES_CASE { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// Whether `name` starts with `start`, which is ASCII, as [`is_same_name`] compares names.
pub fn starts_with_name(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begin| is_same_name(begin, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_the_file_system_compares_them() {
        assert!(is_same_name(".env", ".env") && !is_same_name(".env", ".env2") && !is_same_name("", ".env"));
        assert_eq!(is_same_name(".ENV", ".env"), IGNORES_CASE);
        assert!(
            starts_with_name(".env.local", ".env") && starts_with_name("a", "") && !starts_with_name(".en", ".env")
        );
        assert_eq!(starts_with_name(".Env.local", ".env"), IGNORES_CASE);
        // A character that is cut at the length of the start is not the start.
        assert!(!starts_with_name("id\u{e9}", "id_") && !starts_with_name("\u{6f6e}", "a"));
    }

    #[cfg(unix)]
    #[test]
    fn a_canonical_path_has_no_links_and_a_volume_is_that_of_the_link_itself() {
        let folder = tempfile::tempdir().unwrap();
        let top = canonicalize(folder.path()).unwrap();
        std::fs::create_dir(top.join("a")).unwrap();
        for (target, link) in [("a", "link"), ("/dev", "device"), ("none", "dangling")] {
            std::os::unix::fs::symlink(target, top.join(link)).unwrap();
        }
        assert_eq!(canonicalize(top.join("link/../link/.")).unwrap(), top.join("a"));
        // A link is on the volume that it is on itself, wherever it leads.
        for link in ["link", "device", "dangling"] {
            assert_eq!(volume(&top.join(link)).unwrap(), volume(&top).unwrap(), "{link}");
        }
        for error in [canonicalize(top.join("dangling")).unwrap_err(), volume(&top.join("none")).unwrap_err()] {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
        let own = std::fs::metadata(&top).unwrap();
        assert_eq!((owner_id(&own), is_root()), (user_id(), user_id() == Some(0)));
    }
}
