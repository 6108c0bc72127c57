//! Access to files by the handle of a directory, which follows no link.
//!
//! A path that was checked may lead elsewhere when it is used, because a directory in it was replaced by a link. Beneath
//! a [`Directory`], a link in any place of a path is an error for which [`is_link`] is true. The crate's module `system`
//! has what differs between operating systems; no other crate opens files by handles.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};

use crate::{LockKind, Replace, lock_within, system};

/// An open directory.
#[derive(Debug)]
pub struct Directory(pub(crate) system::Handle);

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; on Windows also a junction.
    Link,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A file of procfs or sysfs, which looks regular.
    Virtual,
    /// Anything else.
    Other,
}

/// The metadata of a directory entry; links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its kind.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed.
    pub modified: SystemTime,
}

/// Every function fails with the system's error.
#[allow(clippy::missing_errors_doc, reason = "said once above")]
impl Directory {
    /// Opens the directory `path`, which is absolute and has no links.
    pub fn open(path: &Path) -> io::Result<Self> {
        system::open(path).map(Self)
    }

    /// Opens the directory `relative` beneath this one.
    pub fn directory(&self, relative: &Path) -> io::Result<Self> {
        system::directory(&self.0, relative).map(Self)
    }

    /// Opens the entry `name`, which is a directory, to list it.
    pub fn child(&self, name: &OsStr) -> io::Result<Self> {
        system::child(&self.0, name).map(Self)
    }

    /// Opens the file `relative` beneath this directory to read it. It does not wait for the writer of a FIFO.
    pub fn file(&self, relative: &Path) -> io::Result<File> {
        system::file(&self.0, relative)
    }

    /// The kind of what is at `relative` beneath this directory, without opening it.
    pub fn kind(&self, relative: &Path) -> io::Result<FileKind> {
        system::kind(&self.0, relative)
    }

    /// The metadata of the entry `name`, which may be a link.
    pub fn metadata(&self, name: &OsStr) -> io::Result<Metadata> {
        system::stat(&self.0, name).map(|stat| system::metadata(&stat))
    }

