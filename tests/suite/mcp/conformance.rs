//! MCP conformance, checked by programs of other authors: the official Python client, the Inspector and
//! the conformance suite.
//!
//! `cargo xtask test` installs them under `target/conformance` and runs these tests; a plain
//! `cargo test` ignores them.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use ragmaker_tests::{
    discovery::{entries, workspace},
    run::{Project, executable},
    visitor::Visitor,
};
use serde_json::Value;

/// How long what is on its way may take to come.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

const PACKAGES: &str = "target/conformance/node_modules";

fn server() -> PathBuf {
    executable("ragmaker-mcp")
}

/// A script of a package, run by the Node.js on PATH.
fn node(script: &str) -> Command {
    let mut node = Command::new("node");
    node.arg(workspace().join(PACKAGES).join(script));
    node
}

fn run(command: &mut Command, project: &Project) -> Output {
    command.current_dir(project.path()).env("RAGMAKER_PROJECT_ROOT", project.path()).stdin(Stdio::null());
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; run `cargo xtask test`"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
#[ignore = "needs the Python client, which `cargo xtask test` installs"]
fn the_python_client_gets_along_with_it() {
    let visitor = Visitor::with_browser();
    visitor.project.write("notes.txt", "one\ntwo\n");
    let gauge = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("site/wiki/gauge.png")).unwrap();
    visitor.project.write("gauge.png", gauge);
    let mut python = Command::new(workspace().join("target/conformance/python/bin/python"));
    python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/client.py"));
    python.arg(server()).arg(visitor.url("/slow/first-byte"));
    let output = run(&mut python, &visitor.project);
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    // Commands are not offered without an option.
    let names = entries().into_iter().map(|entry| entry.json["name"].clone());
    let names: Vec<_> = names.filter(|name| name != "run_command").collect();
    assert_eq!(seen["tools"], Value::from(names));
    assert_eq!(seen["read"]["content"], "one\n");
    assert_eq!(seen["missing"][0], true);
    assert!(seen["missing"][1].as_str().unwrap().starts_with("FILE_NOT_FOUND\n"), "{seen}");
    assert_eq!(seen["image"][0], serde_json::json!(["image", "image/png"]));
    assert_eq!(seen["late"], true);
    assert!(seen["progress"].as_array().is_some_and(|reports| !reports.is_empty()), "{seen}");
    assert_eq!(seen["at_once"], 64);
    assert_eq!(seen["after"], false);
    visitor.close().run().answer();
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
}

#[test]
#[ignore = "needs the Inspector, which `cargo xtask test` installs"]
fn the_inspector_finds_nothing() {
    let project = Project::new();
    project.write("notes.txt", "one\n");
    let inspect = |arguments: &[&str]| {
        let mut inspector = node("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        run(inspector.arg("--cli").arg(server()).args(arguments), &project)
    };
    let list = inspect(&["--output-schemas", "--method", "tools/list", "--strict"]);
    assert!(list.status.success() && said(&list).contains("0 errors"), "{}", said(&list));
    // Without the schemas of answers there is nothing that it warns of.
    let list = inspect(&["--method", "tools/list", "--strict"]);
    assert!(list.status.success() && !said(&list).contains("Issue:"), "{}", said(&list));
    let read = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg"];
    for era in ["legacy", "auto", "modern"] {
        let output =
            inspect(&[&read[..], &["path=notes.txt", "--protocol-era", era, "--format", "json", "-q"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        assert_eq!(answer["result"]["structuredContent"]["content"], "one\n", "{era}: {answer}");
    }
    let missing = inspect(&[&read[..], &["path=none", "--format", "json", "-q"]].concat());
    assert_eq!(missing.status.code(), Some(5), "{}", said(&missing));
    let load =
        ["path=notes.txt", "--load", "--load-requests", "1000", "--load-concurrency", "16", "--format", "json", "-q"];
    let load = inspect(&[&read[..], &load].concat());
    assert!(load.status.success(), "{}", said(&load));
}

/// A server over HTTP, which ends with this.
struct HttpServer(Child, String);

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server without a token, which the suite cannot send.
fn listening(project: &Project) -> HttpServer {
    let mut command = project.tool("mcp").args(["--http", "0", "--no-token"]).into_command();
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let text: String = lines.take_while(|line| line != "}").collect();
    let answer: Value = serde_json::from_str(&(text + "}")).unwrap();
    HttpServer(server, answer["url"].as_str().unwrap().to_owned())
}

#[test]
#[ignore = "needs the conformance suite, which `cargo xtask test` installs"]
fn the_conformance_suite_fails_only_for_what_is_not_offered() {
    let project = Project::new();
    let server = listening(&project);
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/expected-failures.yaml");
    let mut suite = node("@modelcontextprotocol/conformance/dist/index.js");
    suite.args(["server", "--url", &server.1, "--expected-failures"]).arg(expected);
    let output = run(&mut suite, &project);
    assert!(output.status.success(), "{}", said(&output));
}
