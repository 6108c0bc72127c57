//! The executable `ragmaker-read-many-files`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_read_many_files::Args>(include_str!("../discovery.json"))
}
