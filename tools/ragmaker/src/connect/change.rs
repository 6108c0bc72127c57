//! Changes of a client's files: computed, shown, and then written.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::{Error, printable};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{CANNOT_WRITE, CONFIG_CHANGED, CONFIG_UNREADABLE, json, toml};

/// A file with what it has to contain.
pub(crate) struct Planned {
    path: PathBuf,
    content: Content,
}

enum Content {
    /// The entry at two keys of a file of settings.
    Entry(Format, [&'static str; 2], Value),
    /// The whole file.
    Whole(String),
}

#[derive(Clone, Copy)]
enum Format {
    /// JSON, which may have comments.
    Json,
    Toml,
}

/// The action for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// It is made.
    Create,
    /// A part of it changes, or all.
    Change,
    /// It is deleted.
    Delete,
    /// It stays: the person wrote or changed it.
    Keep,
}

/// The change of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    path: PathBuf,
    action: Action,
    /// The keys of the entry that changes, joined by dots; null for a whole file.
    key: Option<String>,
    /// The new value of the entry; null if it is removed, and for a whole file.
    entry: Option<Value>,
    #[serde(skip)]
    before: Option<String>,
    #[serde(skip)]
    after: String,
}

/// The mark at the beginning of some files, which no parser expects.
const BOM: char = '\u{feff}';

impl Planned {
    pub(super) fn json(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Entry(Format::Json, keys, value) }
    }

    pub(super) fn toml(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Entry(Format::Toml, keys, value) }
    }

    pub(super) fn file(path: PathBuf, text: &str) -> Self {
        Self { path, content: Content::Whole(marked(text)) }
    }

    /// The program that the entry in the file starts; `None` if there is no entry.
    ///
    /// # Errors
    ///
    /// [`CONFIG_UNREADABLE`].
    pub(crate) fn command(&self) -> Result<Option<String>, Error> {
        let Some(text) = read(&self.path)? else { return Ok(None) };
        let text = text.trim_start_matches(BOM);
        match &self.content {
            Content::Entry(Format::Json, keys, _) => json::command(text, *keys),
            Content::Entry(Format::Toml, keys, _) => toml::command(text, *keys),
            Content::Whole(_) => Ok(None),
        }
        .map_err(|reason| unreadable(&self.path, &reason))
    }

    /// The change that gives the file the content, or with `remove`, takes the content from it; `None` if there is
    /// nothing to change. The person's additions to an entry, and a whole file that this program did not write or
    /// that the person changed, are replaced or removed only with `replace`.
    ///
    /// # Errors
    ///
    /// [`CONFIG_UNREADABLE`].
    pub(crate) fn change(self, remove: bool, replace: bool) -> Result<Option<Change>, Error> {
        let path = resolved(self.path)?;
        let before = read(&path)?;
        if remove && before.is_none() {
            return Ok(None);
        }
        let text = before.as_deref().unwrap_or_default();
        let mut action = if before.is_none() { Action::Create } else { Action::Change };
        let (mut key, mut entry) = (None, None);
        let after = match self.content {
            Content::Entry(format, keys, value) => {
                key = Some(keys.join("."));
                entry = (!remove).then(|| value.clone());
                let mark = if text.starts_with(BOM) { "\u{feff}" } else { "" };
                let content = text.trim_start_matches(BOM);
                let changed = match (format, remove) {
                    (Format::Json, true) => json::without(content, keys),
                    (Format::Json, false) => json::with(content, keys, value, replace),
                    (Format::Toml, true) => toml::without(content, keys),
                    (Format::Toml, false) => toml::with(content, keys, value, replace),
                };
                format!("{mark}{}", changed.map_err(|reason| unreadable(&path, &reason))?)
            }
            Content::Whole(new) => {
                let is_own = before.as_ref().is_some_and(|before| !is_as_written(before)) && !replace;
                if is_own {
                    action = Action::Keep;
                    text.to_owned()
                } else if remove {
                    action = Action::Delete;
                    String::new()
                } else {
                    new
                }
            }
        };
        let is_needed = action == Action::Keep || before.as_ref() != Some(&after);
        Ok(is_needed.then_some(Change { path, action, key, entry, before, after }))
    }
}

impl Change {
    /// Whether something is written.
    pub(crate) fn is_written(&self) -> bool {
        self.action != Action::Keep
    }

