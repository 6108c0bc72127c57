//! The catalog lock: only one process at a time changes a catalog.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
    time::{Duration, Instant},
};

use ragmaker_fs::{LockKind, lock_within};
use ragmaker_tool::Error;

use crate::{
    error::{CATALOG_LOCKED, not_writable},
    replace::sibling,
};

/// The exclusive right to change a catalog, until it is dropped or its process ends.
///
/// The lock is a separate file beside the catalog, because every change replaces the catalog file. It is never deleted,
/// because waiting processes have it open.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl Lock {
    /// Waits at most `wait` for the lock of the catalog `file`.
    pub(crate) fn acquire(file: &Path, wait: Duration) -> Result<Self, Error> {
        let path = sibling(file, "lock");
        let refuse =
            |error: &dyn std::fmt::Display| not_writable(file, &format_args!("its lock {}: {error}", path.display()));
        // Opening a pipe could wait for ever, and following a link would make a file elsewhere.
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => return Err(refuse(&"it is not a regular file")),
            _ => {}
        }
        let lock = match OpenOptions::new().write(true).create(true).truncate(false).open(&path) {
            // Another user's lock: reading it is enough to hold it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(&path).map_err(|_| error),
            opened => opened,
        };
        let lock = lock.map_err(|error| refuse(&error))?;
        match lock_within(lock, LockKind::Exclusive, Instant::now() + wait) {
            Ok(Some(lock)) => Ok(Self(lock)),
            Ok(None) => Err(CATALOG_LOCKED
                .error(format!("the catalog {} is still locked after {} seconds", file.display(), wait.as_secs_f32()))
                .detail("lock_file", path.to_string_lossy())),
            Err(error) => Err(refuse(&error)),
        }
    }
}
