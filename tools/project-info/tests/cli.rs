//! `ragmaker-project-info` from outside.

use std::{
    fs,
    process::{Command, Stdio},
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-project-info");

#[test]
fn where_the_project_is() {
    let tree = Tree::new(TOOL);
    tree.write("sub/x", "");
    let output = tree.command(&[]).current_dir(tree.root.join("sub")).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["project_root"], tree.root.to_str().unwrap());
    assert_eq!((&info["project_root_source"], &info["relative_cwd"]), (&json!("marker"), &json!("sub")));
    assert_eq!(info["candidates"][0]["reason"], "it contains .ragmaker");
    let output = tree.command(&[]).env("RAGMAKER_PROJECT_ROOT", tree.root.join("sub")).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&info["project_root_source"], &info["relative_cwd"]), (&json!("env"), &Value::Null));
    let argument = tree.run(&["--project-root", "sub"]);
    assert_eq!(argument["project_root_source"], "argument");
    assert_eq!(tree.error(&["--project-root", "/etc"]).0, "ROOT_TOO_BROAD");
}

#[test]
fn resolved_paths() {
    let tree = Tree::new(TOOL);
    let file = tree.write("notes/a.md", "a");
    tree.write(".gitignore", "*.log\n");
    tree.write("x.log", "x");
    tree.write("../other/b.md", "b");
    std::os::unix::fs::symlink("../other", tree.root.join("out")).unwrap();
    let paths = ["notes/a.md", "x.log", "out/new.md", "new/c.md"];
    let arguments: Vec<&str> = paths.iter().flat_map(|path| ["--resolve", path]).collect();
    let info = tree.run(&arguments);
    let of = |index: usize, key: &str| info["resolved"][index][key].clone();
    assert_eq!((of(0, "resolved"), of(0, "readable"), of(0, "writable")), (json!(file), json!(true), json!(true)));
    assert_eq!((of(1, "readable"), of(1, "exists")), (json!(false), json!(true)));
    assert!(of(1, "read_rule").as_str().unwrap().contains("*.log"));
    assert_eq!((of(2, "readable"), of(2, "writable")), (json!(false), json!(false)));
    assert!(of(2, "resolved").as_str().unwrap().ends_with("/other/new.md"));
    assert_eq!((of(3, "readable"), of(3, "writable"), of(3, "exists")), (json!(false), json!(true), json!(false)));
}

#[test]
fn the_working_directory() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.run(&[])["relative_cwd"], ".");
    // One that vanishes while a program is in it.
    let gone = tree.write("gone/x", "").parent().unwrap().to_owned();
    let script = "rm -r ../gone; exec \"$0\" --resolve ../a.md";
    let mut command = tree.command(&[]);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(command.get_program()).current_dir(gone).stdin(Stdio::null());
    shell.env_remove("RAGMAKER_PROJECT_ROOT");
    let output = shell.output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&info["cwd"], &info["relative_cwd"]), (&json!("(unavailable)"), &Value::Null), "{info}");
    assert!(info["limits"]["output_characters"].is_number() && info["resolved"][0]["path"] == "../a.md", "{info}");
    assert!(command.output().unwrap().status.success());
}

#[test]
fn forbidden_paths_are_unknown() {
    let tree = Tree::new(TOOL);
    tree.write("../other/b.md", "b");
    let info = tree.run(&["--resolve", "../other/b.md", "--resolve", "../other/none", "--resolve", "none"]);
    let exists: Vec<_> = info["resolved"].as_array().unwrap().iter().map(|one| one["exists"].clone()).collect();
    assert_eq!(exists, [Value::Null, Value::Null, json!(false)]);
}

#[test]
fn the_configuration_in_effect() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.run(&[])["configuration"], json!([]));
    let output = tree.command(&[]).env("RAGMAKER_CHROMIUM", "/opt/x").env("RAGMAKER_KB_ROOTS", "").output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["configuration"], json!([{"name": "RAGMAKER_CHROMIUM", "value": "/opt/x"}]));
}

#[test]
fn statistics_and_browsers() {
    let tree = Tree::new(TOOL);
    tree.write("src/main.rs", "fn main() {}\n");
    tree.write("src/lib.rs", "//! Docs.\n");
    tree.write("README.md", "# a\n");
    tree.write("data.bin", [0; 5]);
    tree.write("target/debug/a.rs", "a");
    tree.write("target/debug/b.rs", "b");
    tree.write("x.log", "x");
    tree.write(".gitignore", "*.log\ntarget/\n");
    assert_eq!(tree.run(&[]).get("statistics"), None);
    let version = "echo Chromium 150.0.7871.100 built on Debian";
    let program = ragmaker_testkit::script(&tree.root, "../programs/chromium", version);
    let mut command = tree.command(&["--statistics"]);
    command.env("RAGMAKER_CHROMIUM", &program).env("RAGMAKER_CHROMEDRIVER", tree.root.join("README.md"));
    let info: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let expected = json!({
        "files": 4, "bytes": 32,
        "languages": [
            {"name": "Rust", "files": 2, "bytes": 23},
            {"name": "Markdown", "files": 1, "bytes": 4},
        ],
        "ignored": 2, "truncated": false,
    });
    assert_eq!(info["statistics"], expected);
    let path = program.canonicalize().unwrap();
    assert_eq!(fs::canonicalize(info["browsers"][0]["path"].as_str().unwrap()).unwrap(), path);
    assert_eq!(info["browsers"][0]["version"], "150.0.7871.100");
    assert!(info["browsers"][1]["path"].is_null() && info["browsers"][1]["problem"].is_string(), "{info}");
}
