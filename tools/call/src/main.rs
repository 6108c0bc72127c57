//! The executable `ragmaker-call`.

fn main() -> std::process::ExitCode {
    ragmaker_call::main(std::env::args_os().skip(1))
}
