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
fn of_many_callers_at_once_one_makes_it() {
    let tree = Tree::new(TOOL);
    let titles: Vec<String> = (0..8).map(|number| format!("T{number}")).collect();
    let calls: Vec<_> = titles
        .iter()
        .map(|title| {
            let mut command = tree.command(&["--kb-root", "kb", "--title", title]);
            command.stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs = calls.into_iter().map(|call| call.wait_with_output().unwrap().stdout);
    let answers: Vec<Value> = outputs.map(|output| serde_json::from_slice(&output).unwrap()).collect();
    let made: Vec<usize> = (0..8).filter(|at| answers[*at]["created"] == true).collect();
    let text = fs::read_to_string(tree.root.join("kb/cache/catalog.json")).unwrap();
    let catalog: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((made.len(), &catalog["title"]), (1, &json!(titles[made[0]])), "{answers:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_relative_folder_needs_a_working_directory() {
    let tree = Tree::new("sh");
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" --kb-root \"$1\"";
    let (code, error) = tree.error(&["-c", script, TOOL, "kb"]);
    assert_eq!((&*code, &error["details"]["path"]), ("ROOT_NOT_USABLE", &json!("kb/cache/catalog.json")));
    let kb = tree.root.join("kb");
    assert_eq!(tree.run(&["-c", script, TOOL, kb.to_str().unwrap()])["kb_root"], json!(kb));
}

#[test]
fn unusable_folders_are_rejected() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.error(&["--kb-root", ""]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--kb-root", "kb", "--title", " "]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--arguments", r#"{"kb_root": "../kb"}"#]).0, "PATH_NOT_ALLOWED");
    tree.write("kb/cache/catalog.json", "[]");
    assert_eq!(tree.error(&["--kb-root", "kb"]).0, "CATALOG_CORRUPT");
    tree.write("file", "");
    assert_eq!(tree.error(&["--kb-root", "file"]).0, "CATALOG_NOT_READABLE");
}
