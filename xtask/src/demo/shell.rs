//! Prints the command lines of the demo as a person would type them, and their shortened answers.

use std::{
    cell::Cell,
    env,
    ffi::OsString,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::process::{line, quoted};

/// The folder for the complete answers, in the folder of the run.
pub(super) const ANSWERS: &str = "answers";

/// The maximum number of lines of an answer that are shown, and the most characters of a line.
const MAX_PRINTED: (usize, usize) = (14, 160);

pub(super) struct Shell {
    folder: PathBuf,
    path: OsString,
    calls: Cell<usize>,
}

impl Shell {
    /// A terminal in `folder`, with the executables in `built` before all others.
    pub(super) fn new(built: &Path, folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir(folder.join(ANSWERS))?;
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([built.to_owned()].into_iter().chain(env::split_paths(&others)))?;
        println!("\n$ cd {}", quoted(&folder.to_string_lossy()));
        println!("$ export PATH={}:\"$PATH\" RAGMAKER_PROJECT_ROOT=\"$PWD\"", quoted(&built.to_string_lossy()));
        Ok(Self { folder: folder.to_owned(), path, calls: Cell::new(0) })
    }

    /// Says what comes next, and why.
    pub(super) fn say(&self, text: &str) -> &Self {
        println!("\n# {text}");
        self
    }

    /// Runs one tool, and returns its answer.
    pub(super) fn run(&self, tool: &str, arguments: &[&str]) -> anyhow::Result<Value> {
        let mut command = self.command(tool, arguments);
        println!("$ {}", line(&command));
        let output = command.output();
        self.answer(tool, &command, output)
    }

    /// Runs one tool several times at once.
    pub(super) fn run_together(&self, tool: &str, calls: &[[&str; 4]]) -> anyhow::Result<()> {
        let mut commands: Vec<_> = calls.iter().map(|arguments| self.command(tool, arguments)).collect();
        for command in &commands {
            println!("$ {} &", line(command));
        }
        let outputs: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = commands.iter_mut().map(|command| scope.spawn(|| command.output())).collect();
            running.into_iter().map(|one| one.join().expect("waiting for a process does not panic")).collect()
        });
        // All are shown before a failure among them ends the demo.
        let answers: Vec<_> =
            commands.iter().zip(outputs).map(|(command, output)| self.answer(tool, command, output)).collect();
        answers.into_iter().try_for_each(|answer| answer.map(drop))
    }

    fn command(&self, tool: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(format!("ragmaker-{tool}"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.env("PATH", &self.path).env("RAGMAKER_PROJECT_ROOT", &self.folder);
        command
    }

    /// Shows how a call ended, and keeps its answer.
    fn answer(&self, tool: &str, command: &Command, output: std::io::Result<Output>) -> anyhow::Result<Value> {
        let output = output.with_context(|| format!("cannot run ragmaker-{tool}"))?;
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            bail!("{}: {}", line(command), output.status);
        }
        self.calls.set(self.calls.get() + 1);
        let file = format!("{ANSWERS}/{:02}-{tool}.json", self.calls.get());
        fs::write(self.folder.join(&file), &output.stdout)?;
        let text = String::from_utf8(output.stdout).context("an answer is UTF-8")?;
        print!("{}", short(&text, &file));
        serde_json::from_str(&text)
            .with_context(|| format!("ragmaker-{tool} did not print one JSON value, but: {text}"))
    }
}

/// `text` with long lines and what follows many lines cut off; then a note names the `file` with all of it.
fn short(text: &str, file: &str) -> String {
    let (lines, characters) = MAX_PRINTED;
    let total = text.lines().count();
    let (mut shown, mut cut) = (String::new(), false);
    for line in text.lines().take(if total > lines { lines - 1 } else { lines }) {
        let mut rest = line.chars();
        shown.extend(rest.by_ref().take(characters));
        if rest.next().is_some() {
            cut = true;
            shown.push('…');
        }
        shown.push('\n');
    }
    if total > lines {
        let _ = writeln!(shown, "  … {} more lines", total - (lines - 1));
    }
    if cut || total > lines {
        let _ = writeln!(shown, "  (in full: {file})");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_and_says_where_it_is() {
        assert_eq!(short("{\n  \"a\": 1\n}\n", "f"), "{\n  \"a\": 1\n}\n");
        let many = "x\n".repeat(20);
        assert_eq!(short(&many, "f"), format!("{}  … 7 more lines\n  (in full: f)\n", "x\n".repeat(13)));
        let wide = format!("{}\n", "日".repeat(161));
        assert_eq!(short(&wide, "f"), format!("{}…\n  (in full: f)\n", "日".repeat(160)));
    }
}
