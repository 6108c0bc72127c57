//! The executable `ragmaker-search-file-content`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_search_file_content::Args>(include_str!("../discovery.json"))
}
