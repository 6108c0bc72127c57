//! `ragmaker-mcp`: serves all tools over the Model Context Protocol.
//!
//! One executable contains several programs: the server, a tool that the server runs in a subprocess
//! ([`ragmaker_registry::subprocess`]), and the supervisor of a browser that such a tool opened.

mod duplicate_keys;
#[cfg(feature = "http")]
mod http;
mod prompts;
mod question;
mod resources;
mod scope;
mod server;
#[cfg(feature = "http")]
mod sessions;
mod stdio;
#[cfg(feature = "http")]
mod token;

use std::{ffi::OsString, panic, process::ExitCode};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::{PROFILES, Selection, subprocess};
#[cfg(feature = "http")]
use ragmaker_tool::ARGUMENT_ERROR;
use ragmaker_tool::{Code, Error, HostOptions, Usage, host};

use crate::server::Server;

/// The protocol's connection failed.
const CONNECTION_FAILED: Code = Code::new(
    "CONNECTION_FAILED",
    "Start it from a client of the Model Context Protocol, or with --http and an address that is free.",
);

/// Serve the tools to an agent over the Model Context Protocol, on standard input and output.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Arguments {
    /// offer the tools for one kind of work: gather, fetch, ask, files, workflows or all (the default)
    #[argh(option)]
    profile: Option<String>,
    /// offer only these tools: names separated by commas
    #[argh(option)]
    tools: Option<String>,
    /// offer only tools that change neither files nor anything outside the project
    #[argh(switch)]
    read_only: bool,
    /// also offer `run_command`; a line that does more than read needs the user's approval (elicitation)
    #[argh(switch)]
    commands: bool,
    /// offer no workflows as prompts; for clients with their own /rag and /ask commands
    #[argh(switch)]
    no_prompts: bool,
    /// also send the output schemas
    #[argh(switch)]
    output_schemas: bool,
    /// serve over HTTP instead, at this port or address:port of the loopback interface
    #[cfg(feature = "http")]
    #[argh(option)]
    http: Option<http::Listen>,
    /// file with the token that HTTP clients must send; created if missing (default: a new token in the project's cache
    /// folder)
    #[cfg(feature = "http")]
    #[argh(option)]
    token_file: Option<std::path::PathBuf>,
    /// accept HTTP requests without a token
    #[cfg(feature = "http")]
    #[argh(switch)]
    no_token: bool,
}

#[cfg(feature = "http")]
impl Arguments {
    /// Refuses options for the token that would have no effect: a person who gives them expects one.
    fn check_token_options(&self) -> Result<(), Error> {
        let given = match (&self.token_file, self.no_token) {
            (None, false) => return Ok(()),
            (Some(_), true) => {
                return Err(ARGUMENT_ERROR
                    .error("--token-file and --no-token cannot be combined")
                    .remedy("Leave out --no-token to require the token of the file.")
                    .detail("argument", "--no-token"));
            }
            (Some(_), false) => "--token-file",
            (None, true) => "--no-token",
        };
        if self.http.is_some() {
            return Ok(());
        }
        Err(ARGUMENT_ERROR
            .error(format!("{given} is for --http only: standard input needs no token"))
            .remedy(format!("Add --http with a port, or leave out {given}."))
            .detail("argument", given))
    }
}

/// The command line.
pub fn usage() -> Usage {
    Usage::of_program::<Arguments>(host::ALL).with_choices("--profile", PROFILES.map(|profile| profile.name))
}

/// Runs the program with the command line `words`.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked().or_else(subprocess::run_if_asked) {
        return exit;
    }
    let parsed = ragmaker_registry::arguments(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), words, host::ALL);
    let (arguments, host) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    match run(&arguments, host) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ragmaker_registry::fail(&error),
    }
}

fn run(arguments: &Arguments, host: HostOptions) -> Result<(), Error> {
    let selection = Selection::new(arguments.profile.as_deref(), arguments.tools.as_deref(), arguments.read_only)?
        .with_commands(arguments.commands);
    #[cfg(feature = "http")]
    arguments.check_token_options()?;
    let host = scope::restrict_to_scope(host)?;
    #[cfg(feature = "http")]
    let token = match arguments.http {
        Some(_) if !arguments.no_token => Some(http::token(arguments.token_file.as_deref(), &host)?),
        _ => None,
    };
    let server = Server::new(&selection, host, arguments.output_schemas)?;
    let server = if arguments.no_prompts { server.without_prompts() } else { server };
    // A panic is answered as an error; the default hook would print prose as well.
    panic::set_hook(Box::new(|_| ()));
    let failed = |error: &dyn std::fmt::Display| CONNECTION_FAILED.error(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(server::AT_ONCE + server::PROCESSES)
        .build()
        .map_err(|error| failed(&error))?;
    #[cfg(feature = "http")]
    let outcome = match arguments.http {
        Some(listen) => runtime.block_on(http::serve(&server, listen, token)),
        None => runtime.block_on(server.serve()),
    };
    #[cfg(not(feature = "http"))]
    let outcome = runtime.block_on(server.serve());
    // Work that continues in a thread has no client for its result.
    runtime.shutdown_background();
    outcome.map_err(|error| failed(&error))
}
