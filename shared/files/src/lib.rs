//! Access to files: which files may be read and written, and race-free opening of the checked paths.
//!
//! All paths are handled in three steps. [`Roots`] contains the directories that the agent may use. [`Roots::place`]
//! resolves a path to a [`ResolvedPath`] beneath one of them. [`ResolvedPath::open`] opens exactly that place, or
//! fails, even if the directory tree changes in between.

#[cfg(unix)]
mod attributes;
mod caller_paths;
mod catalog_access;
mod change;
mod clear;
#[cfg(unix)]
mod cross_device;
mod delete;
mod error;
mod file_url;
mod ignored;
mod input;
mod merge;
mod open;
mod place;
mod roots;
mod rules;
mod secrets;
mod similar;
mod statistics;
mod suggest;
mod trash;
#[cfg(windows)]
mod unsupported;
mod walk;

pub use caller_paths::{
    InputFiles, OutputFile, check_start, input_directory, input_file, output_directory, output_file,
};
pub use change::{ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, FILE_LOCKED, Written};
pub use clear::{CLEAR_ERRORS, Cleared, Trashed, clear};
pub use delete::{Deleted, ExpectedKind, delete};
pub use error::{
    FILE_ERRORS, FILE_NOT_FOUND, IO_ERROR, IO_ERRORS, IS_A_DIRECTORY, NO_FILES, NOT_A_DIRECTORY, NOT_A_REGULAR_FILE,
    PATH_CHANGED, PATH_ERRORS, PATH_IGNORED, PATH_NOT_ALLOWED, PATH_NOT_WRITABLE, PERMISSION_DENIED, SYMLINK_LOOP,
    io_error, is_gone, named_directory,
};
pub use ignored::Ignored;
pub use input::{InputError, read_session_file, read_standard_input, read_text_file};
pub use merge::Merged;
pub use open::{EntryKind, EntryMetadata, EntryReader, Opener};
pub use place::ResolvedPath;
pub use ragmaker_fs::rfc3339;
pub use ragmaker_project::{ROOT_NOT_USABLE, ROOT_TOO_BROAD};
pub use roots::{Root, RootKind, Roots};
pub use rules::IGNORE_FILES;
pub use statistics::{Count, FileStatistics, file_statistics};
pub use walk::{Glob, Walk, WalkResult, collect, lossy_text, walk};

// What a walk gives.
pub use ignore::{DirEntry, WalkBuilder, WalkState};
