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
    let (code, error) = tree.error(&onto);
    assert!(
        code == "ALREADY_EXISTS" && error["remediation_suggestion"].as_str().unwrap().contains("--overwrite"),
        "{error}"
    );
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

#[test]
fn directories_are_joined_or_left_alone() {
    let tree = Tree::new(TOOL);
    for path in ["a/x", "a/deep/y", "b/z", "b/deep/y"] {
        tree.write(path, path);
    }
    let join = ["--source-path", "a", "--destination-path", "b"];
    let (code, error) = tree.error(&join);
    assert!(
        code == "ALREADY_EXISTS" && error["remediation_suggestion"].as_str().unwrap().contains("--merge"),
        "{error}"
    );
    let merge = [&join[..], &["--merge"]].concat();
    let (code, error) = tree.error(&merge);
    assert_eq!((code.as_str(), &error["details"]["clashes"]), ("ALREADY_EXISTS", &json!(["deep/y"])));
    assert!(tree.root.join("a/x").exists() && !tree.root.join("b/x").exists());
    let answer = tree.run(&[&merge[..], &["--overwrite"]].concat());
    assert_eq!((&answer["moved"], &answer["replaced"]), (&json!(2), &json!(true)));
    assert_eq!(fs::read_to_string(tree.root.join("b/deep/y")).unwrap(), "a/deep/y");
    assert!(!tree.root.join("a").exists());
    // Where nothing is there, a directory moves as a whole.
    let answer = tree.run(&["--source-path", "b", "--destination-path", "new/c", "--merge"]);
    assert_eq!((&answer["moved"], tree.root.join("new/c/z").exists()), (&json!(1), true));
}

#[test]
fn knowledge_bases_are_not_joined_by_moving_files() {
    let tree = Tree::new(TOOL);
    for path in ["a/cache/catalog.json", "b/cache/catalog.json"] {
        tree.write(path, r#"{"documents": []}"#);
    }
    let (code, error) = tree.error(&["--source-path", "a", "--destination-path", "b", "--merge"]);
    let remedy = error["remediation_suggestion"].as_str().unwrap();
    assert!(code == "ALREADY_EXISTS" && remedy.contains("ragmaker-install-knowledge-base --merge"), "{error}");
}
