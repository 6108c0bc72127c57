//! The agents' clients for the tests, installed by npm under target/clients in the versions that
//! tests/clients/package.json pins.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};

use crate::process::{needed, root, shown};

/// The executables of the clients.
const CLIENTS: [&str; 4] = ["gemini", "claude", "codex", "opencode"];

/// The manifest for npm, in tests/clients and, after the installation, in target/clients.
const MANIFEST: &str = "package.json";

/// The packages whose install script has to run.
const WITH_SCRIPTS: [&str; 2] = ["@anthropic-ai/claude-code", "opencode-ai"];

/// The oldest Node.js that all clients run on.
const NODE: u32 = 20;

/// Installs the clients, unless the pinned versions are installed. It is an error if this fails, because a skipped test
/// proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    let folder = folder();
    if is_installed(&folder) {
        return Ok(());
    }
    let npm = needed("npm", "Node.js 20 or later").context("NO CLIENT WAS TESTED")?;
    node()?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Only the scripts of packages that need theirs are run.
    fs::copy(pinned(), folder.join(MANIFEST)).context("cannot copy the list of clients")?;
    let mut install = Command::new(&npm);
    install.args(["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
    shown(&mut install).context("NO CLIENT WAS TESTED: npm could not install them")?;
    let mut rebuild = Command::new(npm);
    rebuild.arg("rebuild").args(WITH_SCRIPTS).current_dir(&folder);
    shown(&mut rebuild).context("NO CLIENT WAS TESTED: npm could not finish their installation")?;
    for name in CLIENTS {
        ensure!(executable(&folder, name).exists(), "NO CLIENT WAS TESTED: npm did not install {name}");
    }
    // Written last: it marks a complete installation.
    fs::copy(pinned(), marker(&folder)).context("cannot note what is installed")?;
    Ok(())
}

fn folder() -> PathBuf {
    root().join("target/clients")
}

fn pinned() -> PathBuf {
    root().join("tests/clients").join(MANIFEST)
}

fn executable(folder: &Path, name: &str) -> PathBuf {
    folder.join("node_modules/.bin").join(name)
}

/// A copy of the list that was installed.
fn marker(folder: &Path) -> PathBuf {
    folder.join("installed.json")
}

fn is_installed(folder: &Path) -> bool {
    let list = |path: PathBuf| fs::read(path).ok();
    let is_pinned = list(marker(folder)).is_some_and(|installed| Some(installed) == list(pinned()));
    is_pinned && CLIENTS.iter().all(|name| executable(folder, name).exists())
}

/// Fails if Node.js is missing or too old.
fn node() -> anyhow::Result<()> {
    let output = Command::new("node").arg("--version").output();
    let output = output.context("NO CLIENT WAS TESTED: node is missing; install Node.js 20 or later")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE) {
        bail!("NO CLIENT WAS TESTED: Node.js is {version}, and the clients need {NODE} or later");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_known_by_its_list() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_installed(folder.path()));
        fs::create_dir_all(folder.path().join("node_modules/.bin")).unwrap();
        for name in CLIENTS {
            fs::write(executable(folder.path(), name), "").unwrap();
        }
        assert!(!is_installed(folder.path()));
        fs::copy(pinned(), marker(folder.path())).unwrap();
        assert!(is_installed(folder.path()));
        fs::write(marker(folder.path()), "{}").unwrap();
        assert!(!is_installed(folder.path()));
    }

    #[test]
    fn each_version_is_pinned() {
        let manifest: serde_json::Value = serde_json::from_slice(&fs::read(pinned()).unwrap()).unwrap();
        let packages = manifest["dependencies"].as_object().unwrap();
        assert_eq!(packages.len(), CLIENTS.len());
        for (name, version) in packages {
            let version = version.as_str().unwrap();
            assert!(version.chars().all(|c| c.is_ascii_digit() || c == '.'), "{name} {version}");
        }
    }
}
