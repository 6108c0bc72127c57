//! The executable `ragmaker-file-sync`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_file_sync::Args>(include_str!("../discovery.json"))
}
