//! `ragmaker-create-knowledge-base` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-create-knowledge-base");

#[test]
fn a_knowledge_base_is_made_once() {
    let tree = Tree::new(TOOL);
    let answer = tree.run(&["--kb-root", "kb/new", "--title", "Tides"]);
    let expected = json!({
        "status": "success",
        "kb_root": tree.root.join("kb/new"),
        "catalog_file": tree.root.join("kb/new/cache/catalog.json"),
        "documents_dir": tree.root.join("kb/new/cache/documents"),
        "documents": 0,
        "created": true,
    });
    assert_eq!(answer, expected);
    let file = tree.root.join("kb/new/cache/catalog.json");
    let text = fs::read_to_string(&file).unwrap();
    let catalog: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&catalog["title"], &catalog["documents"]), (&json!("Tides"), &json!([])));
    assert!(tree.root.join("kb/new/cache/documents").is_dir());
    let again = tree.run(&["--kb-root", "kb/new", "--title", "Other"]);
    assert_eq!(again["created"], false);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn what_is_no_place_is_refused() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.error(&["--kb-root", ""]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--kb-root", "kb", "--title", " "]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--arguments", r#"{"kb_root": "../kb"}"#]).0, "PATH_NOT_ALLOWED");
    tree.write("kb/cache/catalog.json", "[]");
    assert_eq!(tree.error(&["--kb-root", "kb"]).0, "CATALOG_CORRUPT");
    tree.write("file", "");
    assert_eq!(tree.error(&["--kb-root", "file"]).0, "CATALOG_NOT_READABLE");
}
