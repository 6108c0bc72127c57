//! The executable `ragmaker-entry-discovery`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_entry_discovery::Args>(include_str!("../discovery.json"))
}