    /// The change for a person. The rest of the file is not shown: it may contain keys.
    pub(crate) fn description(&self) -> String {
        let path = self.path.display();
        let text = match (self.action, &self.key, &self.entry) {
            (Action::Keep, ..) => format!("keep {path}: this command did not write it, or it was changed"),
            (Action::Delete, ..) => format!("delete {path}"),
            (_, Some(key), Some(entry)) => format!("set {key} in {path}:\n{entry:#}"),
            (_, Some(key), None) => format!("remove {key} from {path}"),
            (Action::Change, None, _) => format!("replace {path}, {} lines", self.after.lines().count()),
            (Action::Create, None, _) => format!("new file {path}, {} lines", self.after.lines().count()),
        };
        printable(&text)
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// [`CONFIG_CHANGED`] if another program changed the file meanwhile, [`CANNOT_WRITE`].
    pub(crate) fn write(&self) -> Result<(), Error> {
        let failed = |error: io::Error| {
            let (code, path) = (if is_changed(&error) { CONFIG_CHANGED } else { CANNOT_WRITE }, self.path.display());
            code.error(format!("cannot write {path}: {error}")).detail("path", self.path.to_string_lossy())
        };
        let unchanged = || if read(&self.path).is_ok_and(|now| now == self.before) { Ok(()) } else { Err(changed()) };
        match self.action {
            Action::Keep => Ok(()),
            Action::Delete => unchanged().and_then(|()| fs::remove_file(&self.path)).map_err(failed),
            Action::Create | Action::Change => {
                if let Some(folder) = self.path.parent() {
                    fs::create_dir_all(folder).map_err(failed)?;
                }
                // Clients keep keys in their settings. A file that is there keeps its permissions.
                let mode = if self.key.is_some() { 0o600 } else { 0o666 };
                let replace = Replace { mode, check: &unchanged, ..Replace::default() };
                let written = write_atomically(&self.path, replace, |file| file.write_all(self.after.as_bytes()));
                written.map(drop).map_err(failed)
            }
        }
    }
}

/// The beginning of the line with which a whole file says that this program wrote it: a comment in TOML and in the front
/// matter of Markdown. The checksum of the other lines follows.
const MARK: &str = "# Written by ragmaker connect, which replaces the file while its checksum is ";

/// `text` with the mark.
fn marked(text: &str) -> String {
    let mark = format!("{MARK}{}\n", checksum(text));
    match text.strip_prefix("---\n") {
        Some(rest) => format!("---\n{mark}{rest}"),
        None => mark + text,
    }
}

/// Whether `text` is as this program wrote it, in this version or an older one.
fn is_as_written(text: &str) -> bool {
    let (marks, others): (Vec<_>, Vec<_>) = text.split_inclusive('\n').partition(|line| line.starts_with(MARK));
    matches!(marks[..], [mark] if mark[MARK.len()..].trim_end() == checksum(&others.concat()))
}

fn checksum(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))[..16].to_owned()
}

const CHANGED: &str = "another program changed it meanwhile";

fn changed() -> io::Error {
    io::Error::other(CHANGED)
}

fn is_changed(error: &io::Error) -> bool {
    error.to_string() == CHANGED
}

/// The file itself: a configuration that is a link stays one, and its target is changed.
fn resolved(path: PathBuf) -> Result<PathBuf, Error> {
    match ragmaker_fs::canonicalize(&path) {
        Ok(path) => Ok(path),
        Err(_) if fs::symlink_metadata(&path).is_err() => Ok(path),
        Err(error) => Err(unreadable(&path, &format!("it is a link that leads nowhere: {error}"))),
    }
}

/// The text of the file; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error.to_string())),
        Ok(data) if !data.is_file() => return Err(unreadable(path, "it is not a file")),
        Ok(_) => {}
    }
    fs::read_to_string(path).map(Some).map_err(|error| unreadable(path, &error.to_string()))
}

fn unreadable(path: &Path, reason: &str) -> Error {
    CONFIG_UNREADABLE
        .error(format!("{} cannot be read: {reason}", path.display()))
        .detail("path", path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn planned(path: &Path) -> Planned {
        Planned::json(path.to_owned(), ["mcpServers", "ragmaker"], json!({"command": "ragmaker"}))
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        for before in [None, Some("{}")] {
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            let change = planned(&path).change(false, false).unwrap().unwrap();
            fs::write(&path, "{\"important\": 1}").unwrap();
            assert!(change.write().unwrap_err().is(CONFIG_CHANGED));
            assert_eq!(fs::read_to_string(&path).unwrap(), "{\"important\": 1}");
        }
        planned(&path).change(false, false).unwrap().unwrap().write().unwrap();
        assert_eq!(planned(&path).command().unwrap().as_deref(), Some("ragmaker"));
    }

    #[test]
    fn a_file_of_an_older_version_is_replaced_until_the_person_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, old, new) in
            [("rag.md", "---\na: 1\n---\nOld.\n", "---\na: 1\n---\nNew.\n"), ("rag.toml", "a = 1\n", "a = 2\n")]
        {
            let path = folder.path().join(name);
            let change = |text: &str, remove| Planned::file(path.clone(), text).change(remove, false).unwrap();
            change(old, false).unwrap().write().unwrap();
            assert!(change(old, false).is_none());
            let update = change(new, false).unwrap();
            assert_eq!(update.action, Action::Change);
            update.write().unwrap();
            let written = fs::read_to_string(&path).unwrap();
            assert!(written.contains(new.trim_start_matches("---\n")), "{written}");
            assert_eq!(written.starts_with("---\n"), name == "rag.md", "{written}");
            // Another version removes what this one wrote.
            assert_eq!(change(old, true).unwrap().action, Action::Delete);
            fs::write(&path, written + "Mine.\n").unwrap();
            for remove in [false, true] {
                assert_eq!(change(old, remove).unwrap().action, Action::Keep);
            }
            fs::write(&path, "mine\n").unwrap();
            assert_eq!(change(new, false).unwrap().action, Action::Keep);
        }
    }

    #[test]
    fn a_mark_at_the_beginning_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "\u{feff}{\r\n  \"a\": 1\r\n}\r\n").unwrap();
        planned(&path).change(false, false).unwrap().unwrap().write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("\u{feff}{\r\n") && !text.replace("\r\n", "").contains('\n'), "{text:?}");
        planned(&path).change(true, false).unwrap().unwrap().write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{\r\n  \"a\": 1\r\n}\r\n");
    }

    #[test]
    #[cfg(unix)]
    fn new_settings_are_private_and_odd_files_are_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        planned(&path).change(false, false).unwrap().unwrap().write().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        let odd = folder.path().join("link");
        symlink("nowhere", &odd).unwrap();
        assert!(planned(&odd).change(false, false).unwrap_err().is(CONFIG_UNREADABLE));
        assert!(planned(folder.path()).change(false, false).unwrap_err().is(CONFIG_UNREADABLE));
    }
}
