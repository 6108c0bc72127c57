//! The executable `ragmaker-think`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_think::Args>(include_str!("../discovery.json"))
}
