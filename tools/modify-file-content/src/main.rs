//! The executable `ragmaker-modify-file-content`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_modify_file_content::Args>(include_str!("../discovery.json"))
}
