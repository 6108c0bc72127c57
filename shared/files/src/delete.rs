//! Deleting directory entries, to the trash or permanently.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use ragmaker_tool::{Error, JsonSchema};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};
use serde::Serialize;

use crate::{IS_A_DIRECTORY, NOT_A_DIRECTORY, ResolvedPath, Roots, lossy_text, open::system::failure};

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
        delete_in(&entry.parent, entry.name.as_os_str()).map_err(|errno| failure(errno, self))
    }
}

/// A directory that is being deleted.
struct Level {
    /// Its name in the directory above.
    name: OsString,
    /// The identity of the directory, for recognising it on the way up.
    id: (rustix::fs::Dev, u64),
    /// The directories in it that are still to be deleted.
    left: Vec<OsString>,
}

/// Deletes the entry `name` of `parent`; a directory with its contents. Returns the number of deleted entries.
///
/// Only one directory is open at a time, so the depth of a tree is not limited by the number of open files. The way up
/// is `..`, which must lead to the parent that was visited before: it is an error if a directory was moved meanwhile.
pub(crate) fn delete_in(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<u64> {
    if unlinked(parent, name)? {
        return Ok(1);
    }
    let (mut directory, mut deleted) = (open_directory(parent, name)?, 0);
    let mut levels: Vec<Level> = vec![];
    let mut name = name.to_os_string();
    loop {
        // Down: a new directory loses its files.
        let mut left = vec![];
        for entry in names_in(&directory)? {
            if unlinked(&directory, &entry)? {
                deleted += 1;
            } else {
                left.push(entry);
            }
        }
        levels.push(Level { name, id: id_of(&directory)?, left });
        // Up, as far as directories have nothing left.
        loop {
            if let Some(next) = levels.last_mut().and_then(|level| level.left.pop()) {
                directory = open_directory(&directory, &next)?;
                name = next;
                break;
            }
            let Some(Level { name: done, .. }) = levels.pop() else { return Ok(deleted) };
            deleted += 1;
            let Some(above) = levels.last() else {
                rustix::fs::unlinkat(parent, &done, AtFlags::REMOVEDIR)?;
                return Ok(deleted);
            };
            directory = open_directory(&directory, OsStr::new(".."))?;
            if id_of(&directory)? != above.id {
                return Err(Errno::LOOP);
            }
            rustix::fs::unlinkat(&directory, &done, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Deletes an entry that is not a directory; whether it is gone.
fn unlinked(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<bool> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // A directory is EISDIR on Linux, EPERM by POSIX.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(errno) => Err(errno),
    }
}

pub(crate) fn open_directory(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

fn id_of(directory: &OwnedFd) -> rustix::io::Result<(rustix::fs::Dev, u64)> {
    let stat = rustix::fs::fstat(directory)?;
    Ok((stat.st_dev, stat.st_ino))
}

pub(crate) fn names_in(directory: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = vec![];
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_os_string());
        }
    }
    Ok(names)
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
        std::os::unix::fs::symlink("../kept", top.join("a/link")).unwrap();
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
