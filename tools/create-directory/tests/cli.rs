//! `ragmaker-create-directory` from outside.

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-create-directory"));
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
fn directories() {
    let tree = Tree::new();
    let path = tree.root.join("a/b c");
    assert_eq!(tree.run(&["--path", "a/b c"]), json!({"status": "success", "path": path, "created": true}));
    assert!(path.is_dir());
    assert_eq!(tree.run(&["--path", "a/b c"])["created"], false);
    tree.write("file", "");
    assert_eq!(tree.error(&["--path", "file"]).0, "ALREADY_EXISTS");
    assert_eq!(tree.error(&["--path", "file/x"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", "../x"]).0, "PATH_NOT_ALLOWED");
}
