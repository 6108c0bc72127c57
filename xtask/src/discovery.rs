//! `discovery`: discovery.json, the list of tools that agents read, from the tools' own definitions.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use argh::FromArgs;
use serde_json::json;

use crate::process::root;

/// Write discovery.json from the tools' own argument definitions.
#[derive(FromArgs)]
#[argh(subcommand, name = "discovery", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// write nothing; fail when the file is stale
    #[argh(switch)]
    check: bool,
}

/// The folders in tools/ that hold no tool but a way to all of them: an agent starts them, and its
/// model never calls them.
const WAYS: [&str; 3] = ["call", "discover", "mcp"];

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.check {
        return check();
    }
    let path = path();
    fs::write(&path, text()?).with_context(|| format!("cannot write {}", path.display()))
}

/// Fails where discovery.json is not what the tools' definitions make it.
pub(crate) fn check() -> anyhow::Result<()> {
    let found = fs::read_to_string(path()).unwrap_or_default();
    ensure!(found == text()?, "discovery.json is stale: run `cargo xtask discovery` and commit what it writes");
    Ok(())
}

fn path() -> PathBuf {
    root().join("discovery.json")
}

/// What discovery.json has to hold.
fn text() -> anyhow::Result<String> {
    let entries = ragmaker_toolbox::entries();
    let listed: Vec<_> = entries.iter().filter_map(|entry| entry["command"].as_str()).collect();
    let folders = folders(&root().join("tools"))?;
    let tools = folders.iter().filter(|folder| !WAYS.contains(&folder.as_str()));
    let commands: Vec<_> = tools.map(|folder| format!("ragmaker-{folder}")).collect();
    if listed != commands {
        bail!(
            "shared/toolbox/src/list.rs lists {listed:?}, tools/ holds {folders:?}: both go in the order of the folders"
        );
    }
    Ok(format!("{:#}\n", json!({"tools": entries})))
}

/// The names of the folders in `tools`, sorted: a tool's folder is its name.
pub(crate) fn folders(tools: &Path) -> anyhow::Result<Vec<String>> {
    let entries = match fs::read_dir(tools) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.with_context(|| format!("cannot list {}", tools.display()))?,
    };
    let mut names = vec![];
    for entry in entries {
        let entry = entry?;
        // A folder that a build or an editor left behind is no package.
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discovery_json_is_up_to_date() {
        check().unwrap();
    }
}
