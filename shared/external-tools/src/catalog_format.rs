//! The formats of tool catalogs: how each declares a tool, and how each calls it.

use serde_json::Value;

/// A form of catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogFormat {
    /// Our own discovery.json: `command --arguments -`, with the arguments as JSON on standard input.
    Ours,
    /// The format of the Python original: an object with `tools`, called as `command --name value`.
    Options,
    /// `functions.json` of llm-functions: an array; `bin/NAME JSON`, the result in the file `$LLM_OUTPUT`.
    Functions,
    /// The output of a discovery command of Gemini CLI: an array. One command runs all tools, `call NAME`, with the
    /// arguments as JSON on standard input.
    Gemini,
}

/// The entries of a catalog, each with its format. `calls` is set if one command runs all tools.
pub(crate) fn entries(catalog: &Value, calls: bool) -> Result<Vec<(CatalogFormat, &Value)>, String> {
    if let Some(tools) = catalog["tools"].as_array() {
        return Ok(tools.iter().map(|entry| (of_object(entry, calls), entry)).collect());
    }
    let Some(list) = catalog.as_array() else {
        return Err("it is neither an array nor an object with tools".to_owned());
    };
    let mut entries = vec![];
    for entry in list {
        let wrapped = ["functionDeclarations", "function_declarations"].iter().find_map(|name| entry[name].as_array());
        match wrapped {
            Some(inner) => entries.extend(inner.iter().map(|entry| (CatalogFormat::Gemini, entry))),
            None if calls || entry["parametersJsonSchema"].is_object() => entries.push((CatalogFormat::Gemini, entry)),
            None => entries.push((CatalogFormat::Functions, entry)),
        }
    }
    Ok(entries)
}

fn of_object(entry: &Value, calls: bool) -> CatalogFormat {
    if calls {
        CatalogFormat::Gemini
    } else if entry["output"].is_object() || entry["annotations"].is_object() {
        CatalogFormat::Ours
    } else {
        CatalogFormat::Options
    }
}

/// `arguments` as command-line options: `--name value`; a switch without a value; for a list, one option before all
/// values.
pub(crate) fn options(arguments: &Value, schema: &Value) -> Vec<String> {
    let mut words = vec![];
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let option = format!("--{name}");
        match value {
            Value::Bool(true) => words.push(option),
            // What is on by itself is switched off by its own option.
            Value::Bool(false) if schema["properties"][name]["default"] == true => words.push(format!("--no-{name}")),
            Value::Null | Value::Bool(false) => {}
            Value::Array(values) => {
                words.push(option);
                words.extend(values.iter().map(text));
            }
            // In one word, so that a value that begins with a hyphen is not read as an option.
            value => words.push(format!("{option}={}", text(value))),
        }
    }
    words
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dialect_is_known_by_its_form() {
        let of = |catalog: Value, calls: bool| -> Vec<CatalogFormat> {
            entries(&catalog, calls).unwrap().into_iter().map(|(format, _)| format).collect()
        };
        let ours =
            json!({"tools": [{"name": "a", "annotations": {}}, {"name": "b", "command": "b", "parameters": {}}]});
        assert_eq!(of(ours, false), [CatalogFormat::Ours, CatalogFormat::Options]);
        assert_eq!(of(json!([{"name": "a", "parameters": {}}]), false), [CatalogFormat::Functions]);
        assert_eq!(of(json!([{"name": "a", "parameters": {}}]), true), [CatalogFormat::Gemini]);
        let wrapped = json!([{"function_declarations": [{"name": "a"}]}, {"name": "b", "parametersJsonSchema": {}}]);
        assert_eq!(of(wrapped, true), [CatalogFormat::Gemini, CatalogFormat::Gemini]);
        assert!(entries(&json!({"name": "a"}), false).is_err() && entries(&json!(7), false).is_err());
    }

    #[test]
    fn arguments_become_options() {
        let schema = json!({"properties": {"recursive": {"default": true}}});
        let arguments = json!({"base-url": "-x", "depth": 2, "recursive": false, "verbose": true, "quiet": false,
            "path": ["a b", "c"], "none": null, "map": {"a": 1}});
        let expected =
            ["--base-url=-x", "--depth=2", "--no-recursive", "--verbose", "--path", "a b", "c", "--map={\"a\":1}"];
        assert_eq!(options(&arguments, &schema), expected);
    }
}
