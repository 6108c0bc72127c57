//! Writing the changes of a client's files: all of them, or none.

use std::{fmt, fs, io, io::Write as _, path::Path};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::Error;

use super::{
    CANNOT_WRITE, CONFIG_CHANGED,
    change::{Change, read},
    record::Records,
};

/// Writes `changes`, of which the first is that of the settings. A client that is being connected gets the settings last,
/// because they name what the other files need; one that is being disconnected loses them first. After an error, what was
/// written is taken back.
///
/// # Errors
///
/// [`CONFIG_CHANGED`] if another program changed a file meanwhile, [`CANNOT_WRITE`].
pub(super) fn write_all(changes: &[Change], remove: bool, records: &Records) -> Result<(), Error> {
    let mut order: Vec<&Change> = changes.iter().filter(|change| change.is_written()).collect();
    if !remove {
        order.reverse();
    }
    for (index, change) in order.iter().enumerate() {
        if let Err(error) = change.write(records) {
            let done = order[..index].iter().rev();
            let left: Vec<_> =
                done.filter(|change| change.take_back(records).is_err()).map(|change| change.shown()).collect();
            return Err(if left.is_empty() { error } else { error.detail("written", left) });
        }
    }
    if remove {
        let gone = order.iter().filter_map(|change| Some((&*change.path, change.old_record.as_ref()?)));
        records.remove_folders(gone);
    }
    Ok(())
}

/// What another program did to a file between its reading and its writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interference {
    Changed,
    WroteTheSame,
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "another program changed it meanwhile",
            Self::WroteTheSame => "another program wrote the same",
        })
    }
}

impl std::error::Error for Interference {}

impl Interference {
    /// The interference that `error` reports.
    fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl Change {
    /// Refuses a file that may not be written: its folder would allow to replace it.
    ///
    /// # Errors
    ///
    /// [`CANNOT_WRITE`].
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_read_only = || fs::metadata(&self.path).is_ok_and(|data| data.permissions().readonly());
        if self.is_written() && is_read_only() {
            return Err(self.failed(&io::Error::other("it is read-only")));
        }
        Ok(())
    }

    fn write(&self, records: &Records) -> Result<(), Error> {
        let put = || self.replace(self.before.as_deref(), self.after.as_deref());
        let outcome = match &self.new_record {
            Some(record) => records.keep(&self.path, record, self.old_record.as_ref()).and_then(|()| put()),
            None => put().and_then(|()| records.reset(&self.path, None)),
        };
        outcome.map_err(|error| {
            self.forget(records);
            self.failed(&error)
        })
    }

    /// Gives the file back what it contained before [`Self::write`].
    fn take_back(&self, records: &Records) -> io::Result<()> {
        self.replace(self.after.as_deref(), self.before.as_deref())?;
        self.forget(records);
        Ok(())
    }

    /// Resets the record, and removes the folders that were made just now.
    fn forget(&self, records: &Records) {
        let record = records.of(&self.path);
        let is_of_another_run = |after: &str| record.as_ref().is_some_and(|record| !record.is_of(after));
        if self.new_record.is_some() && self.after.as_deref().is_some_and(is_of_another_run) {
            return;
        }
        // The error that led here is the one to report.
        let _ = records.reset(&self.path, self.old_record.as_ref());
        if self.old_record.is_none() {
            records.remove_folders(record.iter().map(|record| (&*self.path, record)));
        }
    }

    /// Puts `to` in place of `from`; `None` stands for a missing file.
    fn replace(&self, from: Option<&str>, to: Option<&str>) -> io::Result<()> {
        let check = || match read(&self.path) {
            Ok(now) if now.as_deref() == from => Ok(()),
            Ok(now) if now.as_deref() == to => Err(io::Error::other(Interference::WroteTheSame)),
            _ => Err(io::Error::other(Interference::Changed)),
        };
        let outcome = match to {
            None => check().and_then(|()| fs::remove_file(&self.path)),
            Some(text) => {
                fs::create_dir_all(self.path.parent().unwrap_or(Path::new("/")))?;
                // Clients keep keys in their settings. A file that is there keeps its permissions.
                let mode = if self.key.is_some() { 0o600 } else { 0o666 };
                let replace = Replace { mode, check: &check, ..Replace::default() };
                write_atomically(&self.path, replace, |file| file.write_all(text.as_bytes())).map(drop)
            }
        };
        match outcome {
            Err(error) if Interference::of(&error) == Some(Interference::WroteTheSame) => Ok(()),
            outcome => outcome,
        }
    }

    fn failed(&self, error: &io::Error) -> Error {
        let is_changed = Interference::of(error) == Some(Interference::Changed);
        let code = if is_changed { CONFIG_CHANGED } else { CANNOT_WRITE };
        code.error(format!("cannot write {}: {error}", self.path.display())).detail("path", self.shown())
    }

    fn shown(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Planned, *};
    use serde_json::json;

    fn planned(path: &Path) -> Planned {
        Planned::json(path.to_owned(), ["mcpServers", "ragmaker"], json!({"command": "ragmaker", "args": ["mcp"]}))
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().join("ragmaker/connect"));
        let path = folder.path().join("new/settings.json");
        for before in [None, Some("{}")] {
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            let change = planned(&path).change(&records, false, false).unwrap().unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "{\"important\": 1}").unwrap();
            assert!(write_all(&[change], false, &records).unwrap_err().is(CONFIG_CHANGED));
            assert_eq!(fs::read_to_string(&path).unwrap(), "{\"important\": 1}");
            assert!(records.of(&path).is_none());
        }
    }

    #[test]
    fn two_runs_that_write_the_same_succeed_and_keep_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().join("ragmaker/connect"));
        let path = folder.path().join("settings.json");
        fs::write(&path, "{ }").unwrap();
        let change = || planned(&path).change(&records, false, false).unwrap().unwrap();
        let runs = [change(), change()];
        for run in runs {
            write_all(&[run], false, &records).unwrap();
        }
        assert!(planned(&path).change(&records, false, false).unwrap().is_none());
        write_all(&[planned(&path).change(&records, true, false).unwrap().unwrap()], true, &records).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_written_is_taken_back_after_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().join("ragmaker/connect"));
        let settings = folder.path().join("settings.json");
        fs::write(&settings, "{ }").unwrap();
        let command = folder.path().join("commands/rag.md");
        let planned = [planned(&settings), Planned::file(command, "Text.\n")];
        let changes = planned.map(|planned| planned.change(&records, false, false).unwrap().unwrap());
        fs::write(&settings, "{\"a\": 1}").unwrap();
        // The settings are written last, and fail.
        assert!(write_all(&changes, false, &records).unwrap_err().is(CONFIG_CHANGED));
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["settings.json"]);
    }

    #[test]
    #[cfg(unix)]
    fn new_settings_are_private_and_read_only_files_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().join("ragmaker/connect"));
        let path = folder.path().join("settings.json");
        write_all(&[planned(&path).change(&records, false, false).unwrap().unwrap()], false, &records).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let change = planned(&path).change(&records, true, false).unwrap().unwrap();
        assert!(change.check().unwrap_err().is(CANNOT_WRITE));
    }
}
