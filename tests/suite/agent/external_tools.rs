//! Tools of catalogs and of MCP servers, which the person's configuration names.

#![cfg(unix)]

use std::fs;

use super::*;

/// The folder of the person's configuration, with the catalogs in it.
const FOLDER: &str = "config/ragmaker";

fn script(project: &Project, name: &str, lines: &str) {
    ragmaker_testkit::script(project.path(), &format!("{FOLDER}/{name}"), lines);
}

fn configure(project: &Project, text: &str) {
    project.write(&format!("{FOLDER}/ragmaker.toml"), text);
}

fn entry(name: &str, annotations: &Value) -> Value {
    json!({"name": name, "command": format!("./{name}"), "description": name, "annotations": annotations,
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false}})
}

/// A catalog of these tools, each a script beside it.
fn catalog(project: &Project, tools: &[(&str, Value, &str)]) {
    for (name, _, lines) in tools {
        script(project, name, lines);
    }
    let entries: Vec<_> = tools.iter().map(|(name, annotations, _)| entry(name, annotations)).collect();
    project.write(&format!("{FOLDER}/discovery.json"), json!({"tools": entries}).to_string());
    configure(project, "[tools]\ncatalogs = ['discovery.json']\ntimeout_s = 20\n");
}

#[test]
fn every_dialect_is_offered_and_called() {
    let project = Project::new();
    script(&project, "ours", r#"test "$1 $2" = "--arguments -" && printf '{"status": "success", "got": %s}' "$(cat)""#);
    script(&project, "options", r#"printf '{"words": "%s"}' "$*""#);
    script(&project, "bin/greet", r#"printf 'Hello %s' "$1" > "$LLM_OUTPUT""#);
    script(&project, "list", r#"printf '[{"name": "listed", "parametersJsonSchema": {"type": "object"}}]'"#);
    script(&project, "run-all", r#"printf '{"tool": "%s"}' "$1""#);
    project.write(&format!("{FOLDER}/ours.json"), json!({"tools": [entry("ours", &json!({}))]}).to_string());
    let original = json!({"name": "options", "command": "./options", "parameters": {"type": "object"}});
    project.write(&format!("{FOLDER}/original.json"), json!({"tools": [original, {"name": "broken"}]}).to_string());
    project.write(&format!("{FOLDER}/functions.json"), json!([{"name": "greet"}]).to_string());
    let folder = project.path().join(FOLDER);
    configure(
        &project,
        &format!(
            "[tools]\ncatalogs = ['ours.json', 'original.json', 'functions.json', {{discover = ['{0}/list'], call = ['{0}/run-all']}}]",
            folder.display()
        ),
    );
    let calls = vec![
        ("ours", json!({"text": "潮 'a'"})),
        ("options", json!({"base-url": "-x"})),
        ("greet", json!({})),
        ("listed", json!({})),
        ("ours", json!({"txt": 1})),
        ("lisetd", json!({})),
    ];
    let told = told(&project, &["--approve", "all"], calls.clone());
    assert_eq!(told[0]["got"], json!({"text": "潮 'a'"}), "{told:?}");
    assert_eq!(told[1]["words"], "--base-url=-x");
    assert_eq!(told[2]["output"], "Hello {}");
    assert_eq!(told[3]["tool"], "listed");
    assert_eq!(told[4]["error_code"], "ARGUMENT_ERROR");
    assert_eq!(
        (&told[5]["error_code"], &told[5]["remediation_suggestion"]),
        (&json!("TOOL_NOT_FOUND"), &json!("Did you mean listed?"))
    );
    // What a tool does not declare is taken as the worst: marked, and never run unasked.
    assert!(told[1]["notice"].as_str().unwrap().contains("data"), "{told:?}");
    let refused = super::told(&project, &[], calls[..1].to_vec());
    assert_eq!(refused[0]["error_code"], "NEEDS_APPROVAL", "{refused:?}");
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    let run = asked(&project, &endpoint, WireFormat::OpenAi, "?");
    assert_eq!(run.answer()["warnings"].as_array().unwrap().len(), 1, "{:?}", run.answer());
    let offered = endpoint.requests()[0].body["tools"].to_string();
    for name in ["ours", "options", "greet", "listed", "read_file"] {
        assert!(offered.contains(&format!("\"name\":\"{name}\"")), "{name}");
    }
}

#[test]
fn a_tool_is_confined_to_its_declaration() {
    let project = Project::new();
    if !confines(&project) {
        return ragmaker_testkit::not_run("this machine confines no processes");
    }
    let (read, write) = (json!({"readOnlyHint": true, "openWorldHint": false}), json!({"openWorldHint": false}));
    let holder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = holder.path().display();
    let tries = format!(
        "cd '{}'; touch written 2>/dev/null && printf project; touch '{outside}/written' 2>/dev/null && printf outside; \
         cat .env a/b/.env a/id_rsa 2>/dev/null; env | grep -i key; true",
        project.path().display()
    );
    for name in [".env", "a/b/.env", "a/id_rsa"] {
        project.write(name, "SECRET=1\n");
    }
    catalog(&project, &[("reads", read, &tries), ("writes", write, &tries)]);
    let approved = told(&project, &["--approve", "all"], vec![("reads", json!({})), ("writes", json!({}))]);
    assert_eq!(approved[0], json!({"status": "success", "output": "", "truncated": false}));
    assert_eq!(approved[1]["output"], "project", "{approved:?}");
    // It declares that it changes nothing and is kept to that, so nobody is asked.
    let unasked = told(&project, &[], vec![("reads", json!({})), ("writes", json!({}))]);
    assert_eq!((&unasked[0]["status"], &unasked[1]["error_code"]), (&json!("success"), &json!("NEEDS_APPROVAL")));
    // On a kernel without the layers, of every tool.
    let endpoint = caller(vec![("reads", json!({}))]);
    let run = agent(&project, &endpoint, WireFormat::OpenAi)
        .env("RAGMAKER_CONFINE_WITHOUT", "namespaces,landlock")
        .args(["Go.", "--output", "json"])
        .run();
    assert_eq!(run.answer()["tool_calls"][0]["error_code"], "NEEDS_APPROVAL");
    let message = results(&endpoint.requests()[1].body).remove(0);
    assert!(message.contains("neither Landlock nor namespaces"), "{message}");
    let read_only = told(&project, &["--read-only"], vec![("reads", json!({})), ("writes", json!({}))]);
    assert_eq!((&read_only[0]["status"], &read_only[1]["error_code"]), (&json!("success"), &json!("TOOL_NOT_FOUND")));
    let named = told(&project, &["--tools", "reads,think"], vec![("reads", json!({})), ("read_file", json!({}))]);
    assert_eq!((&named[0]["status"], &named[1]["error_code"]), (&json!("success"), &json!("TOOL_NOT_FOUND")));
}

#[test]
fn a_failure_of_any_kind_is_a_result() {
    let project = Project::new();
    let none = || json!({"readOnlyHint": true, "openWorldHint": false});
    catalog(
        &project,
        &[
            ("fails", none(), "echo why >&2; exit 3"),
            ("crashes", none(), "kill -SEGV $$"),
            ("prose", none(), "echo no json"),
            ("floods", none(), "head -c 200000000 /dev/zero | tr '\\0' 'x'; echo end"),
            ("hangs", none(), "sleep 600 & sleep 600"),
        ],
    );
    let configuration = fs::read_to_string(project.path().join(FOLDER).join("ragmaker.toml")).unwrap();
    configure(&project, &configuration.replace("timeout_s = 20", "timeout_s = 2"));
    let calls = ["fails", "crashes", "prose", "floods", "hangs"].map(|name| (name, json!({})));
    let told = told(&project, &["--approve", "all"], calls.to_vec());
    assert_eq!((&told[0]["error_code"], &told[0]["details"]["exit_code"]), (&json!("TOOL_FAILED"), &json!(3)));
    assert_eq!(told[0]["details"]["stderr"], "why\n");
    assert_eq!((&told[1]["error_code"], &told[1]["details"]["signal"]), (&json!("TOOL_FAILED"), &json!(11)));
    assert_eq!(told[2]["output"], "no json\n");
    // Two seconds may not be enough for so much.
    let flood = &told[3];
    let is_cut = flood["output"].as_str().is_some_and(|text| text.ends_with("end\n") && text.len() < 30_000);
    assert!(is_cut || flood["status"] == "error", "{flood}");
    assert_eq!(told[4]["status"], "error");
    assert!(told[4]["message"].as_str().unwrap().contains("2 s"), "{told:?}");
    assert_eq!(project.left_running(std::time::Duration::from_secs(10)).len(), 0);
}

#[test]
fn long_output_is_whole_in_a_file() {
    let project = Project::new();
    let none = || json!({"readOnlyHint": true, "openWorldHint": false});
    catalog(
        &project,
        &[
            ("talks", none(), "i=0; while [ $i -lt 9000 ]; do echo \"line $i\"; i=$((i+1)); done"),
            ("floods", none(), "head -c 3000000 /dev/zero | tr '\\0' 'x'; echo end"),
        ],
    );
    let endpoint = caller(vec![("talks", json!({})), ("floods", json!({}))]);
    let run =
        agent(&project, &endpoint, WireFormat::OpenAi).args(["Go.", "--approve", "all", "--output", "json"]).run();
    assert_eq!(run.answer()["answer"], "Done.");
    let told = results(&endpoint.requests().pop().unwrap().body);
    // JSON with the text, shortened by the agent as every long result.
    let (_, path) = told[0].split_once("the whole is in ").unwrap();
    let whole = fs::read_to_string(path.split(" …]").next().unwrap()).unwrap();
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let lines: Vec<_> = (0..9000).map(|at| format!("line {at}\n")).collect();
    assert_eq!((&whole["output"], &whole["truncated"]), (&json!(lines.concat()), &json!(false)));
    assert!(told[0].contains("line 0\\n") && told[0].contains("line 8999\\n") && told[0].len() < 31_000);
    // What is too long to be kept in memory.
    let flood: Value = serde_json::from_str(&told[1]).unwrap();
    assert_eq!(flood["truncated"], true);
    let log = fs::read(flood["log_file"].as_str().unwrap()).unwrap();
    assert!(log.len() == 3_000_004 && log.ends_with(b"xend\n"));
}

#[test]
fn a_tool_without_confinement_is_called_as_one_with_it() {
    let project = Project::new();
    script(&project, "ours", r#"printf '{"status": "success", "length": %s}' "$(wc -c)""#);
    script(&project, "silent", "if read line; then echo input; else echo none; fi");
    script(&project, "deaf", "exec 0<&-; echo deaf");
    script(&project, "crashes", "kill -SEGV $$");
    script(&project, "fails", "echo why >&2; exit 3");
    let entries: Vec<_> = ["ours", "deaf", "crashes", "fails"].map(|name| entry(name, &json!({}))).into();
    project.write(&format!("{FOLDER}/ours.json"), json!({"tools": entries}).to_string());
    let silent = json!({"name": "silent", "command": "./silent", "parameters": {"type": "object"}});
    project.write(&format!("{FOLDER}/original.json"), json!({"tools": [silent]}).to_string());
    let files = ["ours.json", "original.json"].map(|file| format!("{{file = '{file}', confined = false}}"));
    configure(&project, &format!("[tools]\ncatalogs = [{}]\n", files.join(", ")));
    let long = json!({"text": "tide ".repeat(50_000)});
    let calls = vec![
        ("ours", long.clone()),
        ("silent", json!({})),
        ("deaf", long.clone()),
        ("crashes", json!({})),
        ("fails", json!({})),
    ];
    let told = told(&project, &["--approve", "all"], calls);
    assert_eq!(told[0]["length"], long.to_string().len());
    assert_eq!((&told[1]["output"], &told[2]["output"]), (&json!("none\n"), &json!("deaf\n")));
    assert_eq!((&told[3]["details"]["signal"], &told[4]["details"]["exit_code"]), (&json!(11), &json!(3)), "{told:?}");
    assert_eq!(told[4]["details"]["stderr"], "why\n");
    assert_eq!(project.left_running(std::time::Duration::from_secs(10)).len(), 0);
}

#[test]
fn a_server_has_no_keys_in_its_environment() {
    for confined in [false, true] {
        let project = Project::new();
        let server = "[mcp.servers.spy]\ncommand = 'sh'\nargs = ['-c', 'env > seen']\nenv = {OWN = '${OWN_TOKEN}'}\n";
        configure(&project, &format!("{server}confined = {confined}\n"));
        let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
        let run = agent(&project, &endpoint, WireFormat::OpenAi)
            .env("TAVILY_API_KEY", "tvly-0123456789")
            .env("OWN_TOKEN", "own-0123456789")
            .env("HARMLESS", "seen")
            .args(["?", "--output", "json"])
            .run();
        assert_eq!(run.answer()["answer"], "Done.");
        let seen = fs::read_to_string(project.path().join("seen")).unwrap();
        assert!(!seen.contains(KEY) && !seen.contains("tvly-") && !seen.contains("OWN_TOKEN"), "{seen}");
        // What the configuration gives it, it has.
        assert!(seen.contains("OWN=own-0123456789") && seen.contains("HARMLESS=seen"), "{seen}");
    }
}

#[test]
fn servers_are_offered_and_end_with_the_agent() {
    let project = Project::new();
    project.write("tides.md", "High water.\n");
    let command = project.tool("mcp").into_command();
    let program = command.get_program().to_str().unwrap();
    let server = |name: &str, more: &str| {
        format!("[mcp.servers.{name}]\ncommand = '{program}'\nargs = ['--tools', 'read_file,write_file']\n{more}\n")
    };
    configure(
        &project,
        &(server("ours", "") + &server("kept", "confined = true") + "[mcp.servers.gone]\ncommand = './no-server'\n"),
    );
    let write = |name: &str| json!({"path": name, "content": "x"});
    let calls = vec![
        ("ours_read_file", json!({"path": "tides.md"})),
        ("kept_read_file", json!({"path": "tides.md"})),
        ("ours_write_file", write("a.md")),
        ("kept_write_file", write("b.md")),
    ];
    let unasked = told(&project, &[], calls.clone());
    assert_eq!((&unasked[0]["content"], &unasked[1]["content"]), (&json!("High water.\n"), &json!("High water.\n")));
    assert_eq!(
        (&unasked[2]["error_code"], &unasked[3]["error_code"]),
        (&json!("NEEDS_APPROVAL"), &json!("NEEDS_APPROVAL"))
    );
    let approved = told(&project, &["--approve", "all"], calls);
    assert!(approved.iter().all(|answer| answer["status"] == "success"), "{approved:?}");
    assert!(project.path().join("a.md").exists() && project.path().join("b.md").exists());
    assert_eq!(project.left_running(std::time::Duration::from_secs(10)).len(), 0);
}

#[test]
fn a_selected_tool_whose_server_fails_is_left_out() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    let server = "[mcp.servers.gh]\ncommand = 'sh'\nargs = ['-c', 'echo no key >&2; exit 1']\n";
    let run = |flags: &[&str]| {
        agent(&project, &endpoint, WireFormat::OpenAi).args(["?", "--output", "json"]).args(flags).run()
    };
    let warned = |output: &Output| {
        let warnings = output.answer()["warnings"].to_string();
        assert!(warnings.contains("MCP server gh: ") && warnings.contains("the tool gh_search is not"), "{warnings}");
        let offered = endpoint.requests().pop().unwrap().body["tools"].clone();
        let names: Vec<_> = offered.as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone()).collect();
        assert_eq!(names, ["read_file"]);
    };
    configure(&project, server);
    warned(&run(&["--tools", "read_file,gh_search"]));
    // The name of no tool is still an error, and so is a run without any tool. That one has the reason.
    let unknown = run(&["--tools", "read_file,hg_search"]);
    assert!(unknown.error("ARGUMENT_ERROR").to_string().contains("hg_search"));
    let nothing = run(&["--tools", "gh_search"]);
    assert!(nothing.error("ARGUMENT_ERROR")["message"].as_str().unwrap().contains("MCP server gh: "));
    configure(&project, &format!("[tools]\noffered = ['read_file', 'gh_search']\n{server}"));
    warned(&run(&[]));
    configure(&project, "[tools]\ncatalogs = ['none.json']\n");
    let warnings = run(&["--tools", "read_file,listed"]).answer()["warnings"].to_string();
    assert!(warnings.contains("none.json") && warnings.contains("the tool listed is not"), "{warnings}");
}

/// A server as a shell script, with a tool that ends it, leaves its input unread, or answers.
const SERVER: &str = r#"
reply() { printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\n' "$id" "$1"; }
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
        *'"initialize"'*) reply '{"protocolVersion": "2025-06-18", "capabilities": {}}' ;;
        *'"tools/list"'*) reply '{"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}' ;;
        *'"die"'*) echo gone >&2; kill -9 $$ ;;
        *'"stop"'*) exec sleep 600 ;;
        *'"tools/call"'*) reply '{"content": [{"type": "text", "text": "said"}]}' ;;
    esac
