//! The executable `ragmaker-create-directory`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_create_directory::Args>(include_str!("../discovery.json"))
}
