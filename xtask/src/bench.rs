//! `bench`: what is claimed about speed, measured side by side in one run.

mod browser;
mod catalog;
mod files;
mod floor;
mod harness;
mod mcp;
mod memory;
mod start;

use std::path::PathBuf;

use argh::FromArgs;

use crate::process::{cargo, quiet, root};

/// Measure side by side: medians and ratios, with the goals beside them.
#[derive(FromArgs)]
#[argh(subcommand, name = "bench", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    #[argh(subcommand)]
    what: What,
}

#[derive(FromArgs)]
#[argh(subcommand)]
enum What {
    Start(Start),
    Browser(Browser),
    Catalog(Catalog),
    Files(Files),
    Mcp(Mcp),
}

/// start-up time and size of the executables, beside cat
#[derive(FromArgs)]
#[argh(subcommand, name = "start", help_triggers("-h", "--help"))]
struct Start {}

/// navigation and extraction, beside the browser's own time and other programs
#[derive(FromArgs)]
#[argh(subcommand, name = "browser", help_triggers("-h", "--help"))]
struct Browser {}

/// an append to the catalog, beside writing the same bytes; then writers that are killed
#[derive(FromArgs)]
#[argh(subcommand, name = "catalog", help_triggers("-h", "--help"))]
struct Catalog {}

/// the file tools, beside cat, tail, ls and ripgrep
#[derive(FromArgs)]
#[argh(subcommand, name = "files", help_triggers("-h", "--help"))]
struct Files {}

/// the server of the Model Context Protocol: start, calls, memory, and 1,000 calls at 16 at once
#[derive(FromArgs)]
#[argh(subcommand, name = "mcp", help_triggers("-h", "--help"))]
struct Mcp {}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.what {
        What::Start(Start {}) => start::run(),
        What::Browser(Browser {}) => browser::run(),
        What::Catalog(Catalog {}) => catalog::run(),
        What::Files(Files {}) => files::run(),
        What::Mcp(Mcp {}) => mcp::run(),
    }
}

/// Builds every executable as it is released, and returns their folder.
fn release_build() -> anyhow::Result<PathBuf> {
    release_build_of(&["--workspace", "--bins"])
}

/// Builds `what` as it is released, and returns the folder of the executables.
fn release_build_of(what: &[&str]) -> anyhow::Result<PathBuf> {
    let mut build = cargo(&["build", "--release", "--locked", "--target-dir", "target"]);
    quiet("building the executables for release", build.args(what))?;
    Ok(root().join("target/release"))
}
