//! The executable `ragmaker-read-file`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_read_file::Args>(include_str!("../discovery.json"))
}
