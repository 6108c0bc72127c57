//! An entry at two keys of a TOML file. What else is in the file stays, comments and layout too.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

/// `text` with `value` as the entry. What the person added to it stays, unless `replace` is set; the tables in the
/// entry only get what they lack.
///
/// # Errors
///
/// Why the text cannot be changed.
pub(super) fn with(text: &str, keys: [&str; 2], value: Value, replace: bool) -> Result<String, String> {
    let mut document = document(text)?;
    let outer = document.entry(keys[0]).or_insert_with(|| {
        let mut table = Table::new();
        // Only the headers of the tables in it are written.
        table.set_implicit(true);
        Item::Table(table)
    });
    let outer = outer.as_table_like_mut().ok_or(format!("{} is not a table", keys[0]))?;
    match (outer.get_mut(keys[1]).and_then(Item::as_table_like_mut), value) {
        (Some(entry), Value::Object(members)) if !replace => {
            for (key, value) in members {
                match value {
                    Value::Object(members) => complete(entry, &key, members),
                    value if entry.get(&key).is_some_and(|item| is_same(item, &value)) => {}
                    value => drop(entry.insert(&key, item(value))),
                }
            }
        }
        (_, value) => drop(outer.insert(keys[1], item(value))),
    }
    Ok(restored(text, &document))
}

/// `text` without the entry, or with that of `earlier`, which is the text before the entry was written. A table around it
/// that has no header of its own goes with it.
///
/// # Errors
///
/// Why the text cannot be changed.
pub(super) fn without(text: &str, keys: [&str; 2], earlier: Option<&str>) -> Result<String, String> {
    let earlier = earlier.and_then(|earlier| self::document(earlier).ok());
    let earlier = earlier.and_then(|earlier| earlier.get(keys[0])?.get(keys[1]).cloned());
    let mut document = document(text)?;
    if let Some(outer) = document.get_mut(keys[0]) {
        if let Some(table) = outer.as_table_like_mut() {
            match earlier {
                Some(earlier) => table.insert(keys[1], earlier),
                None => table.remove(keys[1]),
            };
        }
        if outer.as_table().is_some_and(|table| table.is_empty() && table.is_implicit()) {
            document.remove(keys[0]);
        }
    }
    Ok(restored(text, &document))
}

/// The value of the entry, with its texts and lists of texts; `None` if there is no entry.
///
/// # Errors
///
/// Why the text cannot be read.
pub(super) fn value(text: &str, keys: [&str; 2]) -> Result<Option<Value>, String> {
    let document = document(text)?;
    let entry = document.get(keys[0]).and_then(|outer| outer.get(keys[1]));
    Ok(entry.map(|entry| {
        let members = entry.as_table_like().into_iter().flat_map(TableLike::iter);
        Value::Object(members.map(|(key, item)| (key.to_owned(), shown(item))).collect())
    }))
}

/// A text or a list of texts as JSON, and anything else as null.
fn shown(item: &Item) -> Value {
    match (item.as_str(), item.as_array()) {
        (Some(text), _) => text.into(),
        (_, Some(list)) => list.iter().filter_map(|value| value.as_str()).collect(),
        _ => Value::Null,
    }
}

/// Adds the `members` that the table `key` of `entry` lacks.
fn complete(entry: &mut dyn TableLike, key: &str, members: serde_json::Map<String, Value>) {
    let Some(table) = entry.get_mut(key).and_then(Item::as_table_like_mut) else {
        entry.insert(key, item(Value::Object(members)));
        return;
    };
    for (key, value) in members {
        if table.get(&key).is_none() {
            table.insert(&key, item(value));
        }
    }
}

fn is_same(item: &Item, value: &Value) -> bool {
    match value {
        Value::String(text) => item.as_str() == Some(text),
        Value::Array(values) => item.as_array().is_some_and(|array| {
            array.len() == values.len() && array.iter().zip(values).all(|(item, value)| item.as_str() == value.as_str())
        }),
        _ => false,
    }
}

fn document(text: &str) -> Result<DocumentMut, String> {
    text.replace("\r\n", "\n").parse().map_err(|error: toml_edit::TomlError| error.to_string())
}

/// The document with the line ends of `text`: each line that stays keeps its own, and the others have that of the first.
fn restored(text: &str, document: &DocumentMut) -> String {
    let changed = document.to_string();
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let new: Vec<&str> = changed.split_inclusive('\n').collect();
    let is_same = |(old, new): &(&&str, &&str)| old.replace("\r\n", "\n") == **new;
    let start = old.iter().zip(&new).take_while(is_same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(is_same).count();
    let line_end = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let between = new[start..new.len() - end].concat().replace('\n', line_end);
    old[..start].concat() + &between + &old[old.len() - end..].concat()
}

/// A JSON value as TOML: objects are tables.
fn item(value: Value) -> Item {
    match value {
        Value::Object(members) => {
            let mut table = Table::new();
            table.set_implicit(members.values().all(Value::is_object));
            for (key, value) in members {
                table.insert(&key, item(value));
            }
            Item::Table(table)
        }
        Value::Array(values) => Item::Value(values.iter().filter_map(Value::as_str).collect::<Array>().into()),
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

    const KEYS: [&str; 2] = ["mcp_servers", "ragmaker"];

    fn server() -> Value {
        json!({"command": "ragmaker", "args": ["mcp"], "tools": {"http_fetch": {"approval_mode": "approve"}}})
    }

    #[test]
    fn other_settings_are_kept() {
        for before in [
            "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = \"y\"\n",
            "# all of my servers\n[mcp_servers]\n",
            "model = \"x\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"y\"\r\n",
            "model = \"x\"\n\r\n[mcp_servers.other]\r\ncommand = \"y\"\ntext = \"\"\"\r\na\nb\"\"\"\n",
            "",
        ] {
            let after = with(before, KEYS, server(), false).unwrap();
            assert!(after.starts_with(before), "{after}");
            assert_eq!(value(&after, KEYS).unwrap().unwrap()["args"], json!(["mcp"]));
            assert_eq!(with(&after, KEYS, server(), false).unwrap(), after);
            assert_eq!(without(&after, KEYS, None).unwrap(), before);
        }
    }

    #[test]
    fn a_choice_of_the_person_stays() {
        let before = "[mcp_servers.ragmaker]\ncommand = \"old\" # mine\nstartup_timeout_sec = 20\n\n[mcp_servers.ragmaker.tools.http_fetch]\napproval_mode = \"never\"\n";
        let after = with(before, KEYS, server(), false).unwrap();
        assert!(after.contains("startup_timeout_sec = 20") && after.contains("\"never\""), "{after}");
        assert!(after.contains("command = \"ragmaker\""), "{after}");
        let replaced = with(before, KEYS, server(), true).unwrap();
        assert!(replaced.contains("\"approve\"") && !replaced.contains("mine"), "{replaced}");
        let given_back = without(&replaced, KEYS, Some(before)).unwrap();
        assert!(given_back.contains("command = \"old\" # mine") && given_back.contains("\"never\""), "{given_back}");
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        for text in ["mcp_servers = 1\n", "a = \n"] {
            assert!(with(text, KEYS, json!({}), false).is_err(), "{text}");
        }
        let inline = "mcp_servers = { other = { command = \"y\" } }\n";
        let after = with(inline, KEYS, server(), false).unwrap();
        assert_eq!(value(&after, KEYS).unwrap().unwrap()["command"], "ragmaker", "{after}");
    }
}
