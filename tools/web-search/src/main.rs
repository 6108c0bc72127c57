//! The executable `ragmaker-web-search`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_web_search::Args>(include_str!("../discovery.json"))
}
