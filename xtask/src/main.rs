//! The project's tasks: `cargo xtask <task>`, each in a module of its name.

mod bench;
mod book;
mod cargo;
mod clients;
mod conformance;
mod demo;
mod deny;
mod dist;
mod engines;
mod firefox;
mod first_minute;
mod generate;
mod grid;
mod installed;
mod model;
mod new_tool;
mod node;
mod npm;
mod pictures;
mod process;
mod python;
mod repeat;
mod setup;
mod systems;
mod test;

use std::{env, process::ExitCode};

use argh::FromArgs;

/// The tasks of this repository.
#[derive(FromArgs)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    #[argh(subcommand)]
    task: Task,
}

#[derive(FromArgs)]
#[argh(subcommand)]
enum Task {
    Demo(demo::Arguments),
    Test(test::Arguments),
    Setup(setup::Arguments),
    Discovery(generate::Discovery),
    Docs(generate::Docs),
    Integrations(generate::Integrations),
    Bench(bench::Arguments),
    Book(book::Arguments),
    Pictures(pictures::Arguments),
    Grid(grid::Arguments),
    Dist(dist::Dist),
    Package(dist::Package),
    FirstMinute(first_minute::Arguments),
    NewTool(new_tool::Arguments),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    dist::end_options(&mut words);
    let result = match Arguments::from_args(&["cargo xtask"], &words) {
        Ok(Arguments { task }) => match task {
            Task::Demo(arguments) => demo::run(&arguments),
            Task::Test(arguments) => test::run(&arguments),
            Task::Setup(_) => setup::run(),
            Task::Discovery(arguments) => generate::run("discovery", arguments.check),
            Task::Docs(arguments) => generate::run("docs", arguments.check),
            Task::Integrations(arguments) => generate::run("integrations", arguments.check),
            Task::Bench(arguments) => bench::run(&arguments),
            Task::Book(_) => book::run(),
            Task::Pictures(_) => pictures::run(),
            Task::Grid(arguments) => grid::run(&arguments),
            Task::Dist(arguments) => dist::dist(&arguments.words),
            Task::Package(arguments) => dist::package(&arguments.words),
            Task::FirstMinute(arguments) => first_minute::run(&arguments),
            Task::NewTool(arguments) => new_tool::run(&arguments),
        },
        Err(early) if early.status.is_ok() => {
            println!("{}", early.output.trim_end());
            Ok(())
        }
        Err(early) => {
            eprintln!("{}", early.output.trim_end());
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
