//! The mounts of a confined process: all read-only except the writable directories, a private `/tmp` and a private
//! `/dev`; secrets are covered.
//!
//! Only this layer can hide a directory inside a readable one, and only this layer protects modes and owners of files.

use std::{
    env,
    ffi::CStr,
    fs::{self, File, Permissions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount},
};

use crate::{plan::Plan, secrets};

/// World-writable folders, each replaced by a private, empty one.
const OWN: [(&str, &CStr); 3] =
    [("/tmp", c"mode=1777,size=1g"), ("/var/tmp", c"mode=1777,size=256m"), ("/dev/shm", c"mode=1777,size=256m")];

/// The available devices.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

pub(crate) fn set_up(plan: &Plan) -> io::Result<()> {
    let policy = &plan.policy;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let hidden = secrets::all(env::home_dir().as_deref(), &policy.hidden);
    // Opened before mounts cover the paths.
    let open = |path: &PathBuf| Some((path.clone(), descriptor(path).ok()?));
    let own = |path: &&PathBuf| OWN.iter().any(|(folder, _)| path.starts_with(folder)) || path.starts_with("/dev");
    let covered: Vec<(PathBuf, OwnedFd)> = policy.roots.iter().filter(own).filter_map(open).collect();
    let here = env::current_dir().ok();
    devices()?;
    for (folder, options) in OWN {
        if let Ok(real) = Path::new(folder).canonicalize() {
            mount("tmpfs", real, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)?;
        }
    }
    for (path, descriptor) in &covered {
        fs::create_dir_all(path)?;
        mount_bind_recursive(by_descriptor(descriptor), path)?;
    }
    for path in &policy.writable {
        mount_bind_recursive(path, path)?;
    }
    let stays = |point: &Path| {
        policy.writable.iter().any(|root| point.starts_with(root))
            || OWN.iter().any(|(folder, _)| point == Path::new(folder))
    };
    for (point, flags) in mount_points()? {
        if !stays(&point) {
            match mount_remount(&point, flags | MountFlags::BIND | MountFlags::RDONLY, c"") {
                // The mount is covered by another, or this user cannot access it, so nothing reaches it.
                Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    hide(&hidden)?;
    // The working directory still refers to the mount below.
    if let Some(here) = here {
        env::set_current_dir(here)?;
    }
    Ok(())
}

fn descriptor(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?)
}

fn by_descriptor(descriptor: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))
}

/// A `/dev` with the devices that every program may use, without disks.
fn devices() -> io::Result<()> {
    let open = |name: &&str| Some((Path::new("/dev").join(name), descriptor(&Path::new("/dev").join(name)).ok()?));
    let devices: Vec<_> = DEVICES.iter().filter_map(open).collect();
    mount("tmpfs", "/dev", "tmpfs", MountFlags::NOSUID, c"mode=755,size=1m")?;
    for (path, descriptor) in &devices {
        File::create(path)?;
        mount_bind(by_descriptor(descriptor), path)?;
    }
    for (name, target) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        symlink(Path::new("/proc/self").join(target), Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/shm")
}

/// Covers files and folders with inaccessible ones.
fn hide(hidden: &[PathBuf]) -> io::Result<()> {
    let closed = Path::new("/tmp/.closed");
    File::create(closed)?;
    fs::set_permissions(closed, Permissions::from_mode(0o000))?;
    for path in hidden {
        let covered = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => mount(
                "tmpfs",
                path,
                "tmpfs",
                MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY,
                c"mode=000,size=4k",
            ),
            Ok(_) => mount_bind(closed, path),
            // Inside a folder that is covered already.
            Err(_) => continue,
        };
        match covered {
            Ok(()) | Err(rustix::io::Errno::ACCESS | rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    fs::remove_file(closed)
}

/// The mount points, with the flags that must be kept.
fn mount_points() -> io::Result<Vec<(PathBuf, MountFlags)>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let lines = table.lines().filter_map(|line| {
        let mut columns = line.split(' ');
        let point = unescaped(columns.nth(4)?);
        let flags = columns.next()?.split(',').fold(MountFlags::empty(), |flags, name| {
            flags
                | match name {
                    "nosuid" => MountFlags::NOSUID,
                    "nodev" => MountFlags::NODEV,
                    "noexec" => MountFlags::NOEXEC,
                    "noatime" => MountFlags::NOATIME,
                    "nodiratime" => MountFlags::NODIRATIME,
                    "relatime" => MountFlags::RELATIME,
                    _ => MountFlags::empty(),
                }
        });
        Some((PathBuf::from(point), flags))
    });
    Ok(lines.collect())
}

/// Decodes a path as the kernel writes it, with white space and backslashes in octal.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, says)| text.replace(code, says))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_mounts_are_those_that_the_kernel_means() {
        for (text, expected) in [
            ("/home/me", "/home/me"),
            (r"/a\040b\011c\012d", "/a b\tc\nd"),
            (r"/a\134b", r"/a\b"),
            // A backslash before the digits of a blank.
            (r"/a\134040", r"/a\040"),
            (r"/a\134134", r"/a\134"),
            ("/\u{6f6e}", "/\u{6f6e}"),
        ] {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }

    #[test]
    fn the_root_is_a_mount_point() {
        let points = mount_points().unwrap();
        assert!(points.iter().any(|(path, _)| path == Path::new("/")), "{points:?}");
    }
}
