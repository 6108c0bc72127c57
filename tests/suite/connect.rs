//! `ragmaker connect`: the configurations of clients, with the person's own entries.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::run::{Project, Tool, executable};
use serde_json::Value;

/// The clients, and the file with the server of each.
const CLIENTS: [(&str, &str); 7] = [
    ("gemini", ".gemini/settings.json"),
    ("claude", ".claude.json"),
    ("codex", ".codex/config.toml"),
    ("opencode", ".config/opencode/opencode.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("zed", ".config/zed/settings.json"),
];

fn connect_in(project: &Project, home: &Path, words: &[&str]) -> Tool {
    let connect = project.program(&executable("ragmaker")).arg("connect").args(words);
    // The variables of whoever runs the tests name other folders.
    let none = ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"].iter();
    none.fold(connect.env("HOME", home), |connect, name| connect.env(name, ""))
}

fn connect(project: &Project, words: &[&str]) -> Tool {
    connect_in(project, project.path(), words)
}

/// Every file below `folder`, with its bytes, and every folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let content = path.is_file().then(|| fs::read(&path).unwrap());
            if content.is_none() {
                folders.push(path.clone());
            }
            found.insert(path, content);
        }
    }
    found
}

/// What a person may have in a file of settings: layout that no program writes.
fn own_settings(name: &str) -> Vec<Option<&'static str>> {
    if name.ends_with("toml") {
        return vec![
            None,
            Some("# mine\nmodel = \"x\""),
            Some("# mine\r\nmodel = \"x\"\n\n\r\n[other]\r\na = 1\n"),
            Some(""),
        ];
    }
    vec![
        None,
        Some("{\"theme\":\"mine\"}"),
        Some("{\r\n\r\n  // mine\r\n  \"theme\": \"dark\",\n\n}"),
        Some("{\"mcpServers\": {}, \"servers\": {}, \"mcp\": {}, \"context_servers\": {}}\n"),
    ]
}

#[test]
fn every_client_is_connected_and_disconnected() {
    for (client, settings) in CLIENTS {
        for own in own_settings(settings) {
            let project = Project::new();
            if let Some(own) = own {
                project.write(settings, own);
            }
            let before = files(project.path());

            let shown = connect(&project, &[client, "--output", "json"]).run();
            let changes = &shown.error("NOT_CONFIRMED")["details"]["changes"];
            let action = if own.is_some() { "change" } else { "create" };
            assert_eq!(changes[0]["action"], action, "{client}: {changes}");
            assert_eq!(files(project.path()), before, "{client}: nothing is written without a confirmation");

            let written = connect(&project, &[client, "--yes", "--output", "json"]).run();
            assert_eq!(written.answer()["changes"].as_array().unwrap()[0]["action"], action, "{client}");
            let text = fs::read_to_string(project.path().join(settings)).unwrap();
            assert!(text.contains("ragmaker") && text.contains("\"mcp\""), "{client}: {text}");
            assert_eq!(text.contains("mine"), own.is_some_and(|own| own.contains("mine")), "{client}: {text}");
            let connected = files(project.path());
            let again = connect(&project, &[client, "--yes", "--output", "json"]).run();
            assert_eq!(again.answer()["changes"], Value::Array(vec![]), "{client}");
            assert_eq!(files(project.path()), connected, "{client}");

            // Another version writes another entry.
            connect(&project, &[client, "--yes", "--all-tools", "--output", "json"]).run().answer();
            connect(&project, &[client, "--yes", "--remove", "--output", "json"]).run().answer();
            assert_eq!(files(project.path()), before, "{client}: {own:?}");
        }
    }
}

#[test]
fn a_file_of_the_person_is_kept_or_given_back() {
    let project = Project::new();
    let command = project.write(".gemini/commands/rag.toml", "prompt = 'mine'\n");
    let settings = project.write(".gemini/settings.json", "{\"mcpServers\": {\"ragmaker\": {\"command\": \"mine\"}}}");
    let before = files(project.path());
    let removed = connect(&project, &["gemini", "--remove", "--yes", "--output", "json"]).run();
    let actions = |answer: &Value| -> Vec<Value> {
        answer["changes"].as_array().unwrap().iter().map(|change| change["action"].clone()).collect()
    };
    assert_eq!(actions(removed.answer()), ["keep", "keep"]);
    assert_eq!(files(project.path()), before);

    let written = connect(&project, &["gemini", "--yes", "--output", "json"]).run();
    assert_eq!(actions(written.answer()), ["change", "keep", "create"]);
    assert_eq!(fs::read_to_string(&command).unwrap(), "prompt = 'mine'\n");
    connect(&project, &["gemini", "--yes", "--replace", "--output", "json"]).run().answer();
    assert!(fs::read_to_string(&command).unwrap().contains("{{args}}"));
    assert!(!fs::read_to_string(&settings).unwrap().contains("mine"));
    let removed = connect(&project, &["gemini", "--yes", "--remove", "--output", "json"]).run();
    assert_eq!(actions(removed.answer()), ["restore", "restore", "delete"]);
    assert_eq!(files(project.path()), before);
}

#[test]
fn a_file_that_cannot_be_read_stops_before_anything_is_written() {
    let project = Project::new();
    for (settings, text) in [(".gemini/settings.json", "{\"theme\": "), (".gemini/settings.json", "[]")] {
        project.write(settings, text);
        let before = files(project.path());
        connect(&project, &["gemini", "--yes", "--output", "json"]).run().error("CONFIG_UNREADABLE");
        assert_eq!(files(project.path()), before);
    }
    connect(&project, &["emacs", "--output", "json"]).run().error("ARGUMENT_ERROR");
    for (words, advice) in
        [(&["emacs"][..], "gemini, claude, codex"), (&["gemini", "claude"], "once for each"), (&[], "client")]
    {
        let output = connect(&project, words).run_raw();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("error: ") && text.contains(advice), "{words:?}: {text}");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_file_is_refused_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let settings = project.write(".claude.json", "{}");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o444)).unwrap();
    let before = files(project.path());
    let run = connect(&project, &["claude", "--yes", "--output", "json"]).run();
    assert!(run.error("CANNOT_WRITE")["message"].as_str().unwrap().contains("read-only"));
    assert_eq!(files(project.path()), before);
}

#[test]
#[cfg(unix)]
fn a_path_that_is_not_utf8_is_answered_as_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let project = Project::new();
    let home = project.path().join(OsStr::from_bytes(b"x\xff"));
    fs::create_dir(&home).unwrap();
    for words in [&["zed", "--output", "json"][..], &["zed", "--yes", "--output", "json"]] {
        let run = connect_in(&project, &home, words).run();
        let changes = match &run.stdout_json {
            Some(answer) => &answer["changes"],
            None => &run.error("NOT_CONFIRMED")["details"]["changes"],
        };
        assert!(changes[0]["path"].as_str().unwrap().contains("x\u{fffd}/.config/zed"), "{changes}");
    }
    connect_in(&project, &home, &["zed", "--yes", "--remove", "--output", "json"]).run().answer();
    assert_eq!(files(&home), BTreeMap::new());
}
