//! The executable `ragmaker-verify`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_verify::Args>(include_str!("../discovery.json"))
}
