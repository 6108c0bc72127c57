//! `ragmaker-discover`: every tool, in the form that a client takes.
//!
//! A client that runs this at its start may not survive a failure: whatever happens, an array is
//! printed and the exit status is 0.

use std::process::ExitCode;

use argh::FromArgs;
use ragmaker_toolbox::{Format, arguments, offers, print};
use serde_json::Value;

/// Print every tool as an array of function declarations.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// whose form they take: gemini (the default), openai, anthropic or mcp
    #[argh(option, default = "Format::Gemini")]
    format: Format,
}

fn main() -> ExitCode {
    match arguments::<Arguments>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")) {
        Ok(Arguments { format }) => {
            let tools: Vec<Value> = offers().iter().map(|offer| offer.to(format)).collect();
            print(&format!("{:#}\n", Value::Array(tools)))
        }
        Err(exit) if exit == ExitCode::SUCCESS => exit,
        Err(_) => print("[]\n"),
    }
}
