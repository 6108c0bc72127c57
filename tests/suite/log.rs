//! `RAGMAKER_LOG`: one JSON line for every call.
#![cfg(unix)]

use std::{fs, io::Write, os::unix::fs::PermissionsExt, process::Command};

use ragmaker_tests::{
    mcp::Client,
    run::{Project, executable},
};
use serde_json::{Value, json};

/// The lines of the log, without the members that differ from run to run.
fn lines(project: &Project) -> Vec<Value> {
    let text = fs::read_to_string(project.path().join("calls.log")).unwrap();
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let members = line.as_object_mut().unwrap();
        assert!(members.remove("time").is_some_and(|time| time.as_str().unwrap().starts_with("20")));
        assert!(members.remove("milliseconds").is_some_and(|duration| duration.is_u64()));
        line
    };
    text.lines().map(line).collect()
}

#[test]
fn each_call_is_a_line() {
    let project = Project::new();
    let path = project.write("notes/a.md", "one\ntwo\n");
    let log = project.path().join("calls.log");
    project.tool("read-file").args(["--path", "notes/a.md"]).run().answer();
    project.tool("read-file").args(["--path", "notes/a.md"]).env("RAGMAKER_LOG", "").run().answer();
    let files: Vec<_> = fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["notes"], "it is off by default");

    let run = |tool: &str, arguments: &[&str]| project.tool(tool).args(arguments).env("RAGMAKER_LOG", &log).run();
    run("read-file", &["--path", "notes/a.md"]).answer();
    run("read-file", &["--path", "notes/none.md"]).error("FILE_NOT_FOUND");
    run("write-file", &["--path", "notes/b.txt", "--content", "secret"]).answer();
    run("read-file", &["--path", "notes/a.md", "--limit", "many"]).error("ARGUMENT_ERROR");
    let missing = project.path().join("notes/none.md");
    let written = project.path().join("notes/b.txt");
    let found = lines(&project);
    assert_eq!(
        found[..2],
        [
            json!({
                "tool": "ragmaker-read-file", "operation": "read", "path": path, "lines": 2,
                "mime_type": "text/markdown", "bytes": 8, "extension": "md", "error_code": null,
            }),
            json!({
                "tool": "ragmaker-read-file", "operation": "read", "path": missing, "extension": "md",
                "error_code": "FILE_NOT_FOUND",
            }),
        ]
    );
    assert_eq!(
        (&found[2]["tool"], &found[2]["path"], &found[2]["error_code"], &found[2]["lines"], &found[2]["mime_type"]),
        (&json!("ragmaker-write-file"), &json!(written), &Value::Null, &json!(1), &json!("text/plain"))
    );
    assert_ne!(found[2]["operation"], "read");
    assert_eq!(found[3], json!({"tool": "ragmaker-read-file", "operation": "read", "error_code": "ARGUMENT_ERROR"}));
    run("modify-file-content", &["--path", "notes/b.txt", "--old-text", "secret", "--new-text", "secret!"]).answer();
    let changed = &lines(&project)[4];
    assert_eq!(
        (&changed["bytes"], &changed["extension"], &changed["operation"]),
        (&json!(7), &json!("txt"), &json!("change"))
    );
    run("github-fetch", &["--repo-url", "https://me:password@127.0.0.1:9/a/b", "--kb-root", "kb"]).error("GIT_FAILED");
    let fetched = &lines(&project)[5];
    assert_eq!(fetched["url"], "https://127.0.0.1:9/a/b", "{fetched}");
    assert_eq!(found.len(), 4);
    assert!(!fs::read_to_string(&log).unwrap().contains("secret"), "contents are not logged");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_log_that_is_a_pipe_without_a_reader_is_not_waited_for() {
    let project = Project::new();
    project.write("a.txt", "needle\n");
    let pipe = project.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    project.tool("read-file").args(["--path", "a.txt"]).env("RAGMAKER_LOG", &pipe).run().answer();
}

#[test]
fn a_server_logs_each_call_once() {
    let project = Project::new();
    project.write("a.txt", "needle\n");
    let mut server = project.tool("mcp").into_command();
    server.env("RAGMAKER_LOG", project.path().join("calls.log"));
    let client = Client::open(server);
    client.answer("read_file", json!({"path": "a.txt"}));
    // In a process of its own.
    client.answer("search_file_content", json!({"pattern": "needle", "path": "a.txt"}));
    client.error("read_file", json!({"path": "none"}), "FILE_NOT_FOUND");
    assert!(client.close().success());
    let found: Vec<_> =
        lines(&project).into_iter().map(|line| (line["tool"].clone(), line["error_code"].clone())).collect();
    assert_eq!(
        found,
        [
            (json!("ragmaker-read-file"), Value::Null),
            (json!("ragmaker-search-file-content"), Value::Null),
            (json!("ragmaker-read-file"), json!("FILE_NOT_FOUND")),
        ]
    );
}

#[test]
fn a_large_content_is_not_held_for_the_log() {
    const SIZE: usize = 96 << 20;
    let project = Project::new();
    let mut file = fs::File::create(project.path().join("large.txt")).unwrap();
    let block = "a line of text.\n".repeat(1 << 16);
    for _ in 0..SIZE / block.len() {
        file.write_all(block.as_bytes()).unwrap();
    }
    // Less address space than the content takes.
    let script = format!("ulimit -v {}; exec \"$0\" --path large.txt --limit 100000000 >/dev/null", SIZE / 1024);
    let status = Command::new("sh")
        .args(["-c", &script])
        .arg(executable("ragmaker-read-file"))
        .current_dir(project.path())
        .env("RAGMAKER_PROJECT_ROOT", project.path())
        .env("RAGMAKER_LOG", project.path().join("calls.log"))
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(lines(&project)[0]["bytes"], SIZE);
}
