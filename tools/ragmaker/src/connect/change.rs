//! Changes of a client's files: computed from what is there and from the record of what was there before.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ragmaker_tool::{Error, printable};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    CONFIG_UNREADABLE, json,
    record::{Record, Records},
    toml,
};
use crate::form::as_text;

/// A file with what it has to contain.
pub(crate) struct Planned {
    path: PathBuf,
    content: Content,
}

enum Content {
    /// An entry of a file of settings, and its value.
    Entry(Entry, Value),
    /// The whole file.
    Whole(String),
}

/// The place of an entry.
#[derive(Clone, Copy)]
struct Entry {
    format: Format,
    keys: [&'static str; 2],
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
pub(super) enum Action {
    /// It is made.
    Create,
    /// A part of it changes, or all.
    Change,
    /// It gets back what this command had replaced.
    Restore,
    /// It is deleted.
    Delete,
    /// It stays: the person wrote or changed it.
    Keep,
}

/// The change of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    #[serde(serialize_with = "as_text")]
    pub(super) path: PathBuf,
    pub(super) action: Action,
    /// The keys of the entry that changes, joined by dots; null for a whole file.
    pub(super) key: Option<String>,
    /// The new value of the entry; null if it is removed, and for a whole file.
    entry: Option<Value>,
    #[serde(skip)]
    pub(super) before: Option<String>,
    /// What the file contains then; `None` if it is deleted.
    #[serde(skip)]
    pub(super) after: Option<String>,
    /// The record that there is.
    #[serde(skip)]
    pub(super) old_record: Option<Record>,
    /// The record that there will be.
    #[serde(skip)]
    pub(super) new_record: Option<Record>,
}

/// The mark at the beginning of some files, which no parser expects.
const BOM: char = '\u{feff}';

impl Planned {
    pub(super) fn json(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Entry(Entry { format: Format::Json, keys }, value) }
    }

    pub(super) fn toml(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Entry(Entry { format: Format::Toml, keys }, value) }
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
        let (Some(text), Content::Entry(entry, _)) = (read(&self.path)?, &self.content) else { return Ok(None) };
        let value = entry.value(&text).map_err(|reason| unreadable(&self.path, &reason))?;
        Ok(value.map(|value| words(&value).first().copied().unwrap_or_default().to_owned()))
    }

    /// The change that gives the file the content, or with `remove`, takes the content from it; `None` if there is
    /// nothing to change. The person's additions to an entry, and a whole file that this program did not write or
    /// that the person changed, are replaced or removed only with `replace`.
    ///
    /// # Errors
    ///
    /// [`CONFIG_UNREADABLE`].
    pub(crate) fn change(self, records: &Records, remove: bool, replace: bool) -> Result<Option<Change>, Error> {
        let path = resolved(self.path)?;
        let before = read(&path)?;
        let record = records.of(&path);
        let change = match self.content {
            Content::Entry(entry, value) => {
                let key = Some(entry.keys.join("."));
                let change = Change { key, ..Change::nothing(&path, before, record) };
                if remove { change.without_entry(entry, replace) } else { change.with_entry(entry, value, replace) }
                    .map_err(|reason| unreadable(&path, &reason))?
            }
            Content::Whole(text) => {
                let change = Change::nothing(&path, before, record);
                if remove { change.without_text(replace) } else { change.with_text(text, replace) }
            }
        };
        let is_needed = change.action == Action::Keep || change.before != change.after;
        Ok(is_needed.then_some(change))
    }
}

impl Change {
    /// No change of the file at `path`.
    fn nothing(path: &Path, before: Option<String>, record: Option<Record>) -> Self {
        Self {
            path: path.to_owned(),
            action: Action::Change,
            key: None,
            entry: None,
            after: before.clone(),
            before,
            old_record: record.clone(),
            new_record: record,
        }
    }

    /// The change that gives the file `after`, which had `original` before any of this program's changes.
    fn to(self, after: String, original: Option<String>) -> Self {
        let action = if self.before.is_none() { Action::Create } else { Action::Change };
        let new_record = Some(Record::new(&self.path, original, &after));
        Self { action, after: Some(after), new_record, ..self }
    }

