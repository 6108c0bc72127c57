//! `ragmaker connect`: writes the configuration with which an agent client uses the tools.
//!
//! What was in a file stays, comments too. A change is shown before it is written. A file of the person's own with the
//! name of a workflow is not replaced.

mod change;
mod client;

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_project::programs::on_path;
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};
use serde::Serialize;

use crate::form::Form;

use change::Change;
pub(crate) use change::Planned;
pub(crate) use client::{CLIENTS, Folders};

/// Write the configuration with which an agent client uses the tools.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Arguments {
    /// gemini, claude, codex, opencode, vscode, cursor or zed
    #[argh(positional)]
    client: String,
    /// remove what this command wrote
    #[argh(switch)]
    remove: bool,
    /// write without a question
    #[argh(switch)]
    yes: bool,
    /// replace files of the same name that differ
    #[argh(switch)]
    replace: bool,
    /// offer all tools, not only those of the workflows rag and ask
    #[argh(switch)]
    all_tools: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()")]
    output: Form,
}

/// What was changed, or would be.
#[derive(Serialize)]
struct Answer {
    /// The client.
    client: &'static str,
    /// Whether the changes were written.
    written: bool,
    /// The files that change.
    changes: Vec<Change>,
    /// What to do next.
    next_step: String,
}

const CONFIG_UNREADABLE: Code =
    Code::new("CONFIG_UNREADABLE", "Correct the file, or make the change by hand: see docs/mcp.md.");
const CANNOT_WRITE: Code = Code::new("CANNOT_WRITE", "Make the file and its folder writable, then run it again.");

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let parsed = ragmaker_registry::arguments("ragmaker connect", env!("CARGO_PKG_VERSION"), words, &[]);
    let (arguments, _): (Arguments, _) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let output = arguments.output;
    output.end(run(&arguments), |answer| {
        let change = if answer.changes.is_empty() { "nothing to change\n" } else { "" };
        format!("{change}{}\n", answer.next_step)
    })
}

fn run(arguments: &Arguments) -> Result<Answer, Error> {
    let client = CLIENTS.iter().find(|client| client.name == arguments.client).ok_or_else(|| {
        let names: Vec<_> = CLIENTS.iter().map(|client| client.name).collect();
        ARGUMENT_ERROR
            .error(format!("there is no client {:?}", arguments.client))
            .remedy(format!("The clients are {}.", names.join(", ")))
            .detail("argument", "client")
            .detail("value", arguments.client.clone())
    })?;
    let folders = Folders::of_user()?;
    let server = Server::of_process(arguments.all_tools)?;
    let mut changes = vec![];
    for planned in client.files(&folders, &server) {
        changes.extend(planned.change(arguments.remove, arguments.replace)?);
    }
    let is_needed = changes.iter().any(Change::is_written);
    if arguments.output == Form::Text {
        for change in &changes {
            println!("{}", change.shown());
        }
    }
    let written = is_needed && (arguments.yes || confirmed(arguments.output)?);
    if written {
        changes.iter().try_for_each(Change::write)?;
    }
    let next_step = match (is_needed, written, arguments.remove) {
        (true, false, _) => "Nothing was written. Add --yes to write without a question.".to_owned(),
        (_, _, true) => format!("{} no longer uses ragmaker. Start it again.", client.title),
        _ => format!("Start {} again. {}", client.title, client.use_of_workflows),
    };
    Ok(Answer { client: client.name, written, changes, next_step })
}

/// Asks the person, if there is one.
fn confirmed(output: Form) -> Result<bool, Error> {
    if output == Form::Json || !io::stdin().is_terminal() {
        return Ok(false);
    }
    let failed = |error: io::Error| CANNOT_WRITE.error(error.to_string());
    print!("Write this? [y/N] ");
    io::stdout().flush().map_err(failed)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// How a client starts the server.
pub(crate) struct Server {
    /// The program: its name if it is on PATH, otherwise its path.
    pub(crate) command: String,
    all_tools: bool,
}

impl Server {
    /// This program, with the tools of the workflows or `all_tools`.
    pub(crate) fn of_process(all_tools: bool) -> Result<Self, Error> {
        let program = env::current_exe().and_then(fs::canonicalize);
        let program = program.map_err(|error| CANNOT_WRITE.error(format!("this program has no path: {error}")))?;
        let is_this = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == program);
        let command = match on_path("ragmaker") {
            Some(path) if is_this(&path) => "ragmaker".to_owned(),
            _ => program.to_string_lossy().into_owned(),
        };
        Ok(Self { command, all_tools })
    }

    /// Its arguments; `prompts` says whether it offers the workflows as prompts.
    pub(crate) fn arguments(&self, prompts: bool) -> Vec<String> {
        let mut arguments = vec!["mcp".to_owned()];
        if !self.all_tools {
            arguments.extend(ragmaker_clients::server_arguments());
        }
        arguments.extend((!prompts).then(|| "--no-prompts".to_owned()));
        arguments
    }
}
