//! Chromium and ChromeDriver: found, or installed.

use std::path::PathBuf;

use ragmaker_project::programs::{Program, mismatch};
use ragmaker_tool::Error;

use crate::{INSTALL_FAILED, Installer, MATCH_VERSIONS, chrome_for_testing, manager::Manager};

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
/// executable that does not exist. A browser and a driver of different versions are an error.
pub fn browser(installer: Installer<'_>, download: bool) -> Result<Browser, Error> {
    let found = find(false);
    // A path from the environment is for the user to correct, not for an installation.
    let named: Vec<_> = PROGRAMS.iter().filter(|program| program.named().is_some()).map(|one| one.variable()).collect();
    if !named.is_empty() && download {
        let named = named.join(" and ");
        return Err(INSTALL_FAILED
            .error(format!("{named} has precedence over a downloaded browser, so that one would not be used"))
            .remedy(format!("Unset {named}, then run it again.")));
    }
    if !named.is_empty() || (found.is_ok() && !download) {
        return found.and_then(checked);
    }
    if !download {
        installer.tell("Chromium or ChromeDriver is missing");
        match Manager::present() {
            Some(manager) if manager.has_browser(installer).map_err(or_download)? => {
                manager.install_browser(installer).map_err(or_download)?;
                return find(true).and_then(checked);
            }
            _ => installer.tell("no package manager here has a browser and its driver"),
        }
    }
    chrome_for_testing::install(installer)?;
    find(true).and_then(checked)
}

const PROGRAMS: [Program; 2] = [Program::Chromium, Program::ChromeDriver];

/// The browser, if the driver drives it.
fn checked(browser: Browser) -> Result<Browser, Error> {
    let versions = (Program::Chromium.version(&browser.chromium), Program::ChromeDriver.version(&browser.chromedriver));
    let (Some(chromium), Some(chromedriver)) = versions else { return Ok(browser) };
    match mismatch(&chromium, &chromedriver) {
        Some(mismatch) => Err(INSTALL_FAILED
            .error(format!("{mismatch} ({}, {})", browser.chromium.display(), browser.chromedriver.display()))
            .remedy(MATCH_VERSIONS)),
        None => Ok(browser),
    }
}

/// Adds the advice that needs no package manager to an error of one.
fn or_download(error: Error) -> Error {
    let advice = error.remediation();
    // A sentence ends with a point, a command line does not.
    let end = if advice.ends_with('.') { "" } else { "." };
    let advice = format!("{advice}{end} Or download a browser for yourself alone: add --download.");
    error.remedy(advice)
}

fn find(is_new: bool) -> Result<Browser, Error> {
    Ok(Browser { chromium: Program::Chromium.find()?, chromedriver: Program::ChromeDriver.find()?, is_new })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_way_follows_a_sentence_and_a_command_line() {
        for advice in ["Run it as root, then try again: apk add chromium", "Install it."] {
            let error = or_download(INSTALL_FAILED.error("it failed").remedy(advice));
            let expected = format!("{}. Or download a browser", advice.trim_end_matches('.'));
            assert!(error.remediation().starts_with(&expected), "{error:?}");
        }
    }
}
