//! Calls with a duplicate key in their arguments.
//!
//! The protocol's library keeps arguments in a map, which has only the last of two equal keys. So duplicates are
//! searched in the text of the message and recorded in the call's metadata.

use ragmaker_tool::{
    Error,
    arguments::{check_keys, repeated},
};
use rmcp::model::{CallToolRequestMethod, ConstString, JsonObject};
use serde_json::{Value, json};

/// The name of the note.
const NOTE: &str = "ragmaker/key-given-twice";

/// Records in `message`, which was parsed from `text`, the duplicate key of the text; returns whether there is one.
pub(crate) fn note(message: &mut Value, text: &[u8]) -> bool {
    if message["method"] != CallToolRequestMethod::VALUE {
        return false;
    }
    let Err(error) = check_keys(text) else { return false };
    let key = error.details().get("argument").cloned();
    if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let (Some(meta), Some(key)) = (meta.as_object_mut(), key) {
            meta.insert(NOTE.to_owned(), key);
        }
    }
    true
}

/// The error for a call that was noted.
pub(crate) fn check(meta: &JsonObject) -> Result<(), Error> {
    meta.get(NOTE).and_then(Value::as_str).map_or(Ok(()), |key| Err(repeated(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_noted() {
        let noted = |text: &str| {
            let mut message: Value = serde_json::from_str(text).unwrap();
            note(&mut message, text.as_bytes());
            message["params"]["_meta"][NOTE].clone()
        };
        let call = |arguments: &str| {
            format!(
                r#"{{"method": "tools/call", "params": {{"name": "x", "_meta": {{"a": 1}}, "arguments": {arguments}}}}}"#
            )
        };
        assert_eq!(noted(&call(r#"{"path": "a", "path": "b"}"#)), "path");
        assert_eq!(noted(&call(r#"{"path": "a", "p\u0061th": null}"#)), "path");
        assert_eq!(noted(&call(r#"{"updates": [{"url": 1}, {"url": 2, "url": 3}]}"#)), "url");
        assert_eq!(
            noted(&call(r#"{"path": "a", "paths": [{"path": 1}, {"path": 1.5}, true, null, "x"]}"#)),
            Value::Null
        );
        assert_eq!(noted(r#"{"method": "ping", "params": {"a": 1, "a": 2}}"#), Value::Null);
        for odd in [
            r#"{"method": "tools/call", "method": "tools/call"}"#,
            r#"{"method": "tools/call", "params": [1], "id": 1, "id": 2}"#,
        ] {
            let mut message: Value = serde_json::from_str(odd).unwrap();
            note(&mut message, odd.as_bytes());
        }
    }
}
