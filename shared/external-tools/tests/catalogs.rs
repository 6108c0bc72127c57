//! Catalogs in every dialect, with real executables.
#![cfg(unix)]

use std::{fs, path::Path, time::Duration, time::Instant};

use ragmaker_config::{Config, Options};
use ragmaker_external_tools::{Loaded, RunContext, TOOL_CANCELLED, TOOL_FAILED, TOOL_TIMED_OUT, Tool, load};
use ragmaker_tool::ARGUMENT_ERROR;
use serde_json::{Map, Value, json};

struct Case(tempfile::TempDir);

impl Case {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// An executable shell script.
    fn script(&self, name: &str, lines: &str) {
        ragmaker_testkit::script(self.root(), name, lines);
    }

    fn load(&self, configuration: &str) -> Loaded {
        self.write("ragmaker.toml", configuration);
        let config = Config::load(self.root(), &Options::default()).unwrap();
        let context = RunContext { root: self.root().to_owned(), ..RunContext::default() };
        load(&config, &context, &|name| name == "read_file", &|_, _| (), &|| false).unwrap()
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn find<'a>(loaded: &'a Loaded, name: &str) -> &'a Tool {
    loaded.tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("{name}: {:?}", loaded.warnings))
}

fn call(loaded: &Loaded, name: &str, arguments: &Value) -> Value {
    find(loaded, name).call(object(arguments), &|| false).unwrap()
}