    fn kept(self) -> Self {
        Self { action: Action::Keep, ..self }
    }

    fn with_entry(self, place: Entry, value: Value, replace: bool) -> Result<Self, String> {
        let text = self.before.as_deref().unwrap_or_default();
        let after = place.with(text, value.clone(), replace)?;
        let original = match &self.old_record {
            Some(record) if record.is_of(text) => record.before.clone(),
            // Changed since, by the person or the client: without the entry, it is what they left.
            Some(record) if place.value(text)?.is_some_and(|value| is_own(&value)) => {
                place.taken_from(text, Some(record))?
            }
            _ => self.before.clone(),
        };
        Ok(Self { entry: Some(value), ..self.to(after, original) })
    }

    fn without_entry(self, place: Entry, replace: bool) -> Result<Self, String> {
        let Some(text) = &self.before else { return Ok(self) };
        let Some(value) = place.value(text)? else { return Ok(self) };
        let record = self.old_record.as_ref();
        let exact = record.filter(|record| record.is_of(text));
        let is_written = if record.is_some() { is_own(&value) } else { is_as_connected(&value) };
        if exact.is_none() && !is_written && !replace {
            return Ok(self.kept());
        }
        let after = match exact {
            Some(record) => record.before.clone(),
            None => place.taken_from(text, record)?,
        };
        let earlier = record.and_then(|record| record.before.as_deref());
        let gives_back = after.is_some() && earlier.is_some_and(|text| matches!(place.value(text), Ok(Some(_))));
        let action = match &after {
            None => Action::Delete,
            Some(_) if gives_back => Action::Restore,
            Some(_) => Action::Change,
        };
        Ok(Self { action, after, new_record: None, ..self })
    }

    fn with_text(self, new: String, replace: bool) -> Self {
        let is_written = self.before.as_deref().is_some_and(is_as_written);
        match (&self.before, &self.old_record) {
            (Some(_), _) if !is_written && !replace => self.kept(),
            (Some(_), record) if is_written => {
                let original = record.as_ref().and_then(|record| record.before.clone());
                self.to(new, original)
            }
            (before, _) => {
                let original = before.clone();
                self.to(new, original)
            }
        }
    }

    fn without_text(self, replace: bool) -> Self {
        match &self.before {
            None => self,
            Some(text) if !is_as_written(text) && !replace => self.kept(),
            Some(_) => {
                let after = self.old_record.as_ref().and_then(|record| record.before.clone());
                let action = if after.is_some() { Action::Restore } else { Action::Delete };
                Self { action, after, new_record: None, ..self }
            }
        }
    }

    /// Whether something is written.
    pub(crate) fn is_written(&self) -> bool {
        self.action != Action::Keep
    }

    /// The change for a person. The rest of the file is not shown: it may contain keys.
    pub(crate) fn description(&self) -> String {
        let path = self.path.display();
        let lines = self.after.as_deref().unwrap_or_default().lines().count();
        let text = match (self.action, &self.key, &self.entry) {
            (Action::Keep, Some(key), _) => format!("keep {key} in {path}: this command did not write it"),
            (Action::Keep, None, _) => format!("keep {path}: this command did not write it, or it was changed"),
            (Action::Delete, ..) => format!("delete {path}"),
            (Action::Restore, Some(key), _) => format!("give {key} in {path} back what it was before"),
            (Action::Restore, None, _) => format!("give {path} back what it contained before"),
            (_, Some(key), Some(entry)) => format!("set {key} in {path}:\n{entry:#}"),
            (_, Some(key), None) => format!("remove {key} from {path}"),
            (Action::Change, None, _) => format!("replace {path}, {lines} lines"),
            (Action::Create, None, _) => format!("new file {path}, {lines} lines"),
        };
        printable(&text)
    }
}

