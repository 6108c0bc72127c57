//! `ragmaker-mcp`: every tool, served over the Model Context Protocol.
//!
//! One executable is several programs: the server; a tool that the server runs in a process of its
//! own ([`apart`]); and the keeper of a browser that such a tool opened.

mod apart;
#[cfg(feature = "http")]
mod http;
mod input;
mod scope;
mod server;
#[cfg(feature = "http")]
mod sessions;

use std::{env, panic, process::ExitCode};

use argh::FromArgs;
use ragmaker_tool::{Code, Error};

use crate::{scope::Scope, server::Server};

/// The protocol's connection failed.
const CONNECTION_FAILED: Code = Code::new(
    "CONNECTION_FAILED",
    "Start it from a client of the Model Context Protocol, or with --http and an address that is free.",
);

/// Serve the tools to an agent over the Model Context Protocol, on standard input and output.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// offer only these tools: their names, with commas between
    #[argh(option)]
    tools: Option<String>,
    /// offer only tools that change nothing
    #[argh(switch)]
    read_only: bool,
    /// directory of the project, where relative paths start (default: the working directory)
    #[argh(option)]
    project_root: Option<String>,
    /// knowledge base that may be read beside the project; may be repeated
    #[argh(option)]
    kb_root: Vec<String>,
    /// serve over HTTP at this port or address:port instead, on loopback unless an address says otherwise
    #[cfg(feature = "http")]
    #[argh(option)]
    http: Option<http::Listen>,
}

fn main() -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked().or_else(apart::run_if_asked) {
        return exit;
    }
    let arguments = match ragmaker_toolbox::arguments::<Arguments>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")) {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ragmaker_toolbox::fail(&error),
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let server = Server::new(arguments.tools.as_deref(), arguments.read_only)?;
    Scope { project_root: arguments.project_root.as_deref(), kb_roots: &arguments.kb_root }.enter()?;
    // A panic is answered as an error; the default hook would print prose as well.
    panic::set_hook(Box::new(|_| ()));
    let failed = |error: &dyn std::fmt::Display| CONNECTION_FAILED.error(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(server::AT_ONCE)
        .build()
        .map_err(|error| failed(&error))?;
    #[cfg(feature = "http")]
    let outcome = match arguments.http {
        Some(listen) => runtime.block_on(http::serve(&server, listen)),
        None => runtime.block_on(server.serve()),
    };
    #[cfg(not(feature = "http"))]
    let outcome = runtime.block_on(server.serve());
    // What is still at work in a thread has nobody to tell.
    runtime.shutdown_background();
    outcome.map_err(|error| failed(&error))
}
