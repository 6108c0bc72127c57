//! `cargo deny`: licences, banned and duplicate crates, sources; known vulnerabilities if their database can be
//! reached.

use std::process::{Command, Stdio};

use crate::{
    installed::program,
    process::{quiet, root, run_visibly},
};

/// The version that is installed if there is none on PATH. It takes about a minute on two cores.
const VERSION: &str = "0.20.2";

/// The checks of deny.toml that need no network.
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

pub(crate) fn run() -> anyhow::Result<()> {
    let deny = program("cargo-deny", VERSION, &[])?;
    let command = || {
        let mut command = Command::new(&deny);
        command.args(["--all-features", "--locked"]).current_dir(root());
        command
    };
    // It warns of every crate that is there in two versions, which is allowed, so its output is shown only if it fails.
    quiet(&format!("cargo deny check {}", CHECKS.join(" ")), command().arg("check").args(CHECKS))?;
    if !fetched(&mut command()) {
        println!("advisories were not checked: their database cannot be reached");
        return Ok(());
    }
    run_visibly(command().args(["check", "advisories"]))
}

/// Whether the database of advisories is there and up to date.
fn fetched(deny: &mut Command) -> bool {
    let fetch = deny.args(["fetch", "db"]).stdin(Stdio::null()).output();
    fetch.is_ok_and(|output| output.status.success())
}
