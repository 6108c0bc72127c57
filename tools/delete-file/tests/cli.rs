//! `ragmaker-delete-file` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-delete-file");

#[test]
fn to_the_trash_or_for_good() {
    let tree = Tree::new(TOOL);
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
    tree.write("folder/x", "x");
    assert_eq!(tree.error(&["--path", "folder"]).0, "IS_A_DIRECTORY");
    // What marks the project root stays.
    assert_eq!(tree.error(&["--path", ".ragmaker"]).0, "PATH_NOT_WRITABLE");
}

#[test]
fn a_link_is_deleted_and_not_what_it_leads_to() {
    let tree = Tree::new(TOOL);
    let outside = tree.write("../outside.txt", "kept");
    std::os::unix::fs::symlink(&outside, tree.root.join("link")).unwrap();
    tree.run(&["--path", "link", "--permanent"]);
    assert!(outside.exists() && tree.root.join("link").symlink_metadata().is_err());
    assert_eq!(tree.error(&["--path", "../outside.txt"]).0, "PATH_NOT_ALLOWED");
}
