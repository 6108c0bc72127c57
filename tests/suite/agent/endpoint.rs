//! Failures of the endpoint: each has a clear result, and the conversation is complete.

use super::*;

/// The run, and the conversation after it, which continues with a good endpoint.
fn faced(wire: WireFormat, replies: Vec<Reply>) -> (Output, Vec<Value>) {
    let project = Project::new();
    let endpoint = Scripted::new(replies);
    let run = asked(&project, &endpoint, wire, "When?");
    let (id, events) = conversations(&project).into_iter().next().unwrap();
    let good = Scripted::with_script(move |_| says(wire, "Twice a day.", &[]));
    let again = agent(&project, &good, wire).args(["Again?", "--resume", &id, "--output", "json"]).run();
    assert_eq!(again.answer()["answer"], "Twice a day.");
    let told = good.requests()[0].body.to_string();
    assert!(told.contains("When?") && told.contains("Again?"), "{told}");
    for folder in ["conversations", "logs"] {
        for entry in std::fs::read_dir(project.path().join(".tmp/cache").join(folder)).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            assert!(!text.contains(KEY), "{}", entry.path().display());
        }
    }
    (run, events)
}

fn down(headers: &str) -> Reply {
    Reply::status("500 Oops", headers, r#"{"error": {"message": "down"}}"#)
}

#[test]
fn transient_errors_are_retried() {
    let now = "Retry-After: 0\r\n";
    for wire in WireFormat::ALL {
        let good = || says(wire, "Twice a day.", &[]);
        let cut = Reply::events([text(wire, "half an ans")]);
        let slow = |headers: &str| Reply::status("429 Slow", headers, "{}");
        for replies in [
            vec![down(now), down(now), down(now), good()],
            vec![slow(now), good()],
            vec![slow(""), good()],
            vec![cut, good()],
        ] {
            let (run, events) = faced(wire, replies);
            assert_eq!(run.answer()["answer"], "Twice a day.");
            assert_eq!(events.len(), 3, "{events:?}");
        }
    }
}

#[test]
fn permanent_errors_have_their_code() {
    let refused = |line: &str, message: &str| {
        Reply::status(line, "", &json!({"error": {"message": format!("{message} {KEY}")}}).to_string())
    };
    for wire in WireFormat::ALL {
        for (replies, code) in [
            (vec![refused("401 No", "wrong key")], "MODEL_AUTH_FAILED"),
            (vec![Reply::status("429 Slow", "Retry-After: 86400\r\n", "{}")], "MODEL_RATE_LIMITED"),
            (vec![down("Retry-After: 0\r\n"); 5], "MODEL_UNREACHABLE"),
            (vec![refused("404 None", "no such model")], "MODEL_ANSWER_INVALID"),
            (vec![Reply::events([b"data: ".to_vec(), vec![b'x'; 20 << 20]])], "MODEL_ANSWER_INVALID"),
            (
                vec![Reply::events([text(wire, &"tide ".repeat(20_000))]).then(AfterReply::Repeat)],
                "MODEL_ANSWER_INVALID",
            ),
            (vec![says(wire, "", &[]), says(wire, "", &[])], "MODEL_ANSWER_INVALID"),
            (vec![refused("400 Long", "maximum context length exceeded")], "CONTEXT_TOO_LONG"),
        ] {
            let (run, events) = faced(wire, replies);
            let error = run.error(code);
            assert!(!error.to_string().contains(KEY), "{error}");
            assert_eq!(events[1]["type"], "user");
        }
    }
}

#[test]
fn answer_chunks_may_be_split_anywhere() {
    for wire in WireFormat::ALL {
        let whole = answer(wire, &["Spring tide 潮🌊."], &[]).concat();
        let bytes = Reply::events(whole.chunks(1).map(<[u8]>::to_vec));
        let (run, _) = faced(wire, vec![bytes]);
        assert_eq!(run.answer()["answer"], "Spring tide 潮🌊.");
    }
}

#[test]
fn an_empty_answer_is_asked_about_once() {
    for wire in WireFormat::ALL {
        let (run, events) = faced(wire, vec![says(wire, "", &[]), says(wire, "Twice a day.", &[])]);
        assert_eq!(run.answer()["answer"], "Twice a day.");
        assert!(events.iter().any(|event| event["type"] == "note" && event["note"] == "empty"), "{events:?}");
    }
}

#[test]
fn every_call_gets_one_result_with_any_ids() {
    for wire in WireFormat::ALL {
        for id in ["", "same"] {
            let forty: Vec<SpokenCall<'_>> = vec![(id, "project_info", "{}"); 40];
            let replies = vec![says(wire, "", &forty), says(wire, "Done.", &[]), says(wire, "Done.", &[])];
            let (run, events) = faced(wire, replies);
            assert_eq!(run.answer()["tool_calls"].as_array().unwrap().len(), 40);
            let results: std::collections::BTreeSet<_> = events
                .iter()
                .filter(|event| event["type"] == "tool_result")
                .map(|event| event["id"].to_string())
                .collect();
            assert_eq!(results.len(), 40);
        }
    }
}

#[test]
fn an_answer_that_is_not_whole_has_a_warning() {
    let project = Project::new();
    let event = |delta: Value, reason: &str| {
        let event = json!({"choices": [{"delta": delta, "finish_reason": reason}]});
        Reply::events([format!("data: {event}\n\ndata: [DONE]\n\n").into_bytes()])
    };
    for (delta, reason, warning) in [
        (json!({"content": "half of it"}), "length", Some("the token limit")),
        (json!({"content": "half of it"}), "content_filter", Some("withheld")),
        (json!({"refusal": "half of it"}), "stop", None),
    ] {
        let endpoint = Scripted::new(vec![event(delta, reason)]);
        let run = asked(&project, &endpoint, WireFormat::OpenAi, "All?");
        let warnings = run.answer()["warnings"].to_string();
        assert_eq!((run.answer()["answer"].as_str(), warning.is_some()), (Some("half of it"), warnings != "[]"));
        assert!(warning.is_none_or(|warning| warnings.contains(warning)), "{warnings}");
    }
    let events: Vec<Value> = conversations(&project).into_values().flatten().collect();
    let ends: std::collections::BTreeSet<_> = events.iter().filter_map(|event| event["stop"].as_str()).collect();
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["end", "filtered", "length"]);
}

