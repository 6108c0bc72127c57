//! Writing and moving, race-free: a change is made only at the path that was checked.
//!
//! Every change uses a handle of the parent directory, which is opened without following links. If the directory is
//! replaced by a link after the check, the change fails and never has an effect elsewhere. New content is written to a
//! temporary file beside the old one, flushed to the disk, and then renamed.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ragmaker_fs::{Directory, FileKind, Replace};
use ragmaker_tool::{Code, Error};

use crate::{ResolvedPath, io_error};

/// Something is there already.
pub const ALREADY_EXISTS: Code = Code::new("ALREADY_EXISTS", "Choose another path.");
/// A directory has something in it.
pub const DIRECTORY_NOT_EMPTY: Code = Code::new("DIRECTORY_NOT_EMPTY", "Delete or move its content first.");

/// Something is to be moved to another file system that cannot be copied there.
pub const CROSS_DEVICE: Code = Code::new(
    "CROSS_DEVICE",
    "Nothing was moved. Delete the entries that cannot be copied, or move the rest of the directory.",
);
/// Another process held the lock for the whole waiting time of the call.
pub const FILE_LOCKED: Code =
    Code::new("FILE_LOCKED", "Another process is changing files in this directory: let it end, then call again.");

/// The time that a call waits for other writers.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The result of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whether the file is new.
    pub created: bool,
}

/// A name for the directory entry `place`: a handle of the directory it is in, and its own name.
pub(crate) struct Entry<'a> {
    pub(crate) parent: Directory,
    pub(crate) name: &'a OsStr,
}

impl ResolvedPath {
    /// Writes `content` to the file at this place and creates missing directories.
    ///
    /// An existing file keeps its permissions. It is replaced completely or not at all. With `create_only`, an existing
    /// file is an error.
    pub fn write(&self, content: &[u8], create_only: bool) -> Result<Written, Error> {
        let entry = self.entry(true)?;
        let replace = Replace { create_only, ..Replace::default() };
        match entry.parent.write(entry.name, replace, |file| file.write_all(content)) {
            Ok(created) => Ok(Written { created }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(self.exists()),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(self.not_a_file("is not a regular file")),
            Err(error) => Err(io_error(&error, &self.path())),
        }
    }

    /// Waits until no other call changes anything in the directory that this is in, which is made if it is
    /// missing; others wait until the file that this returns is closed.
    pub fn lock(&self) -> Result<File, Error> {
        self.locked(true, LOCK_WAIT)
    }

    /// Like `lock`, for a file that must exist.
    pub fn lock_existing(&self) -> Result<File, Error> {
        self.locked(false, LOCK_WAIT)
    }

    fn locked(&self, make: bool, wait: Duration) -> Result<File, Error> {
        let parent = self.entry(make)?.parent;
        match parent.lock(Instant::now() + wait) {
            Ok(Some(directory)) => Ok(directory),
            Ok(None) => {
                let path = self.path();
                let folder = path.parent().unwrap_or(&path);
                Err(FILE_LOCKED
                    .error(format!("{} is still locked after {} seconds", folder.display(), wait.as_secs_f32()))
                    .detail("path", path.to_string_lossy())
                    .detail("locked", folder.to_string_lossy()))
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Makes a directory here, and those above it that are missing; says whether it was missing.
    pub fn create_directory(&self) -> Result<bool, Error> {
        let missing = self.path().symlink_metadata().is_err();
        self.directory(&self.relative, true)?;
        Ok(missing)
    }

    /// Moves what is here to `destination`, making the directories that are missing: by one rename, or to another file
    /// system by a copy.
    pub fn move_to(&self, destination: &Self, overwrite: bool) -> Result<(), Error> {
        let (from, to) = (self.entry(false)?, destination.entry(true)?);
        match from.parent.rename(from.name, &to.parent, to.name, overwrite) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                self.move_across(&from, destination, &to, overwrite)
            }
            renamed => renamed.map_err(|error| destination.not_renamed(self, &error)),
        }
    }

    /// The error for `source`, which could not be renamed to this.
    pub(crate) fn not_renamed(&self, source: &Self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => self.exists(),
            io::ErrorKind::DirectoryNotEmpty => DIRECTORY_NOT_EMPTY
                .error(format!("{} is a directory that is not empty", self.path().display()))
                .detail("path", self.path().to_string_lossy()),
            _ => source.failure(error),
        }
    }

    /// Whether this is a directory, and not a link to one.
    pub fn is_directory(&self) -> Result<bool, Error> {
        let entry = self.entry(false)?;
        let metadata = entry.parent.metadata(entry.name).map_err(|error| self.failure(&error))?;
        Ok(metadata.kind == FileKind::Directory)
    }

    pub(crate) fn exists(&self) -> Error {
        let path = self.path();
        ALREADY_EXISTS.error(format!("{} exists already", path.display())).detail("path", path.to_string_lossy())
    }

    pub(crate) fn entry(&self, make: bool) -> Result<Entry<'_>, Error> {
        let parent = self.relative.parent().unwrap_or(Path::new(""));
        let name = self.relative.file_name().unwrap_or(OsStr::new("."));
        Ok(Entry { parent: self.directory(parent, make)?, name })
    }

    /// A handle of the directory `relative`, which is made if it is missing.
    fn directory(&self, relative: &Path, make: bool) -> Result<Directory, Error> {
        let fail = |error: io::Error| self.failure(&error);
        let root = self.root_directory()?;
        match root.directory(relative) {
            Err(error) if make && error.kind() == io::ErrorKind::NotFound => {}
            result => return result.map_err(fail),
        }
        let mut path = PathBuf::new();
        let mut parent = root.directory(&path).map_err(fail)?;
        for name in relative {
            path.push(name);
            match parent.create_directory(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail(error)),
                _ => {}
            }
            parent = root.directory(&path).map_err(fail)?;
        }
        Ok(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roots;
    use ragmaker_tool::HostOptions;
    use std::fs;

    #[test]
    fn a_lock_that_others_hold_ends_with_a_code() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("d")).unwrap();
        let roots = Roots::discover(&HostOptions {
            project_root: temp.path().to_str().map(str::to_owned),
            ..HostOptions::default()
        })
        .unwrap();
        let place = roots.place_to_write("d/a.md").unwrap();
        let held = place.lock().unwrap();
        let start = Instant::now();
        let error = place.locked(true, Duration::from_millis(50)).unwrap_err();
        assert!(error.is(FILE_LOCKED), "{error}");
        assert!(start.elapsed() >= Duration::from_millis(50));
        drop(held);
        // The call that gave up has the lock for a moment when it becomes free.
        assert!(place.locked(false, LOCK_WAIT).is_ok());
    }
}
