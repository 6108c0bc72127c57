//! Changing the tree at exactly the place that was checked.
//!
//! Every change is made through a handle of the directory that it is in, opened without following
//! a link; so a directory that is swapped for a link meanwhile makes the change fail, never land
//! elsewhere. New content is written to a file beside the old one and takes its name when it is
//! whole and on the disk.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use ragmaker_tool::{Code, Error};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{
    Place, io_error,
    open::system::{PATH_ONLY, beneath, failure, root},
};

/// Something is there already.
pub const ALREADY_EXISTS: Code = Code::new("ALREADY_EXISTS", "Choose another path, or allow it to be replaced.");
/// A directory has something in it.
pub const DIRECTORY_NOT_EMPTY: Code = Code::new("DIRECTORY_NOT_EMPTY", "Delete or move what is in it first.");

/// What was to be moved lies on another device than where it was to go.
pub const CROSS_DEVICE: Code =
    Code::new("CROSS_DEVICE", "It can not be moved in one step: write a copy there and delete it here.");

/// How new content came to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whether nothing was there before.
    pub created: bool,
}

/// A name for the directory entry `place`: a handle of the directory it is in, and its own name.
struct Entry<'a> {
    parent: OwnedFd,
    name: &'a Path,
}

impl Place {
    /// Puts a file with `content` here, making the directories that are missing.
    ///
    /// A file that is here keeps its permissions. It is replaced as a whole or not at all;
    /// `create_only` refuses to replace it.
    pub fn write(&self, content: &[u8], create_only: bool) -> Result<Written, Error> {
        let fail = |errno: Errno| failure(errno, self);
        let entry = self.entry(true)?;
        let old = rustix::fs::statat(&entry.parent, entry.name, AtFlags::SYMLINK_NOFOLLOW);
        let mode = match old {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                return Err(self.not_a_file("it is not a regular file"));
            }
            Ok(_) if create_only => return Err(self.exists()),
            Ok(stat) => Some(Mode::from_raw_mode(stat.st_mode)),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(fail(errno)),
        };
        let temporary = temporary_name(entry.name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&entry.parent, &temporary, flags, Mode::from_raw_mode(0o666)).map_err(fail)?;
        let mut file = File::from(file);
        let written = (|| {
            file.write_all(content)?;
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, mode)?;
            }
            file.sync_all()?;
            let flags = if create_only { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
            rename(&entry.parent, &temporary, &entry.parent, entry.name, flags).map_err(std::io::Error::from)
        })();
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(&entry.parent, &temporary, AtFlags::empty());
            let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
            return Err(if exists { self.exists() } else { io_error(&error, &self.path()) });
        }
        // The name is on the disk when its directory is; some file systems can not sync one.
        let directory = rustix::fs::openat(&entry.parent, ".", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let _ = directory.and_then(rustix::fs::fsync);
        Ok(Written { created: mode.is_none() })
    }

    /// Waits until nobody else changes anything in the directory that this is in, which is made if
    /// it is missing; others wait until the lock is dropped.
    pub fn lock(&self) -> Result<OwnedFd, Error> {
        self.locked(true)
    }

    /// The same, for a file that has to be there.
    pub fn lock_existing(&self) -> Result<OwnedFd, Error> {
        self.locked(false)
    }

    fn locked(&self, make: bool) -> Result<OwnedFd, Error> {
        let fail = |errno: Errno| failure(errno, self);
        let parent = self.entry(make)?.parent;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&parent, ".", flags, Mode::empty()).map_err(fail)?;
        match rustix::fs::flock(&directory, rustix::fs::FlockOperation::LockExclusive) {
            // Some network file systems have no locks.
            Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP) => Ok(directory),
            Err(errno) => Err(fail(errno)),
        }
    }

    /// Makes a directory here, and those above it that are missing; says whether it was missing.
    pub fn create_directory(&self) -> Result<bool, Error> {
        let missing = self.path().symlink_metadata().is_err();
        self.directory(&self.relative, true)?;
        Ok(missing)
    }

    /// Moves what is here to `destination`, making the directories that are missing.
    pub fn move_to(&self, destination: &Self, overwrite: bool) -> Result<(), Error> {
        let (from, to) = (self.entry(false)?, destination.entry(true)?);
        let flags = if overwrite { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        rename(&from.parent, from.name, &to.parent, to.name, flags).map_err(|errno| match errno {
            Errno::EXIST => destination.exists(),
            Errno::NOTEMPTY => DIRECTORY_NOT_EMPTY
                .error(format!("{} is a directory with something in it", destination.path().display()))
                .detail("path", destination.path().to_string_lossy()),
            Errno::XDEV => CROSS_DEVICE
                .error(format!("{} is on another device than {}", self.path().display(), destination.path().display()))
                .detail("path", self.path().to_string_lossy()),
            errno => failure(errno, self),
        })
    }

    /// Whether this is a directory, and not a link to one.
    pub fn is_directory(&self) -> Result<bool, Error> {
        let entry = self.entry(false)?;
        let stat = rustix::fs::statat(&entry.parent, entry.name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| failure(errno, self))?;
        Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    /// Deletes what is here for good: a file, a link, or a directory with all that is in it.
    /// Returns how many entries were deleted.
    pub fn delete(&self) -> Result<u64, Error> {
        let entry = self.entry(false)?;
        delete(&entry.parent, entry.name).map_err(|errno| failure(errno, self))
    }

    fn exists(&self) -> Error {
        let path = self.path();
        ALREADY_EXISTS.error(format!("{} exists already", path.display())).detail("path", path.to_string_lossy())
    }

    fn entry(&self, make: bool) -> Result<Entry<'_>, Error> {
        let parent = self.relative.parent().unwrap_or(Path::new(""));
        let name = self.relative.file_name().map_or(Path::new("."), Path::new);
        Ok(Entry { parent: self.directory(parent, make)?, name })
    }

    /// A handle of the directory `relative`, which is made if it is missing.
    fn directory(&self, relative: &Path, make: bool) -> Result<OwnedFd, Error> {
        let fail = |errno: Errno| failure(errno, self);
        let root = root(self).map_err(fail)?;
        let flags = PATH_ONLY | OFlags::DIRECTORY;
        match beneath(&root, relative, flags) {
            Err(Errno::NOENT) if make => {}
            result => return result.map_err(fail),
        }
        let mut path = PathBuf::new();
        let mut parent = beneath(&root, Path::new(""), flags).map_err(fail)?;
        for name in relative {
            path.push(name);
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(fail(errno)),
            }
            parent = beneath(&root, &path, flags).map_err(fail)?;
        }
        Ok(parent)
    }
}