#[test]
fn every_dialect_is_read_and_called() {
    let case = Case::new();
    case.script("ours", r#"test "$1 $2" = "--arguments -" && printf '{"status": "success", "got": %s}' "$(cat)""#);
    case.script("options", r#"printf '{"words": "'; printf '%s|' "$@"; printf '"}'; echo progress >&2"#);
    case.script("bin/greet", r#"echo noise; printf 'Hello %s' "$1" > "$LLM_OUTPUT""#);
    case.script("bin/silent", "printf '[1, 2]'");
    case.script("run-all", r#"printf '{"tool": "%s", "got": %s}' "$2" "$(cat)""#);
    case.script("list", "cat listed.json");
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let ours = json!({"tools": [{"name": "ours", "command": "./ours", "description": "Ours.", "parameters": text,
        "annotations": {"readOnlyHint": true, "openWorldHint": false}}]});
    case.write("discovery.json", &ours.to_string());
    let options =
        json!({"type": "object", "properties": {"base-url": {"type": "string"}, "deep": {"type": "boolean"}}});
    let original = json!({"tools": [{"name": "options", "command": "./options", "parameters": options}]});
    case.write("original.json", &original.to_string());
    let functions = json!([{"name": "greet", "parameters": text}, {"name": "silent"}]);
    case.write("functions.json", &functions.to_string());
    let listed = json!([{"functionDeclarations": [{"name": "a", "parametersJsonSchema": text}]}, {"name": "b", "parametersJsonSchema": text}]);
    case.write("listed.json", &listed.to_string());
    let loaded = case.load(
        "[tools]\ncatalogs = ['discovery.json', 'original.json', 'functions.json', {discover = ['./list'], call = ['./run-all', 'x']}]",
    );
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let names: Vec<_> = loaded.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["ours", "options", "greet", "silent", "a", "b"]);

    let given = json!({"text": "潮 'a' $b"});
    assert_eq!(call(&loaded, "ours", &given), json!({"status": "success", "got": given}));
    let words = call(&loaded, "options", &json!({"base-url": "-x", "deep": true}));
    assert_eq!(words, json!({"words": "--base-url=-x|--deep|"}));
    assert_eq!(call(&loaded, "greet", &json!({"text": "a"}))["output"], "Hello {\"text\":\"a\"}");
    assert_eq!(call(&loaded, "silent", &json!({})), json!({"status": "success", "output": [1, 2]}));
    assert_eq!(call(&loaded, "b", &given), json!({"tool": "b", "got": given}));

    let (declared, undeclared) = (find(&loaded, "ours").annotations, find(&loaded, "greet").annotations);
    assert!(declared.read_only_hint && !declared.open_world_hint && !declared.destructive_hint);
    assert!(!undeclared.read_only_hint && undeclared.open_world_hint && undeclared.destructive_hint);
    let error = find(&loaded, "ours").call(object(&json!({"text": 1})), &|| false).unwrap_err();
    assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "text", "{error}");
}

#[test]
fn a_failure_of_any_kind_is_an_error_with_a_code() {
    let case = Case::new();
    case.script("bin/fails", "echo out; echo why >&2; exit 3");
    case.script("bin/crashes", "kill -SEGV $$");
    case.script("bin/prose", "echo no json");
    case.script("bin/hangs", "sleep 60 & sleep 60");
    case.script("bin/floods", "head -c 200000000 /dev/zero | tr '\\0' 'x'; echo end");
    case.script("bin/leaves", "sleep 60 & echo done");
    case.script("bin/says", r#"printf '{"status": "error", "error_code": "GONE"}' >&2; exit 1"#);
    case.script("bin/env", "env");
    let names = ["fails", "crashes", "prose", "hangs", "floods", "leaves", "says", "env"];
    case.write("functions.json", &json!(names.map(|name| json!({"name": name}))).to_string());
    let loaded = case.load("[tools]\ncatalogs = ['functions.json']\ntimeout_s = 20");
    let run = |name: &str| find(&loaded, name).call(Map::new(), &|| false);
    let error = run("fails").unwrap_err();
    assert!(error.is(TOOL_FAILED), "{error}");
    let details = error.details();
    assert_eq!(
        (&details["exit_code"], &details["stdout"], &details["stderr"]),
        (&json!(3), &json!("out\n"), &json!("why\n"))
    );
    assert_eq!(run("crashes").unwrap_err().details()["signal"], 11);
    assert_eq!(run("prose").unwrap(), json!({"status": "success", "output": "no json\n", "truncated": false}));
    assert_eq!(run("says").unwrap()["error_code"], "GONE");
    let flood = run("floods").unwrap();
    let output = flood["output"].as_str().unwrap();
    assert!(output.chars().count() < 29_000 && output.ends_with("end\n") && flood["truncated"] == true);
    // What the tool leaves behind ends with it, and does not keep the call waiting.
    let start = Instant::now();
    assert_eq!(run("leaves").unwrap()["output"], "done\n");
    assert!(start.elapsed() < Duration::from_secs(15));
    let environment = run("env").unwrap();
    assert!(environment["output"].as_str().unwrap().contains("PATH="));

    let start = Instant::now();
    let cancelled = find(&loaded, "hangs").call(Map::new(), &|| start.elapsed() > Duration::from_millis(100));
    assert!(cancelled.unwrap_err().is(TOOL_CANCELLED) && start.elapsed() < Duration::from_secs(15));
    let hurried = case.load("[tools]\ncatalogs = ['functions.json']\ntimeout_s = 1");
    assert!(find(&hurried, "hangs").call(Map::new(), &|| false).unwrap_err().is(TOOL_TIMED_OUT));
}

#[test]
fn broken_entries_are_left_out_with_a_warning() {
    let case = Case::new();
    case.script("good", "echo 1");
    let entry = |name: &str, command: &str| json!({"name": name, "command": command, "parameters": {"type": "object"}});
    let catalog = json!({"tools": [
        entry("good", "./good"),
        entry("good", "./good"),
        entry("read_file", "./good"),
        entry("a b", "./good"),
        entry("gone", "./gone"),
        {"name": "no_command", "parameters": {}},
        {"name": "no_schema", "command": "./good", "parameters": {"type": "nothing"}},
        {"name": "no_object", "command": "./good", "parameters": []},
        7,
    ]});
    case.write("mixed.json", &catalog.to_string());
    case.write("broken.json", "{");
    let loaded = case.load(
        "[tools]\ncatalogs = ['mixed.json', 'broken.json', 'gone.json', {discover = ['./nowhere']}]\n\
         [mcp.servers.gone]\ncommand = './no-server'\n[mcp.servers.dies]\ncommand = 'false'",
    );
    assert_eq!(loaded.tools.len(), 1, "{:?}", loaded.tools);
    assert_eq!(loaded.warnings.len(), 8 + 3 + 2, "{:#?}", loaded.warnings);
    assert!(
        loaded.warnings.iter().any(|warning| warning.contains("\"gone\"") && warning.contains("is not an executable"))
    );
}
