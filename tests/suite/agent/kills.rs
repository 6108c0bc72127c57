//! An agent that is killed at any moment loses nothing that was shown, and its conversation continues.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::*;

/// How many are killed; `RAGMAKER_KILLS` asks for another number.
const KILLS: usize = 25;

#[test]
fn no_shown_text_is_lost_after_a_kill() {
    let kills = env::var("RAGMAKER_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(KILLS);
    let project = Project::new();
    project.write("tides.md", "Spring tides.\n");
    // As many steps as there are kills, each a little slow, so that every phase is hit.
    let endpoint = Scripted::with_script(|got| {
        let step = answers(&got.body);
        thread::sleep(Duration::from_millis(3));
        if step % 7 == 6 {
            return says(WireFormat::OpenAi, &format!("Answer {step}."), &[]);
        }
        let path = format!("{{\"path\": \"tides.md\", \"offset\": 0, \"limit\": {}}}", step + 1);
        let list = format!("{{\"limit\": {}}}", step + 1);
        says(
            WireFormat::OpenAi,
            "reading",
            &[("a", "read_file", &path), ("b", "list_directory", &list), ("c", "read_file", &path)],
        )
    });
    let run = |arguments: &[&str]| {
        let tool = agent(&project, &endpoint, WireFormat::OpenAi).env("MAX_CONVERSATION_TURNS", "0");
        tool.args(["--output", "jsonl", "--max-steps", "20"]).args(arguments)
    };
    let mut shown: Vec<Value> = vec![];
    let mut id = String::new();
    for kill in 0..kills {
        // Sometimes the same turn continues, sometimes a new one begins.
        let request = format!("Question {kill}?");
        let mut arguments = if id.is_empty() { vec![] } else { vec!["--resume", &id] };
        if kill % 3 == 0 || id.is_empty() {
            arguments.push(&request);
        }
        let mut command = run(&arguments).into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (begun, has_begun) = mpsc::channel();
        let reader = thread::spawn(move || {
            // Cut anywhere, it may end in the middle of a character.
            let mut bytes = vec![];
            stdout.read_until(b'\n', &mut bytes).unwrap();
            begun.send(()).unwrap();
            stdout.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        // A busy machine takes long to begin: only some are killed before that.
        if kill % 5 > 0 {
            has_begun.recv().unwrap();
        }
        // Spread over the time that a turn takes, in no order.
        thread::sleep(Duration::from_millis((kill as u64 * 37) % 90));
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = reader.join().unwrap();
        let whole = &lines[..lines.rfind('\n').map_or(0, |end| end + 1)];
        shown.extend(whole.lines().map(|line| serde_json::from_str(line).unwrap()));
        if let Some(session) = shown.first().filter(|line| line["type"] == "session") {
            id = session["id"].as_str().unwrap().to_owned();
        }
    }
    let written = &conversations(&project)[&id];
    let has = |line: &Value| match line["type"].as_str().unwrap() {
        "tool_call" => written.iter().any(|event| {
            event["calls"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|call| call["id"] == line["id"] && call["name"] == line["name"])
        }),
        "tool_result" => written
            .iter()
            .any(|event| event["type"] == "tool_result" && event["id"] == line["id"] && event["text"] == line["text"]),
        "answer" => written.iter().any(|event| event["type"] == "assistant" && event["text"] == line["text"]),
        "session" | "note" | "retry" | "error" => true,
        kind => written.iter().any(|event| event["type"] == kind && event["text"] == line["text"]),
    };
    assert!(shown.len() > kills, "{} lines of {kills} runs", shown.len());
    for line in &shown {
        assert!(has(line), "shown and lost: {line}");
    }
    // It continues, and the model receives every call with its result.
    let last = run(&["--resume", &id, "Last?"]).run_raw();
    let lines = String::from_utf8(last.stdout).unwrap();
    let end: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(end["type"], "answer", "{lines}");
    let body = endpoint.requests().pop().unwrap().body;
    let messages = body["messages"].as_array().unwrap();
    let mut open: Vec<&Value> = vec![];
    for message in messages {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| **id == message["tool_call_id"]).expect("a result has its call");
            open.remove(at);
        } else {
            assert!(open.is_empty(), "{open:?} have no result");
            open.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]));
        }
    }
    assert!(open.is_empty());
}

