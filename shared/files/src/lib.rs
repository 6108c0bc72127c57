//! Where files may be read and written, and how they are opened so that the check holds.
//!
//! Every path goes the same way: [`Roots`] says which directories are open to the agent,
//! [`Roots::place`] resolves a path to one place beneath one of them, and [`Place::open`] opens
//! exactly that place or nothing, whatever happens to the tree meanwhile.

mod catalog;
mod change;
mod error;
mod ignored;
mod near;
mod open;
mod page;
mod pattern;
mod place;
mod roots;
mod rules;
mod time;
mod trash;
mod walk;

pub use change::{ALREADY_EXISTS, CROSS_DEVICE, DIRECTORY_NOT_EMPTY, Written};
pub use error::{
    FILE_NOT_FOUND, IO_ERROR, IS_A_DIRECTORY, NOT_A_DIRECTORY, NOT_A_REGULAR_FILE, PATH_CHANGED, PATH_IGNORED,
    PATH_NOT_ALLOWED, PATH_NOT_WRITABLE, PERMISSION_DENIED, ROOT_NOT_USABLE, ROOT_TOO_BROAD, SYMLINK_LOOP, io_error,
    is_gone,
};
pub use ignored::Ignored;
pub use open::{EntryKind, Looker, Opener, Seen};
pub use page::{Next, Page};
pub use place::Place;
pub use roots::{Asked, Candidate, Kind, MARKERS, Root, Roots, Source};
pub use rules::IGNORE_FILES;
pub use time::rfc3339;
pub use walk::{Glob, Met, Walk, meet, shown, walk};

// What a walk gives.
pub use ignore::{DirEntry, WalkBuilder, WalkState};
