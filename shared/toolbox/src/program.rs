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
    let given: Result<Vec<String>, _> = env::args_os().skip(1).map(OsString::into_string).collect();
    let given = given.map_err(|argument| {
        let shown = argument.to_string_lossy().into_owned();
        fail(&ARGUMENT_ERROR.error(format!("the argument {shown:?} is not UTF-8")).detail("argument", shown))
    })?;
    // As with the tools, a value may follow its option after an equals sign.
    let split = |argument: String| match argument.split_once('=') {
        Some((option, value)) if option.starts_with("--") => vec![option.to_owned(), value.to_owned()],
        _ => vec![argument],
    };
    let given: Vec<String> = given.into_iter().flat_map(split).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    if let ["-V" | "--version"] = given[..] {
        return Err(print(&format!("{name} {version}\n")));
    }
    T::from_args(&[name], &given).map_err(|early| {
        if early.status.is_ok() {
            return print(&early.output);
        }
        let remedy = format!("Run {name} --help to see its arguments.");
        fail(&ARGUMENT_ERROR.error(early.output.trim()).remedy(remedy))
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
