//! `discovery`: generates the discovery.json of each tool, which its executable prints for `--describe`, and the list
//! of all tools for agents, from the tools' definitions.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use ragmaker_tool::HOSTS;
use serde_json::{Value, json};

use crate::files::{self, root};

/// Writes the files.
pub(crate) fn write() -> anyhow::Result<()> {
    files::write(files()?)
}

/// Fails where a discovery.json is not what the tools' definitions make it.
pub(crate) fn check() -> anyhow::Result<()> {
    files::check(&files()?, "discovery")
}

/// Every discovery.json, and what it has to contain.
fn files() -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let tools = root().join("tools");
    let entries = ragmaker_registry::entries();
    let listed: Vec<_> = entries.iter().filter_map(|entry| entry["command"].as_str()).collect();
    let mut folders = folders(&tools)?;
    folders.retain(|folder| folder != "ragmaker" && !HOSTS.contains(&format!("ragmaker-{folder}").as_str()));
    let commands: Vec<_> = folders.iter().map(|folder| format!("ragmaker-{folder}")).collect();
    if listed != commands {
        bail!("registry/src/list.rs lists {listed:?}, tools/ holds {folders:?}: both go in the order of the folders");
    }
    let own = |(folder, entry): (&String, &Value)| (tools.join(folder).join("discovery.json"), format!("{entry:#}\n"));
    let mut files: BTreeMap<_, _> = folders.iter().zip(&entries).map(own).collect();
    let all = format!("{:#}\n", json!({"tools": entries}));
    // One for agents, and one for the registry's source: a package contains no file from outside of its folder.
    files.insert(root().join("registry/discovery.json"), all.clone());
    files.insert(root().join("discovery.json"), all);
    Ok(files)
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
        // A folder that a build or an editor left behind is not a package.
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
    fn nothing_shared_depends_on_a_tool() {
        let shared = root().join("shared");
        let names = folders(&shared).unwrap();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let manifest = fs::read_to_string(shared.join(&name).join("Cargo.toml")).unwrap();
            assert!(!manifest.contains("tools/") && !manifest.contains("ragmaker-registry"), "shared/{name}");
        }
    }

    #[test]
    fn every_discovery_json_is_up_to_date() {
        check().unwrap();
    }
}
