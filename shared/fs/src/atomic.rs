//! Writing a file atomically.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

/// The options for replacing a file.
#[derive(Clone, Copy)]
pub struct Replace<'a> {
    /// Refuse to replace a file that is there, with [`io::ErrorKind::AlreadyExists`].
    pub create_only: bool,
    /// Replaces a symbolic link itself by the file; the target of the link stays unchanged.
    pub replace_link: bool,
    /// The permissions of a new file, before the umask: 0o666, or 0o600 for a file that only its owner may read.
    pub mode: u32,
    /// Wait until the new name is on the disk as well, and not only the content.
    pub sync_directory: bool,
    /// The name of the temporary file, for writers that hold a lock: each writer removes the file of a killed one.
    /// Without it, every writer uses its own name, and the file of a killed writer stays.
    pub temporary: Option<&'a OsStr>,
    /// Called after everything is written, just before the new file is renamed. If it returns an error, the old file
    /// stays.
    pub check: &'a dyn Fn() -> io::Result<()>,
}

impl Default for Replace<'_> {
    fn default() -> Self {
        Self {
            create_only: false,
            replace_link: false,
            mode: 0o666,
            sync_directory: true,
            temporary: None,
            check: &|| Ok(()),
        }
    }
}

/// Puts a file at `path` with what `write` writes, as a whole or not at all. Returns whether nothing was
/// there before.
///
/// - The content goes to a temporary file in the same directory, which takes the name of the old one in one
///   step. Readers see the old or the new; on an error the old one stays and the temporary file is removed.
/// - The content is on the disk before the name changes, so this holds after a power cut as well.
/// - A regular file that is there keeps its permissions, and its owner and group where this user may set them.
/// - A symbolic link at `path` is refused as anything but a regular file is, unless it is to be replaced.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.md");
/// let made = ragmaker_fs::write_atomically(&path, Default::default(), |file| std::io::Write::write_all(file, b"text"))?;
/// assert!(made && std::fs::read(path)? == b"text");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The error of the system or of `write`; [`io::ErrorKind::AlreadyExists`] and, for what is not a regular file,
/// [`io::ErrorKind::InvalidInput`].
pub fn write_atomically(
    path: &Path,
    replace: Replace<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<bool> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    system::write(parent, name, replace, write)
}

/// A name beside `name` that nobody has: it begins with a dot, so that it stays out of sight.
pub fn temporary_name(name: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    // Short, for the longest name that a file system takes is 255 bytes.
    let start: String = name.to_string_lossy().chars().take(20).collect();
    format!(".{start}.{}-{count}-{nanos}.tmp", process::id()).into()
}

/// Removes the temporary files in `folder` that killed writers left at least `age` ago.
pub fn sweep_temporary(folder: &Path, age: Duration) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        let modified = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let is_old = || modified().and_then(|time| time.elapsed().ok()).is_some_and(|elapsed| elapsed > age);
        if entry.file_name().to_str().is_some_and(is_temporary) && is_file() && is_old() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes the folders among the system's temporary files whose names begin with `prefix` and that killed processes
/// left at least `age` ago. Those of other users stay.
pub fn sweep_folders(prefix: &str, age: Duration) {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
            continue;
        }
        // The entry itself, not the target of a link.
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = metadata.modified().ok().and_then(|time| time.elapsed().ok()).is_some_and(|elapsed| elapsed > age);
        if metadata.is_dir() && is_old && is_own(&metadata) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether an entry belongs to this user. The system lets root remove those of others, too.
