//! Installing programs with the system's package manager.

use std::{
    env,
    io::{self, IsTerminal},
    process::{Command, Stdio},
};

use anyhow::{Context, anyhow, bail};

use crate::process::{is_root, on_path, shown};

/// One package manager, and its command line.
struct Manager {
    program: &'static str,
    install: &'static [&'static str],
    packages: &'static [&'static str],
    /// Whether it has to be root.
    root: bool,
}

const MANAGERS: &[Manager] = &[
    Manager {
        program: "apt-get",
        install: &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes", "--no-install-recommends"],
        packages: &["chromium", "chromium-driver", "chromium-sandbox"],
        root: true,
    },
    Manager {
        program: "dnf",
        install: &["dnf", "install", "--assumeyes"],
        packages: &["chromium", "chromedriver"],
        root: true,
    },
    Manager {
        program: "pacman",
        install: &["pacman", "--sync", "--needed", "--noconfirm"],
        packages: &["chromium"],
        root: true,
    },
    Manager { program: "apk", install: &["apk", "add"], packages: &["chromium", "chromium-chromedriver"], root: true },
    Manager {
        program: "brew",
        install: &["brew", "install", "--cask"],
        packages: &["google-chrome", "chromedriver"],
        root: false,
    },
];

const BY_HAND: &str = "Install Chromium (or Google Chrome) and the ChromeDriver of the same version, from
https://googlechromelabs.github.io/chrome-for-testing/ where your system has no packages,
and have them on PATH or set RAGMAKER_CHROMIUM and RAGMAKER_CHROMEDRIVER to their paths.";

const SNAP: &str = "apt has Chromium as a snap only, or not at all. Any of these will do:
  sudo snap install chromium
  npx @puppeteer/browsers install chromedriver@stable     (beside an installed Google Chrome)
and, for the second, set RAGMAKER_CHROMEDRIVER to the path that it prints.";

/// Installs those of `programs` that are missing.
pub(super) fn beside(programs: &[&'static str]) -> anyhow::Result<()> {
    let missing: Vec<&'static str> = programs.iter().copied().filter(|program| on_path(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("missing: {}", missing.join(", "));
    let manager = present().with_context(|| format!("install {}, then try again", missing.join(" and ")))?;
    let package = |program: &'static str| match (program, manager.program) {
        ("pdftotext", "pacman" | "brew") => "poppler",
        ("pdftotext", _) => "poppler-utils",
        ("Xvfb", "apt-get" | "apk") => "xvfb",
        ("Xvfb", "dnf") => "xorg-x11-server-Xvfb",
        ("Xvfb", "pacman") => "xorg-server-xvfb",
        ("firefox", "apt-get") => "firefox-esr",
        ("java", "apt-get") => "default-jre-headless",
        ("java", "dnf") => "java-latest-openjdk-headless",
        ("java", "pacman") => "jre-openjdk-headless",
        ("java", "apk") => "openjdk21-jre-headless",
        ("java", "brew") => "openjdk",
        _ => program,
    };
    let packages = missing.iter().copied().map(package);
    let words: Vec<&str> = manager.install.iter().copied().filter(|word| *word != "--cask").chain(packages).collect();
    let install = || shown(&mut privileged(&words, manager.root)?);
    install().or_else(|error| {
        if manager.program != "apt-get" {
            return Err(error);
        }
        // A fresh machine has no package lists, or old ones.
        shown(&mut privileged(&["apt-get", "update"], true)?)?;
        install()
    })
}

fn present() -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| on_path(manager.program).is_some())
}

/// Installs the two, or says how to.
pub(super) fn run() -> anyhow::Result<()> {
    let manager = present();
    let Some(manager) = manager else {
        bail!(
            "Chromium or ChromeDriver is missing, and none of the package managers that this task knows is here.\n{BY_HAND}"
        );
    };
    println!("Chromium or ChromeDriver is missing");
    if manager.program == "apt-get" {
        offered_by_apt()?;
    }
    let words: Vec<&str> = manager.install.iter().chain(manager.packages).copied().collect();
    let install = || shown(&mut privileged(&words, manager.root)?);
    let mut installed = install();
    if installed.is_err() && manager.program == "apt-get" {
        // The server may no longer have what old lists name.
        shown(&mut privileged(&["apt-get", "update"], true)?)?;
        installed = install();
    }
    installed.map_err(|error| anyhow!("{error:#}\n{BY_HAND}"))
}

/// Checks that apt knows a real package, after an update of its lists if necessary.
fn offered_by_apt() -> anyhow::Result<()> {
    if candidate("chromium-driver")?.is_none() {
        shown(&mut privileged(&["apt-get", "update"], true)?)?;
    }
    match candidate("chromium-driver")? {
        Some(version) if !version.contains("snap") => Ok(()),
        _ => bail!(SNAP),
    }
}

/// The version of `package` that apt would install.
fn candidate(package: &str) -> anyhow::Result<Option<String>> {
    let mut policy = Command::new("apt-cache");
    let output = policy.args(["policy", package]).env("LC_ALL", "C").output().context("cannot run apt-cache")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    Ok(version.filter(|version| *version != "(none)").map(str::to_owned))
}

/// `words` as a command, through sudo if it needs root and this process is not root.
fn privileged(words: &[&str], root: bool) -> anyhow::Result<Command> {
    let mut words = words.to_vec();
    if root && !is_root() {
        let quiet = |command: &mut Command| {
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let sudo = on_path("sudo").is_some();
        if sudo && quiet(Command::new("sudo").args(["--non-interactive", "true"])) {
            words.splice(0..0, ["sudo", "--non-interactive"]);
        } else if sudo && io::stdin().is_terminal() {
            words.insert(0, "sudo");
        } else {
            bail!("this needs root. Run it yourself, then try again:\n  {}", words.join(" "));
        }
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    if env::var_os("CI").is_some() {
        command.stdin(Stdio::null());
    }
    Ok(command)
}
