//! Moving to another file system: a copy beside the destination takes its name, and then the source is removed.
//!
//! Until the copy has its name, nothing but a temporary entry has changed, and that is removed on an error. The copy is
//! on the disk before the source is removed. A source that is changed meanwhile is an error.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, FileTimes},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::{Directory, keep_owner, moment, temporary_name};
use ragmaker_tool::Error;
use rustix::{
    fd::AsFd,
    fs::{Access, AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::{CROSS_DEVICE, ResolvedPath, attributes::copy_attributes, change::Entry, io_error};

/// The state of an entry, to detect changes: its path in the tree, inode, mode, size and time of change.
type State = (PathBuf, u64, u32, i64, SystemTime);

/// An entry that is moved to another file system.
struct Crossing<'a> {
    source: &'a ResolvedPath,
    /// The state of each copied entry.
    copied: Vec<State>,
}

impl ResolvedPath {
    /// Moves what is here, the directory entry `from`, to `to`, the entry of `destination` on another file system.
    pub(crate) fn move_across(
        &self,
        from: &Entry<'_>,
        destination: &Self,
        to: &Entry<'_>,
        overwrite: bool,
    ) -> Result<(), Error> {
        let fail = |error: io::Error| io_error(&error, &self.path());
        if !overwrite && to.parent.metadata(to.name).is_ok() {
            return Err(destination.exists());
        }
        let temporary = temporary_name(to.name);
        let mut crossing = Crossing { source: self, copied: vec![] };
        let moved = (|| {
            crossing.copy(&from.parent, from.name, &to.parent, &temporary, Path::new(""))?;
            let mut now = vec![];
            states(&from.parent, from.name, Path::new(""), &mut now).map_err(fail)?;
            if now != crossing.copied {
                return Err(fail(io::Error::other("it was changed while it was copied to another file system")));
            }
            let renamed = to.parent.rename(&temporary, &to.parent, to.name, overwrite);
            renamed.map_err(|error| destination.not_renamed(self, &error))
        })();
        if let Err(error) = moved {
            let _ = to.parent.remove(&temporary);
            return Err(error);
        }
        to.parent.sync();
        from.parent.remove(from.name).map(drop).map_err(|error| {
            fail(error)
                .remedy("It was copied completely; delete its remains at the old place.")
                .detail("copied_to", destination.path().to_string_lossy())
        })
    }
}

impl Crossing<'_> {
    /// Copies the entry `name` of `from`, at `path` in the tree, to the new entry `new` of `to`.
    fn copy(&mut self, from: &Directory, name: &OsStr, to: &Directory, new: &OsStr, path: &Path) -> Result<(), Error> {
        let at = self.source.path().join(path);
        let fail = |errno: Errno| io_error(&errno.into(), &at);
        let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
        self.copied.push(state(path, &stat));
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => copy_file(from, name, to, new, &stat).map_err(|error| io_error(&error, &at)),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(from, name, vec![]).map_err(fail)?;
                rustix::fs::symlinkat(target, to, new).map_err(fail)
            }
            FileType::Directory => {
                rustix::fs::mkdirat(to, new, Mode::RWXU).map_err(fail)?;
                let opened = |parent: &Directory, name| parent.child(name).map_err(|error| io_error(&error, &at));
                let (directory, copy) = (opened(from, name)?, opened(to, new)?);
                // What is in it is removed in the end, and so is the copy after an error.
                let access = Access::WRITE_OK | Access::EXEC_OK;
                rustix::fs::accessat(&directory, ".", access, AtFlags::EACCESS).map_err(fail)?;
                for name in sorted_names(&directory).map_err(|error| io_error(&error, &at))? {
                    self.copy(&directory, &name, &copy, &name, &path.join(&name))?;
                }
                take_over(&directory, &copy, &stat).map_err(|error| io_error(&error, &at))?;
                copy.sync();
                Ok(())
            }
            _ => Err(CROSS_DEVICE
                .error(format!("{} is neither a file, a directory nor a link, and cannot be copied", at.display()))
                .detail("path", at.to_string_lossy())),
        }
    }
}

