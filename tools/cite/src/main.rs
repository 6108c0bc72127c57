//! The executable `ragmaker-cite`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_cite::Args>(include_str!("../discovery.json"))
}
