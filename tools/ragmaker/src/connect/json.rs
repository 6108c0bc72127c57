//! An entry at two keys of a JSON file. What else is in the file stays, comments and layout too.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::Value;

/// `text` with `value` as the entry. Members that the person added to it stay, unless `replace` is set.
///
/// # Errors
///
/// Why the text cannot be changed.
pub(super) fn with(text: &str, keys: [&str; 2], value: Value, replace: bool) -> Result<String, String> {
    let root = root(text)?;
    let object = root.object_value_or_create().ok_or("it is not an object")?;
    let outer = match member(&object, keys[0])? {
        Some(outer) if outer.value().is_some_and(|value| value.as_null_keyword().is_some()) => {
            outer.object_value_or_set()
        }
        Some(outer) => outer.object_value().ok_or(format!("{} is not an object", keys[0]))?,
        None => object.object_value_or_set(keys[0]),
    };
    let entry = member(&outer, keys[1])?;
    match (entry.as_ref().and_then(CstObjectProp::object_value), value) {
        (Some(entry), Value::Object(members)) if !replace => {
            for (key, value) in members {
                set(&entry, &key, input(value))?;
            }
        }
        (_, value) => set(&outer, keys[1], input(value))?,
    }
    // A file that has no line end keeps to that.
    Ok(if text.trim().is_empty() { format!("{}\n", root.to_string().trim_end()) } else { root.to_string() })
}

/// `text` without the entry, or with that of `earlier`, which is the text before the entry was written. The object around
/// it goes as well if nothing is left in it and `earlier` does not have it.
///
/// # Errors
///
/// Why the text cannot be changed.
pub(super) fn without(text: &str, keys: [&str; 2], earlier: Option<&str>) -> Result<String, String> {
    if let Some(value) = earlier.and_then(|earlier| value(earlier, keys).ok()?) {
        return with(text, keys, value, true);
    }
    let is_made = earlier.is_some_and(|earlier| !has(earlier, keys[0]));
    let root = root(text)?;
    let Some(object) = root.object_value() else { return Ok(text.to_owned()) };
    let Some(outer) = member(&object, keys[0])? else { return Ok(text.to_owned()) };
    if let Some(inner) = outer.object_value()
        && let Some(entry) = member(&inner, keys[1])?
    {
        entry.remove();
        let has_comments = inner.children().iter().any(|child| child.as_comment().is_some());
        if is_made && inner.properties().is_empty() && !has_comments {
            outer.remove();
        }
    }
    Ok(root.to_string())
}

/// The value of the entry; `None` if there is no entry.
///
/// # Errors
///
/// Why the text cannot be read.
pub(super) fn value(text: &str, keys: [&str; 2]) -> Result<Option<Value>, String> {
    let Some(object) = root(text)?.object_value() else { return Ok(None) };
    let outer = member(&object, keys[0])?.and_then(|outer| outer.object_value());
    let Some(outer) = outer else { return Ok(None) };
    let entry = member(&outer, keys[1])?;
    Ok(entry.map(|entry| entry.value().and_then(|value| value.to_serde_value()).unwrap_or_default()))
}

/// Whether `text` has no member and no comment.
///
/// # Errors
///
/// Why the text cannot be read.
pub(super) fn is_empty(text: &str) -> Result<bool, String> {
    let root = root(text)?;
    let has_comments = |children: Vec<CstNode>| children.iter().any(|child| child.as_comment().is_some());
    let is_empty = |object: CstObject| object.properties().is_empty() && !has_comments(object.children());
    Ok(!has_comments(root.children()) && root.object_value().is_none_or(is_empty))
}

/// Whether `text` has the member `key`.
fn has(text: &str, key: &str) -> bool {
    root(text).is_ok_and(|root| root.object_value().is_some_and(|object| object.get(key).is_some()))
}

