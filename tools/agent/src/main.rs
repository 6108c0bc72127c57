//! `ragmaker-agent`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ragmaker_agent::main()
}
