//! The catalog lock: only one process at a time changes a catalog.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    time::{Duration, Instant},
};

use ragmaker_fs::{LockKind, lock_within, open_derived_file};
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
        let lock = match open_derived_file(&path, OpenOptions::new().write(true).create(true).truncate(false)) {
            // Another user's lock: reading it is enough to hold it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_derived_file(&path, OpenOptions::new().read(true)).map_err(|_| error)
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CATALOG_NOT_WRITABLE;
    #[cfg(unix)]
    use std::fs;

    #[test]
    fn a_lock_is_held_by_one_and_stays_as_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.json");
        let acquire = || Lock::acquire(&file, Duration::from_millis(20));
        let first = acquire().unwrap();
        let error = acquire().unwrap_err();
        let path = folder.path().join(".catalog.json.lock");
        assert!(error.is(CATALOG_LOCKED) && error.details()["lock_file"] == path.to_str().unwrap(), "{error}");
        drop(first);
        assert!(path.is_file() && acquire().is_ok());
        let nowhere = folder.path().join("none/catalog.json");
        assert!(Lock::acquire(&nowhere, Duration::ZERO).unwrap_err().is(CATALOG_NOT_WRITABLE));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_folder_in_the_place_of_the_lock_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.json");
        let (path, target) = (folder.path().join(".catalog.json.lock"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let refused = || Lock::acquire(&file, Duration::ZERO).unwrap_err().is(CATALOG_NOT_WRITABLE);
        assert!(refused() && !target.exists());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refused());
        fs::remove_dir(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(refused());
    }
}
