//! The lines of `--output jsonl`.

use super::*;

#[test]
fn retries_and_refusals_are_lines_for_programs() {
    let project = Project::new();
    let is_slow = std::sync::atomic::AtomicBool::new(true);
    let endpoint = Scripted::with_script(move |got| {
        if is_slow.swap(false, std::sync::atomic::Ordering::SeqCst) {
            return Reply::status("429 Slow", "Retry-After: 0\r\n", r#"{"error": {"message": "later"}}"#);
        }
        match answers(&got.body) {
            0 => says(WireFormat::OpenAi, "", &[("a", "run_command", r#"{"command": "touch one"}"#)]),
            1 => says(WireFormat::OpenAi, "", &[("b", "think", r#"{"reflection": "It was refused."}"#)]),
            _ => says(WireFormat::OpenAi, "Done.", &[]),
        }
    });
    let run = agent(&project, &endpoint, WireFormat::OpenAi).args(["Go.", "--output", "jsonl"]).run_raw();
    let lines = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let expected = [
        "session",
        "user",
        "retry",
        "assistant",
        "tool_call",
        "approval",
        "tool_result",
        "assistant",
        "tool_call",
        "tool_result",
        "assistant",
        "answer",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((&lines[2]["number"], &lines[2]["wait_milliseconds"]), (&json!(1), &json!(0)));
    assert_eq!(lines[2]["reason"], "the endpoint answered 429: later");
    assert_eq!((&lines[5]["id"], &lines[5]["decision"]), (&lines[4]["id"], &json!("refused")));
    assert!(lines[5]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{}", lines[5]);
    assert_eq!(lines[6]["error_code"], "NEEDS_APPROVAL");
    assert!(!project.path().join("one").exists());
}

#[test]
fn lines_for_programs_have_no_control_characters() {
    let project = Project::new();
    let said = "tide \u{9b}2J \u{7f}\u{85} \u{2028}end";
    let endpoint = Scripted::with_script(move |_| says(WireFormat::OpenAi, said, &[]));
    for form in ["json", "jsonl"] {
        let run = agent(&project, &endpoint, WireFormat::OpenAi).args(["When?", "--output", form]).run_raw();
        let shown = String::from_utf8(run.stdout).unwrap();
        assert!(!shown.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{2028}')), "{shown:?}");
        assert!(shown.contains("\\u009b") && shown.contains("\\u2028"), "{shown:?}");
        let last: Value = match form {
            "json" => serde_json::from_str(&shown).unwrap(),
            _ => serde_json::from_str(shown.lines().last().unwrap()).unwrap(),
        };
        assert_eq!(last[if form == "json" { "answer" } else { "text" }], said);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn decisions_of_a_person_are_lines() {
    for (keys, decision, file) in [
        (&[("[y] yes", "y\r")][..], "approved", Some("one")),
        (&[("[y] yes", "n\r"), ("why (optional)", "not now\r")], "denied", None),
        (&[("[y] yes", "e\r"), ("edit: ", "\u{5}\u{15}touch two\r")], "edited", Some("two")),
    ] {
        let project = Project::new();
        project.write("config/ragmaker/ragmaker.toml", "[agent]\nthink_required = false\n");
        let endpoint = terminal::runs("touch one");
        let mut person = terminal::Person::start(&project, &endpoint, "Go. --output jsonl");
        for (wait_for, type_keys) in keys {
            person.wait_for(wait_for);
            person.type_keys(type_keys);
        }
        person.wait_for(&format!("\"decision\": \"{decision}\""));
        person.wait_for("\"type\": \"answer\"");
        let screen = person.end();
        assert!(decision != "denied" || screen.contains("\"reason\": \"not now\""), "{screen}");
        for name in ["one", "two"] {
            assert_eq!(project.path().join(name).exists(), file == Some(name), "{decision}: {name}");
        }
        let event = conversations(&project).into_values().next().unwrap();
        let event = event.iter().find(|event| event["type"] == "approval").unwrap();
        assert_eq!(event["decision"], decision);
    }
}
