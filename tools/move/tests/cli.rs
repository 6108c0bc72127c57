//! `ragmaker-move` from outside.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Tree {
    _temp: TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join(".ragmaker")).unwrap();
        Self { _temp: temp, root }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-move"));
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        for variable in ["PROJECT_ROOT", "ALLOWED_ROOTS", "KB_ROOTS", "ALLOW_BROAD_ROOTS", "ASCII_JSON"] {
            command.env_remove(format!("RAGMAKER_{variable}"));
        }
        command.env("XDG_DATA_HOME", self.root.join("../data"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn error(&self, arguments: &[&str]) -> (String, Value) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success());
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        (error["error_code"].as_str().unwrap().to_owned(), error)
    }
}

#[test]
fn files_and_directories() {
    let tree = Tree::new();
    tree.write("a.md", "a");
    tree.write("b.md", "b");
    tree.write("dir/x", "x");
    let answer = tree.run(&["--source-path", "a.md", "--destination-path", "new/c.md"]);
    assert_eq!((&answer["destination_path"], &answer["replaced"]), (&json!(tree.root.join("new/c.md")), &json!(false)));
    assert_eq!(fs::read_to_string(tree.root.join("new/c.md")).unwrap(), "a");
    assert!(!tree.root.join("a.md").exists());
    let onto = ["--source-path", "b.md", "--destination-path", "new/c.md"];
    assert_eq!(tree.error(&onto).0, "ALREADY_EXISTS");
    assert_eq!(tree.run(&[&onto[..], &["--overwrite"]].concat())["replaced"], true);
    assert_eq!(fs::read_to_string(tree.root.join("new/c.md")).unwrap(), "b");
    let (code, error) = tree.error(&["--source-path", "new/c.md", "--destination-path", "dir"]);
    assert_eq!(code, "ALREADY_EXISTS");
    assert!(error["remediation_suggestion"].as_str().unwrap().ends_with("/dir/c.md."));
    tree.run(&["--source-path", "dir", "--destination-path", "new/dir"]);
    assert!(tree.root.join("new/dir/x").exists());
    assert_eq!(tree.error(&["--source-path", "none", "--destination-path", "x"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--source-path", "new", "--destination-path", "../out"]).0, "PATH_NOT_ALLOWED");
    assert_eq!(tree.error(&["--source-path", ".", "--destination-path", "x"]).0, "PATH_NOT_WRITABLE");
    tree.write("full/y", "");
    assert_eq!(
        tree.error(&["--source-path", "new/dir", "--destination-path", "full", "--overwrite"]).0,
        "DIRECTORY_NOT_EMPTY"
    );
}

#[test]
fn a_link_is_moved_itself() {
    let tree = Tree::new();
    std::os::unix::fs::symlink("/etc/passwd", tree.root.join("link")).unwrap();
    tree.run(&["--source-path", "link", "--destination-path", "other"]);
    assert_eq!(tree.root.join("other").read_link().unwrap(), PathBuf::from("/etc/passwd"));
}
