//! `ragmaker-discover`: prints the declarations of the tools, in the form that a client needs.
//!
//! A client that runs this program at its start may not handle a failure. So it always prints an array and exits with
//! status 0.

use std::{ffi::OsString, process::ExitCode};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::{DeclarationFormat, PROFILES, Selection, arguments, declarations, fail, print};
use ragmaker_tool::Usage;
use serde_json::Value;

/// Print the tools as an array of function declarations.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// format of the declarations: gemini (the default), openai, anthropic or mcp
    #[argh(option, default = "DeclarationFormat::Gemini")]
    format: DeclarationFormat,
    /// print the tools for one kind of work: gather, fetch, ask, files, workflows or all (the default)
    #[argh(option)]
    profile: Option<String>,
    /// also print `run_command`
    #[argh(switch)]
    commands: bool,
}

/// The command line.
pub fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[])
        .with_choices("--format", DeclarationFormat::NAMES)
        .with_choices("--profile", PROFILES.map(|profile| profile.name))
}

/// Runs the program with the command line `words`.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Arguments = match arguments(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), words, &[]) {
        Ok((arguments, _)) => arguments,
        Err(exit) if exit == ExitCode::SUCCESS => return exit,
        Err(_) => return print("[]\n"),
    };
    match Selection::new(arguments.profile.as_deref(), None, false) {
        Ok(selection) => {
            let tools = declarations(&selection.with_commands(arguments.commands))
                .iter()
                .map(|declaration| declaration.to(arguments.format))
                .collect();
            // One line: indentation would be a third of it, and some clients show it to their model.
            print(&format!("{}\n", Value::Array(tools)))
        }
        Err(error) => {
            fail(&error);
            print("[]\n")
        }
    }
}
