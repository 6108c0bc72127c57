//! The documentation: its examples are run, its command lines are ones that the tools take, its links lead
//! somewhere.

mod pages;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use ragmaker_tests::{
    console::{self, Console},
    discovery::{entries, workspace},
    examples::{Example, examples},
    run::{Project, executable},
    site::Site,
};
use ragmaker_tool::HOSTS;

/// The documents: those at the top, those of the tools, what is in docs, and what is rendered for clients.
fn documents() -> Vec<PathBuf> {
    let root = workspace();
    let tools = fs::read_dir(root.join("tools")).expect("there are tools");
    let mut found: Vec<_> = tools.map(|tool| tool.unwrap().path().join("README.md")).collect();
    found.retain(|path| path.is_file());
    let is_document = |path: &Path| path.extension().is_some_and(|extension| extension == "md" || extension == "toml");
    let top = fs::read_dir(&root).expect("the workspace can be listed").map(|entry| entry.unwrap().path());
    found.extend(top.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    let mut folders = vec![root.join("docs"), root.join("integrations")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("it is a folder").map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if is_document(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Vec<Example> {
    examples(&text(path)).unwrap_or_else(|reason| panic!("{}: {reason}", path.display()))
}

#[test]
fn every_example_is_a_command_line_of_its_tool() {
    let entries = entries();
    let project = Project::new();
    for path in documents() {
        for example in read(&path) {
            let place = format!("{}:{}: {}", path.display(), example.line, example.words.join(" "));
            if example.command() == "ragmaker" || HOSTS.contains(&example.command()) {
                // Its parser has read what stands before `--help`.
                let host = project.program(&executable(example.command()));
                let output = host.args(&example.words[1..]).arg("--help").run_raw();
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

/// The tool's folder, for each tool.
fn folders() -> impl Iterator<Item = (String, PathBuf)> {
    entries().into_iter().map(|entry| {
        let folder = workspace().join("tools").join(entry.command.trim_start_matches("ragmaker-"));
        (entry.command, folder)
    })
}

#[test]
fn every_tool_has_a_page_with_an_example_and_the_readme_names_every_executable() {
    let readme = text(&workspace().join("README.md"));
    for (command, folder) in folders() {
        let page = folder.join("README.md");
        assert!(read(&page).iter().any(|example| example.command() == command), "{command} has no example");
        let name = command.trim_start_matches("ragmaker-");
        let is_name = |word: &str| word.trim_matches(|c| matches!(c, ',' | ';' | ':' | '|')) == name;
        let rows = readme.lines().filter(|line| line.starts_with('|'));
        assert!(rows.flat_map(str::split_whitespace).any(is_name), "README.md does not name {command}");
    }
    for host in HOSTS.into_iter().chain(["`ragmaker`"]) {
        assert!(readme.contains(host), "README.md does not name {host}");
    }
    assert!(readme.len() <= 8192, "README.md has {} bytes", readme.len());
}

/// With `UPDATE_EXAMPLES=1`, examples.md gets what the tools print now.
#[test]
fn the_examples_show_what_the_tools_print() {
    let site = Site::start();
    let is_update = env::var_os("UPDATE_EXAMPLES").is_some();
    let mut stale = vec![];
    for (_, folder) in folders() {
        let path = folder.join("examples.md");
        let document = text(&path);
        let (mut outputs, mut is_stale) = (vec![], false);
        for steps in console::blocks(&document) {
            let console = Console::new();
            for step in steps {
                let output = console.run(&step.command, &site);
                if console::same(&step.output, &output) {
                    outputs.push(step.output);
                    continue;
                }
                is_stale = true;
                if !is_update {
                    stale.push(format!("{}:{}: {}\n{output}", path.display(), step.line, step.command));
                }
                outputs.push(output);
            }
        }
        if is_update && is_stale {
            fs::write(&path, console::with_outputs(&document, &outputs)).unwrap();
        }
    }
    let advice = "UPDATE_EXAMPLES=1 cargo test -p ragmaker-tests --test suite docs::; cargo xtask docs";
    assert!(stale.is_empty(), "these print something else now ({advice}):\n\n{}", stale.join("\n"));
}

#[test]
fn every_link_to_a_file_of_the_repository_leads_somewhere() {
    let mut broken = vec![];
    for path in documents().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let folder = path.parent().unwrap();
        for target in text(&path).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.contains("://") || target.contains(['\n', ' ', '{', '$']) {
                continue;
            }
            let file = if file.is_empty() { path.clone() } else { folder.join(file) };
            let is_there = file.exists() && (anchor.is_empty() || anchors(&text(&file)).any(|one| one == anchor));
            if !is_there {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(markdown: &str) -> impl Iterator<Item = String> {
    let headings = markdown.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .collect::<String>()
            .replace(' ', "-")
    })
}
