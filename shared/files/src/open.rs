//! Race-free opening: opens exactly the place that was checked.
//!
//! A handle of the root opens what is beneath it without following links ([`ragmaker_fs::Directory`]), so opening fails
//! if a directory was replaced by a link after the check.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::{Directory, FileKind, is_link};
use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

use crate::{IS_A_DIRECTORY, NOT_A_DIRECTORY, NOT_A_REGULAR_FILE, PATH_CHANGED, ResolvedPath, io_error};

impl ResolvedPath {
    /// Opens the regular file that is here, to read it.
    ///
    /// Nothing else is ever opened: a FIFO would wait for its writer, a device may act on it.
    pub fn open(&self) -> Result<File, Error> {
        let root = self.root_directory()?;
        match root.kind(&self.relative).map_err(|error| self.failure(&error))? {
            FileKind::File => {}
            FileKind::Fifo => return Err(self.not_a_file("is a FIFO")),
            FileKind::Socket => return Err(self.not_a_file("is a socket")),
            FileKind::Device => return Err(self.not_a_file("is a device")),
            FileKind::Virtual => return Err(self.not_a_file("is a virtual file of procfs or sysfs")),
            FileKind::Directory | FileKind::Link | FileKind::Other => {
                return Err(self.not_a_file("is not a regular file"));
            }
        }
        let file = root.file(&self.relative).map_err(|error| self.failure(&error))?;
        let metadata = file.metadata().map_err(|error| io_error(&error, &self.path()))?;
        if metadata.is_file() { Ok(file) } else { Err(self.not_a_file("is not a regular file")) }
    }

    /// Refuses a place that is not a directory.
    pub fn check_directory(&self) -> Result<(), Error> {
        let path = self.path();
        if path.is_dir() {
            return Ok(());
        }
        Err(NOT_A_DIRECTORY
            .error(format!("{} is not a directory", path.display()))
            .detail("path", path.to_string_lossy()))
    }

    /// A handle of the root that this is beneath.
    pub(crate) fn root_directory(&self) -> Result<Directory, Error> {
        Directory::open(&self.root.path).map_err(|error| self.failure(&error))
    }

    /// The system's error for this place, which had no links when it was checked.
    pub(crate) fn failure(&self, error: &io::Error) -> Error {
        let path = self.path();
        match error.kind() {
            // Linux refuses a link that leads out of the root so.
            _ if is_link(error) || error.kind() == io::ErrorKind::CrossesDevices => PATH_CHANGED
                .error(format!("{} became a link while it was opened", path.display()))
                .detail("path", path.to_string_lossy()),
            io::ErrorKind::NotFound => crate::place::not_found(&path),
            _ => io_error(error, &path),
        }
    }

    pub(crate) fn not_a_file(&self, what: &str) -> Error {
        let path = self.path();
        let code = if path.is_dir() { IS_A_DIRECTORY } else { NOT_A_REGULAR_FILE };
        let what = if code == IS_A_DIRECTORY { "is a directory" } else { what };
        code.error(format!("{} {what}", path.display())).detail("path", path.to_string_lossy())
    }
}

/// Opens files beneath a directory that is being walked, as safely as [`ResolvedPath::open`].
#[derive(Debug)]
pub struct Opener {
    pub(crate) directory: Directory,
    path: PathBuf,
}

impl ResolvedPath {
    /// An opener for the files beneath this directory.
    pub fn opener(&self) -> Result<Opener, Error> {
        let directory = self.root_directory()?.directory(&self.relative).map_err(|error| self.failure(&error))?;
        Ok(Opener { directory, path: self.path() })
    }
}

impl Opener {
    /// Opens the file at `path`, which is beneath the directory, to read it; with its size. What has
    /// become something else than a regular file since it was found is an error.
    pub fn open(&self, path: &Path) -> io::Result<(File, u64)> {
        regular(self.directory.file(self.relative(path)?)?)
    }

    /// `path` relative to the directory.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> io::Result<&'a Path> {
        path.strip_prefix(&self.path).map_err(io::Error::other)
    }
}

/// An open file with its size; an error if it is not a regular file, or holds sign-ins.
pub(crate) fn regular(file: File) -> io::Result<(File, u64)> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if crate::secrets::holds_sign_ins(&file) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, crate::secrets::SIGN_INS));
    }
    Ok((file, metadata.len()))
}

/// Reads the metadata of entries beneath a directory that is being walked. A walk goes by paths, so a
/// directory that is swapped for a link may lead it elsewhere; what it found is there only if it has metadata here.
#[derive(Debug)]
pub struct EntryReader {
    opener: Opener,
    /// The directory of the last entry, which is mostly that of the next one.
    parent: Option<(PathBuf, Directory)>,
}

