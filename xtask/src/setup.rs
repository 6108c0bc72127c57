//! `setup`: Chromium and ChromeDriver, found or installed by the system's package manager.

mod find;
mod install;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;
use argh::FromArgs;

/// Find Chromium and ChromeDriver, or install them.
#[derive(FromArgs)]
#[argh(subcommand, name = "setup", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {}

pub(crate) fn run() -> anyhow::Result<()> {
    let mut found = find();
    if found.is_none() {
        install::run()?;
        found = find();
    }
    let (chromium, chromedriver) = found.with_context(|| {
        let (browser, driver) = (find::CHROMIUM, find::CHROMEDRIVER);
        format!("Chromium or ChromeDriver is not where it is looked for: set {browser} and {driver} to their paths")
    })?;
    let versions = [version(&chromium)?, version(&chromedriver)?];
    println!("Chromium      {} ({})", versions[0], chromium.display());
    println!("ChromeDriver  {} ({})", versions[1], chromedriver.display());
    let [browser, driver] = versions.each_ref().map(|version| major(version));
    if browser != driver {
        println!("note: ChromeDriver {driver} drives Chromium {driver}, not {browser}: install both from one source,");
        println!(
            "      or set {} to a ChromeDriver {browser} (https://googlechromelabs.github.io/chrome-for-testing/)",
            find::CHROMEDRIVER
        );
    }
    Ok(())
}

fn find() -> Option<(PathBuf, PathBuf)> {
    Some((find::chromium()?, find::chromedriver()?))
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
