//! Bringing knowledge in: office documents beside another converter, and the documents of a large repository.

mod office;
mod repository;

use std::fs;

use super::release_build;
use crate::process::root;

pub(super) fn run() -> anyhow::Result<()> {
    let programs = release_build(&["file-sync", "github-fetch"])?;
    let folder = root().join("target/bench/ingest");
    fs::create_dir_all(&folder)?;
    office::run(&programs, &folder)?;
    repository::run(&programs, &folder)
}
