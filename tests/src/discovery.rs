//! The entries of discovery.json, read from the workspace.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

/// A tool's entry in discovery.json.
pub struct Entry {
    /// The executable, such as `ragmaker-read-file`.
    pub command: String,
    /// The schemas of the arguments, by their JSON keys.
    pub arguments: Map<String, Value>,
    /// The required arguments.
    pub required: Vec<String>,
    /// The arguments that words of a command line give, in their order, as the tool's page shows them.
    pub words: Vec<String>,
    /// The complete entry.
    pub json: Value,
}

/// Every entry.
///
/// # Panics
///
/// If the file is missing, invalid or empty.
pub fn entries() -> Vec<Entry> {
    let path = workspace().join("discovery.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("discovery.json: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("discovery.json: {error}"));
    let tools = file["tools"].as_array().filter(|tools| !tools.is_empty()).expect("discovery.json lists tools");
    tools.iter().map(|tool| Entry::new(tool).unwrap_or_else(|| panic!("not the entry of a tool: {tool}"))).collect()
}

impl Entry {
    fn new(json: &Value) -> Option<Self> {
        let required = json["parameters"]["required"].as_array()?;
        let command = json["command"].as_str()?;
        let page = workspace().join("tools").join(command.strip_prefix("ragmaker-")?).join("README.md");
        Some(Self {
            command: command.to_owned(),
            words: words(command, &fs::read_to_string(page).ok()?),
            arguments: json["parameters"]["properties"].as_object()?.clone(),
            required: required.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            json: json.clone(),
        })
    }
}

/// The arguments after the options in the line of `page` that shows how to call `command`.
fn words(command: &str, page: &str) -> Vec<String> {
    let usage = page.lines().find(|line| line.starts_with(&format!("`{command} ")) && line.contains(" [OPTION]..."));
    let (_, words) = usage.and_then(|usage| usage.split_once(" [OPTION]...")).unwrap_or_default();
    let key = |word: &str| word.trim_matches(['`', '.', '[', ']']).to_lowercase();
    words.split_whitespace().map(key).filter(|key| !key.is_empty()).collect()
}

/// The long option for the JSON argument `key` with `schema`. A switch that is on by default has an option that
/// turns it off.
pub fn option(key: &str, schema: &Value) -> String {
    let name = key.replace('_', "-");
    if schema["default"] == true { format!("--no-{name}") } else { format!("--{name}") }
}

/// The folder of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/")).to_owned()
}
