//! Writing a file atomically, taking a file lock with a deadline, and times as RFC 3339.
//!
//! What these promise is the same for every crate that changes files: see [`write_atomically`] and
//! [`lock_within`].

mod atomic;
mod exchange;
mod lock;
mod time;

pub use atomic::{Replace, write_atomically};
#[cfg(unix)]
pub use atomic::{rename_in, write_in};
pub use exchange::{exchange, recover};
pub use lock::{LockKind, lock_within};
pub use time::rfc3339;
