//! Race-free opening: opens exactly the place that was checked.
//!
//! On Linux, `openat2` with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` follows no link, so opening fails if a directory
//! was replaced by a link after the check. Where the kernel does not support it (before 5.6, other Unixes, some
//! sandboxes), the path is opened one component at a time with `O_NOFOLLOW`, which is as safe but slower. Windows has
//! neither and is not supported yet.

use std::{
    fs::File,
    io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

use crate::{IS_A_DIRECTORY, NOT_A_DIRECTORY, NOT_A_REGULAR_FILE, ResolvedPath};

impl ResolvedPath {
    /// Opens the regular file that is here, to read it.
    ///
    /// Nothing else is ever opened: a FIFO would wait for its writer, a device may act on it.
    pub fn open(&self) -> Result<File, Error> {
        let file = system::open(self)?;
        let metadata = file.metadata().map_err(|error| crate::io_error(&error, &self.path()))?;
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
    directory: rustix::fd::OwnedFd,
    path: PathBuf,
}

impl ResolvedPath {
    /// An opener for the files beneath this directory.
    pub fn opener(&self) -> Result<Opener, Error> {
        let fail = |errno| system::failure(errno, self);
        let root = system::root(self).map_err(fail)?;
        let flags = system::PATH_ONLY | rustix::fs::OFlags::DIRECTORY;
        let directory = system::beneath(&root, &self.relative, flags).map_err(fail)?;
        Ok(Opener { directory, path: self.path() })
    }
}

impl Opener {
    /// Opens the file at `path`, which is beneath the directory, to read it; with its size. What has
    /// become something else than a regular file since it was found is an error.
    pub fn open(&self, path: &Path) -> io::Result<(File, u64)> {
        use rustix::fs::OFlags;
        let relative = path.strip_prefix(&self.path).map_err(io::Error::other)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(system::beneath(&self.directory, relative, flags)?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if crate::secrets::holds_sign_ins(&file) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, crate::secrets::SIGN_INS));
        }
        Ok((file, metadata.len()))
    }
}

/// Reads the metadata of entries beneath a directory that is being walked. A walk goes by paths, so a
/// directory that is swapped for a link may lead it elsewhere; what it found is there only if it has metadata here.
#[derive(Debug)]
pub struct EntryReader {
    opener: Opener,
    /// The directory of the last entry, which is mostly that of the next one.
    parent: Option<(PathBuf, rustix::fd::OwnedFd)>,
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
        use rustix::fs::{AtFlags, FileType};
        let relative = path.strip_prefix(&self.opener.path).ok()?;
        let (parent, name) = (relative.parent()?, relative.file_name()?);
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            let flags = system::PATH_ONLY | rustix::fs::OFlags::DIRECTORY;
            let directory = system::beneath(&self.opener.directory, parent, flags).ok()?;
            self.parent = Some((parent.to_path_buf(), directory));
        }
        let (_, directory) = self.parent.as_ref()?;
        let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let target = if kind == EntryKind::Link { rustix::fs::readlinkat(directory, name, vec![]).ok() } else { None };
        Some(EntryMetadata {
            kind,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: moment(stat.st_mtime, stat.st_mtime_nsec as u64),
            target: target.map(|target| std::ffi::OsString::from_vec(target.into_bytes()).into()),
        })
    }
}

/// So many seconds, and nanoseconds after them, from the start of 1970 on.
pub(crate) fn moment(seconds: i64, nanoseconds: u64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let start =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    start.and_then(|start| start.checked_add(Duration::from_nanos(nanoseconds))).unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(crate) mod system {
    use super::{Error, File, ResolvedPath};
    use crate::{PATH_CHANGED, io_error};
    use rustix::{
        fd::{AsFd, OwnedFd},
        fs::{CWD, FileType, Mode, OFlags},
        io::Errno,
    };
    use std::path::Path;

    pub(super) fn open(place: &ResolvedPath) -> Result<File, Error> {
        let fail = |errno: Errno| failure(errno, place);
        let root = root(place).map_err(fail)?;
        let handle = beneath(&root, &place.relative, PATH_ONLY).map_err(fail)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&handle).map_err(fail)?.st_mode);
        match kind {
            FileType::RegularFile => {}
            FileType::Fifo => return Err(place.not_a_file("is a FIFO")),
            FileType::Socket => return Err(place.not_a_file("is a socket")),
            FileType::CharacterDevice | FileType::BlockDevice => return Err(place.not_a_file("is a device")),
            _ => return Err(place.not_a_file("is not a regular file")),
        }
        if is_on_pseudo_filesystem(&handle) {
            return Err(place.not_a_file("is a virtual file of procfs or sysfs"));
        }
        // Not blocking, in case it has become a FIFO meanwhile.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        beneath(&root, &place.relative, flags).map(File::from).map_err(fail)
    }

    /// A handle of the root that `place` is beneath.
    pub(crate) fn root(place: &ResolvedPath) -> rustix::io::Result<OwnedFd> {
        rustix::fs::open(&place.root.path, OFlags::DIRECTORY | OFlags::CLOEXEC | PATH_ONLY, Mode::empty())
    }

    /// A handle that names a file without opening it, where the system has that.
    #[cfg(target_os = "linux")]
    pub(crate) const PATH_ONLY: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    pub(crate) const PATH_ONLY: OFlags = OFlags::NONBLOCK;

    /// Opens `relative` beneath `root` and follows no link.
    pub(crate) fn beneath(root: &OwnedFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => {}
                result => return result,
            }
        }
        walk(root, relative, flags)
    }

    /// Opens the path one component at a time.
    pub(super) fn walk(root: &OwnedFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mut directory: Option<OwnedFd> = None;
        let mut names = relative.components().peekable();
        while let Some(name) = names.next() {
            let at = directory.as_ref().map_or(root.as_fd(), AsFd::as_fd);
            let last = names.peek().is_none();
            let flags = if last { flags } else { PATH_ONLY | OFlags::DIRECTORY | OFlags::CLOEXEC };
            let opened = rustix::fs::openat(at, name.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty())?;
            // With O_PATH, O_NOFOLLOW opens the link itself.
            if FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode) == FileType::Symlink {
                return Err(Errno::LOOP);
            }
            if last {
                return Ok(opened);
            }
            directory = Some(opened);
        }
        rustix::fs::openat(CWD, ".", flags, Mode::empty())
    }

    /// Whether a file is one of `/proc` or `/sys`, which look regular.
    #[cfg(target_os = "linux")]
    fn is_on_pseudo_filesystem(handle: &OwnedFd) -> bool {
        const PROC: i64 = 0x9FA0;
        const SYSFS: i64 = 0x6265_6572;
        const DEBUGFS: i64 = 0x6462_6720;
        const CGROUP2: i64 = 0x6367_7270;
        rustix::fs::fstatfs(handle).is_ok_and(|system| [PROC, SYSFS, DEBUGFS, CGROUP2].contains(&system.f_type))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_on_pseudo_filesystem(_: &OwnedFd) -> bool {
        false
    }

    pub(crate) fn failure(errno: Errno, place: &ResolvedPath) -> Error {
        let path = place.path();
        match errno {
            // The path had no links when it was checked.
            Errno::LOOP | Errno::XDEV => PATH_CHANGED
                .error(format!("{} became a link while it was opened", path.display()))
                .detail("path", path.to_string_lossy()),
            Errno::NOENT => crate::place::not_found(&path),
            errno => io_error(&errno.into(), &path),
        }
    }
}
