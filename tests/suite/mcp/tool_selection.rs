//! The tools that the server offers, and the reach of a call.

use boon::{Compiler, Schemas};
use ragmaker_tests::{
    discovery::entries,
    mcp::{Client, text},
    run::Project,
};
use serde_json::json;

use super::{WAIT_TIMEOUT, names, opened, project_with_files, server};

#[test]
fn the_list_is_discovery_json() {
    let project = Project::new();
    let client = opened(&project);
    let list = client.request("tools/list", json!({}));
    assert_eq!(list, {
        let mut again = client.request("tools/list", json!({}));
        again["id"] = list["id"].clone();
        again
    });
    let tools = list["result"]["tools"].as_array().unwrap();
    let entries = entries();
    assert_eq!(tools.len(), entries.len());
    for (tool, entry) in tools.iter().zip(&entries) {
        let name = tool["name"].as_str().unwrap();
        for same in ["name", "description"] {
            assert_eq!(tool[same], entry.json[same], "{name}");
        }
        // What is left out is what the protocol takes for granted.
        for (hint, default) in
            [("readOnlyHint", false), ("destructiveHint", true), ("idempotentHint", false), ("openWorldHint", true)]
        {
            let given = tool["annotations"][hint].as_bool().unwrap_or(default);
            assert_eq!(entry.json["annotations"][hint], given, "{name}: {hint}");
        }
        assert_eq!(tool["inputSchema"]["properties"], entry.json["parameters"]["properties"], "{name}");
        assert!(!tool["title"].as_str().unwrap().is_empty(), "{name}");
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name}");
            let draft = "https://json-schema.org/draft/2020-12/schema";
            let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
            let index = compiler.compile(draft, &mut schemas).unwrap();
            assert!(schemas.validate(schema, index).is_ok(), "{name}: {schema}");
        }
    }
    assert!(client.close().success());
}

#[test]
fn fewer_tools_may_be_offered() {
    let project = project_with_files();
    let offered = |arguments: &[&str]| {
        let client = Client::open(server(&project, arguments));
        let list = client.request("tools/list", json!({}));
        let offered: Vec<String> = names(&list).into_iter().map(str::to_owned).collect();
        for entry in entries() {
            let name = entry.json["name"].as_str().unwrap();
            if !offered.iter().any(|one| one == name) {
                let answer = client.request("tools/call", json!({"name": name, "arguments": {}}));
                assert_eq!(answer["error"]["code"], -32602, "{name}");
            }
        }
        offered
    };
    assert_eq!(
        offered(&["--tools", "read_file,ragmaker-move, list-directory"]),
        ["list_directory", "move", "read_file"]
    );
    let read_only = |entry: &ragmaker_tests::discovery::Entry| entry.json["annotations"]["readOnlyHint"] == true;
    let expected: Vec<_> =
        entries().iter().filter(|entry| read_only(entry)).map(|entry| entry.json["name"].clone()).collect();
    assert_eq!(offered(&["--read-only"]), expected.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>());
    assert_eq!(offered(&["--read-only", "--tools=read_file,move"]), ["read_file"]);
    for arguments in [&["--tools", "read_fil"][..], &["--tools=move", "--read-only"], &["--tools", ""]] {
        let error = project.tool("mcp").args(arguments).run().error("ARGUMENT_ERROR").clone();
        assert_eq!(error["details"]["argument"], "--tools", "{error}");
    }
}

