//! One writer at a time, over all processes.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use fs2::FileExt;
use ragmaker_tool::{Code, Error};

use crate::draft::{not_writable, sibling};

/// Other writers kept the lock for the whole wait.
pub const CATALOG_LOCKED: Code =
    Code::new("CATALOG_LOCKED", "Another process is writing the catalog: let it end, then call again.");

/// The exclusive right to change a catalog, held until it is dropped or its process ends.
///
/// The lock is a file of its own beside the catalog, since every change puts another file in the
/// catalog's place; it is never deleted, since whoever waits for it has it open.
pub(crate) struct Lock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

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
        if lock.try_lock_exclusive().is_ok() {
            return Ok(Self(lock));
        }
        // The kernel wakes those who wait in order, which trying again and again would not. A wait
        // that is given up ends as soon as the lock is free.
        let (sender, receiver) = mpsc::channel();
        let waiter = thread::Builder::new().spawn(move || sender.send(lock.lock_exclusive().map(|()| lock)));
        waiter.map_err(|error| refuse(&error))?;
        match receiver.recv_timeout(wait) {
            Ok(Ok(lock)) => Ok(Self(lock)),
            Ok(Err(error)) => Err(refuse(&error)),
            Err(_) => Err(CATALOG_LOCKED
                .error(format!("the catalog {} was locked for {} seconds", file.display(), wait.as_secs_f32()))
                .detail("lock_file", path.to_string_lossy())),
        }
    }
}
