//! `setup`: finds Chromium and ChromeDriver, or installs them with the system's package manager.

mod install;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use argh::FromArgs;
use ragmaker_browser::find::Program;

/// Find Chromium and ChromeDriver, or install them.
#[derive(FromArgs)]
#[argh(subcommand, name = "setup", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {}

pub(crate) fn run() -> anyhow::Result<()> {
    programs().map(drop)
}

/// Installs the missing programs for the tests: `jq` for pipelines, `pdftotext`, with which read-file reads PDFs, and
/// `Xvfb`, a virtual screen for windows.
pub(crate) fn for_tests() -> anyhow::Result<()> {
    install::beside(&["jq", "pdftotext", "Xvfb"])
}

/// Installs GNU parallel, and the Java that Spark runs on, where they are missing.
pub(crate) fn for_engines() -> anyhow::Result<()> {
    install::beside(&["java", "parallel"])
}

/// Installs Firefox, where it is missing.
pub(crate) fn for_firefox() -> anyhow::Result<()> {
    install::beside(&["firefox"])
}

/// Installs the Java that a Selenium Grid runs on, where it is missing.
pub(crate) fn for_grid() -> anyhow::Result<()> {
    install::beside(&["java"])
}

/// The two executables that drive and are the browser, installed where they were missing.
pub(crate) struct Programs {
    pub(crate) chromium: PathBuf,
    pub(crate) chromedriver: PathBuf,
}

/// Finds or installs the two, and says which they are.
pub(crate) fn programs() -> anyhow::Result<Programs> {
    let programs = match find() {
        Ok(programs) => programs,
        // A path from the environment is for the user to correct, not for a package manager.
        Err(error) if [Program::Chromium, Program::ChromeDriver].into_iter().any(named) => return Err(error),
        Err(_) => install::run().and_then(|()| find())?,
    };
    let (browser, driver) = (version(&programs.chromium)?, version(&programs.chromedriver)?);
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

fn find() -> anyhow::Result<Programs> {
    Ok(Programs { chromium: Program::Chromium.find()?, chromedriver: Program::ChromeDriver.find()? })
}

/// Whether the environment says where `program` is.
fn named(program: Program) -> bool {
    env::var_os(program.variable()).is_some_and(|path| !path.is_empty())
}

/// The version that `program` prints, as in `Chromium 156.0.8078.79 built on Debian`.
fn version(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.map(str::to_owned).with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{} --version does not print a version: {text}{said}", program.display())
    })
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or_default()
}