fn copy_file(from: &Directory, name: &OsStr, to: &Directory, new: &OsStr, stat: &Stat) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut source = File::from(rustix::fs::openat(from, name, flags, Mode::empty())?);
    if rustix::fs::fstat(&source)?.st_ino != stat.st_ino {
        return Err(io::Error::other("it was replaced while it was copied"));
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut copy = File::from(rustix::fs::openat(to, new, flags, Mode::RUSR | Mode::WUSR)?);
    io::copy(&mut source, &mut copy)?;
    take_over(&source, &copy, stat)?;
    copy.sync_all()
}

/// Gives the copy `to` what the entry `from` with `stat` has: the owner and group, where this user may set them, the
/// permissions, the extended attributes and the times.
fn take_over(from: impl AsFd, to: impl AsFd, stat: &Stat) -> io::Result<()> {
    keep_owner(&to, stat.st_uid, stat.st_gid);
    rustix::fs::fchmod(&to, Mode::from_raw_mode(stat.st_mode & 0o777))?;
    // After the permissions, because an access control list contains them.
    copy_attributes(from, &to)?;
    let [accessed, modified] = times(stat);
    let times = FileTimes::new().set_accessed(accessed).set_modified(modified);
    File::from(to.as_fd().try_clone_to_owned()?).set_times(times)
}

/// Appends the states of the entry `name` of `parent`, at `path` in the tree, and of what is in it.
fn states(parent: &Directory, name: &OsStr, path: &Path, found: &mut Vec<State>) -> io::Result<()> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    found.push(state(path, &stat));
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        let directory = parent.child(name)?;
        for name in sorted_names(&directory)? {
            states(&directory, &name, &path.join(&name), found)?;
        }
    }
    Ok(())
}

fn state(path: &Path, stat: &Stat) -> State {
    (path.to_owned(), stat.st_ino, mode(stat), stat.st_size, times(stat)[1])
}

#[allow(clippy::useless_conversion, reason = "it is shorter on macOS")]
fn mode(stat: &Stat) -> u32 {
    stat.st_mode.into()
}

/// The times of the last access and of the last change.
#[allow(clippy::unnecessary_cast, reason = "nanoseconds are signed on some systems")]
fn times(stat: &Stat) -> [SystemTime; 2] {
    [moment(stat.st_atime, stat.st_atime_nsec as u64), moment(stat.st_mtime, stat.st_mtime_nsec as u64)]
}

