//! `ragmaker-move` from outside.

use std::{fs, path::PathBuf};

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-move");

#[test]
fn files_and_directories() {
    let tree = Tree::new(TOOL);
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
    let tree = Tree::new(TOOL);
    std::os::unix::fs::symlink("/etc/passwd", tree.root.join("link")).unwrap();
    tree.run(&["--source-path", "link", "--destination-path", "other"]);
    assert_eq!(tree.root.join("other").read_link().unwrap(), PathBuf::from("/etc/passwd"));
}
