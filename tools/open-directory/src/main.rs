//! The executable `ragmaker-open-directory`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_open_directory::Args>(include_str!("../discovery.json"))
}
