//! The executable `ragmaker-search-knowledge-base`.
fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_search_knowledge_base::Args>(include_str!("../discovery.json"))
}
