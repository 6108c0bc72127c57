//! `ragmaker-read-many-files` from outside.

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_ragmaker-read-many-files"));
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
fn files_folders_and_globs() {
    let tree = Tree::new();
    let a = tree.write("a.md", "a\n");
    let b = tree.write("docs/b.md", "b\n");
    let c = tree
        .write("docs/deep/c.txt", encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。文字コードを調べます。\n").0);
    tree.write("docs/node_modules/d.md", "d");
    tree.write("docs/e.bin", [0; 100]);
    let answer = tree.run(&["--path", "docs", "--path", "*.md", "--path", "a.md", "--path", "none.md"]);
    let paths: Vec<_> = answer["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, [json!(b), json!(c), json!(a)]);
    assert_eq!((&answer["files"][1]["encoding"], &answer["files"][0]["content"]), (&json!("Shift_JIS"), &json!("b\n")));
    let reasons: Vec<_> =
        answer["skipped"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert!(reasons[0].starts_with("FILE_NOT_FOUND") && reasons[1].contains("no text"), "{reasons:?}");
    let count = |arguments: &[&str]| tree.run(arguments)["total"].clone();
    assert_eq!(count(&["--path", "docs", "--include", "*.md"]), 1);
    assert_eq!(count(&["--path", "docs", "--exclude", "*.bin", "--no-default-excludes"]), 3);
    assert_eq!(count(&["--path", "docs", "--no-recursive"]), 2);
    assert_eq!(count(&["--path", "docs/**/*.txt"]), 1);
    assert_eq!(tree.error(&["--path", "none"]).0, "NO_FILES");
    assert_eq!(tree.error(&[]).0, "ARGUMENT_ERROR");
}

#[test]
fn pages_join_to_the_texts() {
    let tree = Tree::new();
    let texts: Vec<String> = (1..30).map(|n| format!("file {n} \"日本\"\t\n").repeat(n * 40)).collect();
    for (index, text) in texts.iter().enumerate() {
        tree.write(&format!("many/{index:02}.txt"), text);
    }
    let (mut joined, mut arguments) = (String::new(), json!({"path": ["many"]}));
    let mut pages = 0;
    loop {
        let output = tree.command(&["--arguments", &arguments.to_string()]).output().unwrap();
        assert!(String::from_utf8(output.stdout.clone()).unwrap().chars().count() < 29_000);
        let page: Value = serde_json::from_slice(&output.stdout).unwrap();
        joined.extend(page["files"].as_array().unwrap().iter().map(|file| file["content"].as_str().unwrap()));
        pages += 1;
        let Value::Object(next) = page["next"].clone() else { break };
        arguments.as_object_mut().unwrap().extend(next);
    }
    assert!(joined == texts.concat());
    assert!(pages > 5);
}
