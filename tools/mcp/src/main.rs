//! The executable `ragmaker-mcp`.

fn main() -> std::process::ExitCode {
    ragmaker_mcp::main(std::env::args_os().skip(1))
}