fn sorted_names(directory: &Directory) -> io::Result<Vec<OsString>> {
    let mut names = directory.names()?;
    names.sort();
    Ok(names)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{ALREADY_EXISTS, DIRECTORY_NOT_EMPTY, Root, RootKind};
    use ragmaker_project::RootSource;
    use std::{
        fs,
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
        process::Command,
    };

    /// Two folders on different file systems; `None` where there is only one.
    fn two() -> Option<(tempfile::TempDir, tempfile::TempDir)> {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").ok()?);
        let device = |folder: &tempfile::TempDir| fs::metadata(folder.path()).unwrap().dev();
        (device(&here) != device(&there)).then_some((here, there))
    }

    /// Moves `from` of the first folder to `to` of the second.
    fn go(from: (&Path, &str), to: (&Path, &str), overwrite: bool) -> Result<(), Error> {
        let place = |(folder, relative): (&Path, &str)| ResolvedPath {
            root: Root {
                path: folder.canonicalize().unwrap(),
                kind: RootKind::AllowedRoot,
                source: RootSource::Argument,
                writable: true,
            },
            relative: relative.into(),
        };
        place(from).move_to(&place(to), overwrite)
    }

    #[test]
    fn files_links_and_directories_go_to_another_file_system() {
        let Some((here, there)) = two() else { return };
        let (from, to) = (here.path(), there.path());
        fs::create_dir_all(from.join("tree/deep/empty")).unwrap();
        fs::write(from.join("tree/deep/run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(from.join("tree/deep/run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("../elsewhere", from.join("tree/link")).unwrap();
        let modified = fs::metadata(from.join("tree/deep/run.sh")).unwrap().modified().unwrap();
        go((from, "tree"), (to, "new/tree"), false).unwrap();
        assert!(!from.join("tree").exists());
        let script = fs::metadata(to.join("new/tree/deep/run.sh")).unwrap();
        assert_eq!((script.mode() & 0o777, script.modified().unwrap()), (0o750, modified));
        assert!(to.join("new/tree/deep/empty").is_dir());
        assert_eq!(fs::read_link(to.join("new/tree/link")).unwrap(), Path::new("../elsewhere"));

        fs::write(from.join("a"), "a").unwrap();
        fs::write(to.join("b"), "b").unwrap();
        assert!(go((from, "a"), (to, "b"), false).unwrap_err().is(ALREADY_EXISTS));
        assert_eq!(fs::read_to_string(from.join("a")).unwrap(), "a");
        go((from, "a"), (to, "b"), true).unwrap();
        assert_eq!(fs::read_to_string(to.join("b")).unwrap(), "a");
        assert!(!from.join("a").exists());
    }

    #[test]
    fn attributes_and_access_control_lists_go_along() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};

        /// `user::rw-, user:1000:r--, group::r--, mask::r--, other::r--`, as Linux keeps it.
        const LIST: [(u16, u16, u32); 5] =
            [(1, 6, u32::MAX), (2, 4, 1000), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 4, u32::MAX)];
        let Some((here, there)) = two() else { return };
        let (from, to) = (here.path(), there.path());
        fs::create_dir(from.join("tree")).unwrap();
        fs::write(from.join("tree/a"), "a").unwrap();
        let entry = |(tag, permissions, id): (u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let list = [2_u32.to_le_bytes().to_vec(), LIST.into_iter().flat_map(entry).collect()].concat();
        let wanted = [("tree", "user.note", b"of the folder".to_vec()), ("tree/a", "user.note", b"\0b".to_vec())];
        let wanted = wanted.into_iter().chain([("tree/a", "system.posix_acl_access", list)]);
        // Neither file system has to keep them.
        let is_kept = |(path, name, value): &(&str, &str, Vec<u8>)| {
            fs::write(to.join("probe"), "").unwrap();
            let set = |file: PathBuf| setxattr(file, *name, value, XattrFlags::empty()).is_ok();
            set(to.join("probe")) && set(from.join(path))
        };
        let kept: Vec<_> = wanted.filter(is_kept).collect();
        go((from, "tree"), (to, "tree"), false).unwrap();
        for (path, name, value) in kept {
            let mut found = vec![0; 256];
            let length = getxattr(to.join(path), name, found.as_mut_slice()).unwrap();
            assert_eq!(found[..length], value, "{path} {name}");
        }
    }

    #[test]
    fn a_failed_move_changes_nothing() {
        let Some((here, there)) = two() else { return };
        let (from, to) = (here.path(), there.path());
        fs::create_dir_all(from.join("tree")).unwrap();
        fs::write(from.join("tree/a"), "a").unwrap();
        Command::new("mkfifo").arg(from.join("tree/pipe")).status().unwrap();
        let destination = to.join("tree");
        let go = || go((from, "tree"), (to, "tree"), true);
        let error = go().unwrap_err();
        assert!(error.is(CROSS_DEVICE) && error.message().contains("pipe"), "{error}");
        assert_eq!((fs::read_dir(to).unwrap().count(), fs::read_dir(from.join("tree")).unwrap().count()), (0, 2));
        fs::remove_file(from.join("tree/pipe")).unwrap();
        fs::create_dir(&destination).unwrap();
        fs::write(destination.join("kept"), "").unwrap();
        assert!(go().unwrap_err().is(DIRECTORY_NOT_EMPTY));
        assert_eq!((fs::read_dir(to).unwrap().count(), fs::read_dir(from.join("tree")).unwrap().count()), (1, 1));
        fs::remove_file(destination.join("kept")).unwrap();
        go().unwrap();
        assert!(!from.join("tree").exists() && destination.join("a").is_file());
    }
}
