//! The executable `ragmaker-enrich-discovery`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_enrich_discovery::Args>(include_str!("../discovery.json"))
}
