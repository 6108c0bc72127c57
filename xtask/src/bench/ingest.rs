//! Gathering without a browser: office documents, the documents of a large repository, and a section of a site.

mod crawl;
mod office;
mod repository;

use std::fs;

use super::release_build;
use crate::process::root;

pub(super) fn run() -> anyhow::Result<()> {
    let programs = release_build(&[
        "file-sync",
        "read-file",
        "github-fetch",
        "http-fetch",
        "browser-open",
        "browser-extract",
        "browser-close",
    ])?;
    let folder = root().join("target/bench/ingest");
    fs::create_dir_all(&folder)?;
    office::run(&programs, &folder)?;
    repository::run(&programs, &folder)?;
    crawl::run(&programs, &folder)
}
