//! Atomic writing of files, file locks with a deadline, exchange of directories, and times as RFC 3339.
//!
//! All crates that change files use [`write_atomically`] and [`lock_within`], so they give the same guarantees.

mod atomic;
mod derived;
mod exchange;
mod lock;
mod time;

pub use atomic::{Replace, sweep_folders, sweep_temporary, temporary_name, write_atomically};
#[cfg(unix)]
pub use atomic::{rename_in, write_in};
pub use derived::{create_derived_folder, open_derived_file};
pub use exchange::{exchange, recover};
pub use lock::{LockKind, lock_within};
pub use time::rfc3339;
