//! The executable `ragmaker-init-cache`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_init_cache::Args>(include_str!("../discovery.json"))
}
