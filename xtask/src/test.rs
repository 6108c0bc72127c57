//! `test`: everything that has to hold before a change is merged, the quick checks first.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use argh::FromArgs;

use crate::{
    discovery,
    process::{cargo, on_path, shown},
    protocol, setup,
};

/// Run every check and every test; .ci/run calls exactly this.
#[derive(FromArgs)]
#[argh(subcommand, name = "test", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// run only the tests whose name contains this, and no other check
    #[argh(option, arg_name = "name")]
    filter: Option<String>,
}

type Step = (&'static str, Box<dyn Fn() -> anyhow::Result<()>>);

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let steps = plan(arguments);
    println!("plan: {}", steps.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "));
    let started = Instant::now();
    for (number, (name, step)) in steps.iter().enumerate() {
        println!("\n[{}/{}] {name} (after {:.0} s)", number + 1, steps.len(), started.elapsed().as_secs_f64());
        step()?;
    }
    Ok(())
}

/// What is quick to fail comes first; the tests come last, so that cargo's own summary ends the run.
fn plan(arguments: &Arguments) -> Vec<Step> {
    let filter = arguments.filter.clone();
    let whole = filter.is_none();
    let mut steps: Vec<Step> = vec![];
    if whole {
        steps.push(("formatting", Box::new(|| linted("fmt", "rustfmt", &["fmt", "--all", "--check"]))));
        steps.push(("discovery.json", Box::new(discovery::check)));
    }
    steps.push(("browser", Box::new(setup::run)));
    steps.push(("jq and pdftotext", Box::new(setup::for_tests)));
    if whole {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
        steps.push(("lints", Box::new(move || linted("clippy", "clippy", &clippy))));
    }
    if whole {
        steps.push(("judges of the server", Box::new(protocol::run)));
    }
    // The tests drive executables of other packages, which `cargo test` alone does not build.
    steps.push(("executables", Box::new(|| shown(&mut cargo(&["build", "--workspace", "--bins", "--locked"])))));
    let test = move || {
        let mut test = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
        shown(test.args(filter.as_deref()))
    };
    steps.push(("tests", Box::new(test)));
    steps
}

/// Runs a check that is a component of the Rust distribution, which rustup adds where it is missing.
fn linted(subcommand: &str, component: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let present = || {
        let mut version = cargo(&[subcommand, "--version"]);
        version.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !present() && on_path("rustup").is_some() {
        shown(Command::new("rustup").args(["component", "add", component]))?;
    }
    if !present() {
        println!("skipped: this Rust has no {component}, and there is no rustup to add it");
        return Ok(());
    }
    shown(&mut cargo(arguments))
}
