//! `ragmaker-delete-directory` from outside.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-delete-directory"));
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
fn with_all_that_is_in_it() {
    let tree = Tree::new();
    tree.write("dir/a/b", "b");
    let outside = tree.write("../outside/kept", "kept");
    std::os::unix::fs::symlink(outside.parent().unwrap(), tree.root.join("dir/link")).unwrap();
    let answer = tree.run(&["--path", "dir"]);
    let there = PathBuf::from(answer["trashed_to"].as_str().unwrap());
    assert!(there.join("a/b").exists() && !tree.root.join("dir").exists());
    tree.write("dir/a/b", "b");
    std::os::unix::fs::symlink(outside.parent().unwrap(), tree.root.join("dir/link")).unwrap();
    assert_eq!(tree.run(&["--path", "dir", "--permanent"])["deleted"], 4);
    assert!(outside.exists() && !tree.root.join("dir").exists());
    tree.write("file", "");
    assert_eq!(tree.error(&["--path", "file"]).0, "NOT_A_DIRECTORY");
    for root in [".", "..", tree.root.to_str().unwrap()] {
        assert!(
            ["PATH_NOT_WRITABLE", "PATH_NOT_ALLOWED"].contains(&tree.error(&["--path", root]).0.as_str()),
            "{root}"
        );
    }
}
