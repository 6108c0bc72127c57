//! `ragmaker-list-directory` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-list-directory");

fn names(answer: &Value) -> Vec<&str> {
    answer["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
fn entries_with_type_size_and_time() {
    let tree = Tree::new(TOOL);
    tree.write("b.md", "12345");
    tree.write("a/deep/c.md", "");
    tree.write("x.log", "");
    tree.write(".gitignore", "*.log\n");
    std::os::unix::fs::symlink("b.md", tree.root.join("link")).unwrap();
    let list = tree.run(&[]);
    assert_eq!(names(&list), ["a", "b.md", "link"]);
    assert_eq!((&list["total"], &list["truncated"], &list["next"]), (&json!(3), &json!(false), &Value::Null));
    assert_eq!((&list["entries"][0]["type"], &list["entries"][0]["size"]), (&json!("directory"), &Value::Null));
    assert_eq!((&list["entries"][1]["type"], &list["entries"][1]["size"]), (&json!("file"), &json!(5)));
    assert_eq!((&list["entries"][2]["type"], &list["entries"][2]["target"]), (&json!("link"), &json!("b.md")));
    assert_eq!(names(&tree.run(&["--all"])), [".gitignore", ".ragmaker", "a", "b.md", "link", "x.log"]);
    assert_eq!(names(&tree.run(&["--depth", "3", "--path", "a"])), ["deep", "deep/c.md"]);
    assert_eq!(names(&tree.run(&["--sort", "size"]))[0], "b.md");
    assert_eq!(tree.error(&["--path", "b.md"]).0, "NOT_A_DIRECTORY");
    assert_eq!(tree.error(&["--path", "/etc"]).0, "PATH_NOT_ALLOWED");
    assert_eq!(tree.error(&["--path", "none"]).0, "FILE_NOT_FOUND");
}

#[test]
fn odd_names_and_cycles() {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};
    let tree = Tree::new(TOOL);
    symlink(".", tree.root.join("cycle")).unwrap();
    for name in
        [&b"sp ace"[..], b"qu\"ote", b"new\nline", b"-dash", "が".as_bytes(), "か\u{3099}".as_bytes(), b"bad\xFF"]
    {
        fs::write(tree.root.join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    let list = tree.run(&["--depth", "9"]);
    assert_eq!(names(&list), ["-dash", "bad\u{fffd}", "cycle", "new\nline", "qu\"ote", "sp ace", "か\u{3099}", "が"]);
    assert_eq!(
        (&list["entries"][1]["name_is_lossy"], &list["entries"][0]["name_is_lossy"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn pages_are_bounded() {
    let tree = Tree::new(TOOL);
    for number in 0..1000 {
        tree.write(&format!("many/file number {number:04}"), "");
    }
    let (mut seen, mut offset) = (vec![], 0);
    loop {
        let output = tree.command(&["--path", "many", "--offset", &offset.to_string()]).output().unwrap();
        assert!(output.stdout.len() < 29_000);
        let page: Value = serde_json::from_slice(&output.stdout).unwrap();
        seen.extend(names(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next"]["offset"].as_u64() else { break };
        offset = next;
    }
    assert_eq!(seen.len(), 1000);
    assert!(seen.is_sorted());
    assert_eq!(names(&tree.run(&["--path", "many", "--limit", "900"])).len(), 900);
}
