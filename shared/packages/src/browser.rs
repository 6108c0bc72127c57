//! Chromium and ChromeDriver: found, or installed.

use std::{env, path::PathBuf, process::Command};

use ragmaker_project::programs::Program;
use ragmaker_tool::Error;

use crate::{INSTALL_FAILED, Installer, NO_PACKAGE_MANAGER, manager::Manager, show};

const SNAP: &str = "Run sudo snap install chromium; or, if Google Chrome is installed, npx @puppeteer/browsers install chromedriver@stable, and set RAGMAKER_CHROMEDRIVER to the path that it prints.";

/// The two executables that are the browser and drive it.
#[derive(Clone, Debug)]
pub struct Browser {
    /// Chromium, or Google Chrome.
    pub chromium: PathBuf,
    /// Its driver.
    pub chromedriver: PathBuf,
    /// Whether they were installed just now.
    pub is_new: bool,
}

/// Finds Chromium and ChromeDriver, or installs them.
///
/// # Errors
///
/// Those of [`crate::ERRORS`], and [`ragmaker_project::programs::BROWSER_NOT_FOUND`] where the environment names an
/// executable that does not exist.
pub fn browser(installer: Installer<'_>) -> Result<Browser, Error> {
    let missing = match find(false) {
        Ok(browser) => return Ok(browser),
        Err(error) => error,
    };
    // A path from the environment is for the user to correct, not for a package manager.
    if [Program::Chromium, Program::ChromeDriver].into_iter().any(is_named) {
        return Err(missing);
    }
    let Some(manager) = Manager::present() else {
        return Err(
            NO_PACKAGE_MANAGER.error("Chromium or ChromeDriver is missing, and there is no known package manager")
        );
    };
    if installer.is_shown {
        show("Chromium or ChromeDriver is missing");
    }
    if manager.program == "apt-get" {
        check_apt(manager, installer)?;
    }
    manager.install_browser(installer)?;
    find(true)
}

fn find(is_new: bool) -> Result<Browser, Error> {
    Ok(Browser { chromium: Program::Chromium.find()?, chromedriver: Program::ChromeDriver.find()?, is_new })
}

/// Whether the environment says where `program` is.
fn is_named(program: Program) -> bool {
    env::var_os(program.variable()).is_some_and(|path| !path.is_empty())
}

/// Checks that apt knows a real package, after an update of its lists if necessary.
fn check_apt(manager: &Manager, installer: Installer<'_>) -> Result<(), Error> {
    if candidate("chromium-driver")?.is_none() {
        manager.update(installer)?;
    }
    match candidate("chromium-driver")? {
        Some(version) if !version.contains("snap") => Ok(()),
        _ => Err(INSTALL_FAILED.error("apt has Chromium as a snap only, or not at all").remedy(SNAP)),
    }
}

/// The version of `package` that apt would install.
fn candidate(package: &str) -> Result<Option<String>, Error> {
    let mut policy = Command::new("apt-cache");
    let output = policy.args(["policy", package]).env("LC_ALL", "C").output();
    let output = output.map_err(|error| INSTALL_FAILED.error(format!("cannot run apt-cache: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    Ok(version.filter(|version| *version != "(none)").map(str::to_owned))
}