/// Renames, and refuses to replace where the flags say so, also where the kernel can not.
fn rename(from: &OwnedFd, old: &Path, to: &OwnedFd, new: &Path, flags: RenameFlags) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(from, old, to, new, flags) {
        Err(Errno::NOSYS | Errno::INVAL) if !flags.is_empty() => {}
        result => return result,
    }
    if flags.contains(RenameFlags::NOREPLACE) && rustix::fs::statat(to, new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Err(Errno::EXIST);
    }
    rustix::fs::renameat(from, old, to, new)
}

fn delete(parent: &OwnedFd, name: &Path) -> rustix::io::Result<u64> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        // A directory is EISDIR on Linux, EPERM by POSIX.
        Err(Errno::ISDIR | Errno::PERM) => {}
        result => return result.map(|()| 1),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    let mut deleted = 1;
    let names: Vec<_> = rustix::fs::Dir::read_from(&directory)?
        .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
        .collect::<rustix::io::Result<_>>()?;
    for name in names {
        use std::os::unix::ffi::OsStrExt;
        if !matches!(name.to_bytes(), b"." | b"..") {
            deleted += delete(&directory, Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())))?;
        }
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?;
    Ok(deleted)
}

/// A name beside `name` that nobody has: it begins with a dot, so that it stays out of sight.
fn temporary_name(name: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    // Short, for the longest name that a file system takes is 255 bytes.
    let start: String = name.to_string_lossy().chars().take(20).collect();
    PathBuf::from(format!(".{start}.{}-{count}-{nanos}.tmp", process::id()))
}