#[test]
fn a_call_that_the_token_limit_cut_off_says_so() {
    let project = Project::new();
    let half = format!("{{\"path\": \"a.md\", \"content\": \"{}", "long text ".repeat(500));
    let endpoint = Scripted::with_script(move |got| {
        if answers(&got.body) > 0 {
            return says(WireFormat::OpenAi, "Done.", &[]);
        }
        let call = |index: usize, name: &str, arguments: &str| json!({"index": index, "id": format!("c{index}"), "function": {"name": name, "arguments": arguments}});
        let delta = json!({"tool_calls": [call(0, "project_info", "{}"), call(1, "write_file", &half)]});
        let event = json!({"choices": [{"delta": delta, "finish_reason": "length"}]});
        Reply::events([format!("data: {event}\n\ndata: [DONE]\n\n").into_bytes()])
    });
    for approve in ["all", "never"] {
        let run = agent(&project, &endpoint, WireFormat::OpenAi)
            .args(["Write it.", "--approve", approve, "--output", "json"])
            .run();
        let codes: Vec<_> =
            run.answer()["tool_calls"].as_array().unwrap().iter().map(|call| &call["error_code"]).collect();
        assert_eq!(codes, [&Value::Null, &json!("ARGUMENT_ERROR")]);
        let told: Value = serde_json::from_str(&results(&endpoint.requests().pop().unwrap().body)[1]).unwrap();
        let (message, remedy) = (told["message"].as_str().unwrap(), told["remediation_suggestion"].as_str().unwrap());
        assert!(message.contains("max_output_tokens") && remedy.contains("append"), "{told}");
        assert!(!told.to_string().contains("long text") && !project.path().join("a.md").exists());
    }
}

#[test]
fn what_a_person_has_to_correct_is_not_retried() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    for (address, key, code, named) in [
        ("http://[::1", KEY, "MODEL_UNREACHABLE", "http://[::1"),
        (&endpoint.url, "sk-broken\nkey", "MODEL_AUTH_FAILED", "OPENAI_API_KEY"),
        (&endpoint.url, "sk-潮汐-0123456789", "MODEL_AUTH_FAILED", "OPENAI_API_KEY"),
    ] {
        let run = project
            .tool("agent")
            .args(["--provider", "openai", "--model", "m", "--base-url", address, "--output", "jsonl", "?"])
            .env("OPENAI_API_KEY", key)
            .env("XDG_CONFIG_HOME", project.path().join("config"))
            .run_raw();
        let lines = String::from_utf8(run.stdout).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["session", "user", "failed", "error"], "{address}");
        let error = &lines[3];
        assert_eq!(error["error_code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(named), "{error}");
        assert!(!error.to_string().contains("sk-"), "{error}");
    }
    assert!(endpoint.requests().is_empty());
}
