//! The executable `ragmaker-browser-state`.

fn main() -> std::process::ExitCode {
    ragmaker_browser::run_if_asked()
        .unwrap_or_else(|| ragmaker_tool::main::<ragmaker_browser_state::Args>(include_str!("../discovery.json")))
}
