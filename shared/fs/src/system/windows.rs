//! Windows, which has no `openat2`: cap-std opens each component of a path by the handle of the directory before it.
//!
//! An open directory can be neither renamed nor removed by others, so what is opened beneath it stays where it is.
//! There are no modes, a directory cannot be synced, and it cannot be locked: its lock is a file among the user's
//! temporary files, which is named after the directory's identity.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};

use crate::{FileKind, Metadata, windows_paths};

pub(crate) type Handle = Dir;
pub(crate) type Stat = cap_std::fs::Metadata;

/// `ERROR_CANT_RESOLVE_FILENAME`, the system's own error for links that form a loop.
const LINK: i32 = 1921;

/// The system's errors for a file that is open elsewhere.
const ACCESS_DENIED: i32 = 5;
const SHARING_VIOLATION: i32 = 32;

/// The pauses before a rename is tried again, in milliseconds.
const PAUSES: [u64; 6] = [2, 5, 10, 20, 50, 100];

/// The folder of the locks, among the temporary files.
const LOCKS: &str = "ragmaker-locks";

/// The error kind for this is not stable in the standard library.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(LINK)
}

pub(crate) fn open(path: &Path) -> io::Result<Handle> {
    Dir::open_ambient_dir(path, ambient_authority())
}

pub(crate) fn directory(start: &Handle, relative: &Path) -> io::Result<Handle> {
    let mut directory = start.try_clone()?;
    for name in relative {
        directory = child(&directory, name)?;
    }
    Ok(directory)
}

pub(crate) fn child(parent: &Handle, name: &OsStr) -> io::Result<Handle> {
    parent.open_dir_nofollow(name).map_err(|error| or_link(parent, name, error))
}

pub(crate) fn file(start: &Handle, relative: &Path) -> io::Result<File> {
    let (parent, name) = parent_of(start, relative)?;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    match parent.open_with(name, &options) {
        // Some links are opened themselves.
        Ok(file) if file.metadata()?.is_symlink() => Err(link_met()),
        Ok(file) => Ok(file.into_std()),
        Err(error) => Err(or_link(&parent, name, error)),
    }
}

pub(crate) fn kind(start: &Handle, relative: &Path) -> io::Result<FileKind> {
    if relative.as_os_str().is_empty() {
        return Ok(FileKind::Directory);
    }
    let (parent, name) = parent_of(start, relative)?;
    match kind_of(&stat(&parent, name)?) {
        FileKind::Link => Err(link_met()),
        kind => Ok(kind),
    }
}

pub(crate) fn stat(parent: &Handle, name: &OsStr) -> io::Result<Stat> {
    parent.symlink_metadata(name)
}

pub(crate) fn metadata(stat: &Stat) -> Metadata {
    let modified = stat.modified().map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std);
    Metadata { kind: kind_of(stat), size: stat.len(), modified }
}

fn kind_of(stat: &Stat) -> FileKind {
    if stat.is_symlink() {
        FileKind::Link
    } else if stat.is_dir() {
        FileKind::Directory
    } else if stat.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    }
}

pub(crate) fn link_target(parent: &Handle, name: &OsStr) -> io::Result<PathBuf> {
    parent.read_link_contents(name)
}

pub(crate) fn names(directory: &Handle) -> io::Result<Vec<OsString>> {
    directory.entries()?.map(|entry| Ok(entry?.file_name())).collect()
}

pub(crate) fn create_directory(parent: &Handle, name: &OsStr) -> io::Result<()> {
    parent.create_dir(name)
}

pub(crate) fn remove_directory(parent: &Handle, name: &OsStr) -> io::Result<()> {
    parent.remove_dir(name)
}

pub(crate) fn remove_file(parent: &Handle, name: &OsStr) -> io::Result<()> {
    parent.remove_file_or_symlink(name)
}

pub(crate) fn create_file(parent: &Handle, name: &OsStr, _mode: u32, _old: Option<&Stat>) -> io::Result<File> {
    parent.open_with(name, OpenOptions::new().write(true).create_new(true)).map(cap_std::fs::File::into_std)
}

#[allow(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
pub(crate) fn take_over(_file: &File, _old: &Stat) -> io::Result<()> {
    Ok(())
}

pub(crate) fn sync(_directory: &Handle) {}

pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr, replace: bool) -> io::Result<()> {
    let is_directory = kind_of(&stat(from, old)?) == FileKind::Directory;
    match stat(to, new).map(|stat| kind_of(&stat)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        // Only the case of its name changes.
        Ok(_) if is_same(from, old, to, new)? => return from.rename(old, to, new),
        Ok(_) if !replace => return Err(io::ErrorKind::AlreadyExists.into()),
        // As on other systems, an empty directory is replaced by a directory.
        Ok(FileKind::Directory) if is_directory => to.remove_dir(new)?,
        Ok(FileKind::Directory) => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) if is_directory => return Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) => {}
    }
    if !replace && !is_directory {
        // A rename replaces what has come meanwhile; a second name fails. Some file systems have none.
        match from.hard_link(old, to, new) {
            Ok(()) => return from.remove_file(old),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {}
        }
    }
    rename_when_closed(from, old, to, new)
}

/// Renames an entry. A file that another process has open for a moment, to read it, cannot be replaced on every version
/// and file system, so this is tried again.
fn rename_when_closed(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    for pause in PAUSES {
        match from.rename(old, to, new) {
            Err(error) if matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION)) => {
                thread::sleep(Duration::from_millis(pause));
            }
            renamed => return renamed,
        }
    }
    from.rename(old, to, new)
}

/// Whether `new` is another spelling of the entry `old`. A directory can be set to have names that differ in case only.
fn is_same(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<bool> {
    let identity = |directory: &Handle| directory.dir_metadata().map(|metadata| (metadata.dev(), metadata.ino()));
    Ok(old.to_string_lossy().to_lowercase() == new.to_string_lossy().to_lowercase()
        && identity(from)? == identity(to)?
        && !names(to)?.iter().any(|name| name == new))
}

pub(crate) fn lock_file(directory: &Handle) -> io::Result<File> {
    let identity = directory.dir_metadata()?;
    let folder = std::env::temp_dir().join(LOCKS);
    fs::create_dir_all(&folder)?;
    let name = format!("{:x}-{:x}.lock", identity.dev(), identity.ino());
    File::options().read(true).append(true).create(true).open(folder.join(name))
}

pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

pub(crate) fn set_mode(_options: &mut fs::OpenOptions, _mode: u32) {}

/// Opens a link itself, which is not a regular file.
pub(crate) fn follow_no_link(options: &mut fs::OpenOptions) {
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    std::os::windows::fs::OpenOptionsExt::custom_flags(options, OPEN_REPARSE_POINT);
}

pub(crate) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    // The system's call moves the position.
    let position = file.stream_position()?;
    let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
    file.seek(SeekFrom::Start(position))?;
    count
}

/// A directory is open while its contents are removed, so nothing can take its place.
pub(crate) fn remove(parent: &Handle, name: &OsStr) -> io::Result<u64> {
    if kind_of(&stat(parent, name)?) != FileKind::Directory {
        remove_file(parent, name)?;
        return Ok(1);
    }
    let directory = child(parent, name)?;
    let mut removed = 1;
    for name in names(&directory)? {
        removed += remove(&directory, &name)?;
    }
    drop(directory);
    remove_directory(parent, name)?;
    Ok(removed)
}

/// The directory that contains `relative`, and its name.
fn parent_of<'a>(start: &Handle, relative: &'a Path) -> io::Result<(Handle, &'a OsStr)> {
    let name = relative.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok((directory(start, relative.parent().unwrap_or(Path::new("")))?, name))
}

/// The error for the entry `name`, which could not be opened with `error`.
fn or_link(parent: &Handle, name: &OsStr, error: io::Error) -> io::Error {
    let is_link = stat(parent, name).is_ok_and(|stat| stat.is_symlink());
    if is_link { link_met() } else { error }
}

fn link_met() -> io::Error {
    io::Error::from_raw_os_error(LINK)
}

pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    Ok(real.to_str().and_then(windows_paths::ordinary).map_or(real, PathBuf::from))
}

pub(crate) fn volume(path: &Path) -> io::Result<u64> {
    let metadata = path.symlink_metadata()?;
    let directory = if metadata.is_dir() { path } else { path.parent().ok_or(io::ErrorKind::NotFound)? };
    Ok(open(directory)?.dir_metadata()?.dev())
}

pub(crate) fn user_id() -> Option<u32> {
    None
}

pub(crate) fn owner_id(_: &fs::Metadata) -> Option<u32> {
    None
}
