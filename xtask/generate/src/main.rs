//! Writes what is generated from the definitions of all tools: `cargo xtask discovery|docs|integrations` runs this.
//!
//! A program of its own, because it contains every tool: `cargo xtask demo` then compiles only the tools that it shows.

mod discovery;
mod docs;
mod files;
mod integrations;
mod recordings;

use std::process::ExitCode;

use argh::FromArgs;

/// Write generated files.
#[derive(FromArgs)]
struct Arguments {
    /// discovery, docs or integrations
    #[argh(positional)]
    kind: String,
    /// write nothing; fail when a file is stale
    #[argh(switch)]
    check: bool,
}

fn main() -> ExitCode {
    match run(&argh::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(Arguments { kind, check }: &Arguments) -> anyhow::Result<()> {
    match (kind.as_str(), check) {
        ("discovery", false) => discovery::write(),
        ("discovery", true) => discovery::check(),
        ("docs", false) => docs::write(),
        ("docs", true) => docs::check(),
        ("integrations", false) => integrations::write(),
        ("integrations", true) => integrations::check(),
        (other, _) => anyhow::bail!("{other} is not generated: discovery, docs and integrations are"),
    }
}
