//! `ragmaker-cache-cleanup` from outside.

use std::{fs, path::Path};

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-cache-cleanup");

/// A catalog with two documents, one of them in a folder of its own.
const CATALOG: &str = r#"{"title": "Tides", "documents": [
  {"url": "http://a/", "path": "documents/a.md"}, {"url": "http://b/", "path": "pages/deep/b.txt"}]}"#;

#[test]
fn files_outside_knowledge_bases_go_to_the_trash() {
    let tree = Tree::new(TOOL);
    let kept = [
        "catalog.json",
        "documents/a.md",
        "documents/unlisted.png",
        "pages/deep/b.txt",
        "notes.md",
        "reports/r.jsonl",
        "gone/c.md",
        ".gitignore",
        ".search/index",
        "browser_profile/Default/Cookies",
        "conversations/c.jsonl",
    ];
    let clutter = ["download.zip", "tmp/x/y", "shot.png"];
    for file in kept.iter().chain(&clutter) {
        tree.write(&format!("kb/cache/{file}"), if *file == "catalog.json" { CATALOG } else { file });
    }
    tree.write("kb/README.txt", "beside the cache");
    let answer = tree.run(&["--target-dir", "kb"]);
    assert_eq!(answer["target_directory"], json!(tree.root.join("kb/cache")));
    let names: Vec<_> = answer["trashed"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
    assert_eq!(names, ["download.zip", "shot.png", "tmp"]);
    assert_eq!((&answer["total"], &answer["truncated"]), (&json!(3), &json!(false)));
    let trashed = answer["trashed"][2]["trashed_to"].as_str().unwrap();
    assert_eq!(fs::read_to_string(Path::new(trashed).join("x/y")).unwrap(), "tmp/x/y");
    for file in &kept[1..] {
        assert_eq!(fs::read_to_string(tree.root.join("kb/cache").join(file)).unwrap(), *file);
    }
    assert_eq!(fs::read_to_string(tree.root.join("kb/cache/catalog.json")).unwrap(), CATALOG);
    assert!(tree.root.join("kb/README.txt").exists());
    // The cache folder itself may be named, and nothing is left to move.
    let again = tree.run(&["--target-dir", "kb/cache"]);
    assert_eq!((&again["target_directory"], &again["total"]), (&answer["target_directory"], &json!(0)));
}

#[test]
fn a_folder_without_a_catalog_is_left_alone() {
    let tree = Tree::new(TOOL);
    tree.write("src/main.rs", "");
    assert_eq!(tree.error(&["--target-dir", "src"]).0, "CATALOG_NOT_FOUND");
    assert_eq!(tree.error(&["--target-dir", "none"]).0, "CATALOG_NOT_FOUND");
    tree.write("src/catalog.json", "[");
    assert_eq!(tree.error(&["--target-dir", "src"]).0, "CATALOG_CORRUPT");
    tree.write("catalog.json", CATALOG);
    assert_eq!(tree.error(&["--target-dir", "."]).0, "PATH_NOT_WRITABLE");
    assert!(tree.root.join("src/main.rs").exists());
}

#[cfg(unix)]
#[test]
fn a_catalog_elsewhere_is_not_followed() {
    let (tree, other) = (Tree::new(TOOL), Tree::new(TOOL));
    other.write("kb/catalog.json", CATALOG);
    other.write("kb/letter.txt", "");
    fs::create_dir(tree.root.join("kb")).unwrap();
    std::os::unix::fs::symlink(other.root.join("kb/catalog.json"), tree.root.join("kb/catalog.json")).unwrap();
    assert_eq!(tree.error(&["--target-dir", "kb"]).0, "PATH_NOT_ALLOWED");
    std::os::unix::fs::symlink(other.root.join("kb"), tree.root.join("linked")).unwrap();
    assert_eq!(tree.error(&["--target-dir", "linked"]).0, "PATH_NOT_ALLOWED");
    assert!(other.root.join("kb/letter.txt").exists());
}
