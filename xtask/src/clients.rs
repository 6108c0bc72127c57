//! The agents' clients for the tests, installed by npm under target/clients.

use std::process::Command;

use anyhow::{Context, bail};

use crate::npm::List;

/// The packages of the clients.
pub(crate) const CLIENTS: List = List {
    folder: "clients",
    failure: "no client was tested",
    with_scripts: &["@anthropic-ai/claude-code", "opencode-ai"],
    files: &[
        "node_modules/.bin/gemini",
        "node_modules/.bin/claude",
        "node_modules/.bin/codex",
        "node_modules/.bin/opencode",
    ],
};

/// The oldest Node.js that all clients run on.
const NODE: u32 = 20;

/// Installs the clients, unless the pinned versions are installed. It is an error if this fails, because a skipped test
/// proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    node()?;
    CLIENTS.install()
}

/// Fails if Node.js is missing or too old.
fn node() -> anyhow::Result<()> {
    let output = Command::new("node").arg("--version").output();
    let output = output.context("no client was tested: node is missing; install Node.js 20 or later")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE) {
        bail!("no client was tested: Node.js is {version}, and the clients need {NODE} or later");
    }
    Ok(())
}
