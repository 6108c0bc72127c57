//! `ragmaker-create-directory` from outside.

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-create-directory");

#[test]
fn directories() {
    let tree = Tree::new(TOOL);
    let path = tree.root.join("a/b c");
    assert_eq!(tree.run(&["--path", "a/b c"]), json!({"status": "success", "path": path, "created": true}));
    assert!(path.is_dir());
    assert_eq!(tree.run(&["--path", "a/b c"])["created"], false);
    tree.write("file", "");
    assert_eq!(tree.error(&["--path", "file"]).0, "ALREADY_EXISTS");
    assert_eq!(tree.error(&["--path", "file/x"]).0, "FILE_NOT_FOUND");
    assert_eq!(tree.error(&["--path", "../x"]).0, "PATH_NOT_ALLOWED");
}
