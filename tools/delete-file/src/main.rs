//! The executable `ragmaker-delete-file`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_delete_file::Args>(include_str!("../discovery.json"))
}
