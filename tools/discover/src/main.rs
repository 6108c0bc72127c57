//! The executable `ragmaker-discover`.

fn main() -> std::process::ExitCode {
    ragmaker_discover::main(std::env::args_os().skip(1))
}
