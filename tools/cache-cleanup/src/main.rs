//! The executable `ragmaker-cache-cleanup`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_cache_cleanup::Args>(include_str!("../discovery.json"))
}
