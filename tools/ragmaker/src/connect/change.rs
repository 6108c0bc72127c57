//! Changes of a client's files, made in memory, shown, and then written.

use std::{
    fmt::Write as _,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode},
};
use ragmaker_fs::{Replace, write_atomically};
use ragmaker_tool::{Error, printable};
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use toml_edit::{DocumentMut, Item, Table};

use super::{CANNOT_WRITE, CONFIG_UNREADABLE};

/// A file with what it has to contain.
pub(crate) struct Planned {
    path: PathBuf,
    content: Content,
}

enum Content {
    /// The member at two keys of a JSON file, which may have comments.
    Member([&'static str; 2], Value),
    /// The table at two keys of a TOML file.
    Table([&'static str; 2], Value),
    /// The whole file.
    Whole(String),
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// It is made.
    Create,
    /// A part of it changes, or all.
    Change,
    /// It is deleted.
    Delete,
    /// It stays: it is the person's own file.
    Keep,
}

/// The change of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    path: PathBuf,
    action: Action,
    #[serde(skip)]
    before: String,
    #[serde(skip)]
    after: String,
}

impl Planned {
    pub(super) fn member(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Member(keys, value) }
    }

    pub(super) fn table(path: PathBuf, keys: [&'static str; 2], value: Value) -> Self {
        Self { path, content: Content::Table(keys, value) }
    }

    pub(super) fn file(path: PathBuf, text: String) -> Self {
        Self { path, content: Content::Whole(text) }
    }

    /// Whether the file has what it has to contain, or a newer or changed form of it.
    pub(crate) fn is_present(&self) -> Result<bool, Error> {
        let Some(text) = read(&self.path)? else { return Ok(false) };
        match &self.content {
            Content::Member(keys, _) => Ok(root(&self.path, &text)?
                .object_value()
                .and_then(|object| object.object_value(keys[0]))
                .is_some_and(|object| object.get(keys[1]).is_some())),
            Content::Table(keys, _) => {
                Ok(document(&self.path, &text)?.get(keys[0]).is_some_and(|outer| outer.get(keys[1]).is_some()))
            }
            Content::Whole(_) => Ok(true),
        }
    }

    /// What has to be done so that the file has the content, or with `remove`, so that it has not. `None` if that is
    /// nothing. A whole file that differs is replaced only with `replace`.
    pub(crate) fn change(self, remove: bool, replace: bool) -> Result<Option<Change>, Error> {
        // A configuration that is a link stays one: its target is changed.
        let path = fs::canonicalize(&self.path).unwrap_or(self.path);
        let before = read(&path)?;
        if remove && before.is_none() {
            return Ok(None);
        }
        let is_new = before.is_none();
        let before = before.unwrap_or_default();
        let mut action = if is_new { Action::Create } else { Action::Change };
        let after = match self.content {
            Content::Member(keys, value) => member(&path, &before, keys, (!remove).then_some(value))?,
            Content::Table(keys, value) => table(&path, &before, keys, (!remove).then_some(value))?,
            Content::Whole(text) => {
                let is_own = !is_new && before != text && !replace;
                match (remove, is_own) {
                    (_, true) => {
                        action = Action::Keep;
                        before.clone()
                    }
                    (true, false) => {
                        action = Action::Delete;
                        String::new()
                    }
                    (false, false) => text,
                }
            }
        };
        let is_needed = action == Action::Keep || after != before;
        Ok(is_needed.then_some(Change { path, action, before, after }))
    }
}

impl Change {
    /// Whether something is written.
    pub(crate) fn is_written(&self) -> bool {
        self.action != Action::Keep
    }

    /// The change for a person: the changed lines of a file that was there, and how long a new one is.
    pub(crate) fn shown(&self) -> String {
        let path = self.path.display();
        let text = match self.action {
            Action::Create => format!("new file {path}, {} lines", self.after.lines().count()),
            Action::Delete => format!("delete {path}"),
            Action::Keep => format!("keep {path}: it is not the file that this command writes (see --replace)"),
            Action::Change => {
                let diff = TextDiff::from_lines(&self.before, &self.after);
                let mut text = format!("change {path}\n");
                for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
                    let _ = write!(text, "{hunk}");
                }
                text
            }
        };
        printable(text.trim_end())
    }

    /// Writes it.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let failed = |error: io::Error| {
            CANNOT_WRITE
                .error(format!("cannot write {}: {error}", self.path.display()))
                .detail("path", self.path.to_string_lossy())
        };
        match self.action {
            Action::Keep => Ok(()),
            Action::Delete => fs::remove_file(&self.path).map_err(failed),
            Action::Create | Action::Change => {
                if let Some(folder) = self.path.parent() {
                    fs::create_dir_all(folder).map_err(failed)?;
                }
                let written =
                    write_atomically(&self.path, Replace::default(), |file| file.write_all(self.after.as_bytes()));
                written.map(drop).map_err(failed)
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    CONFIG_UNREADABLE
        .error(format!("{} cannot be read: {reason}", path.display()))
        .detail("path", path.to_string_lossy())
}

/// The JSON of the file; an empty file is an empty object.
fn root(path: &Path, text: &str) -> Result<CstRootNode, Error> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| unreadable(path, &error))
}

/// `text` with `value` as the member at `keys`, or without that member.
fn member(path: &Path, text: &str, keys: [&str; 2], value: Option<Value>) -> Result<String, Error> {
    let root = root(path, text)?;
    let not_an_object = |what: &str| unreadable(path, &format!("{what} is not an object"));
    let Some(value) = value else {
        let outer = root.object_value().and_then(|object| object.get(keys[0]));
        let inner = outer.as_ref().and_then(CstObjectProp::object_value);
        if let (Some(outer), Some(inner)) = (outer, inner)
            && let Some(member) = inner.get(keys[1])
        {
            member.remove();
            if inner.properties().is_empty() {
                outer.remove();
            }
        }
        return Ok(root.to_string());
    };
    let object = root.object_value_or_create().ok_or_else(|| not_an_object("the file"))?;
    let outer = object.object_value_or_create(keys[0]).ok_or_else(|| not_an_object(keys[0]))?;
    set(&outer, keys[1], input(value));
    let text = root.to_string();
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

fn set(object: &CstObject, key: &str, value: CstInputValue) {
    match object.get(key) {
        Some(member) => member.set_value(value),
        None => drop(object.append(key, value)),
    }
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(values) => CstInputValue::Array(values.into_iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.into_iter().map(|(key, value)| (key, input(value))).collect())
        }
    }
}

