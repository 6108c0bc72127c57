//! The executable `ragmaker-http-fetch`.

fn main() -> std::process::ExitCode {
    ragmaker_browser::run_if_asked()
        .unwrap_or_else(|| ragmaker_tool::main::<ragmaker_http_fetch::Args>(include_str!("../discovery.json")))
}
