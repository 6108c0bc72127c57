//! `cargo deny`: licences, banned and duplicate crates, sources; known vulnerabilities if their database can be
//! reached.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ragmaker_project::programs::on_path;

use crate::process::{cargo, quiet, root, shown};

/// The version that is installed if there is none on PATH.
const VERSION: &str = "0.20.2";

/// The checks of deny.toml that need no network.
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

pub(crate) fn run() -> anyhow::Result<()> {
    let deny = installed()?;
    let command = || {
        let mut command = Command::new(&deny);
        command.args(["--all-features", "--locked"]).current_dir(root());
        command
    };
    // It warns of every crate that is there in two versions, which is allowed: shown if it fails.
    quiet(&format!("cargo deny check {}", CHECKS.join(" ")), command().arg("check").args(CHECKS))?;
    if !fetched(&mut command()) {
        println!("advisories were not checked: their database cannot be reached");
        return Ok(());
    }
    shown(command().args(["check", "advisories"]))
}

/// Whether the database of advisories is there and up to date.
fn fetched(deny: &mut Command) -> bool {
    let fetch = deny.args(["fetch", "db"]).stdin(Stdio::null()).output();
    fetch.is_ok_and(|output| output.status.success())
}

/// The program on PATH, or else under target/tools, where it is built once; this takes about a minute on two cores.
fn installed() -> anyhow::Result<PathBuf> {
    if let Some(found) = on_path("cargo-deny") {
        return Ok(found);
    }
    let folder = root().join("target/tools");
    let program = folder.join("bin/cargo-deny").with_extension(std::env::consts::EXE_EXTENSION);
    if !is_current(&program) {
        // It runs for two seconds: optimizing it would take longer than it saves.
        let mut install = cargo(&["install", "--locked", "--debug", "--version", VERSION, "--root"]);
        install.arg(&folder).arg("cargo-deny").env_remove("CARGO_TARGET_DIR");
        quiet("installing cargo-deny", &mut install)?;
    }
    Ok(program)
}

fn is_current(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("cargo-deny {VERSION}"))
}