#[test]
fn commands_are_offered_on_request_and_asked_for() {
    let project = project_with_files();
    let line = |command: &str| json!({"name": "run_command", "arguments": {"command": command}});
    // Without the option there is no such tool, and a name does not bring it.
    let client = Client::open(server(&project, &[]));
    assert_eq!(client.request("tools/call", line("ls"))["error"]["code"], -32602);
    drop(client);
    project.tool("mcp").args(["--tools", "run_command"]).run().error("ARGUMENT_ERROR");
    // A client that cannot ask.
    let client = Client::open(server(&project, &["--profile", "ask", "--commands"]));
    assert_eq!(client.answer("run_command", json!({"command": "cat notes/a.txt"}))["exit_code"], 0);
    let error = client.error("run_command", json!({"command": "rm notes/a.txt"}), "NEEDS_APPROVAL");
    assert_eq!(error["details"]["words"], json!(["rm", "notes/a.txt"]));
    client.error("run_command", json!({"command": "rm -rf /"}), "COMMAND_BLOCKED");
    client.error("run_command", json!({"command": "rm notes/a.txt", "approval": "granted"}), "ARGUMENT_ERROR");
    drop(client);
    // One that can: it is shown the line, and its word is passed on.
    let client = Client::start(server(&project, &["--commands"]));
    let info = json!({"name": "tests", "version": "1"});
    let said = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": info});
    client.request("initialize", said);
    client.notify("notifications/initialized", &json!({}));
    for (answer, code) in [
        (json!({"action": "decline"}), Some("DENIED_BY_USER")),
        (json!({"action": "accept", "content": {"approve": false, "words": "use git rm"}}), Some("DENIED_BY_USER")),
        (json!({"action": "cancel"}), Some("NEEDS_APPROVAL")),
        (json!({"action": "accept", "content": {"approve": true}}), None),
    ] {
        let pending = client.send("tools/call", line("rm notes/a.txt"));
        let asked = client.unasked(WAIT_TIMEOUT);
        let question = asked.iter().find(|message| message["method"] == "elicitation/create").unwrap();
        assert!(question["params"]["message"].as_str().unwrap().contains("rm notes/a.txt"), "{question}");
        client.line(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string());
        let result = pending.answer()["result"].clone();
        assert_eq!(result["isError"] == true, code.is_some(), "{result}");
        if let Some(code) = code {
            assert!(text(&result).starts_with(code) && text(&result).contains("rm notes/a.txt"), "{result}");
        }
        assert!(!text(&result).contains("use git rm") || answer["content"]["words"] == "use git rm");
        assert_eq!(project.path().join("notes/a.txt").exists(), code.is_some());
    }
    assert!(client.close().success());
}

#[test]
fn the_roots_of_the_server_are_those_of_every_call() {
    let (project, elsewhere, outside) = (project_with_files(), Project::new(), Project::new());
    let base = outside.write("base/cache/catalog.json", r#"{"documents": []}"#);
    outside.write("base/catalog.json", r#"{"documents": []}"#);
    let page = outside.write("base/page.md", "text\n");
    let base = base.parent().unwrap().parent().unwrap();
    // As a client starts it: from anywhere.
    let mut command = server(&elsewhere, &["--project-root", project.path().to_str().unwrap()]);
    command.args(["--kb-root", base.to_str().unwrap()]).env_remove("RAGMAKER_PROJECT_ROOT");
    let client = Client::open(command);
    let info = client.answer("project_info", json!({}));
    assert_eq!(info["project_root"], project.path().to_str().unwrap(), "{info}");
    assert_eq!(client.answer("read_file", json!({"path": "notes/a.txt"}))["total"], 3);
    assert_eq!(client.answer("read_file", json!({"path": page.to_str().unwrap()}))["content"], "text\n");
    // In a process of its own as well.
    assert_eq!(client.answer("find_files", json!({"glob": "notes/*.txt"}))["total"], 1);
    assert_eq!(
        client.answer("search_file_content", json!({"pattern": "text", "path": base.to_str().unwrap()}))["total"],
        1
    );
    client.answer("entry_discovery", json!({"title": "T"}));
    assert!(project.path().join(".tmp/cache/catalog.json").is_file());
    client.answer("html_to_markdown", json!({"path": "page.html", "output-dir": "out"}));
    assert!(project.path().join("out").is_dir());
    assert!(client.close().success());
    for argument in ["--project-root", "--kb-root"] {
        for bad in ["none", project.path().join("page.html").to_str().unwrap()] {
            let error = project.tool("mcp").args([argument, bad]).run().error("ARGUMENT_ERROR").clone();
            assert_eq!(error["details"]["argument"], argument, "{error}");
        }
    }
}
