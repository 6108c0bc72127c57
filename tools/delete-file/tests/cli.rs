//! `ragmaker-delete-file` from outside.

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-delete-file"));
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
fn to_the_trash_or_for_good() {
    let tree = Tree::new();
    let path = tree.write("a b.md", "a");
    let answer = tree.run(&["--path", "a b.md"]);
    let trash = tree.root.parent().unwrap().join("data/Trash");
    assert_eq!((&answer["trashed_to"], &answer["deleted"]), (&json!(trash.join("files/a b.md")), &json!(0)));
    assert!(!path.exists());
    assert_eq!(fs::read_to_string(trash.join("files/a b.md")).unwrap(), "a");
    let note = fs::read_to_string(trash.join("info/a b.md.trashinfo")).unwrap();
    assert!(note.starts_with("[Trash Info]\nPath=/") && note.contains("/a%20b.md\nDeletionDate=20"), "{note}");
    tree.write("a b.md", "again");
    assert_eq!(tree.run(&["--path", "a b.md"])["trashed_to"], json!(trash.join("files/a b.md.2")));
    tree.write("a b.md", "x");
    let gone = tree.run(&["--path", "a b.md", "--permanent"]);
    assert_eq!((&gone["trashed_to"], &gone["deleted"]), (&Value::Null, &json!(1)));
    assert_eq!(tree.error(&["--path", "a b.md"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", ".ragmaker"]).0, "IS_A_DIRECTORY");
}

#[test]
fn a_link_is_deleted_and_not_what_it_leads_to() {
    let tree = Tree::new();
    let outside = tree.write("../outside.txt", "kept");
    std::os::unix::fs::symlink(&outside, tree.root.join("link")).unwrap();
    tree.run(&["--path", "link", "--permanent"]);
    assert!(outside.exists() && tree.root.join("link").symlink_metadata().is_err());
    assert_eq!(tree.error(&["--path", "../outside.txt"]).0, "PATH_NOT_ALLOWED");
}
