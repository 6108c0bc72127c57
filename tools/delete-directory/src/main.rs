//! The executable `ragmaker-delete-directory`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_delete_directory::Args>(include_str!("../discovery.json"))
}
