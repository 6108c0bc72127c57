//! Arguments, output and errors of the hosts, in the same form as for tools.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_tool::{
    Commands, Error, Exit, HostOptions, OUTPUT_ERROR,
    arguments::{Parsed, of_program},
    json::{self, Charset},
};

/// The arguments in the command line `words` of a program that takes the options in `host` (see
/// [`ragmaker_tool::host`]) beside its own; or how it ends: after `--help`, `--version` or a mistake.
///
/// # Errors
///
/// The exit status, after everything has been printed.
pub fn arguments<T: FromArgs + ArgsInfo>(
    name: &str,
    version: &str,
    words: impl IntoIterator<Item = OsString>,
    host: &[&str],
) -> Result<(T, HostOptions), ExitCode> {
    arguments_with_help(name, version, words, host, |help| help)
}

/// Like [`arguments`]; `help` changes the text for `--help`.
///
/// # Errors
///
/// As for [`arguments`].
pub fn arguments_with_help<T: FromArgs + ArgsInfo>(
    name: &str,
    version: &str,
    words: impl IntoIterator<Item = OsString>,
    host: &[&str],
    help: impl FnOnce(String) -> String,
) -> Result<(T, HostOptions), ExitCode> {
    match of_program::<T>(name, words, host) {
        Ok(Parsed::Work(arguments)) => Ok(arguments),
        Ok(Parsed::Help(text)) => Err(print(&help(text))),
        Ok(Parsed::Version | Parsed::Describe) => {
            Err(print(&format!("{} {version}\n", Commands::of_process().spelled(name))))
        }
        Err(error) => Err(fail(&error)),
    }
}

/// Writes `text` to standard output, and returns the exit status. A closed pipe is not a failure.
pub fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&OUTPUT_ERROR.error(format!("cannot write to standard output: {error}")))
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Reports `error` as the tools do, and returns the exit status that belongs to it.
pub fn fail(error: &Error) -> ExitCode {
    // When standard error is closed as well, nobody can be told.
    let _ = json::write(&error.clone().for_person(), Charset::from_env(), io::stderr().lock());
    Exit::from(error).into()
}
