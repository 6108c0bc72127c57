//! The executable `ragmaker-html-to-markdown`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_html_to_markdown::Args>(include_str!("../discovery.json"))
}
