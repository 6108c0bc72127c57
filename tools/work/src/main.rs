//! The executable `ragmaker-work`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_work::Args>(include_str!("../discovery.json"))
}
