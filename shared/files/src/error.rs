//! Error codes for paths.

use std::{io, path::Path};

use ragmaker_fs::is_link;
use ragmaker_project::{ROOT_NOT_USABLE, ROOT_TOO_BROAD};
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};

/// Nothing is there.
pub const FILE_NOT_FOUND: Code =
    Code::new("FILE_NOT_FOUND", "Check the spelling; relative paths start at the project root.");
/// The path leads out of every directory that is open to the agent.
pub const PATH_NOT_ALLOWED: Code = Code::new(
    "PATH_NOT_ALLOWED",
    "Use a path beneath one of details.roots; the user can allow another directory with RAGMAKER_ALLOWED_ROOTS.",
);
/// The path may be read, not changed.
pub const PATH_NOT_WRITABLE: Code = Code::new(
    "PATH_NOT_WRITABLE",
    "Write beneath the project root; the user can allow another directory with RAGMAKER_ALLOWED_ROOTS=rw=DIR.",
);
/// An ignore file lists the path.
pub const PATH_IGNORED: Code = Code::new("PATH_IGNORED", "Choose another path, or let the call include ignored files.");
/// A FIFO, a socket, a device, or a file that a kernel makes up.
pub const NOT_A_REGULAR_FILE: Code = Code::new("NOT_A_REGULAR_FILE", "Name a regular file.");
/// The path is a directory, but a file is required.
pub const IS_A_DIRECTORY: Code = Code::new("IS_A_DIRECTORY", "Use ragmaker-list-directory to see its content.");
/// The path is a file, but a directory is required.
pub const NOT_A_DIRECTORY: Code = Code::new("NOT_A_DIRECTORY", "Use ragmaker-read-file to read a file.");
/// Symbolic links form a loop.
pub const SYMLINK_LOOP: Code = Code::new("SYMLINK_LOOP", "Name the file itself; the link has no target.");
/// The system does not let this user use the path.
pub const PERMISSION_DENIED: Code =
    Code::new("PERMISSION_DENIED", "Ask the user to change the permissions, or choose another file.");
/// The path became another one between the check and the use.
pub const PATH_CHANGED: Code =
    Code::new("PATH_CHANGED", "Something else is changing the tree: try again when it has finished.");
/// The system failed.
pub const IO_ERROR: Code = Code::new("IO_ERROR", "The message is from the operating system. Check the disk.");

/// None of the requested files exists.
pub const NO_FILES: Code =
    Code::new("NO_FILES", "Try a wider glob such as **/*.md; --no-ignore finds files that an ignore file lists.");

/// The error for `text` as the path of a file under `argument`, if it names a directory: it ends with a separator.
pub fn named_directory(argument: &str, text: &str) -> Option<Error> {
    let message = || format!("{argument} {text} ends with a separator: it names a directory");
    text.ends_with(std::path::is_separator).then(|| IS_A_DIRECTORY.error(message()).detail("path", text))
}

/// The codes of a tool that uses a path. Every such tool opens the path, so the codes of I/O errors are included.
pub const PATH_ERRORS: &[Code] = &[
    FILE_NOT_FOUND,
    PATH_NOT_ALLOWED,
    PERMISSION_DENIED,
    SYMLINK_LOOP,
    PATH_CHANGED,
    ROOT_NOT_USABLE,
    ROOT_TOO_BROAD,
    IO_ERROR,
];

/// The codes of a tool that opens a file, beside [`PATH_ERRORS`].
pub const FILE_ERRORS: &[Code] = &[IS_A_DIRECTORY, NOT_A_REGULAR_FILE];

/// The codes of [`io_error`].
pub const IO_ERRORS: &[Code] = &[FILE_NOT_FOUND, PERMISSION_DENIED, IS_A_DIRECTORY, SYMLINK_LOOP, IO_ERROR];

/// The system's error for `path`, as one of [`IO_ERRORS`] or, for a name that no file can have, `ARGUMENT_ERROR`.
pub fn io_error(error: &io::Error, path: &Path) -> Error {
    let code = match error.kind() {
        // A name that the file system cannot have, such as one that is too long.
        io::ErrorKind::InvalidFilename => {
            return ARGUMENT_ERROR
                .error(format!("the path {} cannot be used: {error}", path.display()))
                .remedy("Use another name: most file systems allow 255 bytes, and Windows no <>:\"|?*.")
                .detail("path", path.to_string_lossy());
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FILE_NOT_FOUND,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => PERMISSION_DENIED,
        io::ErrorKind::IsADirectory => IS_A_DIRECTORY,
        _ if is_link(error) => SYMLINK_LOOP,
        _ => IO_ERROR,
    };
    let failed = code.error(format!("{}: {error}", path.display())).detail("path", path.to_string_lossy());
    // Resolved paths are absolute. Only what a person names for a gathering tool is used as it is written.
    if failed.is(FILE_NOT_FOUND) && path.is_relative() { failed.remedy(FROM_WORKING_DIRECTORY) } else { failed }
}

/// The remedy for a relative path that a person gave as a flag.
const FROM_WORKING_DIRECTORY: &str = "Check the spelling; this path starts at the working directory.";

/// Whether an entry that a walk found no longer exists, or is now behind a link.
pub fn is_gone(error: &io::Error) -> bool {
    is_link(error) || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_the_codes_of_their_kinds() {
        for (kind, code) in [
            (io::ErrorKind::NotFound, FILE_NOT_FOUND),
            (io::ErrorKind::NotADirectory, FILE_NOT_FOUND),
            (io::ErrorKind::ReadOnlyFilesystem, PERMISSION_DENIED),
            (io::ErrorKind::IsADirectory, IS_A_DIRECTORY),
            (io::ErrorKind::StorageFull, IO_ERROR),
            (io::ErrorKind::InvalidFilename, ARGUMENT_ERROR),
        ] {
            let error = io_error(&kind.into(), Path::new("a b"));
            assert!(error.is(code) && error.details()["path"] == "a b", "{kind}: {error}");
        }
        let remedy = |path: &str| io_error(&io::ErrorKind::NotFound.into(), Path::new(path)).remediation().to_owned();
        assert!(remedy("a b").contains("working directory"));
        let absolute = std::env::temp_dir().join("a b");
        assert!(remedy(absolute.to_str().unwrap()).contains("project root"));
        assert!(is_gone(&io::ErrorKind::NotFound.into()) && !is_gone(&io::ErrorKind::PermissionDenied.into()));
    }
}
