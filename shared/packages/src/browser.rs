//! Chromium and ChromeDriver: found, or installed.

use std::path::PathBuf;

use ragmaker_project::programs::Program;
use ragmaker_tool::Error;

use crate::{Installer, chrome_for_testing, manager::Manager};

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

/// Finds Chromium and ChromeDriver, or installs them: with the package manager, or where it has none, as Chrome for
/// Testing. With `download`, the current Chrome for Testing is downloaded in any case.
///
/// # Errors
///
/// Those of [`crate::ERRORS`], and [`ragmaker_project::programs::BROWSER_NOT_FOUND`] where the environment names an
/// executable that does not exist.
pub fn browser(installer: Installer<'_>, download: bool) -> Result<Browser, Error> {
    let found = find(false);
    // A path from the environment is for the user to correct, not for an installation.
    let is_named = Program::Chromium.named().or(Program::ChromeDriver.named()).is_some();
    if is_named || (found.is_ok() && !download) {
        return found;
    }
    if !download {
        installer.tell("Chromium or ChromeDriver is missing");
        match Manager::present() {
            Some(manager) if manager.has_browser(installer).map_err(or_download)? => {
                manager.install_browser(installer).map_err(or_download)?;
                return find(true);
            }
            _ => installer.tell("no package manager here has a browser and its driver"),
        }
    }
    chrome_for_testing::install(installer)?;
    find(true)
}

/// Adds the advice that needs no package manager to an error of one.
fn or_download(error: Error) -> Error {
    let advice = format!("{} Or download a browser for yourself alone: add --download.", error.remediation());
    error.remedy(advice)
}

fn find(is_new: bool) -> Result<Browser, Error> {
    Ok(Browser { chromium: Program::Chromium.find()?, chromedriver: Program::ChromeDriver.find()?, is_new })
}
