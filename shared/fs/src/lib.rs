//! Atomic writing of files, file locks with a deadline, exchange of directories, and times as RFC 3339.
//!
//! All crates that change files use [`write_atomically`] and [`lock_within`], so they give the same guarantees.

mod atomic;
mod exchange;
mod lock;
mod own;
mod time;

pub use atomic::{Replace, sweep_folders, sweep_temporary, temporary_name, write_atomically};
#[cfg(unix)]
pub use atomic::{rename_in, write_in};
pub use exchange::{exchange, recover};
pub use lock::{LockKind, lock_within};
pub use own::{create_own_folder, open_own_file};
pub use time::rfc3339;
