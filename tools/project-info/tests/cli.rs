//! `ragmaker-project-info` from outside.

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-project-info"));
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
fn where_the_project_is() {
    let tree = Tree::new();
    tree.write("sub/x", "");
    let output = tree.command(&[]).current_dir(tree.root.join("sub")).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["project_root"], tree.root.to_str().unwrap());
    assert_eq!((&info["project_root_source"], &info["relative_cwd"]), (&json!("marker"), &json!("sub")));
    assert_eq!(info["candidates"][0]["reason"], "it holds .ragmaker");
    let output = tree.command(&[]).env("RAGMAKER_PROJECT_ROOT", tree.root.join("sub")).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&info["project_root_source"], &info["relative_cwd"]), (&json!("env"), &Value::Null));
    let argument = tree.run(&["--project-root", "sub"]);
    assert_eq!(argument["project_root_source"], "argument");
    assert_eq!(tree.error(&["--project-root", "/etc"]).0, "ROOT_TOO_BROAD");
}

#[test]
fn what_a_path_leads_to() {
    let tree = Tree::new();
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
