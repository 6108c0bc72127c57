//! The executable `ragmaker-run-command`.

fn main() -> std::process::ExitCode {
    ragmaker_confine::run_if_asked()
        .unwrap_or_else(|| ragmaker_tool::main::<ragmaker_run_command::Args>(include_str!("../discovery.json")))
}