impl Entry {
    /// The value of the entry in `text`; `None` if there is none.
    fn value(self, text: &str) -> Result<Option<Value>, String> {
        let text = text.trim_start_matches(BOM);
        match self.format {
            Format::Json => json::value(text, self.keys),
            Format::Toml => toml::value(text, self.keys),
        }
    }

    fn with(self, text: &str, value: Value, replace: bool) -> Result<String, String> {
        let (mark, text) = split_mark(text);
        let changed = match self.format {
            Format::Json => json::with(text, self.keys, value, replace),
            Format::Toml => toml::with(text, self.keys, value, replace),
        };
        Ok(format!("{mark}{}", changed?))
    }

    /// What is left of `text` when the entry is taken from it, and what it had replaced is given back; `None` if
    /// nothing is left of a file that was made for the entry.
    fn taken_from(self, text: &str, record: Option<&Record>) -> Result<Option<String>, String> {
        let after = self.without(text, record.map(|record| record.before.as_deref().unwrap_or_default()))?;
        let is_made = record.is_some_and(|record| record.before.is_none());
        Ok(if is_made && self.is_empty(&after)? { None } else { Some(after) })
    }

    /// `text` without the entry, or with that of `earlier`.
    fn without(self, text: &str, earlier: Option<&str>) -> Result<String, String> {
        let (mark, text) = split_mark(text);
        let earlier = earlier.map(|earlier| split_mark(earlier).1);
        let changed = match self.format {
            Format::Json => json::without(text, self.keys, earlier),
            Format::Toml => toml::without(text, self.keys, earlier),
        };
        Ok(format!("{mark}{}", changed?))
    }

    /// Whether `text` has no setting and no comment.
    fn is_empty(self, text: &str) -> Result<bool, String> {
        let text = split_mark(text).1;
        match self.format {
            Format::Json => json::is_empty(text),
            Format::Toml => Ok(text.trim().is_empty()),
        }
    }
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// The command line of an entry: the program and its arguments, in one list or in two members.
fn words(entry: &Value) -> Vec<&str> {
    let texts = |value: &'static str| entry[value].as_array().into_iter().flatten().filter_map(Value::as_str);
    entry["command"].as_str().into_iter().chain(texts("command")).chain(texts("args")).collect()
}

/// Whether an entry starts this program as this command writes it.
fn is_own(entry: &Value) -> bool {
    let words = words(entry);
    let program = words.first().and_then(|path| path.rsplit(['/', '\\']).next()).unwrap_or_default();
    program.strip_suffix(".exe").unwrap_or(program) == "ragmaker" && words.get(1) == Some(&"mcp")
}

/// Whether an entry has exactly what this command writes, and nothing that a person added.
fn is_as_connected(entry: &Value) -> bool {
    const MEMBERS: [&str; 6] = ["args", "command", "enabled", "env_vars", "tools", "type"];
    let has_others =
        entry.as_object().is_some_and(|members| members.keys().any(|key| !MEMBERS.contains(&key.as_str())));
    let words = words(entry);
    let arguments = |all_tools, prompts| ragmaker_clients::server_arguments(all_tools, prompts);
    let known =
        [(false, false), (false, true), (true, false), (true, true)].map(|(all, prompts)| arguments(all, prompts));
    is_own(entry) && !has_others && words.get(2..).is_some_and(|rest| known.iter().any(|one| one == rest))
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

/// The file itself: a configuration that is a link stays one, and its target is changed. A file that does not exist has the
/// path that it will have, so that its record is found again.
fn resolved(path: PathBuf) -> Result<PathBuf, Error> {
    match ragmaker_fs::canonicalize(&path) {
        Ok(path) => Ok(path),
        Err(_) if fs::symlink_metadata(&path).is_err() => {
            let existing =
                path.ancestors().skip(1).find_map(|above| Some((above, ragmaker_fs::canonicalize(above).ok()?)));
            Ok(match existing {
                Some((above, real)) => real.join(path.strip_prefix(above).unwrap_or(&path)),
                None => path,
            })
        }
        Err(error) => Err(unreadable(&path, &format!("it is a link that leads nowhere: {error}"))),
    }
}

/// The text of the file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
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
mod tests;
