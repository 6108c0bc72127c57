//! The console blocks of documents: commands and expected output, run and compared.
//!
//! In a block of the language `console`, a line that begins with `$ ` is a command, lines with `> ` continue
//! one that ends with a backslash, and the lines up to the next command are its output. A document shows the test site
//! as
//! [`SITE`] and the folder above the project as [`HOME`].

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    discovery::workspace,
    run::{Project, Tool, executable},
    site::Site,
};

/// The URL of the test site in documents.
pub const SITE: &str = "http://127.0.0.1:8000";

/// The home directory in documents; the project is below it.
pub const HOME: &str = "/home/user";

/// The members of answers whose values differ between runs; only their types are compared.
const VOLATILE: [&str; 8] = ["browser", "fetched_at", "modified", "os", "pid", "sandbox", "sha256", "version"];

/// A command of a document, and its expected output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The line of the command, from 1.
    pub line: usize,
    /// The command.
    pub command: String,
    /// The output.
    pub output: String,
}

/// The commands of a Markdown document, block by block.
pub fn blocks(markdown: &str) -> Vec<Vec<Step>> {
    let mut blocks: Vec<Vec<Step>> = vec![];
    let mut inside = false;
    for (at, line) in markdown.lines().enumerate() {
        let block = blocks.last_mut().filter(|_| inside);
        match (block, line) {
            (None, "```console") => {
                blocks.push(vec![]);
                inside = true;
            }
            (None, _) => {}
            (Some(_), "```") => inside = false,
            (Some(steps), line) => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { line: at + 1, command: command.to_owned(), output: String::new() });
                }
                (None, Some(step))
                    if step.output.is_empty() && step.command.ends_with('\\') && line.starts_with("> ") =>
                {
                    step.command += "\n";
                    step.command += &line[2..];
                }
                (None, Some(step)) => {
                    step.output += line;
                    step.output += "\n";
                }
                (None, None) => {}
            },
        }
    }
    blocks
}

/// Replaces the outputs of the document's commands by `outputs`.
pub fn with_outputs(markdown: &str, outputs: &[String]) -> String {
    let (mut new, mut inside, mut is_output) = (String::new(), false, false);
    let mut outputs = outputs.iter();
    for line in markdown.lines() {
        match line {
            "```console" if !inside => inside = true,
            "```" if inside => (inside, is_output) = (false, false),
            _ if inside && line.starts_with("$ ") => is_output = false,
            _ if is_output => continue,
            _ => {}
        }
        let is_command = inside && !is_output && (line.starts_with("$ ") || line.starts_with("> "));
        new += line;
        new.push('\n');
        if is_command && !line.ends_with('\\') {
            new += outputs.next().map_or("", String::as_str);
            is_output = true;
        }
    }
    new
}

/// A project with the files of tests/project, in which the commands of one block are run.
pub struct Console {
    project: Project,
    variables: Vec<(&'static str, String)>,
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}

impl Console {
    /// Creates the project.
    ///
    /// # Panics
    ///
    /// If the files cannot be copied.
    pub fn new() -> Self {
        let project = Project::new();
        let files = workspace().join("tests/project");
        let mut folders = vec![files.clone()];
        while let Some(folder) = folders.pop() {
            for path in
                fs::read_dir(&folder).expect("the folder is ours").map(|entry| entry.expect("it is ours").path())
            {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&files).expect("it is below");
                    project.write(&name.to_string_lossy(), fs::read(&path).expect("the file is ours"));
                }
            }
        }
        Self { project, variables: vec![] }
    }

    /// Sets an environment variable of the commands.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Runs `command`, and returns its output on both streams as documents show it.
    ///
    /// # Panics
    ///
    /// If the command hangs.
    pub fn run(&self, command: &str, site: &Site) -> String {
        let output = self.shell("", command, site).run_raw();
        let text = String::from_utf8_lossy(&output.stdout);
        text.replace(&site.url(""), SITE).replace(&*self.home().to_string_lossy(), HOME)
    }

    /// A script that ends at the first command that fails, with both streams in one.
    pub fn script(&self, script: &str, site: &Site) -> Tool {
        self.shell("set -e\n", script, site)
    }

    fn home(&self) -> &Path {
        self.project.path().parent().unwrap_or(Path::new("/"))
    }

    fn shell(&self, options: &str, script: &str, site: &Site) -> Tool {
        let tools = executable("ragmaker-read-file");
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = tools.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&others));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n{options}{}", script.replace(SITE, &site.url("")))]);
        shell.current_dir(self.project.path()).stdin(Stdio::null());
        shell.env("PATH", std::env::join_paths(path).expect("PATH can be joined"));
        shell.env("RAGMAKER_PROJECT_ROOT", self.project.path()).env("LC_ALL", "C.UTF-8");
        shell.env("HOME", self.home());
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            shell.env_remove(name);
        }
        shell.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Tool::from(shell)
    }
}

/// Whether two outputs are equal, except for values that differ between runs.
pub fn same(one: &str, other: &str) -> bool {
    match (serde_json::from_str(one), serde_json::from_str(other)) {
        (Ok(one), Ok(other)) => fixed("", one) == fixed("", other),
        _ => one.trim_end() == other.trim_end(),
    }
}

/// Replaces values that differ between runs: the members of [`VOLATILE`], and the hash in the name of a saved
/// page.
fn fixed(name: &str, value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = fixed(&name, value);
                (name, value)
            })
            .collect(),
        Value::Array(values) => values.into_iter().map(|value| fixed(name, value)).collect(),
        Value::Null => Value::Null,
        _ if VOLATILE.contains(&name) => "…".into(),
        Value::String(text) => match text.strip_suffix(".md").and_then(|stem| stem.rsplit_once('-')) {
            Some((stem, hash)) if hash.len() == 10 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                format!("{stem}-….md").into()
            }
            _ => text.into(),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "a\n\n```console\n$ one \\\n> --two\nout\n> put\n$ three\n```\n\n```sh\n$ four\n```\n";

    #[test]
    fn commands_and_outputs_are_separated() {
        let step = |line, command: &str, output: &str| Step { line, command: command.into(), output: output.into() };
        assert_eq!(blocks(DOCUMENT), [[step(4, "one \\\n--two", "out\n> put\n"), step(8, "three", "")]]);
    }

    #[test]
    fn only_outputs_are_replaced() {
        let outputs = ["out\n> put\n".to_owned(), String::new()];
        assert_eq!(with_outputs(DOCUMENT, &outputs), DOCUMENT);
        let changed = with_outputs(DOCUMENT, &["x\n".to_owned(), "y\n".to_owned()]);
        assert_eq!(changed, DOCUMENT.replace("out\n> put\n", "x\n").replace("three\n", "three\ny\n"));
    }

    #[test]
    fn only_values_that_differ_between_runs_are_ignored() {
        assert!(same(r#"{"pid": 1, "path": "a-0123456789.md"}"#, r#"{"pid": 2, "path": "a-abcdef0123.md"}"#));
        for other in [r#"{"pid": null, "path": "a"}"#, r#"{"path": "a"}"#, r#"{"pid": 1, "path": "b"}"#, "text"] {
            assert!(!same(r#"{"pid": 1, "path": "a"}"#, other), "{other}");
        }
        assert!(same("text\n", "text") && !same("text", "texts"));
    }
}
