//! The executable `ragmaker-refresh-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_browser::run_if_asked().unwrap_or_else(|| {
        ragmaker_tool::main::<ragmaker_refresh_knowledge_base::Args>(include_str!("../discovery.json"))
    })
}
