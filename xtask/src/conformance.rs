//! MCP conformance: programs of other authors that check `ragmaker-mcp`, in the versions pinned in tests/conformance,
//! installed under target/conformance, and the tests that run them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

use crate::{
    cargo::cargo,
    node::npm,
    process::{quiet, root, run_visibly},
    python::environment,
};

/// The manifest for npm, in tests/conformance and, after the installation, in target/conformance.
const MANIFEST: &str = "package.json";

/// Installs the programs and runs their tests. If they cannot be installed, it prints the reason, and fails in CI,
/// because a skipped test proves nothing.
pub(crate) fn run() -> anyhow::Result<()> {
    if let Err(error) = install() {
        if env::var_os("CI").is_some() {
            return Err(error);
        }
        println!("MCP CONFORMANCE WAS NOT TESTED: {error:#}");
        return Ok(());
    }
    // Of the whole workspace, whose features are those of the other steps: nothing is built twice.
    let test = ["test", "--workspace", "--test", "suite", "--locked", "--"];
    run_visibly(cargo(&test).args(["--ignored", "mcp::conformance"]))
}

fn install() -> anyhow::Result<()> {
    let folder = root().join("target/conformance");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    environment(&folder.join("python"), "tests/conformance/requirements.txt", &[])?;
    packages(&folder)
}

fn packages(folder: &Path) -> anyhow::Result<()> {
    let wanted = fs::read(pinned()).context("the list of packages is missing")?;
    let note = folder.join("installed.json");
    if fs::read(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::write(folder.join(MANIFEST), &wanted).context("cannot copy the list of packages")?;
    let mut install = npm()?;
    install.args(["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    quiet("installing the Inspector and the conformance suite", &mut install)?;
    for package in ["inspector", "conformance"] {
        let package = folder.join("node_modules/@modelcontextprotocol").join(package);
        ensure!(package.is_dir(), "npm did not install {}", package.display());
    }
    fs::write(note, wanted).context("cannot note what is installed")
}

fn pinned() -> PathBuf {
    root().join("tests/conformance").join(MANIFEST)
}
