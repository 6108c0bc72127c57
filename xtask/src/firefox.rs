//! Firefox for the tests: the browser from the system's package manager, geckodriver by cargo under target/geckodriver.

use anyhow::Context;

use crate::{
    cargo::cargo,
    grid,
    process::{root, run_visibly},
    setup,
};

/// The version of geckodriver.
const VERSION: &str = "0.37.1";

/// Installs what is missing. It is an error if this fails, because a skipped test proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    const FAILURE: &str = "FIREFOX WAS NOT TESTED";
    setup::for_firefox().context(FAILURE)?;
    // One test has a grid with Firefox.
    grid::install()?;
    let folder = root().join("target/geckodriver");
    let mut install = cargo(&["install", "geckodriver", "--version", VERSION, "--locked"]);
    install.arg("--root").arg(&folder).arg("--target-dir").arg(folder.join("build"));
    let built = folder.join("bin").join(format!("geckodriver{}", std::env::consts::EXE_SUFFIX));
    if !built.is_file() {
        run_visibly(&mut install).context(FAILURE)?;
        std::fs::remove_dir_all(folder.join("build")).context("cannot remove what was built for geckodriver")?;
    }
    Ok(())
}

/// Runs the tests with Firefox, one at a time.
pub(crate) fn test() -> anyhow::Result<()> {
    let test = ["test", "--workspace", "--test", "suite", "--locked", "--"];
    run_visibly(cargo(&test).args(["--ignored", "--test-threads", "1", "firefox::"]))
}
