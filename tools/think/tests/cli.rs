//! `ragmaker-think` from outside.

use ragmaker_testkit::Tree;
use serde_json::json;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-think");

#[test]
fn reflections_are_counted_by_conversation() {
    let tree = Tree::new(TOOL);
    let think = |more: &[&str]| tree.run(&[&["--reflection", "All is backed."], more].concat());
    assert_eq!(think(&[]), json!({"status": "success", "recorded": true, "count": 1}));
    assert_eq!(think(&[])["count"], 2);
    assert_eq!(think(&["--conversation", "b"])["count"], 1);
    let from_environment = tree.command(&["--reflection", "x"]).env("RAGMAKER_CONVERSATION", "b").output().unwrap();
    assert!(String::from_utf8_lossy(&from_environment.stdout).contains("\"count\": 2"));
    assert!(tree.root.join(".tmp/cache/conversations/b.state.json").is_file());
}

#[test]
fn an_empty_reflection_and_an_unsafe_conversation_are_refused() {
    let tree = Tree::new(TOOL);
    assert_eq!(tree.error(&["--reflection", " \n"]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--reflection", &"a".repeat(12_001)]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.error(&["--reflection", "x", "--conversation", "../x"]).0, "ARGUMENT_ERROR");
    assert_eq!(
        tree.error(&["--arguments", r#"{"reflection": "x", "conversation": "b"}"#]).0,
        "NOT_ALLOWED_IN_ARGUMENTS"
    );
    assert!(!tree.root.join(".tmp").exists());
}
