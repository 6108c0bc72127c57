//! What the programs that serve all tools share with the tools: how they take arguments and fail.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use argh::FromArgs;
use ragmaker_tool::{
    ARGUMENT_ERROR, Error, Exit, OUTPUT_ERROR,
    json::{self, Charset},
};

/// The arguments of this process, or how it ends: after `--help`, `--version` or a mistake.
pub fn arguments<T: FromArgs>(name: &str, version: &str) -> Result<T, ExitCode> {
    let refuse = |error: Error| fail(&error.remedy(format!("Run {name} --help to see its arguments.")));
    let given: Result<Vec<String>, _> = env::args_os().skip(1).map(OsString::into_string).collect();
    let given = given.map_err(|argument| {
        let shown = argument.to_string_lossy().into_owned();
        refuse(ARGUMENT_ERROR.error(format!("the argument {shown:?} is not UTF-8")).detail("argument", shown))
    })?;
    let mut valued = given.iter().filter_map(|argument| argument.split_once('='));
    if let Some((option, _)) = valued.find(|(option, _)| ["--help", "--version"].contains(option)) {
        return Err(refuse(ARGUMENT_ERROR.error(format!("{option} takes no value")).detail("argument", option)));
    }
    // As with the tools, a value may follow its option after an equals sign.
    let split = |argument: String| match argument.split_once('=') {
        Some((option, value)) if option.starts_with("--") => vec![option.to_owned(), value.to_owned()],
        _ => vec![argument],
    };
    let given: Vec<String> = given.into_iter().flat_map(split).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    if let ["-V" | "--version", rest @ ..] = &given[..] {
        return Err(match rest.first() {
            None => print(&format!("{name} {version}\n")),
            Some(next) => {
                refuse(ARGUMENT_ERROR.error(format!("unexpected argument {next:?}")).detail("argument", *next))
            }
        });
    }
    T::from_args(&[name], &given).map_err(|early| {
        if early.status.is_ok() {
            return print(&early.output);
        }
        refuse(ARGUMENT_ERROR.error(early.output.trim()))
    })
}

/// Writes `text` to standard output, and returns the exit status; a reader that has seen enough is
/// no failure.
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
    // Nobody is left to tell when standard error is gone as well.
    let _ = json::write(error, Charset::from_env(), io::stderr().lock());
    Exit::from(error).into()
}
