//! The engines for the tests of streams: GNU parallel from the system's package manager; Spark, Ray and datatrove by
//! pip under target/engines, in the versions that tests/engines/requirements.txt pins.

use anyhow::Context;

use crate::{
    process::{cargo, root, shown},
    python::environment,
    setup,
};

/// Installs the engines, unless the pinned versions are installed. It is an error if this fails, because a skipped test
/// proves nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    setup::for_engines().context("NO ENGINE WAS TESTED")?;
    let installed = environment(&root().join("target/engines"), "tests/engines/requirements.txt", &[]);
    installed.map(drop).context("NO ENGINE WAS TESTED")
}

/// Runs the tests with them, one at a time: each engine takes all cores.
pub(crate) fn test() -> anyhow::Result<()> {
    let test = ["test", "--workspace", "--test", "suite", "--locked", "--"];
    shown(cargo(&test).args(["--ignored", "--test-threads", "1", "engines::"]))
}
