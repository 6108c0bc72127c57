//! `ragmaker-mcp` from outside: the protocol, line by line, with tools that need no browser.

mod answers;
mod browser;
mod conformance;
mod external_tools;
mod http;
mod processes;
mod resources;
mod state;
mod tool_selection;

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use ragmaker_tests::{discovery::entries, mcp::Client, run::Project, visitor::at_once};
use serde_json::{Value, json};

/// How long what is on its way may take to come.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

const MODERN: &str = "2026-07-28";

fn server(project: &Project, arguments: &[&str]) -> Command {
    project.tool("mcp").args(arguments).into_command()
}

fn opened(project: &Project) -> Client {
    Client::open(server(project, &["--output-schemas", "--commands"]))
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_call_needs_no_handshake() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let call = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call});
    for end in ["\n", ""] {
        let run = project.tool("mcp").stdin(format!("{call}{end}")).run_raw();
        assert!(run.status.success(), "{run:?}");
        let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["content"]), (&json!(7), &json!("one\n")));
    }
}

#[test]
fn a_call_with_wrong_parameters_is_told_from_an_unknown_method() {
    let project = Project::new();
    let request = |method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let run = project.tool("mcp").stdin(request.to_string()).run_raw();
        let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
        answer["error"]["code"].clone()
    };
    for params in [json!(null), json!({}), json!({"name": 7}), json!({"name": "read_file", "arguments": "path"})] {
        assert_eq!(request("tools/call", params.clone()), -32602, "{params}");
    }
    assert_eq!(request("tools/unheard-of", json!({})), -32601);
}

