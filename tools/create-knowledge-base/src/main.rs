//! The executable `ragmaker-create-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_create_knowledge_base::Args>(include_str!("../discovery.json"))
}