done
"#;

#[test]
fn a_server_that_crashed_is_started_again() {
    for confined in [false, true] {
        let project = Project::new();
        project.write("server.sh", SERVER);
        let server = "[mcp.servers.one]\ncommand = 'sh'\nargs = ['server.sh']\n";
        configure(&project, &format!("{server}confined = {confined}\n"));
        let say = |text: &str| ("one_say", json!({"text": text}));
        let told = told(&project, &["--approve", "all"], vec![say("hello"), say("die"), say("hello"), say("die")]);
        assert_eq!((&told[0]["output"], &told[2]["output"]), (&json!("said"), &json!("said")), "{told:?}");
        for ended in [&told[1], &told[3]] {
            assert_eq!((&ended["error_code"], &ended["details"]["stderr"]), (&json!("TOOL_FAILED"), &json!("gone\n")));
        }
        assert_eq!(project.left_running(std::time::Duration::from_secs(10)).len(), 0);
    }
}

#[test]
fn a_server_that_does_not_read_ends_no_run() {
    for confined in [false, true] {
        let project = Project::new();
        project.write("server.sh", SERVER);
        let server = "[tools]\ntimeout_s = 1\n[mcp.servers.one]\ncommand = 'sh'\nargs = ['server.sh']\n";
        configure(&project, &format!("{server}confined = {confined}\n"));
        let say = |text: &str| ("one_say", json!({"text": text}));
        let told = told(&project, &["--approve", "all"], vec![say("stop"), say(&"tide ".repeat(60_000)), say("more")]);
        assert_eq!(told.iter().filter(|answer| answer["error_code"] == "TOOL_TIMED_OUT").count(), 3, "{told:?}");
        assert_eq!(project.left_running(std::time::Duration::from_secs(10)).len(), 0);
    }
}
