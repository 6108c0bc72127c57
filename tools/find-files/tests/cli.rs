//! `ragmaker-find-files` from outside.

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-find-files"));
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
fn globs() {
    let tree = Tree::new();
    let old = tree.write("a.md", "");
    let new = tree.write("deep/b.md", "");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
    tree.write("ignored/c.md", "");
    tree.write(".gitignore", "ignored/\n");
    tree.write(".hidden.md", "");
    assert_eq!(tree.run(&["--glob", "*.md"])["paths"], json!([new, old]));
    assert_eq!(tree.run(&["--glob", "*.md", "--sort", "name"])["paths"], json!([old, new]));
    assert_eq!(tree.run(&["--glob", "deep/*.md"])["paths"], json!([new]));
    assert_eq!(tree.run(&["--glob", "**/*.{md,txt}", "--path", "deep"])["total"], 1);
    assert_eq!(tree.run(&["--glob", "*.md", "--no-ignore", "--hidden"])["total"], 4);
    assert_eq!(tree.error(&["--glob", "*.rs"]).0, "NO_FILES");
    assert_eq!(tree.error(&["--glob", "a[b"]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--glob", "*", "--path", "a.md"]).0, "NOT_A_DIRECTORY");
}
