//! The executable `ragmaker-github-fetch`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_github_fetch::Args>(include_str!("../discovery.json"))
}
