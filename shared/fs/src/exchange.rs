//! Exchanging two directories atomically.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

/// Puts what is at `new` in the place of what is at `old`, and the other way round. Both are in one file system.
///
/// On Linux it is one step, so that a reader finds the one or the other. Where the kernel or the file system does not
/// have it, it takes three renames; [`recover`] mends what a process leaves that was killed between them.
///
/// # Errors
/// The system's error; both paths are then unchanged.
pub fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    by_renames(new, old)
}

fn by_renames(new: &Path, old: &Path) -> io::Result<()> {
    let backup = backup_of(new);
    fs::rename(old, &backup)?;
    if let Err(error) = fs::rename(new, old) {
        fs::rename(&backup, old)?;
        return Err(error);
    }
    fs::rename(&backup, new)
}

/// Mends what an [`exchange`] leaves whose process was killed: `old` is there again, and what is at `new`, if
/// anything, is not needed.
///
/// # Errors
/// The system's error.
pub fn recover(new: &Path, old: &Path) -> io::Result<()> {
    let backup = backup_of(new);
    if backup.symlink_metadata().is_err() {
        return Ok(());
    }
    let to = if old.symlink_metadata().is_err() { old } else { new };
    fs::rename(&backup, to)
}

fn backup_of(new: &Path) -> PathBuf {
    let mut name = new.file_name().map(OsString::from).unwrap_or_default();
    name.push(".backup");
    new.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_change_places() {
        for exchange in [exchange, by_renames] {
            let folder = tempfile::tempdir().unwrap();
            let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
            for path in [&old, &new] {
                fs::create_dir(path).unwrap();
                fs::write(path.join("name"), path.file_name().unwrap().as_encoded_bytes()).unwrap();
            }
            exchange(&new, &old).unwrap();
            let name = |path: &Path| fs::read_to_string(path.join("name")).unwrap();
            assert_eq!((name(&old), name(&new)), ("new".to_owned(), "old".to_owned()));
            assert!(exchange(&folder.path().join("none"), &old).is_err());
            assert_eq!(name(&old), "new");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn an_interrupted_exchange_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        recover(&new, &old).unwrap();
        // After the first rename, and after the second.
        fs::create_dir(&old).unwrap();
        fs::rename(&old, backup_of(&new)).unwrap();
        recover(&new, &old).unwrap();
        assert!(old.exists() && !backup_of(&new).exists());
        fs::create_dir(backup_of(&new)).unwrap();
        recover(&new, &old).unwrap();
        assert!(old.exists() && new.exists() && !backup_of(&new).exists());
    }
}
