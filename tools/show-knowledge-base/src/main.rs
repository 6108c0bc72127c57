//! The executable `ragmaker-show-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_show_knowledge_base::Args>(include_str!("../discovery.json"))
}
