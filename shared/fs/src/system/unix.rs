//! Linux, macOS and other Unixes.
//!
//! On Linux, `openat2` with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` follows no link. Where the kernel does not support
//! it (before 5.6, other Unixes, some sandboxes), a path is opened one component at a time with `O_NOFOLLOW`, which is
//! as safe but slower.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use crate::{FileKind, Metadata, time::moment};

pub(crate) type Handle = OwnedFd;
pub(crate) type Stat = rustix::fs::Stat;

/// A handle that names a file without opening it, where the system has that.
#[cfg(target_os = "linux")]
const PATH_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlags = OFlags::NONBLOCK;

/// A directory that is listed or synced, which a handle that names it only does not allow.
const READABLE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The error kind for this is not stable in the standard library.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

pub(crate) fn open(path: &Path) -> io::Result<Handle> {
    Ok(rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | PATH_ONLY, Mode::empty())?)
}

pub(crate) fn directory(start: &Handle, relative: &Path) -> io::Result<Handle> {
    Ok(beneath(start, relative, PATH_ONLY | OFlags::DIRECTORY)?)
}

pub(crate) fn child(parent: &Handle, name: &OsStr) -> io::Result<Handle> {
    Ok(open_child(parent, name)?)
}

fn open_child(parent: &Handle, name: &OsStr) -> rustix::io::Result<Handle> {
    rustix::fs::openat(parent, name, READABLE | OFlags::NOFOLLOW, Mode::empty())
}

pub(crate) fn file(start: &Handle, relative: &Path) -> io::Result<File> {
    // Not blocking, in case it is a FIFO.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(beneath(start, relative, flags)?))
}

pub(crate) fn kind(start: &Handle, relative: &Path) -> io::Result<FileKind> {
    let handle = beneath(start, relative, PATH_ONLY)?;
    let kind = kind_of(&rustix::fs::fstat(&handle)?);
    Ok(if kind == FileKind::File && is_on_pseudo_filesystem(&handle) { FileKind::Virtual } else { kind })
}

pub(crate) fn stat(parent: &Handle, name: &OsStr) -> io::Result<Stat> {
    Ok(rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[allow(clippy::unnecessary_cast, reason = "nanoseconds are signed on some systems")]
pub(crate) fn metadata(stat: &Stat) -> Metadata {
    Metadata {
        kind: kind_of(stat),
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: moment(stat.st_mtime, stat.st_mtime_nsec as u64),
    }
}

fn kind_of(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
        FileType::Unknown => FileKind::Other,
    }
}

pub(crate) fn link_target(parent: &Handle, name: &OsStr) -> io::Result<PathBuf> {
    let target = rustix::fs::readlinkat(parent, name, vec![])?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

pub(crate) fn names(directory: &Handle) -> io::Result<Vec<OsString>> {
    Ok(list(directory)?)
}

fn list(directory: &Handle) -> rustix::io::Result<Vec<OsString>> {
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

pub(crate) fn create_directory(parent: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777))?)
}

pub(crate) fn remove_directory(parent: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

pub(crate) fn remove_file(parent: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
}

/// Creates the file `name` with the permissions `mode`, or closed to others if it replaces the file `old`.
pub(crate) fn create_file(parent: &Handle, name: &OsStr, mode: u32, old: Option<&Stat>) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { mode as rustix::fs::RawMode });
    Ok(File::from(rustix::fs::openat(parent, name, flags, mode)?))
}

/// Gives `file` the permissions of the file that it replaces, and its owner and group where this user may set them.
pub(crate) fn take_over(file: &File, old: &Stat) -> io::Result<()> {
    keep_owner(file, old.st_uid, old.st_gid);
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode))?)
}

pub(crate) fn keep_owner(file: impl AsFd, owner: u32, group: u32) {
    let (owner, group) = (Some(Uid::from_raw(owner)), Some(Gid::from_raw(group)));
    let _ = rustix::fs::fchown(&file, owner, group).or_else(|_| rustix::fs::fchown(&file, None, group));
}

pub(crate) fn sync(directory: &Handle) {
    // A handle that names a directory only cannot be synced; some file systems cannot sync one at all.
    let _ = rustix::fs::openat(directory, ".", READABLE, Mode::empty()).and_then(rustix::fs::fsync);
}

pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr, replace: bool) -> io::Result<()> {
    if !replace {
        #[cfg(target_os = "linux")]
        match rustix::fs::renameat_with(from, old, to, new, rustix::fs::RenameFlags::NOREPLACE) {
            Err(Errno::NOSYS | Errno::INVAL) => {}
            result => return Ok(result?),
        }
        if rustix::fs::statat(to, new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(Errno::EXIST.into());
        }
    }
    Ok(rustix::fs::renameat(from, old, to, new)?)
}

pub(crate) fn lock_file(directory: &Handle) -> io::Result<File> {
    Ok(File::from(rustix::fs::openat(directory, ".", READABLE, Mode::empty())?))
}

/// Whether `error` says that the file system has no locks, as some network file systems do.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    [Errno::NOLCK, Errno::OPNOTSUPP].map(Errno::raw_os_error).map(Some).contains(&error.raw_os_error())
}

/// The permissions of a new file.
pub(crate) fn set_mode(options: &mut OpenOptions, mode: u32) {
    std::os::unix::fs::OpenOptionsExt::mode(options, mode);
}

/// Opens no link, and does not wait for the writer of a FIFO.
pub(crate) fn follow_no_link(options: &mut OpenOptions) {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// A directory that is being removed.
struct Level {
    /// Its name in the directory above.
    name: OsString,
    /// The identity of the directory, for recognising it on the way up.
    id: (rustix::fs::Dev, u64),
    /// The directories in it that are still to be removed.
    left: Vec<OsString>,
}

/// Only one directory is open at a time, so the depth of a tree is not limited by the number of open files. The way up
/// is `..`, which must lead to the parent that was visited before: it is an error if a directory was moved meanwhile.
pub(crate) fn remove(parent: &Handle, name: &OsStr) -> io::Result<u64> {
    if unlinked(parent, name)? {
        return Ok(1);
    }
    let (mut directory, mut removed) = (open_child(parent, name)?, 0);
    let mut levels: Vec<Level> = vec![];
    let mut name = name.to_os_string();
    loop {
        // Down: a new directory loses its files.
        let mut left = vec![];
        for entry in list(&directory)? {
            if unlinked(&directory, &entry)? {
                removed += 1;
            } else {
                left.push(entry);
            }
        }
        levels.push(Level { name, id: id_of(&directory)?, left });
        // Up, as far as directories have nothing left.
        loop {
            if let Some(next) = levels.last_mut().and_then(|level| level.left.pop()) {
                directory = open_child(&directory, &next)?;
                name = next;
                break;
            }
            let Some(Level { name: done, .. }) = levels.pop() else { return Ok(removed) };
            removed += 1;
            let Some(above) = levels.last() else {
                remove_directory(parent, &done)?;
                return Ok(removed);
            };
            directory = open_child(&directory, OsStr::new(".."))?;
            if id_of(&directory)? != above.id {
                return Err(Errno::LOOP.into());
            }
            remove_directory(&directory, &done)?;
        }
    }
}

/// Removes an entry that is not a directory; whether it is gone.
fn unlinked(parent: &Handle, name: &OsStr) -> rustix::io::Result<bool> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // A directory is EISDIR on Linux, EPERM by POSIX.
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn id_of(directory: &Handle) -> rustix::io::Result<(rustix::fs::Dev, u64)> {
    let stat = rustix::fs::fstat(directory)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Opens `relative` beneath `start` and follows no link.
fn beneath(start: &Handle, relative: &Path, flags: OFlags) -> rustix::io::Result<Handle> {
    let flags = flags | OFlags::CLOEXEC;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(start, relative, flags, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            result => return result,
        }
    }
    walk(start, relative, flags)
}

/// Opens the path one component at a time. A path with `..` is refused as one that leads out.
fn walk(start: &Handle, relative: &Path, flags: OFlags) -> rustix::io::Result<Handle> {
    let mut directory: Option<Handle> = None;
    let mut names = relative.components().peekable();
    while let Some(name) = names.next() {
        if !matches!(name, Component::Normal(_) | Component::CurDir) {
            return Err(Errno::XDEV);
        }
        let at = directory.as_ref().map_or(start.as_fd(), AsFd::as_fd);
        let last = names.peek().is_none();
        let flags = if last { flags } else { PATH_ONLY | OFlags::DIRECTORY | OFlags::CLOEXEC };
        let opened = match rustix::fs::openat(at, name.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty()) {
            // With O_DIRECTORY, Linux says of a link that it is not a directory.
            Err(Errno::NOTDIR) if is_link_at(at, name.as_os_str()) => return Err(Errno::LOOP),
            opened => opened?,
        };
        // With O_PATH, O_NOFOLLOW opens the link itself.
        if kind_of(&rustix::fs::fstat(&opened)?) == FileKind::Link {
            return Err(Errno::LOOP);
        }
        if last {
            return Ok(opened);
        }
        directory = Some(opened);
    }
    rustix::fs::openat(start, ".", flags, Mode::empty())
}

fn is_link_at(directory: BorrowedFd<'_>, name: &OsStr) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| kind_of(&stat) == FileKind::Link)
}

/// Whether a file is one of `/proc` or `/sys`, which look regular.
#[cfg(target_os = "linux")]
fn is_on_pseudo_filesystem(handle: &Handle) -> bool {
    const PROC: i64 = 0x9FA0;
    const SYSFS: i64 = 0x6265_6572;
    const DEBUGFS: i64 = 0x6462_6720;
    const CGROUP2: i64 = 0x6367_7270;
    rustix::fs::fstatfs(handle).is_ok_and(|system| [PROC, SYSFS, DEBUGFS, CGROUP2].contains(&system.f_type))
}

#[cfg(not(target_os = "linux"))]
fn is_on_pseudo_filesystem(_: &Handle) -> bool {
    false
}

pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

pub(crate) fn volume(path: &Path) -> io::Result<u64> {
    Ok(std::os::unix::fs::MetadataExt::dev(&path.symlink_metadata()?))
}

#[allow(clippy::unnecessary_wraps, reason = "Windows has none")]
pub(crate) fn user_id() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[allow(clippy::unnecessary_wraps, reason = "Windows has none")]
pub(crate) fn owner_id(metadata: &std::fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(metadata))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::{
            fs::{MetadataExt, PermissionsExt, symlink},
            net::UnixListener,
        },
    };

    use super::*;

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    fn folder() -> (tempfile::TempDir, PathBuf, Handle) {
        let holder = tempfile::tempdir().unwrap();
        let path = holder.path().canonicalize().unwrap();
        let handle = open(&path).unwrap();
        (holder, path, handle)
    }

    #[test]
    fn a_path_leads_to_the_same_whether_the_kernel_or_this_module_resolves_it() {
        let (_holder, path, start) = folder();
        fs::create_dir_all(path.join("top/sub/deep")).unwrap();
        fs::write(path.join("top/sub/a"), "").unwrap();
        fs::write(path.join("outside"), "").unwrap();
        symlink("sub", path.join("top/link")).unwrap();
        symlink("../outside", path.join("top/sub/out")).unwrap();
        let start = directory(&start, Path::new("top")).unwrap();
        let absolute = path.join("outside");
        let kind = |opened: rustix::io::Result<Handle>| Ok(kind_of(&rustix::fs::fstat(&opened?)?));
        for (relative, expected) in [
            ("", Ok(FileKind::Directory)),
            (".", Ok(FileKind::Directory)),
            ("sub/deep", Ok(FileKind::Directory)),
            ("sub/a", Ok(FileKind::File)),
            ("link", Err(Errno::LOOP)),
            ("link/a", Err(Errno::LOOP)),
            ("sub/out", Err(Errno::LOOP)),
            ("sub/a/b", Err(Errno::NOTDIR)),
            ("none/a", Err(Errno::NOENT)),
            ("..", Err(Errno::XDEV)),
            ("../outside", Err(Errno::XDEV)),
            ("sub/../../outside", Err(Errno::XDEV)),
            (absolute.to_str().unwrap(), Err(Errno::XDEV)),
        ] {
            for flags in [PATH_ONLY, OFlags::RDONLY] {
                let relative = Path::new(relative);
                assert_eq!(kind(walk(&start, relative, flags)), expected, "{relative:?} {flags:?}");
                assert_eq!(kind(beneath(&start, relative, flags)), expected, "{relative:?} {flags:?}");
            }
        }
        assert_eq!(kind(walk(&start, Path::new("sub/a"), PATH_ONLY | OFlags::DIRECTORY)), Err(Errno::NOTDIR));
    }

    #[test]
    fn a_tree_is_removed_without_what_its_links_lead_to() {
        let (_holder, path, start) = folder();
        fs::create_dir_all(path.join("kept/inner")).unwrap();
        for at in ["tree/a/b", "tree/a/c", "tree/d/e/f"] {
            fs::create_dir_all(path.join(at)).unwrap();
            fs::write(path.join(at).join("file"), "").unwrap();
            symlink(path.join("kept"), path.join(at).join("link")).unwrap();
        }
        assert_eq!(remove(&start, name("tree")).unwrap(), 13);
        assert!(path.join("kept/inner").exists() && !path.join("tree").exists());
        assert_eq!(remove(&start, name("tree")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_tree_is_removed_that_is_deeper_than_a_path_is_long() {
        let (_holder, _, start) = folder();
        let (levels, long) = (200, "d".repeat(100));
        create_directory(&start, name(&long)).unwrap();
        let mut last = child(&start, name(&long)).unwrap();
        for _ in 1..levels {
            create_directory(&last, name(&long)).unwrap();
            last = child(&last, name(&long)).unwrap();
        }
        assert_eq!(remove(&start, name(&long)).unwrap(), levels);
    }

    #[test]
    fn special_files_have_their_kinds() {
        let (_holder, path, start) = folder();
        let _socket = UnixListener::bind(path.join("s")).unwrap();
        assert_eq!(kind(&start, Path::new("s")).unwrap(), FileKind::Socket);
        let device = open(Path::new("/dev")).unwrap();
        assert_eq!(metadata(&stat(&device, name("null")).unwrap()).kind, FileKind::Device);
        #[cfg(target_os = "linux")]
        {
            let proc = open(Path::new("/proc")).unwrap();
            assert_eq!(kind(&proc, Path::new("version")).unwrap(), FileKind::Virtual);
            assert_eq!(kind(&proc, Path::new("sys")).unwrap(), FileKind::Directory);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_and_targets_may_be_any_bytes() {
        let (_holder, path, start) = folder();
        let bytes = OsStr::from_bytes(b"a\xff");
        symlink(bytes, path.join(bytes)).unwrap();
        assert_eq!(names(&child(&start, name(".")).unwrap()).unwrap(), [bytes]);
        assert_eq!(link_target(&start, bytes).unwrap(), Path::new(bytes));
    }

    #[test]
    fn a_file_that_replaces_another_is_closed_to_others_until_it_takes_its_permissions() {
        let (_holder, path, start) = folder();
        fs::write(path.join("old"), "").unwrap();
        fs::set_permissions(path.join("old"), fs::Permissions::from_mode(0o664)).unwrap();
        let old = stat(&start, name("old")).unwrap();
        let mode = |file: &File| file.metadata().unwrap().mode() & 0o777;
        let file = create_file(&start, name("new"), 0o666, Some(&old)).unwrap();
        assert_eq!(mode(&file), 0o600);
        take_over(&file, &old).unwrap();
        assert_eq!(mode(&file), 0o664);
        symlink("old", path.join("link")).unwrap();
        let refused = create_file(&start, name("link"), 0o666, None).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn the_group_of_a_file_is_kept_also_by_a_user_who_cannot_keep_its_owner() {
        let (_holder, _, start) = folder();
        let file = create_file(&start, name("new"), 0o666, None).unwrap();
        let mut old = rustix::fs::fstat(&file).unwrap();
        let (own, groups) = (rustix::process::geteuid(), rustix::process::getgroups().unwrap());
        old.st_uid = own.as_raw() + 1;
        // Root may set every group, others may set theirs.
        let other = groups.iter().map(|group| group.as_raw()).find(|group| *group != old.st_gid);
        old.st_gid = if own.is_root() { old.st_gid + 1 } else { other.unwrap_or(old.st_gid) };
        take_over(&file, &old).unwrap();
        let new = file.metadata().unwrap();
        assert_eq!(new.uid(), if own.is_root() { old.st_uid } else { own.as_raw() });
        assert_eq!(new.gid(), old.st_gid);
    }

    #[test]
    fn options_that_follow_no_link_refuse_the_last_one() {
        let (_holder, path, _) = folder();
        fs::write(path.join("a"), "").unwrap();
        symlink("a", path.join("link")).unwrap();
        let mut options = OpenOptions::new();
        follow_no_link(options.read(true));
        assert!(options.open(path.join("a")).is_ok());
        assert!(is_link(&options.open(path.join("link")).unwrap_err()));
    }
}