/// The JSON of the file; an empty file has no value.
fn root(text: &str) -> Result<CstRootNode, String> {
    // Comments and trailing commas are what the clients take themselves.
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options).map_err(|error| error.to_string())
}

/// The member `key`. Readers do not agree on which of two members of one name counts, so two are refused.
fn member(object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, String> {
    let mut found = object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(key));
    let first = found.next();
    if found.next().is_some() { Err(format!("it has {key:?} twice")) } else { Ok(first) }
}

fn set(object: &CstObject, key: &str, value: CstInputValue) -> Result<(), String> {
    match member(object, key)? {
        Some(member) => member.set_value(value),
        None => drop(object.append(key, value)),
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEYS: [&str; 2] = ["mcpServers", "ragmaker"];

    #[test]
    fn other_settings_are_kept() {
        let server = json!({"command": "ragmaker", "args": ["mcp"]});
        for before in [
            "{\n  // mine\n  \"theme\": \"dark\", // dark\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    // nothing yet\n  }\n}\n",
            "{\n  \"theme\": \"dark\",\n}\n",
            "{}\n",
        ] {
            let after = with(before, KEYS, server.clone(), false).unwrap();
            assert_eq!(value(&after, KEYS).unwrap().unwrap()["command"], "ragmaker", "{after}");
            for line in before.lines().filter(|line| line.contains("//")) {
                assert!(after.contains(line.trim()), "{after}");
            }
            assert_eq!(with(&after, KEYS, server.clone(), false).unwrap(), after);
            let removed = without(&after, KEYS, Some(before)).unwrap();
            let squeezed = |text: &str| text.replace([' ', '\n', ','], "");
            assert_eq!(squeezed(&removed), squeezed(before), "{removed}");
        }
        for empty in ["", "{\"mcpServers\": null}"] {
            let made = with(empty, KEYS, server.clone(), false).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&made).unwrap(), json!({"mcpServers": {"ragmaker": server}}));
        }
    }

    #[test]
    fn what_was_there_before_is_given_back() {
        let server = json!({"command": "ragmaker"});
        // The object around the entry stays, unless it was made for the entry, or no record says what was there.
        for (before, earlier, after) in [
            ("{}", Some("{}"), json!({})),
            ("{}", None, json!({"mcpServers": {}})),
            ("{\"mcpServers\": {}}", Some("{\"mcpServers\": {}}"), json!({"mcpServers": {}})),
            (
                "{\"mcpServers\": {\"ragmaker\": 1}}",
                Some("{\"mcpServers\": {\"ragmaker\": 1}}"),
                json!({"mcpServers": {"ragmaker": 1}}),
            ),
        ] {
            let connected = with(before, KEYS, server.clone(), true).unwrap();
            let removed = without(&connected, KEYS, earlier).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), after, "{before} {earlier:?}");
        }
        assert_eq!(with("{\"a\": 1}", KEYS, server, true).unwrap().chars().next_back(), Some('}'));
        for (text, empty) in
            [("", true), ("{}\n", true), ("{ // mine\n}", false), ("// mine\n{}", false), ("{\"a\": 1}", false)]
        {
            assert_eq!(is_empty(text).unwrap(), empty, "{text}");
        }
    }

    #[test]
    fn members_added_by_the_person_are_kept() {
        let before = "{\"mcpServers\": {\"ragmaker\": {\"command\": \"old\", \"trust\": true}}}\n";
        let server = json!({"command": "ragmaker"});
        let after = with(before, KEYS, server.clone(), false).unwrap();
        assert!(after.contains("\"trust\": true") && after.contains("\"command\": \"ragmaker\""), "{after}");
        assert!(!with(before, KEYS, server, true).unwrap().contains("trust"));
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        for text in ["[1]", "{\"mcpServers\": 1}", "{\"a\": ", "nonsense {", "{\"mcpServers\": {}, \"mcpServers\": {}}"]
        {
            assert!(with(text, KEYS, json!({}), false).is_err(), "{text}");
        }
    }
}
