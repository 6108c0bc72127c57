//! `bench`: what is claimed about speed, measured side by side in one run.

mod harness;
mod start;

use argh::FromArgs;

/// Measure side by side: medians and ratios, with the goals beside them.
#[derive(FromArgs)]
#[argh(subcommand, name = "bench", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    #[argh(subcommand)]
    what: What,
}

#[derive(FromArgs)]
#[argh(subcommand)]
enum What {
    Start(Start),
}

/// start-up time and size of the executables, beside cat
#[derive(FromArgs)]
#[argh(subcommand, name = "start", help_triggers("-h", "--help"))]
struct Start {}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.what {
        What::Start(Start {}) => start::run(),
    }
}