#[cfg(unix)]
fn is_own(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// Whether `name` has the form of [`temporary_name`].
fn is_temporary(name: &str) -> bool {
    let Some(stem) = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")) else { return false };
    let Some((_, numbers)) = stem.rsplit_once('.') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('-').count() == 3 && numbers.split('-').all(is_number)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(unix)]
pub use system::{rename_in, write_in};

#[cfg(unix)]
mod system {
    use super::{File, OsStr, Path, Replace, io, not_regular, temporary_name};
    use rustix::{
        fd::AsFd,
        fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid},
        io::Errno,
    };

    pub(super) fn write(
        parent: &Path,
        name: &OsStr,
        replace: Replace<'_>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        write_in(&rustix::fs::openat(CWD, parent, flags, Mode::empty())?, name, replace, write)
    }

    /// Like [`write_atomically`](super::write_atomically), for the entry `name` of the open directory `parent`, even if
    /// the directory has been moved.
    ///
    /// # Errors
    /// As [`write_atomically`](super::write_atomically).
    pub fn write_in(
        parent: impl AsFd,
        name: &OsStr,
        replace: Replace<'_>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        let parent = parent.as_fd();
        let there = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) if replace.create_only => return Err(Errno::EXIST.into()),
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let is_new = there.is_none();
        let old = match there.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat)) {
            // A link has no permissions of its own.
            None => None,
            Some((FileType::Symlink, _)) if replace.replace_link => None,
            Some((FileType::RegularFile, stat)) => Some(stat),
            Some(_) => return Err(not_regular()),
        };
        let temporary = replace.temporary.map_or_else(|| temporary_name(name), OsStr::to_owned);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Closed to others until it has the permissions of the old one.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { replace.mode });
        let file = match rustix::fs::openat(parent, &temporary, flags, mode) {
            Err(Errno::EXIST) if replace.temporary.is_some() => {
                rustix::fs::unlinkat(parent, &temporary, AtFlags::empty())?;
                rustix::fs::openat(parent, &temporary, flags, mode)
            }
            opened => opened,
        };
        let mut file = File::from(file?);
        let written = (|| {
            write(&mut file)?;
            if let Some(old) = &old {
                let new = rustix::fs::fstat(&file)?;
                if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
                    // Only root may give files away; for others a file of their own is as good.
                    let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
                    let _ = rustix::fs::fchown(&file, Some(owner.0), Some(owner.1));
                }
                rustix::fs::fchmod(&file, Mode::from_raw_mode(old.st_mode))?;
            }
            file.sync_all()?;
            (replace.check)()?;
            rename_in(parent, temporary.as_ref(), parent, name.as_ref(), !replace.create_only)
        })();
        if let Err(error) = written {
            let _ = rustix::fs::unlinkat(parent, &temporary, AtFlags::empty());
            return Err(error);
        }
        if replace.sync_directory {
            // A handle that names a directory only, as `O_PATH` gives, cannot be synced; some file systems
            // cannot sync one at all.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let _ = rustix::fs::openat(parent, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
        }
        Ok(is_new)
    }

    /// Renames an entry of one open directory to an entry of another. Without `replace`, it fails with
    /// [`io::ErrorKind::AlreadyExists`] if the new name exists, also on kernels that cannot do both in one step.
    ///
    /// # Errors
    /// The system's error.
    pub fn rename_in(from: impl AsFd, old: &Path, to: impl AsFd, new: &Path, replace: bool) -> io::Result<()> {
        if !replace {
            #[cfg(target_os = "linux")]
            match rustix::fs::renameat_with(&from, old, &to, new, rustix::fs::RenameFlags::NOREPLACE) {
                Err(Errno::NOSYS | Errno::INVAL) => {}
                result => return Ok(result?),
            }
            if rustix::fs::statat(&to, new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(Errno::EXIST.into());
            }
        }
        Ok(rustix::fs::renameat(from, old, to, new)?)
    }
}

#[cfg(not(unix))]
mod system {
    use super::{File, OsStr, Path, Replace, io, not_regular, temporary_name};
    use std::fs;

