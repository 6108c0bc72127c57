//! `ragmaker-read-file`.

use ragmaker_read_file::{Args, read_here_or_there};

fn main() -> std::process::ExitCode {
    ragmaker_tool::main_with(include_str!("../discovery.json"), |args: Args| read_here_or_there(&args))
}
