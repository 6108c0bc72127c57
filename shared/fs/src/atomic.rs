//! Writing a file atomically.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io,
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use crate::{FileKind, system};

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
/// let write = |file: &mut std::fs::File| std::io::Write::write_all(file, b"text");
/// let made = ragmaker_fs::write_atomically(&path, Default::default(), write)?;
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
    self::write(&system::open(parent)?, name, replace, write)
}

/// The options for a file that only its owner may read; on Windows, those of its folder decide.
pub fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    system::set_mode(&mut options, 0o600);
    options
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
        // The system lets root remove those of others, too.
        let is_own = system::owner_id(&metadata) == system::user_id();
        if metadata.is_dir() && is_old && is_own {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
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

/// Writes the entry `name` of the open directory `parent`.
pub(crate) fn write(
    parent: &system::Handle,
    name: &OsStr,
    replace: Replace<'_>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<bool> {
    let there = match system::stat(parent, name) {
        Ok(_) if replace.create_only => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(stat) => Some(stat),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let is_new = there.is_none();
    let old = match there.map(|stat| (system::metadata(&stat).kind, stat)) {
        // A link has no permissions of its own.
        None => None,
        Some((FileKind::Link, _)) if replace.replace_link => None,
        Some((FileKind::File, stat)) => Some(stat),
        Some(_) => return Err(not_regular()),
    };
    let temporary = replace.temporary.map_or_else(|| temporary_name(name), OsStr::to_owned);
    let create = || system::create_file(parent, &temporary, replace.mode, old.as_ref());
    let mut file = match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && replace.temporary.is_some() => {
            system::remove_file(parent, &temporary)?;
            create()?
        }
        created => created?,
    };
    let written = write(&mut file)
        .and_then(|()| old.as_ref().map_or(Ok(()), |old| system::take_over(&file, old)))
        .and_then(|()| file.sync_all())
        .and_then(|()| (replace.check)());
    // Windows does not rename an open file on every file system.
    drop(file);
    let placed = written.and_then(|()| system::rename(parent, &temporary, parent, name, !replace.create_only));
    if let Err(error) = placed {
        let _ = system::remove_file(parent, &temporary);
        return Err(error);
    }
    if replace.sync_directory {
        system::sync(parent);
    }
    Ok(is_new)
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
