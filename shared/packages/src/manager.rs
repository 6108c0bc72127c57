//! The package managers, and what each calls a program.

use std::process::Command;

use ragmaker_project::programs::on_path;
use ragmaker_tool::Error;

use crate::{INSTALL_FAILED, Installer, NO_PACKAGE_MANAGER};

/// A package manager, and its command line.
pub(crate) struct Manager {
    pub(crate) program: &'static str,
    install: &'static [&'static str],
    /// The command line that updates its package lists; empty if `install` does this by itself.
    update: &'static [&'static str],
    /// The packages of the browser and its driver.
    browser: &'static [&'static str],
    /// Whether it has to be root.
    root: bool,
}

const MANAGERS: &[Manager] = &[
    Manager {
        program: "apt-get",
        install: &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes", "--no-install-recommends"],
        update: &["apt-get", "update"],
        browser: &["chromium", "chromium-driver", "chromium-sandbox"],
        root: true,
    },
    Manager {
        program: "dnf",
        install: &["dnf", "install", "--assumeyes"],
        update: &[],
        browser: &["chromium", "chromedriver"],
        root: true,
    },
    Manager {
        program: "zypper",
        install: &["zypper", "--non-interactive", "install"],
        update: &[],
        browser: &["chromium", "chromedriver"],
        root: true,
    },
    Manager {
        program: "pacman",
        install: &["pacman", "--sync", "--needed", "--noconfirm"],
        // A new list without an upgrade of the system is not supported.
        update: &[],
        browser: &["chromium"],
        root: true,
    },
    Manager {
        program: "apk",
        install: &["apk", "add"],
        update: &["apk", "update"],
        browser: &["chromium", "chromium-chromedriver"],
        root: true,
    },
    Manager {
        program: "brew",
        install: &["brew", "install"],
        update: &[],
        browser: &["--cask", "google-chrome", "chromedriver"],
        root: false,
    },
    Manager {
        program: "winget",
        install: &["winget", "install", "--exact", "--accept-package-agreements", "--accept-source-agreements"],
        update: &[],
        browser: &["Google.Chrome", "Chromium.ChromeDriver"],
        root: false,
    },
];

impl Manager {
    /// The one of this machine.
    pub(crate) fn present() -> Option<&'static Self> {
        MANAGERS.iter().find(|manager| on_path(manager.program).is_some())
    }

    /// Whether it has packages of a browser and its driver. Ubuntu has Chromium as a snap only.
    pub(crate) fn has_browser(&self, installer: Installer<'_>) -> Result<bool, Error> {
        if self.program != "apt-get" {
            return Ok(true);
        }
        if candidate("chromium-driver")?.is_none() {
            self.update(installer)?;
        }
        Ok(candidate("chromium-driver")?.is_some_and(|version| !version.contains("snap")))
    }

    pub(crate) fn install_browser(&self, installer: Installer<'_>) -> Result<(), Error> {
        self.install(self.browser, installer)
    }

    /// Installs `packages`. A fresh machine has no package lists, or old ones: then they are updated.
    fn install(&self, packages: &[&str], installer: Installer<'_>) -> Result<(), Error> {
        let words: Vec<&str> = self.install.iter().chain(packages).copied().collect();
        match installer.run(&words, self.root) {
            Err(error) if !self.update.is_empty() && error.is(INSTALL_FAILED) => {
                self.update(installer)?;
                installer.run(&words, self.root)
            }
            outcome => outcome,
        }
    }

    /// Updates the package lists.
    fn update(&self, installer: Installer<'_>) -> Result<(), Error> {
        installer.run(self.update, self.root)
    }

    /// The package with `program`.
    fn package(&self, program: &'static str) -> &'static str {
        match (program, self.program) {
            ("pdftotext", "pacman" | "brew") => "poppler",
            ("pdftotext", "zypper") => "poppler-tools",
            ("pdftotext", "winget") => "oschwartz10612.Poppler",
            ("pdftotext", _) => "poppler-utils",
            ("Xvfb", "apt-get" | "apk") => "xvfb",
            ("Xvfb", "dnf" | "zypper") => "xorg-x11-server-Xvfb",
            ("Xvfb", "pacman") => "xorg-server-xvfb",
            ("man", "dnf" | "pacman" | "apt-get" | "brew") => "man-db",
            ("firefox", "apt-get") => "firefox-esr",
            ("java", "apt-get") => "default-jre-headless",
            ("java", "dnf") => "java-latest-openjdk-headless",
            ("java", "zypper") => "java-21-openjdk-headless",
            ("java", "pacman") => "jre-openjdk-headless",
            ("java", "apk") => "openjdk21-jre-headless",
            ("java", "brew") => "openjdk",
            _ => program,
        }
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

/// Installs those of `programs` that are missing. Returns their names.
///
/// # Errors
///
/// Those of [`crate::ERRORS`].
pub fn missing(programs: &[&'static str], installer: Installer<'_>) -> Result<Vec<&'static str>, Error> {
    let missing: Vec<&'static str> = programs.iter().copied().filter(|program| on_path(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    installer.tell(&format!("missing: {}", missing.join(", ")));
    let Some(manager) = Manager::present() else {
        return Err(NO_PACKAGE_MANAGER
            .error(format!("{} is missing, and there is no known package manager", missing.join(", ")))
            .remedy(format!("Install {}, then try again.", missing.join(" and "))));
    };
    let packages: Vec<&str> = missing.iter().copied().map(|program| manager.package(program)).collect();
    let by_hand = |error: Error| error.remedy_for(INSTALL_FAILED, format!("Install {}.", packages.join(" and ")));
    manager.install(&packages, installer).map_err(by_hand)?;
    match missing.iter().find(|program| on_path(program).is_none()) {
        Some(program) => Err(by_hand(INSTALL_FAILED.error(format!("{program} is still not on PATH")))),
        None => Ok(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_names_of_their_packages() {
        let package =
            |manager: &str, program| MANAGERS.iter().find(|known| known.program == manager).unwrap().package(program);
        for (manager, program, expected) in [
            ("apt-get", "pdftotext", "poppler-utils"),
            ("pacman", "pdftotext", "poppler"),
            ("zypper", "pdftotext", "poppler-tools"),
            ("dnf", "Xvfb", "xorg-x11-server-Xvfb"),
            ("apk", "java", "openjdk21-jre-headless"),
            ("apt-get", "firefox", "firefox-esr"),
            ("dnf", "firefox", "firefox"),
            ("brew", "git", "git"),
        ] {
            assert_eq!(package(manager, program), expected, "{manager}: {program}");
        }
    }

    #[test]
    fn no_manager_asks_a_question() {
        for manager in MANAGERS {
            assert!(!manager.browser.is_empty(), "{}", manager.program);
            let answers = ["--yes", "--assumeyes", "--non-interactive", "--noconfirm", "--accept-package-agreements"];
            let is_silent = manager.install.iter().any(|word| answers.contains(word));
            assert!(is_silent || ["apk", "brew"].contains(&manager.program), "{}", manager.program);
            assert!(manager.update.first().is_none_or(|word| *word == manager.program), "{}", manager.program);
        }
    }
}
