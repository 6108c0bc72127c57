//! Which program a command runs.

use std::{ffi::OsString, process::ExitCode};

use ragmaker_registry::{TOOLS, fail, find, print};
use ragmaker_tool::{ARGUMENT_ERROR, Error, arguments::nearest};

use crate::{command, connect, doctor, link, overview, setup};

/// The command line of a command.
type Words = Vec<OsString>;

/// Runs the command `name` with its command line.
pub(crate) fn run(name: &str, words: Words) -> ExitCode {
    match name {
        "-h" | "--help" => overview::print(),
        "-V" | "--version" => print(&format!("ragmaker {}\n", env!("CARGO_PKG_VERSION"))),
        "help" => help(words),
        _ => match program(name) {
            Some(program) => program(words),
            None => find(name)
                .and_then(|tool| ragmaker_registry::main(tool.command, words))
                .unwrap_or_else(|| fail(&unknown(name))),
        },
    }
}

/// Whether `ragmaker-NAME` is an executable of its own: a tool or a host.
pub(crate) fn is_executable(name: &str) -> bool {
    let is_tool = || find(name).is_some_and(|tool| tool.command.strip_prefix("ragmaker-") == Some(name));
    command::HOSTS.iter().any(|host| host.name == name) || is_tool()
}

/// The program of a command that is not a tool.
fn program(name: &str) -> Option<fn(Words) -> ExitCode> {
    Some(match name {
        "rag" => |words| workflow("rag", words),
        "ask" => |words| workflow("ask", words),
        "agent" => |words| ragmaker_agent::main(words),
        "mcp" => |words| ragmaker_mcp::main(words),
        "discover" => |words| ragmaker_discover::main(words),
        "call" => |words| ragmaker_call::main(words),
        "connect" => connect::main,
        "doctor" => doctor::main,
        "link" => link::main,
        "setup" => setup::main,
        _ => return None,
    })
}

/// Runs the workflow `name` of the agent.
fn workflow(name: &str, mut words: Words) -> ExitCode {
    words.insert(0, name.into());
    ragmaker_agent::main(words)
}

/// `ragmaker help NAME` is `ragmaker NAME --help`.
fn help(words: Words) -> ExitCode {
    match words.into_iter().next() {
        Some(name) => run(&name.to_string_lossy(), vec!["--help".into()]),
        None => overview::print(),
    }
}

fn unknown(name: &str) -> Error {
    let tools = TOOLS.iter().map(|tool| tool.command.trim_start_matches("ragmaker-"));
    let names: Vec<&str> = tools.chain(command::all().map(|command| command.name)).collect();
    let error = ARGUMENT_ERROR.error(format!("ragmaker has no command {name:?}")).detail("value", name);
    match nearest(&name.replace('_', "-"), &names) {
        Some(near) => error.remedy(format!("Did you mean ragmaker {near}?")).detail("nearest", near),
        None => error.remedy("Run ragmaker without arguments to see its commands."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_program_and_hides_no_tool() {
        for command in command::all() {
            assert!(program(command.name).is_some() && find(command.name).is_none(), "{}", command.name);
        }
    }
}