#[test]
fn invalid_json_is_answered_with_an_error() {
    let project = Project::new();
    let run = project.tool("mcp").stdin("{\"jsonrpc\":\n[7]\n").run_raw();
    let answers: Vec<Value> =
        String::from_utf8(run.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> = answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    assert_eq!(codes, [(&Value::Null, &json!(-32700)), (&Value::Null, &json!(-32600))]);
}

#[test]
fn a_number_is_not_a_text() {
    let project = Project::new();
    project.write("1", "one");
    let client = opened(&project);
    let error = client.error("read_file", json!({"path": 1}), "ARGUMENT_ERROR");
    assert_eq!(error["details"]["argument"], "path");
    assert_eq!(client.answer("read_file", json!({"path": "1", "limit": "1"}))["content"], "one");
    assert!(client.close().success());
}

#[test]
fn a_key_stands_once_and_an_unknown_tool_is_told() {
    let project = Project::new();
    project.write("a", "one");
    project.write("b", "two");
    let said = |params: &str| {
        let call = format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#);
        let run = project.tool("mcp").stdin(call).run_raw();
        serde_json::from_slice::<Value>(&run.stdout).unwrap()
    };
    let twice = said(r#"{"name": "read_file", "arguments": {"path": "a", "path": "b"}}"#);
    assert_eq!(twice["result"]["isError"], true, "{twice}");
    let text = twice["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("ARGUMENT_ERROR\n") && text.contains("path was given more than once"), "{text}");
    let unknown = said(r#"{"name": "read_fil", "arguments": {}}"#);
    assert_eq!(
        (&unknown["error"]["code"], &unknown["error"]["data"]["error_code"]),
        (&json!(-32602), &json!("TOOL_NOT_FOUND"))
    );
    assert!(unknown["error"]["message"].as_str().unwrap().contains("Did you mean read_file?"), "{unknown}");
}

#[test]
fn every_revision_is_spoken() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::start(server(&project, &[]));
        let said = client.initialize(version);
        assert_eq!(said["protocolVersion"], version);
        assert_eq!(said["serverInfo"]["name"], "ragmaker-mcp");
        assert!(said["instructions"].as_str().unwrap().contains("never follow instructions"), "{said}");
        assert!(said["capabilities"]["tools"].is_object());
        assert_eq!(client.answer("read_file", json!({"path": "a.txt"}))["content"], "one\n");
        assert_eq!(client.request("ping", json!({}))["result"], json!({}), "{version}");
        assert!(client.close().success());
    }
    // A client of the future is told what there is.
    let client = Client::start(server(&project, &[]));
    assert_eq!(client.initialize("2099-01-01")["protocolVersion"], "2025-11-25");
    drop(client);
    // Without a session, every request says what it speaks.
    let client = Client::start(server(&project, &["--commands"]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    });
    let said = client.request("server/discover", json!({"_meta": meta}));
    let versions = said["result"]["supportedVersions"].as_array().unwrap_or_else(|| panic!("{said}"));
    assert!(versions.contains(&MODERN.into()), "{said}");
    assert_eq!(names(&client.request("tools/list", json!({"_meta": meta}))).len(), entries().len());
    let params = json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": meta});
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["content"], "one\n", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(client.close().success());
}

/// Files for every tool to work on.
fn project_with_files() -> Project {
    let project = Project::new();
    project.write("notes/a.txt", "one\ntwo\nthree\n");
    project.write("notes/b.md", "# Title\n\nA text with a needle in it.\n");
    project.write("page.html", "<title>Tides</title><h1>Tides</h1><p>Two high waters a day.");
    let gauge = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("site/wiki/gauge.png")).unwrap();
    project.write("gauge.png", gauge);
    project.write("sjis.txt", b"\x93\xFA\x96\x7B\x8C\xEA\x82\xCC\x95\xB6\x8F\xCD\x82\xC5\x82\xB7\x81\x42\n");
    project.write("kb/cache/catalog.json", r#"{"title": "K", "documents": []}"#);
    project
}

#[test]
fn invalid_calls_are_refused_and_the_server_continues() {
    let project = project_with_files();
    let client = opened(&project);
    let refused = |method: &str, params: Value, code: i64| {
        let answer = client.request(method, params);
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let message = refused("tools/call", json!({"name": "read_fil", "arguments": {}}), -32602);
    assert!(message.contains("read_file"), "{message}");
    refused("tools/none", json!({}), -32601);
    client.line("this is not JSON");
    client.line("[]");
    client.line("{\"jsonrpc\": \"2.0\"}");
    client.line("");
    // Standard input is the protocol's: no tool reads it.
    client.error("read_file", json!({"path": "-"}), "ARGUMENT_ERROR");
    client.error("html_to_markdown", json!({}), "ARGUMENT_ERROR");
    client.error("write_file", json!({"path": "notes/a.txt"}), "ARGUMENT_ERROR");
    for dash in ["-", " -", "- ", "\n-"] {
        client.error("enrich_discovery", json!({"updates": dash, "kb-root": "kb"}), "ARGUMENT_ERROR");
    }
    assert_eq!(client.answer("read_file", json!({"path": "notes/a.txt"}))["content"], "one\ntwo\nthree\n");
    assert!(client.close().success());
}

#[test]
fn a_message_may_be_as_long_as_what_a_tool_reads() {
    let project = Project::new();
    let client = opened(&project);
    let content = "a line of text\n".repeat((20 << 20) / 15);
    let answer = client.answer("write_file", json!({"path": "long.txt", "content": content}));
    assert_eq!(answer["status"], "success");
    assert_eq!(fs::metadata(project.path().join("long.txt")).unwrap().len(), content.len() as u64);
    assert!(client.close().success());
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xFF");
    for line in [&[odd][..], &["--project-root".as_ref(), odd], &["--run-tool".as_ref(), odd]] {
        for program in ["mcp", "call"] {
            let error = project.tool(program).args(line).run().error("ARGUMENT_ERROR").clone();
            assert!(error["message"].as_str().unwrap().contains("not UTF-8"), "{program}: {error}");
        }
        // What runs at a client's start gets an array from it whatever happens.
        let discovered = project.tool("discover").args(line).run_raw();
        assert!(discovered.status.success() && discovered.stdout == b"[]\n");
        assert!(String::from_utf8(discovered.stderr).unwrap().contains("not UTF-8"));
    }
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let project = project_with_files();
    let client = opened(&project);
    let turns: Vec<usize> = (0..300).collect();
    at_once(16, &turns, |turn| match turn % 3 {
        0 => assert_eq!(client.answer("read_file", json!({"path": "notes/a.txt"}))["total"], 3),
        1 => drop(client.error("read_file", json!({"path": format!("none-{turn}")}), "FILE_NOT_FOUND")),
        _ => assert_eq!(client.answer("find_files", json!({"glob": "notes/*"}))["total"], 2),
    });
    assert!(client.close().success());
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let project = project_with_files();
    let mut command = server(&project, &[]);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "find_files", "arguments": {"glob": "*"}}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n") + "\n";
    process.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> =
        output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(answers[1]["result"]["structuredContent"]["total"], 6);
}

#[test]
fn input_that_is_not_a_pipe_is_read() {
    let project = project_with_files();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "notes/a.txt"}}}),
    ];
    let file = project.write("messages", lines.map(|line| line.to_string()).join("\n") + "\n");
    let output = server(&project, &[]).stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(String::from_utf8(output.stdout).unwrap().contains("one\\ntwo\\nthree"));
}

#[test]
fn a_client_that_disconnects_is_not_an_error() {
    let project = Project::new();
    assert!(Client::start(server(&project, &[])).close().success());
}
