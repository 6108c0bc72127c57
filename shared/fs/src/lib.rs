//! Atomic writing of files, file locks with a deadline, exchange of directories, and times as RFC 3339.
//!
//! All crates that change files use [`write_atomically`] and [`lock_within`], so they give the same guarantees. What
//! differs between Linux, macOS and Windows is here: handles of directories that follow no links ([`Directory`]), and
//! the rules for paths and names.

mod atomic;
mod derived;
mod directory;
mod exchange;
mod lock;
mod path;
mod system;
mod time;
pub mod windows_paths;

pub use atomic::{Replace, private_options, sweep_folders, sweep_temporary, temporary_name, write_atomically};
pub use derived::{create_derived_folder, open_derived_file};
pub use directory::{Directory, FileKind, Metadata, is_link, read_at};
pub use exchange::{exchange, recover};
pub use lock::{LockKind, lock_within};
#[cfg(unix)]
pub use path::keep_owner;
pub use path::{canonicalize, is_root, is_same_name, owner_id, starts_with_name, user_id, volume};
pub use time::{moment, rfc3339};
