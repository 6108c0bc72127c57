//! The executable `ragmaker-move`.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_move::Args>(include_str!("../discovery.json"))
}