/// The metadata of a directory entry; links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryMetadata {
    /// Its kind.
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed.
    pub modified: SystemTime,
    /// The target of a link.
    pub target: Option<PathBuf>,
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, which is not followed.
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

impl ResolvedPath {
    /// A reader of the entries beneath this directory.
    pub fn entry_reader(&self) -> Result<EntryReader, Error> {
        Ok(EntryReader { opener: self.opener()?, parent: None })
    }
}

impl EntryReader {
    /// The metadata of the entry at `path` beneath the directory; `None` if there is no entry.
    pub fn metadata(&mut self, path: &Path) -> Option<EntryMetadata> {
        let relative = path.strip_prefix(&self.opener.path).ok()?;
        let (parent, name) = (relative.parent()?, relative.file_name()?);
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            self.parent = Some((parent.to_path_buf(), self.opener.directory.directory(parent).ok()?));
        }
        let (_, directory) = self.parent.as_ref()?;
        let metadata = directory.metadata(name).ok()?;
        let kind = match metadata.kind {
            FileKind::File => EntryKind::File,
            FileKind::Directory => EntryKind::Directory,
            FileKind::Link => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let target = if kind == EntryKind::Link { directory.link_target(name).ok() } else { None };
        Some(EntryMetadata { kind, size: metadata.size, modified: metadata.modified, target })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, io::Read, os::unix::fs::symlink, process::Command};

    use ragmaker_project::RootSource;

    use super::*;
    use crate::{Root, RootKind};

    /// A folder with a file, a folder, a link and a FIFO.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let holder = tempfile::tempdir().unwrap();
        let path = holder.path().canonicalize().unwrap();
        fs::create_dir(path.join("sub")).unwrap();
        fs::write(path.join("sub/a.md"), "\u{6f6e}").unwrap();
        symlink("sub", path.join("link")).unwrap();
        assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
        (holder, path)
    }

    fn at(root: &Path, relative: &str) -> ResolvedPath {
        let root =
            Root { path: root.to_owned(), kind: RootKind::AllowedRoot, source: RootSource::Argument, writable: false };
        ResolvedPath { root, relative: relative.into() }
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let (_holder, path) = folder();
        let mut text = String::new();
        at(&path, "sub/a.md").open().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "\u{6f6e}");
        for (relative, code) in [
            ("sub", IS_A_DIRECTORY),
            ("pipe", NOT_A_REGULAR_FILE),
            ("none.md", crate::FILE_NOT_FOUND),
            // The place was checked before it became a link.
            ("link/a.md", PATH_CHANGED),
        ] {
            let error = at(&path, relative).open().unwrap_err();
            assert!(error.is(code), "{relative}: {error}");
            assert_eq!(error.details()["path"], path.join(relative).to_str().unwrap());
        }
        assert!(at(&path, "sub").check_directory().is_ok());
        assert!(at(&path, "sub/a.md").check_directory().unwrap_err().is(NOT_A_DIRECTORY));
    }

    #[test]
    fn an_opener_stays_beneath_its_directory() {
        let (_holder, path) = folder();
        let opener = at(&path, "").opener().unwrap();
        assert_eq!(opener.open(&path.join("sub/a.md")).unwrap().1, 3);
        for other in [
            path.join("link/a.md"),
            path.join("pipe"),
            path.join("sub"),
            PathBuf::from("/etc/passwd"),
            path.join("../x"),
        ] {
            assert!(opener.open(&other).is_err(), "{}", other.display());
        }
        assert!(at(&path, "link").opener().unwrap_err().is(PATH_CHANGED));
        // The handle is that of the folder which was checked.
        let inner = at(&path, "sub").opener().unwrap();
        fs::rename(path.join("sub"), path.join("moved")).unwrap();
        symlink("/etc", path.join("sub")).unwrap();
        assert!(inner.open(&path.join("sub/passwd")).is_err());
        assert_eq!(inner.open(&path.join("sub/a.md")).unwrap().1, 3);
    }

    #[test]
    fn entries_are_described_without_following_links() {
        let (_holder, path) = folder();
        let mut reader = at(&path, "").entry_reader().unwrap();
        let mut kind = |relative: &str| reader.metadata(&path.join(relative)).map(|entry| (entry.kind, entry.target));
        assert_eq!(kind("sub/a.md"), Some((EntryKind::File, None)));
        assert_eq!(kind("sub"), Some((EntryKind::Directory, None)));
        assert_eq!(kind("link"), Some((EntryKind::Link, Some("sub".into()))));
        assert_eq!(kind("pipe"), Some((EntryKind::Other, None)));
        assert_eq!((kind("none"), kind("link/a.md"), kind("")), (None, None, None));
    }
}
