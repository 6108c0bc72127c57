//! `demo`: the main workflow with the built executables: lists the links of a site, saves pages as Markdown, describes
//! the knowledge base, reads it back, and checks that it is complete.

mod check;
mod pick;
mod shell;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use argh::FromArgs;
use ragmaker_tests::site::Site;

use self::shell::Shell;
use crate::{
    cargo::cargo,
    process::{quiet, root},
    setup,
};

/// Gather a small knowledge base as a demonstration.
#[derive(FromArgs)]
#[argh(subcommand, name = "demo", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// the page to start from; without it, a sample site that this task serves itself
    #[argh(positional)]
    url: Option<String>,
}

/// The number of pages that are saved one after another.
const ONE_BY_ONE: usize = 8;
/// The number of further pages that are saved at the same time.
const AT_ONCE: usize = 4;

/// The knowledge base, in the folder of the run.
pub(crate) const KB: &str = "kb";
/// The folder in which its pages are saved.
const DOCUMENTS: &str = "kb/cache/documents";
/// The catalog that lists them.
const CATALOG: &str = "kb/cache/catalog.json";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    gathered(arguments.url.as_deref()).map(drop)
}

/// Gathers a knowledge base from `url`, or from the sample site. Returns the folder of the run.
pub(crate) fn gathered(url: Option<&str>) -> anyhow::Result<PathBuf> {
    setup::run()?;
    let built = build()?;
    let folder = fresh_folder(&root().join("target/demo"))?;
    let sample = url.is_none().then(Site::start);
    let start = match &sample {
        Some(site) => site.url("/wiki/"),
        None => url.unwrap_or_default().to_owned(),
    };
    let shell = Shell::new(&built, &folder)?;

    let gathered = gather(&shell, &start);
    // Also after a failure, so that no browser is left running.
    let closed = shell.say("The browser is closed.").run("browser-close", &[]);
    let title = gathered?;
    closed?;
    describe(&shell, &start, &title)?;

    let documents = check::documents(&folder, CATALOG)?;
    if let Some(site) = &sample {
        check::sample(&documents, site)?;
    }
    println!("\nThe knowledge base holds {} documents: {}", documents.len(), folder.join(KB).display());
    println!("  jq . {}", folder.join(CATALOG).display());
    println!("  less {}/*", folder.join(DOCUMENTS).display());
    println!("Every answer above, in full: {}", folder.join(shell::ANSWERS).display());
    Ok(folder)
}

/// The tools that the demo calls.
const TOOLS: [&str; 6] =
    ["browser-open", "browser-navigate", "browser-extract", "browser-close", "entry-discovery", "read-file"];

/// Builds the tools with the profile and features of this program, so that what both depend on is compiled once. Returns
/// the folder with the executables.
///
/// A release build would compile everything again, with link-time optimisation.
fn build() -> anyhow::Result<PathBuf> {
    let own = env::current_exe().context("this program has no path")?;
    let folder = own.parent().context("this program is in no folder")?;
    let mut build = cargo(&["build", "--locked", "--bins", "--package", "xtask"]);
    for tool in TOOLS {
        build.arg("--package").arg(format!("ragmaker-{tool}"));
    }
    quiet("building the tools", &mut build)?;
    Ok(folder.to_owned())
}

/// Makes and returns the first of `folder`/run-1, run-2, … that is not there yet.
fn fresh_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut number = 1;
    loop {
        let run = folder.join(format!("run-{number}"));
        match fs::create_dir(&run) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| run).with_context(|| format!("cannot make a folder in {}", folder.display())),
        }
    }
}

/// Fills the knowledge base from `start` on, and returns the title of that page.
fn gather(shell: &Shell, start: &str) -> anyhow::Result<String> {
    shell.say("A browser is opened; the calls that follow share it.").run("browser-open", &[])?;
    let page =
        shell.say("What does the start page lead to?").run("browser-navigate", &["--url", start, "--same-site"])?;
    let picked = pick::pages(start, &page, &[], ONE_BY_ONE);
    ensure!(!picked.is_empty(), "{start} links to no page in its folder; choose another start page");

    shell.say(&format!(
        "An agent would choose the pages that matter. This demo takes the first {} beside or below the start page.",
        picked.len()
    ));
    for url in &picked {
        shell.run("browser-extract", &keep(url))?;
    }

    let deeper = &picked[0];
    let below = shell.say("A page further in may lead to more.").run("browser-navigate", &["--url", deeper])?;
    let more = pick::pages(start, &below, &picked, AT_ONCE);
    if more.is_empty() {
        shell.say("It leads to no page that is not here yet.");
    } else {
        shell.say("These are kept all at once, each in a tab of its own.");
        let calls: Vec<_> = more.iter().map(|url| keep(url)).collect();
        shell.run_together("browser-extract", &calls)?;
    }
    Ok(page["title"].as_str().unwrap_or_default().to_owned())
}

/// The arguments that keep the page at `url`.
fn keep(url: &str) -> [&str; 4] {
    ["--url", url, "--kb-root", KB]
}

/// Gives the knowledge base its title and summary, and reads it back as an agent would later.
fn describe(shell: &Shell, start: &str, title: &str) -> anyhow::Result<()> {
    let catalog = shell.say("What was gathered?").run("read-file", &["--path", CATALOG])?;
    let catalog: serde_json::Value = serde_json::from_str(catalog["content"].as_str().unwrap_or_default())
        .with_context(|| format!("{CATALOG} as read-file shows it is not JSON"))?;
    let first = catalog["documents"][0]["path"].as_str().with_context(|| format!("{CATALOG} lists no document"))?;
    let document = format!("kb/cache/{first}");
    shell.say("What does the first document say?").run("read-file", &["--path", &document, "--limit", "30"])?;

    let titles = catalog["documents"].as_array().into_iter().flatten().filter_map(|one| one["title"].as_str());
    let summary = format!("Pages about: {}.", titles.collect::<Vec<_>>().join("; "));
    shell.say("An agent would sum up what it read; this demo lists the titles.").run(
        "entry-discovery",
        &["--kb-root", KB, "--title", title, "--summary", &summary, "--source-url", start, "--src-type", "web"],
    )?;
    shell.say("The knowledge base now says what it is.").run("read-file", &["--path", CATALOG, "--limit", "12"])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_folder_of_its_own() {
        let holder = tempfile::tempdir().unwrap();
        let folder = holder.path().join("target/demo");
        assert_eq!(fresh_folder(&folder).unwrap(), folder.join("run-1"));
        fs::write(folder.join("run-2"), "a file has the name too").unwrap();
        fs::create_dir(folder.join("run-3")).unwrap();
        assert_eq!(fresh_folder(&folder).unwrap(), folder.join("run-4"));
        assert_eq!(fresh_folder(&folder).unwrap(), folder.join("run-5"));
        assert!(fresh_folder(&folder.join("run-2")).is_err());
    }
}