    /// Windows has neither modes nor a directory that can be synced; its rename replaces a file.
    pub(super) fn write(
        parent: &Path,
        name: &OsStr,
        replace: Replace<'_>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        let path = parent.join(name);
        let is_new = match fs::symlink_metadata(&path) {
            Ok(_) if replace.create_only => return Err(io::ErrorKind::AlreadyExists.into()),
            Ok(metadata) if metadata.is_symlink() && replace.replace_link => false,
            Ok(metadata) if !metadata.is_file() => return Err(not_regular()),
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(error),
        };
        let temporary = parent.join(replace.temporary.map_or_else(|| temporary_name(name), OsStr::to_owned));
        if replace.temporary.is_some() {
            let _ = fs::remove_file(&temporary);
        }
        let mut file = File::create_new(&temporary)?;
        let written = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| (replace.check)());
        drop(file);
        // A hard link fails where the name is taken, which a rename does not.
        let placed = written.and_then(|()| {
            if replace.create_only { fs::hard_link(&temporary, &path) } else { fs::rename(&temporary, &path) }
        });
        if placed.is_err() || replace.create_only {
            let _ = fs::remove_file(&temporary);
        }
        placed.map(|()| is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn write(path: &Path, replace: Replace<'_>, text: &str) -> io::Result<bool> {
        write_atomically(path, replace, |file| file.write_all(text.as_bytes()))
    }

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_made_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let create_only = Replace { create_only: true, ..Replace::default() };
        assert!(write(&path, create_only, "old").unwrap());
        assert_eq!(write(&path, create_only, "x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!write(&path, Replace::default(), "new").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let failing = write_atomically(&path, Replace::default(), |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failing.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::create_dir(folder.path().join("d")).unwrap();
        let directory = write(&folder.path().join("d"), Replace::default(), "x").unwrap_err();
        assert_eq!(directory.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(names(folder.path()).len(), 2, "no temporary file is left");
    }

    #[test]
    fn a_check_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "old").unwrap();
        let check = || if fs::read(&path)? == b"old" { Err(io::Error::other("it is old")) } else { Ok(()) };
        let replace = Replace { check: &check, ..Replace::default() };
        assert_eq!(write(&path, replace, "new").unwrap_err().to_string(), "it is old");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        fs::write(&path, "newer").unwrap();
        write(&path, replace, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.md"]);
    }

    #[test]
    fn a_temporary_file_of_a_fixed_name_that_was_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(folder.path().join(".a.tmp"), "more than is written now").unwrap();
        let replace = Replace { temporary: Some(".a.tmp".as_ref()), ..Replace::default() };
        for text in ["one", "two"] {
            write(&path, replace, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(folder.path()), ["a.md"]);
        }
    }

    #[test]
    fn old_temporary_files_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let own = temporary_name("a.md".as_ref()).into_string().unwrap();
        let kept = [".a.md.1-2.tmp", ".a.md.tmp", "a.1-2-3.tmp", ".a.1-2-x.tmp", ".1-2-3.md"];
        for name in kept.into_iter().chain([&*own, ".1-2-3.1-2-3.tmp"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        sweep_temporary(folder.path(), Duration::from_hours(1));
        assert_eq!(names(folder.path()).len(), 7);
        sweep_temporary(folder.path(), Duration::ZERO);
        let mut left = names(folder.path());
        left.sort();
        let mut expected = kept.map(OsString::from);
        expected.sort();
        assert_eq!(left, expected);
    }

    #[cfg(unix)]
    #[test]
    fn folders_of_others_are_not_swept() {
        let prefix = format!("ragmaker-swept-{}-", process::id());
        let make = |name: &str| tempfile::Builder::new().prefix(&(prefix.clone() + name)).tempdir().unwrap();
        let (own, theirs, other) = (make("own"), make("theirs"), tempfile::tempdir().unwrap());
        fs::write(own.path().join("a"), "").unwrap();
        // Only root can give it away.
        let is_theirs = std::os::unix::fs::chown(theirs.path(), Some(65_534), None).is_ok();
        sweep_folders(&prefix, Duration::from_hours(1));
        assert!(own.path().exists());
        sweep_folders(&prefix, Duration::ZERO);
        assert!(!own.path().exists() && other.path().exists());
        assert_eq!(theirs.path().exists(), is_theirs);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_links_refused() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let mode = || path.metadata().unwrap().mode() & 0o777;
        write(&path, Replace { mode: 0o600, ..Replace::default() }, "x").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        write(&path, Replace::default(), "y").unwrap();
        assert_eq!(mode(), 0o751);
        std::os::unix::fs::symlink("a.md", folder.path().join("link")).unwrap();
        let link = write(&folder.path().join("link"), Replace::default(), "z").unwrap_err();
        assert_eq!(link.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
        let replaced = write(&folder.path().join("link"), Replace { replace_link: true, ..Replace::default() }, "z");
        assert!(!replaced.unwrap() && !folder.path().join("link").is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
    }
}
