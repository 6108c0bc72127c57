//! `ragmaker-verify`: see the library.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_verify::Args>(include_str!("../discovery.json"))
}
