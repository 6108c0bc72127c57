//! The executable `ragmaker-find-files`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_find_files::Args>(include_str!("../discovery.json"))
}
