//! The project's own tasks: `cargo xtask <task>`, each in the module of its name.

mod bench;
mod demo;
mod discovery;
mod process;
mod setup;
mod test;

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
    Discovery(discovery::Arguments),
    Bench(bench::Arguments),
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match Arguments::from_args(&["cargo xtask"], &words) {
        Ok(arguments) => match arguments.task {
            Task::Demo(arguments) => demo::run(&arguments),
            Task::Test(arguments) => test::run(&arguments),
            Task::Setup(_) => setup::run(),
            Task::Discovery(arguments) => discovery::run(&arguments),
            Task::Bench(arguments) => bench::run(&arguments),
        },
        Err(early) if early.status.is_ok() => {
            println!("{}", early.output.trim_end());
            Ok(())
        }
        Err(early) => {
            eprintln!("{}", early.output.trim_end());
            std::process::exit(2);
        }
    }
}
