//! The executable `ragmaker-install-knowledge-base`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_install_knowledge_base::Args>(include_str!("../discovery.json"))
}