#[test]
fn a_second_agent_on_the_conversation_is_refused() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| Reply::default().then(AfterReply::Hang));
    let mut first =
        agent(&project, &endpoint, WireFormat::OpenAi).arg("?").into_command().stdin(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let id = loop {
        assert!(Instant::now() < until);
        match conversations(&project).into_iter().find(|(_, events)| events.len() > 1) {
            Some((id, _)) => break id,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let second = agent(&project, &endpoint, WireFormat::OpenAi).args(["?", "--resume", &id, "--output", "json"]).run();
    assert_eq!(second.error("SESSION_IN_USE")["details"]["session"], id);
    first.kill().unwrap();
    first.wait().unwrap();
    let good = Scripted::with_script(|_| says(WireFormat::OpenAi, "Free again.", &[]));
    let third = agent(&project, &good, WireFormat::OpenAi).args(["--resume", &id, "--output", "json"]).run();
    assert_eq!(third.answer()["answer"], "Free again.");
}

#[test]
fn a_conversation_that_others_changed_is_an_error() {
    let project = Project::new();
    let good = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    asked(&project, &good, WireFormat::OpenAi, "?").answer();
    let id = conversations(&project).into_keys().next().unwrap();
    let path = format!(".tmp/cache/conversations/{id}.jsonl");
    let before = std::fs::read_to_string(project.path().join(&path)).unwrap() + "{\"type\": \"none\"}\n";
    project.write(&path, &before);
    let again = agent(&project, &good, WireFormat::OpenAi).args(["?", "--resume", &id, "--output", "json"]).run();
    assert_eq!(again.code, 1);
    again.error("SESSION_FAILED");
    assert_eq!(std::fs::read_to_string(project.path().join(&path)).unwrap(), before);
}

#[test]
fn no_request_and_no_tool_are_mistakes_in_the_arguments() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    for arguments in [
        &["--output", "json"][..],
        &["Two", "words", "--output", "json"],
        &["?", "--read-only", "--tools", "write_file", "--output", "json"],
        &["?", "--tools", "unheard_of", "--output", "json"],
        &["?", "--output", "yaml"],
        &["?", "--max-steps", "many"],
        &["?", "--approve", "some"],
    ] {
        let run = agent(&project, &endpoint, WireFormat::OpenAi).args(arguments).run();
        assert!(run.stdout_json.is_none() && run.code != 0, "{arguments:?}");
        let error = run.stderr_json.as_ref().unwrap();
        assert!(["ARGUMENT_ERROR", "TOOL_NOT_FOUND"].contains(&error["error_code"].as_str().unwrap()), "{error}");
    }
    assert!(endpoint.requests().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_ignores_the_end_of_its_input_ends_with_the_agent() {
    for confined in [false, true] {
        let project = Project::new();
        // It answers nothing, and what it started ignores everything but SIGKILL.
        let script = "trap \"\" TERM HUP INT PIPE; (trap \"\" TERM HUP; exec sleep 601) & touch begun; exec sleep 602";
        project.write(
            "config/ragmaker/ragmaker.toml",
            format!("[mcp.servers.deaf]\ncommand = 'sh'\nargs = ['-c', '{script}']\nconfined = {confined}\n"),
        );
        let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
        let mut command = agent(&project, &endpoint, WireFormat::OpenAi).arg("?").into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while !project.path().join("begun").exists() {
            assert!(Instant::now() < until, "the server does not start");
            thread::sleep(Duration::from_millis(5));
        }
        let sleeps = || project.processes().iter().filter(|process| process.command.starts_with("sleep 60")).count();
        while sleeps() < 2 {
            assert!(Instant::now() < until, "{} processes sleep", sleeps());
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(sleeps(), 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(project.left_running(Duration::from_secs(20)).len(), 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_tool_of_a_catalog_ends_with_the_agent() {
    for confined in [false, true] {
        let project = Project::new();
        // What it started ignores everything but SIGKILL.
        let lines = "trap '' TERM HUP INT PIPE; (exec sleep 601) & touch begun; exec sleep 602";
        ragmaker_testkit::script(project.path(), "config/ragmaker/slow", lines);
        let entry = json!({"name": "slow", "command": "./slow", "parameters": {"type": "object"}});
        project.write("config/ragmaker/tools.json", json!({"tools": [entry]}).to_string());
        let catalog = format!("[tools]\ncatalogs = [{{file = 'tools.json', confined = {confined}}}]\n");
        project.write("config/ragmaker/ragmaker.toml", catalog);
        let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "", &[("", "slow", "{}")]));
        let mut command = agent(&project, &endpoint, WireFormat::OpenAi).args(["?", "--approve", "all"]).into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while !project.path().join("begun").exists() {
            assert!(Instant::now() < until, "the tool does not start");
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(project.left_running(Duration::from_secs(20)).len(), 0, "confined: {confined}");
    }
}
