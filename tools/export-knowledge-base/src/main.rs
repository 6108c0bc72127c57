//! The executable `ragmaker-export-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_export_knowledge_base::Args>(include_str!("../discovery.json"))
}
