//! The executable `ragmaker-agent`.

fn main() -> std::process::ExitCode {
    ragmaker_agent::main(std::env::args_os().skip(1))
}
