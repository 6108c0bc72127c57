//! The executable `ragmaker-list-directory`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_list_directory::Args>(include_str!("../discovery.json"))
}
