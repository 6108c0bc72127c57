//! The executable `ragmaker-ask-directory`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_ask_directory::Args>(include_str!("../discovery.json"))
}
