//! Tests of the executable.

use std::{io::Write, process::Stdio};

use ragmaker_testkit::Tree;
use serde_json::{Value, json};

/// The path of the executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-cite");

const ANSWER: &str = "It rises: \"The moon pulls the sea and the land.\" [cache/a.md#tides]\n\n\
    > 月は海と陸を引いています。\n> [潮](cache/潮.md#潮)\n";

fn tree() -> Tree {
    let tree = Tree::new(TOOL);
    tree.write("kb/one/cache/a.md", "# Tides\n\nThe moon pulls the sea\nand the *land*.\n\n## Other\n\nNothing.\n");
    tree.write("kb/one/cache/潮.md", "# 潮\n\n月は海と\n陸を引いています。\n");
    let catalog = json!({"documents": [
        {"url": "https://x.example/a", "path": "a.md", "fetched_at": "2026-03-04T00:00:00Z", "status": "changed"},
        {"path": "潮.md"},
    ]});
    tree.write("kb/one/cache/catalog.json", catalog.to_string());
    tree.write("answer.md", ANSWER);
    tree
}

#[test]
fn an_answer_with_correct_quotations_succeeds() {
    let tree = tree();
    let answer = tree.run(&["--answer", "answer.md"]);
    assert_eq!(answer["counts"], json!({"found": 2, "elsewhere": 0, "not_found": 0, "too_short": 0}));
    let claim = &answer["claims"][0];
    let path = tree.root.join("kb/one/cache/a.md");
    assert_eq!(claim["path"], json!(path));
    assert_eq!((&claim["heading"], &claim["start_line"], &claim["stale"]), (&json!("Tides"), &json!(3), &json!(true)));
    assert_eq!(claim["text"], "The moon pulls the sea\nand the *land*.");
    assert_eq!(claim["url"], "https://x.example/a#:~:text=The%20moon%20pulls%20the%20sea,and%20the%20land.");
    // The same over standard input, and as a text.
    let mut command = tree.command(&["--answer", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ANSWER.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), answer);
    assert_eq!(tree.run(&["--text", ANSWER, "--kb-root", "kb/one"]), answer);
    assert_eq!(tree.run(&["--text", "No claim."])["claims"], json!([]));
    let second = tree.run(&["--answer", "answer.md", "--limit", "1", "--offset", "1"]);
    assert_eq!((&second["claims"][0]["citation"], &second["next"]), (&json!("cache/潮.md#潮"), &Value::Null));
}

#[test]
fn an_incorrect_quotation_is_an_error_with_the_report() {
    let tree = tree();
    tree.write("bad.md", ANSWER.replace("moon", "sun").replace("潮.md#潮", "a.md#other"));
    let (code, error) = tree.error(&["--answer", "bad.md"]);
    assert_eq!(code, "CITATION_FAILED");
    let details = &error["details"];
    assert_eq!(details["counts"], json!({"found": 0, "elsewhere": 1, "not_found": 1, "too_short": 0}));
    assert_eq!((&details["claims"][0]["verdict"], &details["claims"][0]["path"]), (&json!("not_found"), &Value::Null));
    assert_eq!(details["claims"][1]["correct_citation"], "cache/潮.md#潮");
    assert_eq!(tree.error(&["--answer", "bad.md", "--limit", "1"]).1["details"]["next"], json!({"offset": 1}));
    for (arguments, verdict) in [
        (&["--quote", "pulls the sea and the land.", "--citation", "cache/a.md#other"][..], "elsewhere"),
        (&["--quote", "pulls"], "too_short"),
        (&["--quote", "what nobody wrote anywhere at all"], "not_found"),
    ] {
        assert_eq!(tree.error(arguments).1["details"]["claims"][0]["verdict"], verdict, "{arguments:?}");
    }
    assert_eq!(tree.run(&["--quote", "pulls the sea and the land."])["claims"][0]["verdict"], "found");
}

#[test]
fn unreadable_answers_are_errors() {
    let tree = tree();
    tree.write("latin.md", b"\xff");
    for (arguments, code) in [
        (&[][..], "ARGUMENT_ERROR"),
        (&["--citation", "a.md#b"], "ARGUMENT_ERROR"),
        (&["--quote", "a", "--answer", "answer.md"], "ARGUMENT_ERROR"),
        (&["--answer", "none.md"], "ANSWER_NOT_READABLE"),
        (&["--answer", "kb"], "ANSWER_NOT_READABLE"),
        (&["--answer", "latin.md"], "ANSWER_NOT_READABLE"),
        (&["--answer", "answer.md", "--kb-root", "none"], "CATALOG_NOT_FOUND"),
        (&["--answer", "answer.md", "--offset", "9"], "OFFSET_BEYOND_END"),
        (&["--arguments", "{\"answer\": \"-\"}"], "ARGUMENT_ERROR"),
        (&["--arguments", "{\"answer\": \"/etc/hostname\"}"], "PATH_NOT_ALLOWED"),
    ] {
        assert_eq!(tree.error(arguments).0, code, "{arguments:?}");
    }
}