    /// The target of the entry `name`, which is a link.
    pub fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        system::link_target(&self.0, name)
    }

    /// The names of the entries of a directory that [`child`](Self::child) opened.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        system::names(&self.0)
    }

    /// Creates the directory `name`.
    pub fn create_directory(&self, name: &OsStr) -> io::Result<()> {
        system::create_directory(&self.0, name)
    }

    /// Removes the directory `name`, which is empty.
    pub fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        system::remove_directory(&self.0, name)
    }

    /// Removes the entry `name`; a directory with its contents. Returns the number of removed entries.
    pub fn remove(&self, name: &OsStr) -> io::Result<u64> {
        system::remove(&self.0, name)
    }

    /// Renames the entry `old` to the entry `new` of `to`. Without `replace`, it fails with
    /// [`io::ErrorKind::AlreadyExists`] if the new name exists, also on systems that cannot do both in one step.
    pub fn rename(&self, old: &OsStr, to: &Self, new: &OsStr, replace: bool) -> io::Result<()> {
        system::rename(&self.0, old, &to.0, new, replace)
    }

    /// Like [`write_atomically`](crate::write_atomically), for the entry `name`, even if this directory has been moved.
    pub fn write(
        &self,
        name: &OsStr,
        replace: Replace<'_>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        crate::atomic::write(&self.0, name, replace, write)
    }

    /// Locks this directory for others that call this, and waits for the lock until `deadline`; `None` if others hold
    /// it for so long. It is released when the file is closed. A file system without locks gives a file without one.
    pub fn lock(&self, deadline: Instant) -> io::Result<Option<File>> {
        match lock_within(system::lock_file(&self.0)?, LockKind::Exclusive, deadline) {
            Err(error) if system::has_no_locks(&error) => system::lock_file(&self.0).map(Some),
            locked => locked,
        }
    }

    /// Waits until the names in this directory are on the disk, where the system can do that.
    pub fn sync(&self) {
        system::sync(&self.0);
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Directory {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Whether `error` says that a link was met where none is followed, or that links form a loop.
pub fn is_link(error: &io::Error) -> bool {
    system::is_link(error)
}

/// Reads from `offset` of `file` on, and leaves its position unchanged.
///
/// # Errors
/// The system's error.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    system::read_at(file, buffer, offset)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink, process::Command, time::Duration};

    use super::*;

    /// A folder with a file in a folder, a link to that folder, and a FIFO.
    fn folder() -> (tempfile::TempDir, Directory) {
        let holder = tempfile::tempdir().unwrap();
        let path = holder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("sub/deep")).unwrap();
        fs::write(path.join("sub/a"), "12345").unwrap();
        symlink("sub", path.join("link")).unwrap();
        assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
        let directory = Directory::open(&path).unwrap();
        (holder, directory)
    }

    #[test]
    fn a_link_in_any_place_is_an_error_of_its_own() {
        let (_holder, directory) = folder();
        let path = Path::new;
        assert!(directory.file(path("sub/a")).is_ok() && directory.directory(path("sub/deep")).is_ok());
        for error in [directory.file(path("link/a")).unwrap_err(), directory.directory(path("link")).unwrap_err()] {
            assert!(is_link(&error), "{error}");
        }
        // Linux reports a link as something that is not a directory.
        assert!(directory.child(OsStr::new("link")).is_err());
        assert!(!is_link(&directory.file(path("none")).unwrap_err()));
        assert!(directory.file(path("../x")).is_err() && directory.directory(path("..")).is_err());
    }

    #[test]
    fn kinds_are_told_without_opening() {
        let (_holder, directory) = folder();
        let kind = |name: &str| directory.metadata(OsStr::new(name)).map(|found| found.kind).ok();
        assert_eq!(
            (kind("sub"), kind("link"), kind("pipe")),
            (Some(FileKind::Directory), Some(FileKind::Link), Some(FileKind::Fifo))
        );
        assert_eq!(kind("none"), None);
        assert_eq!(directory.kind(Path::new("sub/a")).unwrap(), FileKind::File);
        assert_eq!(directory.child(OsStr::new("sub")).unwrap().metadata(OsStr::new("a")).unwrap().size, 5);
        assert_eq!(directory.link_target(OsStr::new("link")).unwrap(), Path::new("sub"));
        // It does not wait for a writer.
        assert!(directory.file(Path::new("pipe")).is_ok_and(|file| !file.metadata().unwrap().is_file()));
    }

    #[test]
    fn an_entry_is_removed_with_all_in_it_and_a_link_alone() {
        let (holder, directory) = folder();
        assert_eq!(directory.remove(OsStr::new("link")).unwrap(), 1);
        assert!(holder.path().join("sub/a").exists());
        assert!(directory.remove_directory(OsStr::new("sub")).is_err());
        assert_eq!(directory.remove(OsStr::new("sub")).unwrap(), 3);
        assert_eq!(directory.child(OsStr::new(".")).unwrap().names().unwrap(), ["pipe"]);
    }

    #[test]
    fn a_rename_replaces_only_if_it_may() {
        let (holder, directory) = folder();
        fs::write(holder.path().join("b"), "b").unwrap();
        let sub = directory.child(OsStr::new("sub")).unwrap();
        let rename = |replace| sub.rename(OsStr::new("a"), &directory, OsStr::new("b"), replace);
        assert_eq!(rename(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(holder.path().join("b")).unwrap(), b"b");
        rename(true).unwrap();
        assert_eq!(fs::read(holder.path().join("b")).unwrap(), b"12345");
        directory.create_directory(OsStr::new("new")).unwrap();
        assert_eq!(directory.create_directory(OsStr::new("new")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        sub.rename(OsStr::new("deep"), &directory, OsStr::new("deep"), false).unwrap();
        assert!(holder.path().join("deep").is_dir());
    }

    #[test]
    fn a_lock_is_held_by_one_and_ends_with_its_file() {
        let (_holder, directory) = folder();
        let soon = || Instant::now() + Duration::from_millis(20);
        let first = directory.lock(soon()).unwrap().unwrap();
        assert!(directory.lock(soon()).unwrap().is_none());
        drop(first);
        assert!(directory.lock(soon()).unwrap().is_some());
    }

    #[test]
    fn bytes_are_read_at_a_place() {
        let (_holder, directory) = folder();
        let file = directory.file(Path::new("sub/a")).unwrap();
        let mut buffer = [0; 4];
        assert_eq!((read_at(&file, &mut buffer, 3).unwrap(), &buffer[..2]), (2, &b"45"[..]));
        assert_eq!(read_at(&file, &mut buffer, 9).unwrap(), 0);
    }
}
