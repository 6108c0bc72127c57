//! `ragmaker completions`: the completions of a shell for `ragmaker` and for the executables of the tools.

use std::{collections::BTreeSet, ffi::OsString, path::PathBuf, process::ExitCode};

use argh::{ArgsInfo, FromArgs};
use clap::Command;
use clap_complete::{Generator, Shell, generate};
use ragmaker_tool::{ARGUMENT_ERROR, Error, Usage};

use super::{Program, files, whole};
use crate::form::{Form, arguments};

/// Print the completions of a shell, for ragmaker and for each tool under its own name.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// bash, zsh, fish or powershell
    #[argh(positional)]
    shell: String,
    /// folder in which to write one file for each command, named as the shell looks for it; created if missing
    #[argh(option)]
    dir: Option<PathBuf>,
}

const SHELLS: [(&str, Shell); 4] =
    [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish), ("powershell", Shell::PowerShell)];

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[]).with_choices("shell", SHELLS.map(|(name, _)| name))
}

/// Runs the command, for `programs`.
pub(crate) fn main(words: Vec<OsString>, programs: &[Program]) -> ExitCode {
    match arguments("completions", words, &[]) {
        Ok((arguments, _)) => Form::Text.end(run(&arguments, programs), Clone::clone),
        Err(exit) => exit,
    }
}

fn run(arguments: &Arguments, programs: &[Program]) -> Result<String, Error> {
    let Some((_, shell)) = SHELLS.iter().find(|(name, _)| *name == arguments.shell) else {
        return Err(ARGUMENT_ERROR
            .error(format!("there are no completions for {:?}", arguments.shell))
            .remedy("Choose one of bash, zsh, fish and powershell.")
            .detail("argument", "shell")
            .detail("value", arguments.shell.clone()));
    };
    let executables = programs.iter().filter(|program| program.is_executable);
    let commands = executables.map(|program| (program.executable(), program.command(&program.executable())));
    let scripts: Vec<(String, Vec<u8>)> = [(env!("CARGO_PKG_NAME").to_owned(), whole(programs))]
        .into_iter()
        .chain(commands)
        .map(|(name, command)| {
            let words = if *shell == Shell::Fish { fish_words(&name, &command) } else { String::new() };
            (shell.file_name(&name), [script(*shell, command, name), words.into_bytes()].concat())
        })
        .collect();
    match &arguments.dir {
        Some(dir) => files::write(dir, &scripts),
        None => Ok(joined(*shell, &scripts)),
    }
}

/// The scripts as one.
fn joined(shell: Shell, scripts: &[(String, Vec<u8>)]) -> String {
    let text: String = scripts.iter().map(|(_, script)| String::from_utf8_lossy(script)).collect();
    if shell != Shell::PowerShell {
        return text;
    }
    // PowerShell accepts `using` only before all other statements.
    let (uses, rest): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("using namespace "));
    let uses: BTreeSet<_> = uses.into_iter().collect();
    uses.into_iter().chain(rest).flat_map(|line| [line, "\n"]).collect()
}

/// The script for the executable `name`.
fn script(shell: Shell, mut command: Command, name: String) -> Vec<u8> {
    let mut script = vec![];
    generate(shell, &mut command, name, &mut script);
    script
}

/// The values of arguments without a flag, for fish: clap writes them for the other shells only.
fn fish_words(name: &str, command: &Command) -> String {
    let line = |command: &Command, condition: &str| {
        let choices = command.get_positionals().flat_map(clap::Arg::get_possible_values);
        let choices: Vec<_> = choices.map(|choice| choice.get_name().to_owned()).collect();
        if choices.is_empty() {
            return String::new();
        }
        format!("complete -c {name}{condition} -f -a '{}'\n", choices.join(" "))
    };
    let of_command = |part: &Command| line(part, &format!(" -n '__fish_seen_subcommand_from {}'", part.get_name()));
    line(command, "") + &command.get_subcommands().map(of_command).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powershell_has_each_using_once_and_first() {
        let scripts = [("a", "using namespace X\nfunction a"), ("b", "using namespace X\nfunction b")]
            .map(|(name, script)| (name.to_owned(), format!("{script}\n").into_bytes()));
        assert_eq!(joined(Shell::PowerShell, &scripts), "using namespace X\nfunction a\nfunction b\n");
        assert!(joined(Shell::Bash, &scripts).ends_with("using namespace X\nfunction b\n"));
    }

    #[test]
    fn an_unknown_shell_is_refused() {
        let error = run(&Arguments { shell: "tcsh".into(), dir: None }, &[]).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.remediation().contains("powershell"));
    }
}
