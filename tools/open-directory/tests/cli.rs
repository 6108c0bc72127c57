//! `ragmaker-open-directory` from outside, with a program of the opener's name on PATH.

#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Output},
    time::{Duration, Instant},
};

use ragmaker_testkit::Tree;
use serde_json::Value;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-open-directory");

fn opened(tree: &Tree, opener: &str, path: &str) -> Output {
    let bin = tree.root.join("bin");
    ragmaker_testkit::script(&bin, "xdg-open", opener);
    let mut tool = Command::new(TOOL);
    tool.args(["--path", path]).current_dir(&tree.root).env("PATH", &bin).env("DISPLAY", ":0");
    tool.output().unwrap()
}

#[test]
fn a_folder_is_shown() {
    let tree = Tree::new(TOOL);
    fs::create_dir(tree.root.join("-a b")).unwrap();
    let output = opened(&tree, "printf %s \"$1\" > said", "./-a b");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let path = tree.root.join("-a b").to_str().unwrap().to_owned();
    assert_eq!(answer["path"], path);
    assert_eq!(fs::read_to_string(tree.root.join("said")).unwrap(), path);
    // One that stays as long as its window.
    let start = Instant::now();
    assert!(opened(&tree, "exec /bin/sleep 20", "-a b").status.success());
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_folder_that_cannot_be_shown_has_an_error_code() {
    let tree = Tree::new(TOOL);
    tree.write("file.sh", "echo run");
    let code = |output: Output| {
        let error: Value = serde_json::from_slice(&output.stderr).unwrap_or_else(|_| panic!("{output:?}"));
        error["error_code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(opened(&tree, "exit 0", "none")), "FILE_NOT_FOUND");
    // A file would be run by what belongs to it.
    assert_eq!(code(opened(&tree, "exit 0", "file.sh")), "NOT_A_DIRECTORY");
    assert_eq!(code(opened(&tree, "exit 3", ".")), "DESKTOP_FAILED");
    let mut tool = Command::new(TOOL);
    tool.args(["--path", "."]).current_dir(&tree.root).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    assert_eq!(code(tool.output().unwrap()), "NO_DISPLAY");
}
