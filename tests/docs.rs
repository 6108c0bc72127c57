//! What the documentation says can be typed: every example is a command line that its tool takes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::{
    discovery::{entries, workspace},
    examples::{Example, examples},
    run::Project,
};

/// The documents: README.md, those of the tools, what is in docs, and what is rendered for clients.
fn documents() -> Vec<PathBuf> {
    let root = workspace();
    let mut found = vec![root.join("README.md")];
    let tools = fs::read_dir(root.join("tools")).expect("there are tools");
    found.extend(tools.map(|tool| tool.unwrap().path().join("README.md")).filter(|path| path.is_file()));
    let mut folders = vec![root.join("docs"), root.join("integrations")];
    while let Some(folder) = folders.pop() {
        // There may be no docs.
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md" || extension == "toml") {
                found.push(path);
            }
        }
    }
    found
}

/// The executables that are ways to all tools, and no tools themselves.
const WAYS: [&str; 3] = ["ragmaker-call", "ragmaker-discover", "ragmaker-mcp"];

fn read(path: &Path) -> Vec<Example> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    examples(&text).unwrap_or_else(|reason| panic!("{}: {reason}", path.display()))
}

#[test]
fn every_example_is_a_command_line_of_its_tool() {
    let entries = entries();
    let project = Project::new();
    for path in documents() {
        for example in read(&path) {
            let place = format!("{}:{}: {}", path.display(), example.line, example.words.join(" "));
            if WAYS.contains(&example.command()) {
                // Its parser has read what stands before `--help`.
                let way = project.tool(example.command().trim_start_matches("ragmaker-"));
                let output = way.args(&example.words[1..]).arg("--help").run_raw();
                assert!(output.status.success(), "{place}\n{}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            if let Err(wrong) = example.check(&entries) {
                panic!("{place}\n{wrong}");
            }
            // The tool's own parser agrees. It has read what stands before `--describe`, and does
            // nothing after it; an option that waits for its value from `xargs` gets one first.
            let mut words = example.words[1..].to_vec();
            let is_waiting = words.last().is_some_and(|word| word.starts_with("--") && !word.contains('='));
            if example.is_open && is_waiting {
                words.push("value".to_owned());
            }
            let tool = project.tool(example.command().trim_start_matches("ragmaker-"));
            let output = tool.args(&words).arg("--describe").stdin("{}").run_raw();
            assert!(output.status.success(), "{place}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn the_readme_shows_every_tool() {
    let shown = read(&workspace().join("README.md"));
    for entry in entries() {
        assert!(shown.iter().any(|example| example.command() == entry.command), "{} has no example", entry.command);
    }
}
