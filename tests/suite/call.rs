//! `ragmaker-discover` and `ragmaker-call` from outside.

use ragmaker_tests::{discovery::entries, run::Project};
use serde_json::{Value, json};

fn discovered(arguments: &[&str]) -> Vec<Value> {
    let output = Project::new().tool("discover").args(arguments).run_raw();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn tools_are_listed_in_every_clients_form() {
    let entries = entries();
    for (format, name, schema) in [
        ("gemini", "/name", "/parametersJsonSchema"),
        ("openai", "/function/name", "/function/parameters"),
        ("anthropic", "/name", "/input_schema"),
        ("mcp", "/name", "/inputSchema"),
    ] {
        let tools = discovered(&["--commands", "--format", format]);
        assert_eq!(tools.len(), entries.len());
        for (tool, entry) in tools.iter().zip(&entries) {
            assert_eq!(tool.pointer(name), Some(&entry.json["name"]), "{format}");
            let properties = tool.pointer(schema).map(|schema| &schema["properties"]);
            assert_eq!(properties, Some(&entry.json["parameters"]["properties"]), "{format}");
        }
        assert!(format != "gemini" || discovered(&["--commands"]) == tools);
    }
}

#[test]
fn discover_always_prints_an_array() {
    for arguments in [&["--format", "none"][..], &["--format"], &["stray"], &["--no-such-thing"]] {
        let output = Project::new().tool("discover").args(arguments).run_raw();
        assert!(output.status.success(), "{arguments:?}");
        assert_eq!(output.stdout, b"[]\n");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error_code"], "ARGUMENT_ERROR");
    }
}

#[test]
fn a_call_is_the_executables() {
    let project = Project::new();
    project.write("a b.txt", "one\ntwo\n");
    for (tool, arguments) in [
        ("read_file", json!({"path": "a b.txt", "limit": "1", "wait_for_previous": false})),
        ("read_file", json!({"path": "none"})),
        ("read_file", json!({"path": "a b.txt", "no_such": 1})),
        ("list_directory", json!({})),
    ] {
        let called = project.tool("call").arg(tool).stdin(arguments.to_string()).run();
        let ran = project.tool(&tool.replace('_', "-")).args(["--arguments", &arguments.to_string()]).run();
        let whole = |run: ragmaker_tests::run::Output| (run.code, run.raw.stdout, run.raw.stderr);
        let ran = whole(ran);
        assert_eq!(whole(called), ran);
        let named = project.tool("call").args([tool, &arguments.to_string()]).run();
        assert_eq!(whole(named), ran);
    }
    // Empty standard input gives no arguments.
    assert_eq!(project.tool("call").arg("ragmaker-project-info").run().code, 0);
    // Not only one's own host passes an object: a person does, to a tool by its name.
    let error = project.tool("read-file").arg(r#"{"path": "a b.txt"}"#).run();
    let remedy = error.error("ARGUMENT_ERROR")["remediation_suggestion"].clone();
    assert_eq!(remedy, "Give a JSON object with the arguments as --arguments '{…}'.");
}

#[test]
fn awkward_arguments_need_no_quoting() {
    let project = Project::with_odd_name();
    let content = "it's \"quoted\" $HOME `ls` \\ \u{1F600}\n--content\n";
    let arguments = json!({"path": "-- odd \"name\".txt", "content": content});
    project.tool("call").arg("write-file").stdin(arguments.to_string()).run().answer();
    let read = project.tool("call").arg("read-file").stdin(json!({"path": "-- odd \"name\".txt"}).to_string()).run();
    assert_eq!(read.answer()["content"], content);
}

#[test]
fn calls_of_the_original_work() {
    let project = Project::new();
    project.write("source/a.html", "<title>Tides</title><h1>Tides</h1><p>Two high waters a day.");
    project.write("b.txt", "b");
    let call = |name: &str, arguments: Value| {
        let run = project.tool("call").arg(name).stdin(arguments.to_string()).run();
        run.answer().clone()
    };
    call("ragmaker-init-cache", json!({}));
    assert_eq!(call("ragmaker-file-sync", json!({"source-dir": "source", "dest-dir": "kb/a"}))["counts"]["added"], 1);
    call("ragmaker-create-knowledge-base", json!({"kb-root": "kb/b"}));
    project.write("kb/a/cache/draft.txt", "d");
    assert_eq!(call("ragmaker-cache-cleanup", json!({"target-dir": "kb/a"}))["trashed"][0]["name"], "draft.txt");
    let installed = json!({"source": ["kb/a"], "target-kb-root": "kb/c", "merge": true});
    call("ragmaker-install-kb", installed);
    assert!(project.path().join("kb/c/cache/catalog.json").is_file());
    call("ragmaker-move-file", json!({"source": "b.txt", "destination": "c.txt"}));
    let normalized = call("ragmaker-path-normalizer", json!({"path": "c.txt"}));
    assert!(normalized.to_string().contains("c.txt") && project.path().join("c.txt").is_file(), "{normalized}");
    let files = call("read_file", json!({"path": ["c.txt", "source/a.html"]}));
    assert_eq!(files["files"].as_array().map(Vec::len), Some(2), "{files}");
}

#[test]
fn an_invalid_call_is_refused() {
    let project = Project::new();
    let refused =
        |name: &str, input: &str| project.tool("call").arg(name).stdin(input).run().error("ARGUMENT_ERROR").clone();
    let unknown = |name: &str| project.tool("call").arg(name).stdin("{}").run().error("TOOL_NOT_FOUND").clone();
    for (name, nearest) in [("read_fil", "read_file"), ("ragmaker-browser-navigat", "browser_navigate")] {
        let error = unknown(name);
        assert_eq!(error["details"], json!({"tool": name, "nearest": [nearest]}));
        assert_eq!(error["remediation_suggestion"], format!("Did you mean {nearest}?"));
    }
    for name in ["", "ragmaker-", "quite-unlike-anything"] {
        let error = unknown(name);
        assert_eq!(error["details"], json!({"tool": name}));
        assert!(error["remediation_suggestion"].as_str().unwrap().contains("read_file"));
    }
    assert_eq!(refused("read_file", r#"{"path": "a", "path": "b"}"#)["details"]["argument"], "path");
    let nested = r#"{"kb_root": "kb", "updates": [{"url": "u", "summary": "a", "summary": "b"}]}"#;
    assert_eq!(refused("enrich_discovery", nested)["details"]["argument"], "summary");
    assert_eq!(refused("read_file", "{}")["details"]["argument"], "path");
    assert_eq!(refused("read_file", r#"{"path": "-"}"#)["details"]["argument"], "path");
    assert_eq!(refused("write_file", r#"{"path": "a"}"#)["details"]["argument"], "content");
    for input in ["[]", "not JSON", "{} {}"] {
        refused("read_file", input);
    }
    project.tool("call").run().error("ARGUMENT_ERROR");
    project.tool("call").args(["read_file", "--path=a"]).run().error("ARGUMENT_ERROR");
    for (arguments, argument) in [(["--version", "--bogus"], "--bogus"), (["read_file", "--help=1"], "--help")] {
        let run = project.tool("call").args(arguments).run();
        assert_eq!(run.error("ARGUMENT_ERROR")["details"]["argument"], argument);
    }
    assert!(!project.path().join("a").exists());
}
