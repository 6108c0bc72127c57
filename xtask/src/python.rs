//! Python environments: packages for other programs, in pinned versions, installed by pip in a folder of `target`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use crate::process::{needed, quiet, root};

/// The Python of the environment `folder` with the packages of `requirements`, a file of this repository. The
/// environment is created again if its packages differ. `options` are options of pip, such as `--no-deps`.
pub(crate) fn environment(folder: &Path, requirements: &str, options: &[&str]) -> anyhow::Result<PathBuf> {
    let listed = root().join(requirements);
    let wanted = fs::read_to_string(&listed).with_context(|| format!("cannot read {requirements}"))?;
    let (note, python) = (folder.join("installed.txt"), folder.join("bin/python"));
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let system = needed("python3", "Python 3.10 or later")?;
    quiet("making a Python environment", Command::new(system).args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = || {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"]);
        pip
    };
    // That of Debian 12 fails on the names of extras.
    quiet("bringing pip up to date", pip().arg("pip==25.3"))?;
    quiet(&format!("installing {requirements}"), pip().args(options).arg("--requirement").arg(listed))?;
    // Written last: it marks a complete installation.
    fs::write(note, wanted).context("cannot note what is installed")?;
    Ok(python)
}
