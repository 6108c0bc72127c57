//! `ragmaker-read-file-full`: the whole tool, to which `ragmaker-read-file` hands over what it leaves out.

fn main() -> std::process::ExitCode {
    ragmaker_tool::main::<ragmaker_read_file::Args>(include_str!("../../discovery.json"))
}
