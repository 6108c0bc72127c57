//! The executable `ragmaker-project-info`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_project_info::Args>(include_str!("../discovery.json"))
}