fn document(path: &Path, text: &str) -> Result<DocumentMut, Error> {
    text.parse().map_err(|error: toml_edit::TomlError| unreadable(path, &error.message()))
}

/// `text` with `value` as the table at `keys`, or without that table.
fn table(path: &Path, text: &str, keys: [&str; 2], value: Option<Value>) -> Result<String, Error> {
    let mut document = document(path, text)?;
    let not_a_table = || unreadable(path, &format!("{} is not a table", keys[0]));
    let Some(value) = value else {
        if let Some(outer) = document.get_mut(keys[0]).and_then(Item::as_table_like_mut) {
            outer.remove(keys[1]);
            if outer.is_empty() {
                document.remove(keys[0]);
            }
        }
        return Ok(document.to_string());
    };
    let outer = document.entry(keys[0]).or_insert_with(|| {
        let mut table = Table::new();
        // Only the headers of the tables in it are written.
        table.set_implicit(true);
        Item::Table(table)
    });
    outer.as_table_like_mut().ok_or_else(not_a_table)?.insert(keys[1], toml(value));
    Ok(document.to_string())
}

/// A JSON value as TOML: objects are tables.
fn toml(value: Value) -> Item {
    match value {
        Value::Object(members) => {
            let mut table = Table::new();
            table.set_implicit(members.values().all(Value::is_object));
            for (key, value) in members {
                table.insert(&key, toml(value));
            }
            Item::Table(table)
        }
        Value::Array(values) => {
            Item::Value(values.iter().filter_map(Value::as_str).collect::<toml_edit::Array>().into())
        }
        Value::Bool(value) => toml_edit::value(value),
        Value::Number(number) => toml_edit::value(number.as_i64().unwrap_or_default()),
        Value::String(text) => toml_edit::value(text),
        Value::Null => Item::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEYS: [&str; 2] = ["mcpServers", "ragmaker"];

    fn with(text: &str, value: Option<Value>) -> Result<String, Error> {
        member(Path::new("settings.json"), text, KEYS, value)
    }

    #[test]
    fn what_was_in_a_json_file_stays() {
        let server = json!({"command": "ragmaker", "args": ["mcp"]});
        for before in [
            "{\n  // mine\n  \"theme\": \"dark\", // dark\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
            "{\n  \"theme\": \"dark\",\n}\n",
            "{}\n",
        ] {
            let after = with(before, Some(server.clone())).unwrap();
            assert!(after.contains("\"ragmaker\""), "{after}");
            for line in before.lines().filter(|line| line.contains("//")) {
                assert!(after.contains(line.trim()), "{after}");
            }
            assert_eq!(with(&after, Some(server.clone())).unwrap(), after);
            let removed = with(&after, None).unwrap();
            let squeezed = |text: &str| text.replace([' ', '\n', ','], "");
            assert_eq!(squeezed(&removed), squeezed(before), "{removed}");
        }
        let made = with("", Some(server.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&made).unwrap(), json!({"mcpServers": {"ragmaker": server}}));
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        for text in ["[1]", "{\"mcpServers\": 1}", "{\"a\": ", "nonsense {"] {
            assert!(with(text, Some(json!({}))).unwrap_err().is(CONFIG_UNREADABLE), "{text}");
        }
        let bad = table(Path::new("config.toml"), "mcp_servers = 1\n", ["mcp_servers", "ragmaker"], Some(json!({})));
        assert!(bad.unwrap_err().is(CONFIG_UNREADABLE));
    }

    #[test]
    fn what_was_in_a_toml_file_stays() {
        let keys = ["mcp_servers", "ragmaker"];
        let server =
            json!({"command": "ragmaker", "args": ["mcp"], "tools": {"http_fetch": {"approval_mode": "approve"}}});
        let before = "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let after = table(Path::new("c"), before, keys, Some(server.clone())).unwrap();
        assert!(after.starts_with(before), "{after}");
        assert!(after.contains("[mcp_servers.ragmaker.tools.http_fetch]\napproval_mode = \"approve\""), "{after}");
        assert_eq!(table(Path::new("c"), &after, keys, Some(server)).unwrap(), after);
        assert_eq!(table(Path::new("c"), &after, keys, None).unwrap(), before);
    }
}
