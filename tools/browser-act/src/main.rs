//! The executable `ragmaker-browser-act`.

fn main() -> std::process::ExitCode {
    ragmaker_browser::run_if_asked()
        .unwrap_or_else(|| ragmaker_tool::main::<ragmaker_browser_act::Args>(include_str!("../discovery.json")))
}
