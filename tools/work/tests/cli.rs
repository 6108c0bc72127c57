//! `ragmaker-work` from outside.

use std::{fs, process::Child, thread, time::Duration};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-work");

#[test]
fn an_argument_changes_only_itself() {
    let tree = Tree::new(TOOL);
    let plan = tree.run(&["--work-plan", "a", "--memos", "b"]);
    assert_eq!(plan["updated"], json!(["work_plan", "memos"]));
    let list = r#"{"todo_list": [{"id": "1", "task": "c", "status": "pending"}], "memos": null}"#;
    let listed = tree.run(&["--arguments", list]);
    let expected =
        json!({"work_plan": "a", "memos": "b", "todo_list": [{"id": "1", "task": "c", "status": "pending"}]});
    assert_eq!((&listed["work"], &listed["updated"]), (&expected, &json!(["todo_list"])));
    let cleared = tree.run(&["--arguments", r#"{"todo_list": [], "memos": "", "work_plan": ""}"#]);
    assert_eq!(cleared["work"], json!({}));
    assert_eq!(cleared["updated"], json!(["work_plan", "memos", "todo_list"]));
}

#[test]
fn a_rejected_change_changes_nothing() {
    let tree = Tree::new(TOOL);
    tree.run(&["--memos", "kept"]);
    let two = r#"[{"id":"1","task":"a","status":"in_progress"},{"id":"2","task":"b","status":"in_progress"}]"#;
    let long = "x".repeat(4_001);
    for wrong in [&["--todo-list", two][..], &["--next-steps", &long], &["--work-role", "x"]] {
        assert_eq!(tree.error(&[wrong, &["--memos", "lost"]].concat()).0, "ARGUMENT_ERROR");
    }
    assert_eq!(tree.error(&[]).0, "ARGUMENT_ERROR");
    assert_eq!(tree.run(&["--worker-role", "y"])["work"], json!({"worker_role": "y", "memos": "kept"}));
}

#[test]
fn an_answer_stays_within_its_limit() {
    let tree = Tree::new(TOOL);
    let (text, memos) = ("潮".repeat(4_000), "汐".repeat(12_000));
    let fields =
        ["overall_policy", "work_rules", "work_plan", "work_content", "work_purpose", "work_results", "next_steps"];
    let mut arguments: serde_json::Map<String, Value> =
        fields.map(|name| (name.to_owned(), text.clone().into())).into_iter().collect();
    arguments.insert("memos".into(), memos.clone().into());
    arguments.insert("worker_role".into(), "short".into());
    for ascii in ["0", "1"] {
        let output = tree
            .command(&["--arguments", &json!(arguments).to_string()])
            .env("RAGMAKER_ASCII_JSON", ascii)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let count = printed.chars().count();
        assert!((25_000..29_000).contains(&count), "{count}");
        let answer: Value = serde_json::from_str(&printed).unwrap();
        assert!(answer["truncated"] == true && answer["work"]["worker_role"] == "short");
        assert!(answer["work"]["memos"].as_str().unwrap().ends_with('…'));
    }
    let state = fs::read_to_string(tree.root.join(".tmp/cache/conversations/default.state.json")).unwrap();
    assert!(state.contains(&memos) && state.contains(&text));
}

#[test]
fn a_writer_that_is_killed_leaves_a_whole_state() {
    let tree = Tree::new(TOOL);
    tree.run(&["--memos", "first"]);
    for round in 0..12 {
        let memos = format!("{round} {}", "x".repeat(11_000));
        let mut child: Child = tree.command(&["--memos", &memos]).stdout(std::process::Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(round));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = tree.run(&["--next-steps", "go on"]);
        let memos = after["work"]["memos"].as_str().unwrap();
        assert!(memos == "first" || memos.len() > 11_000, "{memos}");
    }
    let left = fs::read_dir(tree.root.join(".tmp/cache/conversations")).unwrap().count();
    assert_eq!(left, 2, "the state and its lock");
}
