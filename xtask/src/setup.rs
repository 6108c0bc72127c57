//! `setup`: finds Chromium and ChromeDriver, or installs them with the system's package manager.

use std::path::Path;

use anyhow::Context;
use argh::FromArgs;
use ragmaker_packages::{Browser, Installer, browser, missing};
use ragmaker_project::programs::Program;
use ragmaker_tool::Error;

/// Find Chromium and ChromeDriver, or install them.
#[derive(FromArgs)]
#[argh(subcommand, name = "setup", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {}

/// A task installs what it needs without a question: sudo asks for its password.
const INSTALLER: Installer<'_> = Installer { confirm: &|_| true, is_shown: true };

pub(crate) fn run() -> anyhow::Result<()> {
    programs().map(drop)
}

/// Installs the missing programs for the tests: `jq` for pipelines, `pdftotext`, with which read-file reads PDFs,
/// `Xvfb`, a virtual screen for windows, shells for their completions, and `man` for the man pages.
pub(crate) fn for_tests() -> anyhow::Result<()> {
    install(&["jq", "pdftotext", "Xvfb", "zsh", "fish", "man"])
}

/// Installs GNU parallel, and the Java that Spark runs on, where they are missing.
pub(crate) fn for_engines() -> anyhow::Result<()> {
    install(&["java", "parallel"])
}

/// Installs Firefox, where it is missing.
pub(crate) fn for_firefox() -> anyhow::Result<()> {
    install(&["firefox"])
}

/// Installs the Java that a Selenium Grid runs on, where it is missing.
pub(crate) fn for_grid() -> anyhow::Result<()> {
    install(&["java"])
}

fn install(programs: &[&'static str]) -> anyhow::Result<()> {
    missing(programs, INSTALLER).map(drop).map_err(|error| with_remedy(&error))
}

fn with_remedy(error: &Error) -> anyhow::Error {
    anyhow::anyhow!("{}\n{}", error.message(), error.remediation())
}

/// Finds or installs browser and driver, and says which they are.
pub(crate) fn programs() -> anyhow::Result<Browser> {
    let programs = browser(INSTALLER, false).map_err(|error| with_remedy(&error))?;
    let version = |program: Program, path: &Path| {
        program.version(path).with_context(|| format!("{} --version does not print a version", path.display()))
    };
    let browser = version(Program::Chromium, &programs.chromium)?;
    let driver = version(Program::ChromeDriver, &programs.chromedriver)?;
    println!("Chromium      {browser} ({})", programs.chromium.display());
    println!("ChromeDriver  {driver} ({})", programs.chromedriver.display());
    let (browser, driver) = (major(&browser), major(&driver));
    if browser != driver {
        println!(
            "note: ChromeDriver {driver} drives Chromium {driver}, not {browser}: install both from one source, or set"
        );
        println!(
            "      {} to a ChromeDriver {browser} (https://googlechromelabs.github.io/chrome-for-testing/)",
            Program::ChromeDriver.variable()
        );
    }
    Ok(programs)
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or_default()
}
