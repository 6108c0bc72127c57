//! `grid`: a Selenium Grid on this machine, for trying things out and for the tests with one.

use std::io::{self, IsTerminal};

use anyhow::Context;
use argh::FromArgs;
use ragmaker_tests::grid::{Grid, JAR, Settings};

use crate::{cargo::cargo, npm::List, process::run_visibly, setup};

/// Start a Selenium Grid on this machine: a hub and nodes with Chromium.
#[derive(FromArgs)]
#[argh(subcommand, name = "grid", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// number of nodes (default: 2)
    #[argh(option, default = "2", arg_name = "number")]
    nodes: usize,
    /// maximum number of browsers of each node (default: 2)
    #[argh(option, default = "2", arg_name = "number")]
    browsers: usize,
    /// the port of the hub (default: 4444)
    #[argh(option, default = "4444", arg_name = "number")]
    port: u16,
    /// idle time in seconds after which a node ends a session (default: 300)
    #[argh(option, default = "300", arg_name = "seconds")]
    session_timeout: u64,
}

/// The grid's server: hub and nodes are one program.
pub(crate) const SERVER: List =
    List { folder: "grid", failure: "the grid could not be installed", with_scripts: &[], files: &[JAR] };

/// Installs the server, unless the pinned version is installed, and the Java that it runs on. It is an error if this
/// fails, because a skipped test proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    setup::for_grid().context("the grid could not be installed")?;
    SERVER.install()
}

/// Runs the tests with a grid, one at a time: each starts one with several browsers.
pub(crate) fn test() -> anyhow::Result<()> {
    let test = ["test", "--workspace", "--test", "suite", "--locked", "--"];
    run_visibly(cargo(&test).args(["--ignored", "--test-threads", "1", "grid::"]))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    setup::run()?;
    install()?;
    let settings = Settings {
        nodes: arguments.nodes,
        per_node: arguments.browsers,
        port: Some(arguments.port),
        session_timeout: arguments.session_timeout,
    };
    let mut grid = Grid::start(settings).context("the grid did not start")?;
    println!("The grid has {} nodes with {} browsers each. Use it with", arguments.nodes, arguments.browsers);
    println!("  --webdriver-url {}", grid.url());
    // Ctrl-C ends the processes of the grid as well, which are in the same group.
    if io::stdin().is_terminal() {
        println!("Press Enter to stop it.");
        io::stdin().read_line(&mut String::new())?;
        return Ok(());
    }
    grid.wait_for_hub().map_err(Into::into)
}
