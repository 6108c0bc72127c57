//! `ragmaker-refresh-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_refresh_knowledge_base::Args>(include_str!("../discovery.json"))
}
