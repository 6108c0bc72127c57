//! `ragmaker-find-files` from outside.

use std::fs;

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-find-files");

#[test]
fn globs() {
    let tree = Tree::new(TOOL);
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
