//! `ragmaker`: one executable with all tools.
//!
//! `ragmaker read-file …` does what the executable `ragmaker-read-file` does. Started under the name of a tool, by a
//! link or as a copy, it is that tool.

mod command;
mod connect;
mod dispatch;
mod doctor;
mod form;
mod link;
mod overview;
mod reference;
mod setup;
mod this_program;

use std::{env, ffi::OsStr, path::Path, process::ExitCode};

fn main() -> ExitCode {
    // Tools start this executable once more, for a part of their work.
    let roles = [
        ragmaker_browser::run_if_asked,
        ragmaker_registry::subprocess::run_if_asked,
        ragmaker_external_tools::run_if_asked,
    ];
    if let Some(exit) = roles.iter().find_map(|run_if_asked| run_if_asked()) {
        return exit;
    }
    let mut words = env::args_os();
    let started_as = words.next().unwrap_or_default();
    match tool_of(&started_as) {
        Some(name) => dispatch::run(&name, words.collect()),
        None => match words.next() {
            None => overview::print(),
            Some(first) => dispatch::run(&first.to_string_lossy(), words.collect()),
        },
    }
}

/// The command that the program is started as: `read-file` for a link `ragmaker-read-file`.
fn tool_of(started_as: &OsStr) -> Option<String> {
    let name = Path::new(started_as).file_name()?.to_str()?;
    let name = name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(name);
    // A file such as ragmaker-0.1.0 is this program under another name.
    name.strip_prefix("ragmaker-").filter(|name| dispatch::is_executable(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_the_tool_of_its_name() {
        assert_eq!(tool_of(OsStr::new("/usr/local/bin/ragmaker-read-file")).as_deref(), Some("read-file"));
        for name in ["ragmaker", "/opt/ragmaker-tools/ragmaker", "", "read-file", "ragmaker-0.1.0", "ragmaker-doctor"] {
            assert_eq!(tool_of(OsStr::new(name)), None, "{name}");
        }
    }
}
