//! Packages from npm for the tests, installed under target/ in the versions that a list in tests/ pins.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

use crate::{
    node::npm,
    process::{root, run_visibly},
};

/// The manifest for npm, in a folder of tests/ and, after the installation, in the one of target/.
const MANIFEST: &str = "package.json";

/// A list of packages.
pub(crate) struct List {
    /// The name of its folder in tests/ and in target/.
    pub(crate) folder: &'static str,
    /// The message if it cannot be installed.
    pub(crate) failure: &'static str,
    /// The packages whose install script has to run.
    pub(crate) with_scripts: &'static [&'static str],
    /// The files that have to be there then, below the folder.
    pub(crate) files: &'static [&'static str],
}

impl List {
    /// Installs the packages, unless the pinned versions are installed.
    pub(crate) fn install(&self) -> anyhow::Result<()> {
        let folder = self.target();
        if self.is_installed(&folder) {
            return Ok(());
        }
        let mut install = npm().context(self.failure)?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // Only the scripts of packages that need theirs are run.
        fs::copy(self.pinned(), folder.join(MANIFEST)).context("cannot copy the list of packages")?;
        install.args(["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]);
        run_visibly(install.current_dir(&folder)).context("npm could not install them").context(self.failure)?;
        if !self.with_scripts.is_empty() {
            let mut rebuild = npm().context(self.failure)?;
            rebuild.arg("rebuild").args(self.with_scripts).current_dir(&folder);
            run_visibly(&mut rebuild).context("npm could not finish their installation").context(self.failure)?;
        }
        for file in self.files {
            ensure!(folder.join(file).exists(), "{}: npm did not install {file}", self.failure);
        }
        // Written last: it marks a complete installation.
        fs::copy(self.pinned(), marker(&folder)).context("cannot note what is installed")?;
        Ok(())
    }

    fn target(&self) -> PathBuf {
        root().join("target").join(self.folder)
    }

    fn pinned(&self) -> PathBuf {
        root().join("tests").join(self.folder).join(MANIFEST)
    }

    fn is_installed(&self, folder: &Path) -> bool {
        let list = |path: PathBuf| fs::read(path).ok();
        let is_pinned = list(marker(folder)).is_some_and(|installed| Some(installed) == list(self.pinned()));
        is_pinned && self.files.iter().all(|file| folder.join(file).exists())
    }
}

/// A copy of the list that was installed.
fn marker(folder: &Path) -> PathBuf {
    folder.join("installed.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clients::CLIENTS, grid::SERVER};

    #[test]
    fn installed_packages_are_known_by_their_list() {
        for list in [CLIENTS, SERVER] {
            let folder = tempfile::tempdir().unwrap();
            assert!(!list.is_installed(folder.path()));
            for file in list.files {
                let file = folder.path().join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            assert!(!list.is_installed(folder.path()));
            fs::copy(list.pinned(), marker(folder.path())).unwrap();
            assert!(list.is_installed(folder.path()));
            fs::write(marker(folder.path()), "{}").unwrap();
            assert!(!list.is_installed(folder.path()));
        }
    }

    #[test]
    fn each_version_is_pinned() {
        for list in [CLIENTS, SERVER] {
            let manifest: serde_json::Value = serde_json::from_slice(&fs::read(list.pinned()).unwrap()).unwrap();
            let packages = manifest["dependencies"].as_object().unwrap();
            assert_eq!(packages.len(), list.files.len());
            for (name, version) in packages {
                let version = version.as_str().unwrap();
                assert!(version.chars().all(|c| c.is_ascii_digit() || c == '.'), "{name} {version}");
            }
        }
    }
}
