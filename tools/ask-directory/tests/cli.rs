//! `ragmaker-ask-directory` from outside, with a program of the dialog's name on PATH.

#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Output},
    time::{Duration, Instant},
};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-ask-directory");

/// Runs the tool where `dialog` is the only program, called `name`, that asks.
fn asked(tree: &Tree, name: &str, dialog: &str, arguments: &[&str]) -> Output {
    let bin = tree.root.join("bin");
    let _ = fs::remove_dir_all(&bin);
    ragmaker_testkit::script(&bin, name, dialog);
    let mut tool = Command::new(TOOL);
    tool.args(arguments).current_dir(&tree.root).env("PATH", &bin).env("DISPLAY", ":0").env_remove("WAYLAND_DISPLAY");
    tool.output().unwrap()
}

fn code(output: &Output) -> String {
    assert!(output.stdout.is_empty(), "{output:?}");
    let error: Value = serde_json::from_slice(&output.stderr).unwrap_or_else(|_| panic!("{output:?}"));
    error["error_code"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_chooses() {
    let tree = Tree::new(TOOL);
    fs::create_dir(tree.root.join("a b")).unwrap();
    let shows = "for x; do printf '%s\\n' \"$x\" >> said; done; echo '/chosen one/'";
    let output = asked(&tree, "zenity", shows, &["--title", "Where?", "--initial-dir", "a b"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(answer, json!({"status": "success", "directories": ["/chosen one"]}));
    let said = fs::read_to_string(tree.root.join("said")).unwrap();
    assert!(
        said.contains("--title=Where?\n")
            && said.contains(&format!("--filename={}/\n", tree.root.join("a b").display())),
        "{said}"
    );
    assert!(!said.contains("--multiple"));
    let several = asked(&tree, "zenity", "echo /a; echo /b", &["--multiple"]);
    assert_eq!(serde_json::from_slice::<Value>(&several.stdout).unwrap()["directories"], json!(["/a", "/b"]));
    let kdialog = asked(&tree, "kdialog", "echo /k", &[]);
    assert_eq!(serde_json::from_slice::<Value>(&kdialog.stdout).unwrap()["directories"], json!(["/k"]));
}

#[test]
fn a_closed_dialog_has_an_error_code() {
    let tree = Tree::new(TOOL);
    let code = |dialog: &str, arguments: &[&str]| code(&asked(&tree, "zenity", dialog, arguments));
    assert_eq!(code("exit 1", &[]), "USER_CANCELLED");
    assert_eq!(code("echo 'Gtk-WARNING: no theme' >&2; exit 1", &[]), "USER_CANCELLED");
    assert_eq!(code("echo 'Gtk-WARNING: cannot open display: :0' >&2; exit 1", &[]), "NO_DISPLAY");
    assert_eq!(code("echo 'zenity: This option is not available' >&2; exit 255", &[]), "DESKTOP_FAILED");
    assert_eq!(code("exit 5", &[]), "NO_ANSWER");
    assert_eq!(code("exit 0", &["--initial-dir", "none"]), "FILE_NOT_FOUND");
    let start = Instant::now();
    assert_eq!(code("exec /bin/sleep 60", &["--timeout", "1"]), "NO_ANSWER");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn without_a_screen_it_says_so() {
    let tree = Tree::new(TOOL);
    let mut tool = Command::new(TOOL);
    tool.current_dir(&tree.root).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    assert_eq!(code(&tool.output().unwrap()), "NO_DISPLAY");
    // A display, and no program.
    tool.env("DISPLAY", ":0").env("PATH", &tree.root);
    assert_eq!(code(&tool.output().unwrap()), "NO_DISPLAY");
}
