//! The engines for the tests of streams: GNU parallel from the system's package manager; Spark, Ray and datatrove by
//! pip under target/engines, in the versions that tests/engines/requirements.txt pins.

use std::process::Command;

use anyhow::Context;

use crate::{
    cargo::cargo,
    process::{quiet, root, run_visibly},
    python::environment,
    setup,
};

/// Installs the engines, unless the pinned versions are installed. It is an error if this fails, because a skipped test
/// proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    setup::for_engines().context("NO ENGINE WAS TESTED")?;
    let folder = root().join("target/engines");
    let python = environment(&folder, "tests/engines/requirements.txt", &[]).context("NO ENGINE WAS TESTED")?;
    // The wheel of this repository, built from it.
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(root().join(WHEEL));
    pip.env("CARGO_TARGET_DIR", root().join("target/wheel"));
    quiet("installing the wheel", &mut pip).context("THE WHEEL WAS NOT TESTED")
}

/// The package of Python.
const WHEEL: &str = "shared/markdown/python";

/// Runs the tests with them, one at a time: each engine takes all cores.
pub(crate) fn test() -> anyhow::Result<()> {
    let test = ["test", "--workspace", "--test", "suite", "--locked", "--"];
    run_visibly(cargo(&test).args(["--ignored", "--test-threads", "1", "engines::"]))
}
