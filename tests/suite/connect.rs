//! `ragmaker connect`: the configurations of clients, with the person's own entries.

use std::{fs, path::Path};

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

fn connect(project: &Project, words: &[&str]) -> Tool {
    let connect = project.program(&executable("ragmaker")).arg("connect").args(words);
    // The variables of whoever runs the tests name other folders.
    let none = ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"].iter();
    none.fold(connect.env("HOME", project.path()), |connect, name| connect.env(name, ""))
}

/// Every file below `folder`, with its text.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_client_is_connected_and_disconnected() {
    for (client, settings) in CLIENTS {
        let project = Project::new();
        let own = if settings.ends_with("toml") {
            "# mine\nmodel = \"x\"\n".to_owned()
        } else {
            "{\n  // mine\n  \"theme\": \"dark\"\n}\n".to_owned()
        };
        project.write(settings, &own);
        let before = files(project.path());

        let shown = connect(&project, &[client, "--output", "json"]).run();
        let changes = &shown.error("NOT_CONFIRMED")["details"]["changes"];
        assert_eq!(changes[0]["action"], "change", "{client}: {changes}");
        assert_eq!(files(project.path()), before, "{client}: nothing is written without a confirmation");

        let written = connect(&project, &[client, "--yes", "--output", "json"]).run();
        assert_eq!(written.answer()["changes"].as_array().unwrap()[0]["action"], "change", "{client}");
        let text = fs::read_to_string(project.path().join(settings)).unwrap();
        assert!(text.contains("mine") && text.contains("ragmaker") && text.contains("\"mcp\""), "{client}: {text}");
        let connected = files(project.path());
        let again = connect(&project, &[client, "--yes", "--output", "json"]).run();
        assert_eq!(again.answer()["changes"], Value::Array(vec![]), "{client}");
        assert_eq!(files(project.path()), connected, "{client}");

        connect(&project, &[client, "--yes", "--remove", "--output", "json"]).run().answer();
        let after = files(project.path());
        let squeezed = |files: &[(String, String)]| -> Vec<_> {
            files.iter().map(|(path, text)| (path.clone(), text.replace([' ', '\n', ','], ""))).collect()
        };
        assert_eq!(squeezed(&after), squeezed(&before), "{client}");
    }
}

#[test]
fn a_file_of_the_person_is_kept() {
    let project = Project::new();
    let command = project.write(".gemini/commands/rag.toml", "prompt = 'mine'\n");
    let written = connect(&project, &["gemini", "--yes", "--output", "json"]).run();
    let actions: Vec<_> =
        written.answer()["changes"].as_array().unwrap().iter().map(|change| &change["action"]).collect();
    assert_eq!(actions, ["create", "keep", "create"]);
    assert_eq!(fs::read_to_string(&command).unwrap(), "prompt = 'mine'\n");
    connect(&project, &["gemini", "--yes", "--remove", "--output", "json"]).run().answer();
    assert_eq!(fs::read_to_string(&command).unwrap(), "prompt = 'mine'\n");
    connect(&project, &["gemini", "--yes", "--replace", "--output", "json"]).run().answer();
    assert!(fs::read_to_string(&command).unwrap().contains("{{args}}"));
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
    let text = String::from_utf8(connect(&project, &["emacs"]).run_raw().stderr).unwrap();
    assert!(text.contains("gemini, claude, codex"), "{text}");
}
