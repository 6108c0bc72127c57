//! Why a path can not be used, as codes.

use std::{io, path::Path};

use ragmaker_tool::{Code, Error};

/// Nothing is there.
pub const FILE_NOT_FOUND: Code =
    Code::new("FILE_NOT_FOUND", "Check the spelling; relative paths start at the project root.");
/// The path leads out of every directory that is open to the agent.
pub const PATH_NOT_ALLOWED: Code = Code::new(
    "PATH_NOT_ALLOWED",
    "Name the directory with --allow-root, or the knowledge base with --kb-root, if it is meant to be read.",
);
/// The path may be read, not changed.
pub const PATH_NOT_WRITABLE: Code = Code::new(
    "PATH_NOT_WRITABLE",
    "Write beneath the project root, or let the user allow the directory with --allow-root rw=DIR.",
);
/// An ignore file lists the path.
pub const PATH_IGNORED: Code = Code::new("PATH_IGNORED", "Add --no-ignore to use the file all the same.");
/// A FIFO, a socket, a device, or a file that a kernel makes up.
pub const NOT_A_REGULAR_FILE: Code = Code::new("NOT_A_REGULAR_FILE", "Name a regular file.");
/// A directory stands where a file was meant.
pub const IS_A_DIRECTORY: Code = Code::new("IS_A_DIRECTORY", "Use ragmaker-list-directory to see what is in it.");
/// A file stands where a directory was meant.
pub const NOT_A_DIRECTORY: Code = Code::new("NOT_A_DIRECTORY", "Use ragmaker-read-file to read a file.");
/// Symbolic links lead in a circle.
pub const SYMLINK_LOOP: Code = Code::new("SYMLINK_LOOP", "Name the file itself: the link leads nowhere.");
/// The system does not let this user use the path.
pub const PERMISSION_DENIED: Code =
    Code::new("PERMISSION_DENIED", "Ask the user to change the permissions, or choose another file.");
/// The path became another one between the check and the use.
pub const PATH_CHANGED: Code =
    Code::new("PATH_CHANGED", "Something else is changing the tree: try again when it has finished.");
/// A directory that was named as a root can not be one.
pub const ROOT_NOT_USABLE: Code = Code::new("ROOT_NOT_USABLE", "Name an existing directory.");
/// A directory that was named as a root holds too much to be opened to an agent.
pub const ROOT_TOO_BROAD: Code = Code::new(
    "ROOT_TOO_BROAD",
    "Name the directory that holds the files; the user can force it with RAGMAKER_ALLOW_BROAD_ROOTS=1.",
);
/// The system failed.
pub const IO_ERROR: Code = Code::new("IO_ERROR", "The message is the system's own: see whether the disk is healthy.");

/// What the system said about `path`, as an error of ours.
pub fn io_error(error: &io::Error, path: &Path) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => FILE_NOT_FOUND,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => PERMISSION_DENIED,
        io::ErrorKind::IsADirectory => IS_A_DIRECTORY,
        _ if is_loop(error) => SYMLINK_LOOP,
        _ => IO_ERROR,
    };
    code.error(format!("{}: {error}", path.display())).detail("path", path.to_string_lossy())
}

/// Whether what was met on a walk is not there any more, or only behind a link that came since.
pub fn is_gone(error: &io::Error) -> bool {
    is_loop(error) || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Too many links on the way; the kind of its own is not stable in the standard library.
pub(crate) fn is_loop(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    return error.to_string().contains("loop");
}
