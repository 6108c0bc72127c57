//! Installs programs that the tools need with the system's package manager.
//!
//! [`browser`] finds Chromium and ChromeDriver, or installs them; [`missing`] installs other programs. Where no package
//! manager has a browser, Chrome for Testing is downloaded.

mod browser;
mod chrome_for_testing;
mod manager;

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

pub use ragmaker_fs::is_root;
use ragmaker_project::programs::on_path;
use ragmaker_tool::{Code, Error};

pub use browser::{Browser, browser};
pub use manager::missing;

/// No package manager that is known here is installed.
pub const NO_PACKAGE_MANAGER: Code = Code::new("NO_PACKAGE_MANAGER", BY_HAND);
/// A command has to be run by root, and cannot be here.
pub const ROOT_NEEDED: Code = Code::new("ROOT_NEEDED", "Run the command yourself, then try again.");
/// Nobody confirmed a command.
pub const NOT_CONFIRMED: Code = Code::new("NOT_CONFIRMED", "Add --yes, or run the command yourself.");
/// A command of the package manager, or a download, failed.
pub const INSTALL_FAILED: Code = Code::new("INSTALL_FAILED", BY_HAND);

/// Every code of this crate.
pub const ERRORS: &[Code] = &[NO_PACKAGE_MANAGER, ROOT_NEEDED, NOT_CONFIRMED, INSTALL_FAILED];

const BY_HAND: &str = "Install Chromium (or Google Chrome) and the ChromeDriver of the same version, from https://googlechromelabs.github.io/chrome-for-testing/ where your system has no packages. Have them on PATH, or set RAGMAKER_CHROMIUM and RAGMAKER_CHROMEDRIVER to their paths.";

/// What to do about a browser and a driver of different versions.
pub const MATCH_VERSIONS: &str = "Run ragmaker setup --download, which downloads both for you alone; or install both from one source, or set RAGMAKER_CHROMIUM and RAGMAKER_CHROMEDRIVER to a pair of one version.";

/// How an installation deals with the person.
#[derive(Clone, Copy)]
pub struct Installer<'a> {
    /// Asks whether to run a command line, or to download a browser.
    pub confirm: &'a dyn Fn(&str) -> bool,
    /// Whether command lines and their output are shown.
    pub is_shown: bool,
}

impl Installer<'_> {
    /// Runs `words`, through sudo if it needs root and this process is not root.
    fn run(self, words: &[&str], root: bool) -> Result<(), Error> {
        let needs_sudo = root && !is_root();
        if needs_sudo && on_path("sudo").is_none() {
            let line = words.join(" ");
            return Err(ROOT_NEEDED
                .error(format!("this needs root: {line}"))
                .remedy(format!("Run it as root, then try again: {line}"))
                .detail("command", line));
        }
        let mut all = vec![];
        if needs_sudo {
            all.push("sudo");
            if !io::stdin().is_terminal() {
                all.push("--non-interactive");
            }
        }
        all.extend(words);
        let line = all.join(" ");
        if !(self.confirm)(&line) {
            return Err(NOT_CONFIRMED
                .error(format!("not run: {line}"))
                .remedy(format!("Add --yes, or run it yourself: {line}"))
                .detail("command", line));
        }
        self.run_confirmed(&all, &line)
    }

    /// Shows a line, if lines are shown.
    fn tell(self, line: &str) {
        if self.is_shown {
            show(line);
        }
    }

    fn run_confirmed(self, words: &[&str], line: &str) -> Result<(), Error> {
        let failed =
            |what: &dyn std::fmt::Display| INSTALL_FAILED.error(format!("{line}: {what}")).detail("command", line);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        if env::var_os("CI").is_some() {
            command.stdin(Stdio::null());
        }
        if self.is_shown {
            show(&format!("$ {line}"));
            let status = command.status().map_err(|error| failed(&error))?;
            return if status.success() { Ok(()) } else { Err(failed(&status)) };
        }
        let output = command.output().map_err(|error| failed(&error))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(failed(&text.trim().lines().last().map_or_else(|| output.status.to_string(), str::to_owned)))
    }
}

/// Shows a line; nobody may be there to read it.
fn show(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_an_error_with_its_last_line() {
        let installer = Installer { confirm: &|_| true, is_shown: false };
        let error = installer.run(&["sh", "-c", "echo a >&2; echo the reason >&2; exit 3"], false).unwrap_err();
        assert!(error.is(INSTALL_FAILED) && error.message().ends_with("the reason"), "{error}");
        assert!(installer.run(&["no-such-program"], false).unwrap_err().is(INSTALL_FAILED));
        installer.run(&["true"], false).unwrap();
        let refused = Installer { confirm: &|_| false, is_shown: false };
        assert!(refused.run(&["false"], false).unwrap_err().is(NOT_CONFIRMED));
    }
}
