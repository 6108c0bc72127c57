//! `book`: the documentation as a site with search, built by mdBook.
//!
//! mdBook reads one folder. The pages are in several: docs/, the tools' folders, the root. They are copied into one,
//! and their links are changed. So each page exists once, and its links also work in the repository. Then every link
//! and anchor of the site is checked.

mod links;
mod source;

use std::{fs, process::Command};

use anyhow::{Context, ensure};
use argh::FromArgs;

use crate::{
    installed::program,
    process::{quiet, root},
};

/// Build the documentation as a site with search, in target/book/html.
#[derive(FromArgs)]
#[argh(subcommand, name = "book", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {}

/// The version of mdBook that is installed if there is none on PATH. It takes about two minutes on two cores.
const VERSION: &str = "0.5.4";

pub(crate) fn run() -> anyhow::Result<()> {
    let mdbook = program("mdbook", VERSION, &["--no-default-features", "--features", "search"])?;
    let folder = root().join("target/book");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    source::write(root(), &folder)?;
    quiet("building the site", Command::new(mdbook).arg("build").arg(&folder))?;
    let (pages, dead) = links::dead(&folder.join("html"))?;
    ensure!(dead.is_empty(), "dead links of the site:\n{}", dead.join("\n"));
    println!("{pages} pages without a dead link: {}", folder.join("html/index.html").display());
    Ok(())
}
