//! Which program a command runs.

use std::{ffi::OsString, process::ExitCode};

use ragmaker_registry::{TOOLS, Tool, fail, find, print, usages};
use ragmaker_tool::{ARGUMENT_ERROR, Error, Usage, Word, arguments::nearest};

use crate::{
    command, connect, doctor, link, overview,
    reference::{self, completions, man},
    setup,
};

/// The command line of a command.
type Words = Vec<OsString>;

/// Runs the command `name` with its command line.
pub(crate) fn run(name: &str, words: Words) -> ExitCode {
    match name {
        "-h" | "--help" => overview::print(),
        "-V" | "--version" => print(&format!("ragmaker {}\n", env!("CARGO_PKG_VERSION"))),
        "help" => help(words),
        _ => match program(name) {
            Some(program) => (program.main)(words),
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

/// A command that is not a tool.
struct Program {
    main: Main,
    usage: fn() -> Usage,
}

/// Runs a command with its command line.
type Main = fn(Words) -> ExitCode;

/// The program of a command that is not a tool.
fn program(name: &str) -> Option<Program> {
    let (main, usage): (Main, fn() -> Usage) = match name {
        "rag" => (|words| workflow("rag", words), || of_workflow("rag")),
        "ask" => (|words| workflow("ask", words), || of_workflow("ask")),
        "agent" => (|words| ragmaker_agent::main(words), ragmaker_agent::usage),
        "mcp" => (|words| ragmaker_mcp::main(words), ragmaker_mcp::usage),
        "discover" => (|words| ragmaker_discover::main(words), ragmaker_discover::usage),
        "call" => (
            |words| ragmaker_call::main(words),
            || ragmaker_call::usage().with_choices("name", TOOLS.iter().map(Tool::name)),
        ),
        "connect" => (connect::main, connect::usage),
        "doctor" => (doctor::main, doctor::usage),
        "link" => (link::main, link::usage),
        "setup" => (setup::main, setup::usage),
        "completions" => (|words| completions::main(words, &programs()), completions::usage),
        "man" => (|words| man::main(words, &programs()), man::usage),
        _ => return None,
    };
    Some(Program { main, usage })
}

/// The names of all commands: those that are not tools first.
fn names() -> impl Iterator<Item = &'static str> {
    command::all()
        .map(|command| command.name)
        .chain(TOOLS.iter().map(|tool| tool.command.trim_start_matches("ragmaker-")))
}

/// The command lines of all commands.
fn programs() -> Vec<reference::Program> {
    let others = command::all().filter_map(|command| Some((command.name, (program(command.name)?.usage)())));
    let tools = TOOLS.iter().map(|tool| tool.command.trim_start_matches("ragmaker-")).zip(usages());
    let usages = others.chain(tools).map(|(name, usage)| match name {
        "man" => (name, usage.with_choices("command", names())),
        _ => (name, usage),
    });
    usages
        .map(|(name, usage)| reference::Program { name: name.to_owned(), is_executable: is_executable(name), usage })
        .collect()
}

/// The command line of the workflow `name`: that of the agent, with the workflow's argument.
fn of_workflow(name: &str) -> Usage {
    let agent = ragmaker_agent::usage();
    match ragmaker_registry::workflow(name) {
        None => agent,
        Some(workflow) => {
            let help = workflow.argument_help.to_owned();
            let word = Word { name: workflow.argument, help, is_required: true, is_repeatable: true, choices: vec![] };
            Usage { about: workflow.description.to_owned(), words: vec![word], ..agent }
        }
    }
}

/// Runs the workflow `name` of the agent.
fn workflow(name: &str, words: Words) -> ExitCode {
    match ragmaker_registry::workflow(name) {
        Some(workflow) => ragmaker_agent::main_of_workflow(workflow, words),
        None => fail(&unknown(name)),
    }
}

/// `ragmaker help NAME` is `ragmaker NAME --help`.
fn help(words: Words) -> ExitCode {
    match words.into_iter().next() {
        Some(name) => run(&name.to_string_lossy(), vec!["--help".into()]),
        None => overview::print(),
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = names().collect();
    let error = ARGUMENT_ERROR.error(format!("ragmaker has no command {name:?}")).detail("value", name);
    match nearest(&name.replace('_', "-"), &names) {
        Some(near) => error.remedy(format!("Did you mean ragmaker {near}?")).detail("nearest", near),
        None => error.remedy("Run ragmaker without arguments to see its commands."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that `help` lists as the accepted values: `a, b (the default) or c`, also after a colon.
    fn listed(help: &str) -> Vec<&str> {
        let list = help.rsplit(": ").next().unwrap_or_default();
        let words = list.split(", ").flat_map(|part| part.split("or ")).map(str::trim).filter(|word| !word.is_empty());
        let words: Vec<_> = words.map(|word| word.split(" (").next().unwrap_or_default()).collect();
        let are_names = words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        if are_names && words.len() > 1 { words } else { vec![] }
    }

    #[test]
    fn an_option_that_takes_one_of_a_few_words_has_them_as_choices() {
        assert_eq!(listed("form: text (the default), json, or jsonl (one event per line)"), ["text", "json", "jsonl"]);
        let mut found = 0;
        for reference::Program { name, usage, .. } in programs() {
            for flag in usage.options.iter().filter(|flag| flag.value.is_some()) {
                let missing: Vec<_> =
                    listed(&flag.help).into_iter().filter(|word| !flag.choices.iter().any(|one| one == word)).collect();
                assert!(missing.is_empty(), "{name} {} has no choices {missing:?}", flag.long);
                found += usize::from(!flag.choices.is_empty());
            }
        }
        assert!(found > 15, "{found}");
    }

    #[test]
    fn every_command_has_a_program_and_hides_no_tool() {
        for command in command::all() {
            assert!(program(command.name).is_some() && find(command.name).is_none(), "{}", command.name);
        }
    }
}
