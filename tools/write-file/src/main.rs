//! The executable `ragmaker-write-file`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_write_file::Args>(include_str!("../discovery.json"))
}
