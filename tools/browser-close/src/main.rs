//! The executable `ragmaker-browser-close`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_browser_close::Args>(include_str!("../discovery.json"))
}
