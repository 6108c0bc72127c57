//! The start at a terminal: what a person learns before the first request, and the lines of the prompt.

#![cfg(target_os = "linux")]

use super::{terminal::Person, *};

/// A model that repeats the last message.
fn echo() -> Scripted {
    Scripted::with_script(|got| {
        let last = got.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        says(WireFormat::OpenAi, &format!("Echo: {last}\n"), &[])
    })
}

#[test]
fn a_silent_server_is_named() {
    let project = Project::new();
    let server = "[mcp.servers.slow]\ncommand = 'sh'\nargs = ['-c', 'exec sleep 600']\n";
    project.write("config/ragmaker/ragmaker.toml", server);
    let mut person = Person::start(&project, &echo(), "");
    person.wait_for("waiting for the MCP server slow");
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.end();
}

#[test]
fn a_folder_that_tools_refuse_is_named_at_the_start() {
    let project = Project::new();
    let endpoint = echo();
    let warnings = |home: &std::path::Path, allowed: &str| {
        let run = agent(&project, &endpoint, WireFormat::OpenAi)
            .env("RAGMAKER_PROJECT_ROOT", "")
            .env("HOME", home)
            .env("RAGMAKER_ALLOW_BROAD_ROOTS", allowed)
            .args(["?", "--output", "json"])
            .run();
        run.answer()["warnings"].clone()
    };
    project.write(".ragmaker/x", "");
    let warned = warnings(project.path(), "0");
    let warning = warned[0].as_str().unwrap();
    assert!(warning.starts_with("ROOT_TOO_BROAD: ") && warning.contains("--project-root"), "{warning}");
    assert_eq!(warnings(project.path(), "1"), json!([]));
    assert_eq!(warnings(&project.path().join("none"), "0"), json!([]));
}

#[test]
fn a_request_may_begin_with_a_path() {
    let project = Project::new();
    let endpoint = echo();
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("/tmp is full, why?\r");
    person.wait_for("Echo: /tmp is full, why?");
    person.wait_for("> ");
    person.type_keys("/modle other\r");
    person.wait_for("did you mean /model?");
    person.wait_for("> ");
    person.end();
}

#[test]
fn a_conversation_without_a_message_is_not_continued() {
    let project = Project::new();
    let endpoint = echo();
    let first = asked(&project, &endpoint, WireFormat::OpenAi, "First?").answer()["session"].clone();
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.end();
    let mut person = Person::start(&project, &endpoint, "--continue");
    person.wait_for("First?");
    person.wait_for("> ");
    person.type_keys("/reset\r");
    person.wait_for("a new conversation");
    person.wait_for("> ");
    person.end();
    let again = agent(&project, &endpoint, WireFormat::OpenAi).args(["And?", "--continue", "--output", "json"]).run();
    assert_eq!(again.answer()["session"], first);
}
