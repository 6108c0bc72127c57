//! The cargo that runs this task, for the builds, checks and tests that it starts.

use std::{env, process::Command};

use crate::{node::with_path, process::root};

/// This cargo, in the repository's root. What it runs finds the Node.js that was installed.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root());
    with_path(cargo)
}
