//! Gathering without a browser: office documents, the documents of a large repository, and a section of a site.

mod crawl;
mod office;
mod repository;

use std::{fs, str::FromStr};

use super::release_build;
use crate::process::root;

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Office documents.
    Office,
    /// The documents of a large repository.
    Repository,
    /// A section of a site.
    Crawl,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "office" => Ok(Self::Office),
            "repository" => Ok(Self::Repository),
            "crawl" => Ok(Self::Crawl),
            _ => Err("it is office, repository or crawl".to_owned()),
        }
    }
}

/// Measures `parts`, or all parts if none is named.
pub(super) fn run(parts: &[Part]) -> anyhow::Result<()> {
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
    let wants = |part| parts.is_empty() || parts.contains(&part);
    if wants(Part::Office) {
        office::run(&programs, &folder)?;
    }
    if wants(Part::Repository) {
        repository::run(&programs, &folder)?;
    }
    if wants(Part::Crawl) {
        crawl::run(&programs, &folder)?;
    }
    Ok(())
}
