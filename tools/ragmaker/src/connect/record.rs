//! What `ragmaker connect` keeps of each file that it changed: what was there before, for `--remove`.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_project::create_private;
use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::CANNOT_WRITE;

/// The records of this user.
pub(crate) struct Records {
    folder: PathBuf,
}

/// The record of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The path, for a person who reads the record.
    path: String,
    /// What the file contained before; null if there was none.
    pub(super) before: Option<String>,
    /// The checksum of what was written.
    written: String,
    /// The number of folders above the file that were made for it.
    folders: usize,
    /// The number of folders above this record that were made for it.
    own_folders: usize,
}

impl Record {
    /// The record of the file at `path`, which contained `before`, if it was there, and now contains `after`.
    pub(super) fn new(path: &Path, before: Option<String>, after: &str) -> Self {
        let path = path.to_string_lossy().into_owned();
        Self { path, before, written: checksum(after), folders: 0, own_folders: 0 }
    }

    /// Whether `text` is exactly what was written.
    pub(super) fn is_of(&self, text: &str) -> bool {
        self.written == checksum(text)
    }
}

impl Records {
    /// Those of the user of this process.
    ///
    /// # Errors
    ///
    /// [`CANNOT_WRITE`] if the user has no folder for configurations.
    pub(crate) fn of_user() -> Result<Self, Error> {
        let folder = ragmaker_config::user_folder();
        let folder = folder.ok_or_else(|| CANNOT_WRITE.error("the user's configuration folder is not known"))?;
        Ok(Self::new(folder.join("connect")))
    }

    /// Those in `folder`, which need not exist.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The record of the file at `path`. One that cannot be read is none.
    pub(super) fn of(&self, path: &Path) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.place(path)).ok()?).ok()
    }

    /// Writes `record` of the file at `path`, which is written next: the folders that are missing are made for it. `known`
    /// is the record that there was when `record` was made.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn keep(&self, path: &Path, record: &Record, known: Option<&Record>) -> io::Result<()> {
        let folders = missing_folders(path);
        // Read after the folders are counted: another run that does the same has made them, or has written its record.
        let old = self.of(path);
        let (old_folders, old_own_folders) = old.as_ref().map_or((0, 0), |old| (old.folders, old.own_folders));
        let before = match old {
            // Another run has written the same meanwhile, and knows what was there before.
            Some(old) if old.written == record.written && Some(&old) != known => old.before,
            _ => record.before.clone(),
        };
        let place = self.place(path);
        let own_folders = missing_folders(&place).max(old_own_folders);
        self.write(path, &Record { before, folders: folders.max(old_folders), own_folders, ..record.clone() })
    }

    /// Makes `record` the record of the file at `path`, or with `None`, removes that which there is.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn reset(&self, path: &Path, record: Option<&Record>) -> io::Result<()> {
        match record {
            Some(record) => self.write(path, record),
            None => match fs::remove_file(self.place(path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }

    fn write(&self, path: &Path, record: &Record) -> io::Result<()> {
        let place = self.place(path);
        let write = || -> io::Result<()> {
            create_private(&self.folder)?;
            // Settings may contain keys.
            let replace = Replace { mode: 0o600, ..Replace::default() };
            let text = serde_json::to_vec(record)?;
            write_atomically(&place, replace, |file| file.write_all(&text)).map(drop)
        };
        write().map_err(|error| io::Error::new(error.kind(), format!("its copy in {}: {error}", place.display())))
    }

    /// Removes the folders that were made for the files at the paths in `gone`, each with its record, if they are empty.
    /// The order is the reverse of that in which the files were written.
    pub(super) fn remove_folders<'a>(&self, gone: impl Iterator<Item = (&'a Path, &'a Record)>) {
        let mut own_folders = 2;
        for (path, record) in gone {
            remove_empty(path, record.folders);
            own_folders = own_folders.max(record.own_folders);
        }
        remove_empty(&self.folder.join("record"), own_folders);
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", checksum(&path.to_string_lossy())))
    }
}

/// The number of folders above `path` that do not exist.
fn missing_folders(path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|folder| fs::symlink_metadata(folder).is_err()).count()
}

/// Removes those of the next `count` folders above `path` that are empty.
fn remove_empty(path: &Path, count: usize) {
    // The first that is not empty ends this: those above it are not empty either.
    let _ = path.ancestors().skip(1).take(count).try_for_each(fs::remove_dir);
}

fn checksum(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_were_made_are_removed_while_they_are_empty() {
        let home = tempfile::tempdir().unwrap();
        let records = Records::new(home.path().join(".config/ragmaker/connect"));
        let paths = [".client/a/one", ".client/settings"].map(|path| home.path().join(path));
        for path in &paths {
            records.keep(path, &Record::new(path, None, "new"), None).unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        let kept: Vec<_> = paths.iter().rev().map(|path| (path, records.of(path).unwrap())).collect();
        fs::write(home.path().join(".client/own"), "").unwrap();
        for (path, _) in &kept {
            records.reset(path, None).unwrap();
        }
        records.remove_folders(kept.iter().map(|(path, record)| (path.as_path(), record)));
        let left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".client"]);
        assert!(!home.path().join(".client/a").exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_record_is_private_and_of_one_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().join("connect"));
        let path = folder.path().join("settings");
        let record = Record::new(&path, Some("old".to_owned()), "new");
        records.keep(&path, &record, None).unwrap();
        let found = records.of(&path).unwrap();
        assert!(found.is_of("new") && !found.is_of("old") && found.before.as_deref() == Some("old"));
        assert_eq!(records.of(&folder.path().join("other")), None);
        assert_eq!(fs::metadata(records.place(&path)).unwrap().permissions().mode() & 0o777, 0o600);
        // A second run that writes the same does not take the result of the first for what was there before.
        let second = Record::new(&path, Some("new".to_owned()), "new");
        records.keep(&path, &second, None).unwrap();
        assert_eq!(records.of(&path).unwrap().before.as_deref(), Some("old"));
        // A later run that knows of the first does.
        records.keep(&path, &second, Some(&found)).unwrap();
        assert_eq!(records.of(&path).unwrap().before.as_deref(), Some("new"));
        fs::write(records.place(&path), "{").unwrap();
        assert_eq!(records.of(&path), None);
    }
}
