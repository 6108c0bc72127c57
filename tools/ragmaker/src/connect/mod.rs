//! `ragmaker connect`: writes the configuration with which an agent client uses the tools.
//!
//! What was in a file stays, comments too. A change is shown before it is written. A file with the name of a workflow is
//! replaced only if this program, in any version, wrote it, and nobody changed it since. What was in a file before is kept
//! in the user's configuration folder, and `--remove` gives it back.

mod change;
mod client;
mod json;
mod record;
mod toml;
mod write;

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_packages::NOT_CONFIRMED;
use ragmaker_project::programs::on_path;
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error, Usage, choice};
use serde::Serialize;

use crate::{
    form::{FORMS, Form, arguments, ask, show},
    this_program,
};

pub(crate) use change::{Change, Planned};
pub(crate) use client::{CLIENTS, Client, Folders};
pub(crate) use record::Records;
use write::write_all;

/// Write the configuration that connects an agent client to the tools.
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
    /// write without confirmation
    #[argh(switch)]
    yes: bool,
    /// also replace your own additions to the entry, and your own commands of the same name
    #[argh(switch)]
    replace: bool,
    /// offer all tools, not only those of the workflows rag and ask
    #[argh(switch)]
    all_tools: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()", from_str_fn(choice))]
    output: Form,
}

/// The changes.
#[derive(Serialize)]
struct Answer {
    /// The client.
    client: &'static str,
    /// The files that changed, and those that were kept.
    changes: Vec<Change>,
    /// The next step for the person.
    next_step: String,
}

const CONFIG_UNREADABLE: Code =
    Code::new("CONFIG_UNREADABLE", "Correct the file, or make the change by hand: see docs/mcp.md.");
const CONFIG_CHANGED: Code = Code::new("CONFIG_CHANGED", "Close the client, then run it again.");
/// A file cannot be written.
pub(crate) const CANNOT_WRITE: Code =
    Code::new("CANNOT_WRITE", "Make the file and its folder writable, then run it again.");

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[])
        .with_choices("client", CLIENTS.map(|client| client.name))
        .with_choices("--output", FORMS)
}

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let (arguments, _): (Arguments, _) = match arguments("connect", words, &[]) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let output = arguments.output;
    output.end(run(&arguments), |answer| format!("{}\n", answer.next_step))
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
    let (folders, records) = (Folders::of_user()?, Records::of_user()?);
    let server = Server::of_process(arguments.all_tools)?;
    let mut changes = vec![];
    for planned in client.files(&folders, &server) {
        changes.extend(planned.change(&records, arguments.remove, arguments.replace)?);
    }
    changes.iter().try_for_each(Change::check)?;
    if arguments.output == Form::Text {
        changes.iter().try_for_each(|change| show(&change.description()))?;
    }
    let is_needed = changes.iter().any(Change::is_written);
    if is_needed && !arguments.yes {
        let is_person = arguments.output == Form::Text && io::stdin().is_terminal();
        if !is_person || !ask("Write this?")? {
            let changes = serde_json::to_value(&changes).unwrap_or_default();
            let error = NOT_CONFIRMED.error("nothing was written").remedy("Add --yes to write without a question.");
            return Err(error.detail("changes", changes));
        }
    }
    write_all(&changes, arguments.remove, &records)?;
    let next_step = match (is_needed, arguments.remove) {
        (false, _) => "There was nothing to write.".to_owned(),
        (true, true) => format!("Start {} again.", client.title),
        (true, false) => format!("Start {} again. {}", client.title, client.use_of_workflows),
    };
    Ok(Answer { client: client.name, changes, next_step })
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
        let program = this_program::path();
        let program = program.map_err(|error| CANNOT_WRITE.error(format!("this program has no path: {error}")))?;
        let is_this = |path: &Path| path.is_absolute() && this_program::is_at(path, &program).unwrap_or_default();
        if on_path("ragmaker").is_some_and(|path| is_this(&path)) {
            return Ok(Self { command: "ragmaker".to_owned(), all_tools });
        }
        let command = program.into_os_string().into_string();
        let command = command
            .map_err(|path| CANNOT_WRITE.error(format!("the path of this program is not UTF-8: {}", path.display())))?;
        Ok(Self { command, all_tools })
    }

    /// Its arguments; `prompts` says whether it offers the workflows as prompts.
    pub(crate) fn arguments(&self, prompts: bool) -> Vec<String> {
        let mut arguments = vec!["mcp".to_owned()];
        arguments.extend(ragmaker_clients::server_arguments(self.all_tools, prompts));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_started_with_the_tools_of_the_workflows_or_all() {
        let arguments = |all_tools, prompts| Server { command: "ragmaker".into(), all_tools }.arguments(prompts);
        let profile = arguments(false, true);
        assert_eq!((profile[0].as_str(), profile[1].as_str(), profile.len()), ("mcp", "--profile", 3));
        assert_eq!(arguments(true, true), ["mcp"]);
        assert_eq!(arguments(true, false), ["mcp", "--no-prompts"]);
    }

    #[test]
    fn a_server_of_this_process_is_this_program() {
        let server = Server::of_process(false).unwrap();
        assert!(Path::new(&server.command).is_absolute(), "the test program is not on PATH: {}", server.command);
        assert!(Path::new(&server.command).is_file(), "{}", server.command);
    }

    #[test]
    fn an_unknown_client_is_an_error_that_lists_the_clients() {
        let error = run(&Arguments::from_args(&["connect"], &["emacs", "--yes"]).unwrap()).err().unwrap();
        assert!(error.is(ARGUMENT_ERROR) && error.details()["value"] == "emacs", "{error}");
        let names = CLIENTS.map(|client| client.name);
        assert!(names.iter().all(|name| error.remediation().contains(name)), "{}", error.remediation());
    }
}
