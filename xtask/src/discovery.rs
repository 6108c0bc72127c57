//! `discovery`: discovery.json, the list of tools that agents read, from the tools' own definitions.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use argh::FromArgs;
use serde_json::{Value, json};

use crate::process::root;

/// Write discovery.json from the tools' own argument definitions.
#[derive(FromArgs)]
#[argh(subcommand, name = "discovery", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// write nothing; fail when the file is stale
    #[argh(switch)]
    check: bool,
}

macro_rules! entries {
    ($($tool:ident),* $(,)?) => { vec![$(ragmaker_tool::describe::entry::<$tool::Args>()),*] };
}

/// Every tool, in the order of the folders under tools/.
fn entries() -> Vec<Value> {
    entries![
        ragmaker_browser_close,
        ragmaker_browser_extract,
        ragmaker_browser_navigate,
        ragmaker_browser_open,
        ragmaker_create_directory,
        ragmaker_delete_directory,
        ragmaker_delete_file,
        ragmaker_enrich_discovery,
        ragmaker_entry_discovery,
        ragmaker_find_files,
        ragmaker_html_to_markdown,
        ragmaker_list_directory,
        ragmaker_modify_file_content,
        ragmaker_move,
        ragmaker_project_info,
        ragmaker_read_file,
        ragmaker_read_many_files,
        ragmaker_search_file_content,
        ragmaker_verify,
        ragmaker_write_file,
    ]
}

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
    let entries = entries();
    let listed: Vec<_> = entries.iter().filter_map(|entry| entry["command"].as_str()).collect();
    let folders = folders(&root().join("tools"))?;
    let commands: Vec<_> = folders.iter().map(|folder| format!("ragmaker-{folder}")).collect();
    if listed != commands {
        bail!("xtask/src/discovery.rs lists {listed:?}, tools/ holds {folders:?}: both go in the order of the folders");
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
