//! Arguments: the command line as GNU users and agents write it, or one JSON object.
//!
//! [`argh`] defines and converts the arguments. This module rewrites a command line to the form that argh accepts; argh
//! itself refuses `--name=value` and `-` as a value, and does not name a repeated option. It also finds mistakes before
//! argh does, so that each error names the argument and the most similar valid name. JSON members are converted to
//! options, so both forms use the same parser, and a number in a JSON string is accepted as a number.

mod json;
mod line;
mod names;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};

use argh::{ArgsInfo, FromArgs, Optionality};
use serde::{
    Deserialize,
    de::{IntoDeserializer, value},
};

use crate::{ARGUMENT_ERROR, Commands, Error, Invocation, Stdin, Tool, Usage, host::HostOptions};

use line::{CommandLine, own_flags};

pub use json::{Members, check_keys, read_json};
pub use names::{nearest, repeated};

/// The result of parsing a command line.
pub enum Parsed<T> {
    /// The text for `--help`.
    Help(String),
    /// `--version` was given.
    Version,
    /// `--describe` was given: the tool's entry in discovery.json is printed.
    Describe,
    /// The work.
    Work(T),
}

/// A tool with its arguments, and how it is called.
pub type ParsedCall<T> = (T, Invocation);

/// Reads one of an enum's choices as serde spells it; for argh's `from_str_fn`.
pub fn choice<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    T::deserialize(text.into_deserializer()).map_err(|error: value::Error| error.to_string())
}

/// Parses a tool's command line, the name of the program left out.
pub fn parse<T: Tool>(arguments: impl IntoIterator<Item = OsString>) -> Result<Parsed<ParsedCall<T>>, Error> {
    let mut line = CommandLine::of_tool::<T>();
    line.push_all(texts(arguments, &line)?)?;
    match line.asked {
        None => line.finish().map(Parsed::Work),
        Some("-h" | "--help") => Ok(Parsed::Help(Commands::of_process().spelled(&help::<T>()).into_owned())),
        Some("--describe") => Ok(Parsed::Describe),
        Some(_) => Ok(Parsed::Version),
    }
}

/// Parses the command line `words` as that of a program that is not a tool, with the options in `host` among those of
/// [`HostOptions`]: all of them where the program is a host of calls.
///
/// # Errors
///
/// [`ARGUMENT_ERROR`], with the advice to run `name --help`.
pub fn of_program<T: FromArgs + ArgsInfo>(
    name: &str,
    words: impl IntoIterator<Item = OsString>,
    host: &[&str],
) -> Result<Parsed<(T, HostOptions)>, Error> {
    let (info, name) = (T::get_args_info(), &*Commands::of_process().spelled(name));
    let repeats = |positional: &argh::PositionalInfo<'_>| matches!(positional.optionality, Optionality::Repeating);
    let most = if info.positionals.iter().any(repeats) { usize::MAX } else { info.positionals.len() };
    let mut line = CommandLine::of_program(own_flags(info.flags), most, host);
    let parsed = texts(words, &line).and_then(|texts| {
        line.push_all(texts)?;
        match line.asked {
            None => Ok(Parsed::Work((line.parsed(name)?, line.host_options(name)?))),
            Some("-h" | "--help") => {
                let version = help_lines::<Common>(name, &["--version"]);
                Ok(Parsed::Help(help_of::<T>(name) + &version + &help_lines::<HostOptions>(name, host)))
            }
            Some(_) => Ok(Parsed::Version),
        }
    });
    parsed.map_err(|error| {
        if error.has_remedy_of(ARGUMENT_ERROR) {
            error.remedy(format!("Run {name} --help to see its arguments."))
        } else {
            error
        }
    })
}

/// Parses arguments that a model sent as a JSON object, with the options of its host.
pub fn from_json<T: Tool>(arguments: Members, host: &HostOptions) -> Result<ParsedCall<T>, Error> {
    let lacking = T::STDIN.filter(|stdin| reads_stdin(*stdin, &arguments));
    let mut line = CommandLine::of_tool::<T>();
    line.push_json(arguments)?;
    if let Some(Stdin { argument, .. }) = lacking {
        return Err(ARGUMENT_ERROR
            .error(format!("{argument} is required"))
            .remedy(format!("Add {argument:?} to the arguments."))
            .detail("argument", argument));
    }
    let (tool, invocation) = line.finish()?;
    Ok((tool, Invocation { host: host.clone(), ..invocation }))
}

/// Whether a call with these arguments reads standard input, which carries the JSON of a host.
fn reads_stdin(Stdin { argument, dash }: Stdin, arguments: &Members) -> bool {
    let given = arguments.iter().find(|(key, value)| key == argument && !value.is_null());
    given.is_none_or(|(_, value)| dash && value.as_str().is_some_and(|text| text.trim() == "-"))
}

/// `error` of the tool `T` for a caller who wrote JSON: `offset` instead of `--offset`.
pub(crate) fn as_written_in_json<T: Tool>(error: Error) -> Error {
    line::in_json_spelling(error, own_flags(T::get_args_info().flags).into_iter().map(|flag| flag.long))
}

fn texts(arguments: impl IntoIterator<Item = OsString>, line: &CommandLine) -> Result<Vec<String>, Error> {
    let mut texts: Vec<String> = vec![];
    for argument in arguments {
        let option = || texts.last().map(String::as_str).filter(|before| line.takes_value(before));
        let text = argument.into_string().map_err(|argument| not_utf8(option(), &argument))?;
        texts.push(text);
    }
    Ok(texts)
}

/// The error for an `argument` that is not UTF-8, and is the value of `option` if there is one.
fn not_utf8(option: Option<&str>, argument: &OsStr) -> Error {
    let argument = argument.to_string_lossy();
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (Some(option), value),
        _ => (option, &*argument),
    };
    ARGUMENT_ERROR
        .error(match option {
            Some(option) => format!("{option} cannot be {value:?}: it is not UTF-8"),
            None => format!("the argument {value:?} is not UTF-8"),
        })
        .remedy("Rename the file, or name the folder it is in: arguments are UTF-8.")
        .detail("argument", option.unwrap_or(value))
}

/// The options that every tool has beside its own. A program that is not a tool has `--version` only.
#[derive(FromArgs, ArgsInfo)]
#[expect(dead_code, reason = "only its definitions are used: the parser is in `line`")]
pub(crate) struct Common {
    /// print the version
    #[argh(switch, short = 'V')]
    version: bool,
    /// print this tool's entry in discovery.json
    #[argh(switch)]
    describe: bool,
    /// take the arguments from a JSON object (- reads it from standard input)
    #[argh(option)]
    arguments: Option<String>,
}

fn help<T: Tool>() -> String {
    // argh knows no words, and its usage repeats every option.
    let text = help_of::<T>(T::NAME);
    let own = text.split_once("\n\n").map_or("", |(_usage, rest)| rest);
    let usage = format!("Usage: {}\n\n", Usage::without_choices::<T>().synopsis(T::NAME));
    let host = help_lines::<HostOptions>(T::NAME, T::HOST_OPTIONS);
    let title = if host.is_empty() { "" } else { "\nHost options (not in JSON arguments):\n" };
    let common = help_lines::<Common>(T::NAME, &["--version", "--describe", "--arguments"]);
    usage + own + &common + title + &host
}

/// The help of the options `longs` of `T`.
fn help_lines<T: FromArgs>(name: &str, longs: &[&str]) -> String {
    let all = help_of::<T>(name);
    let (mut text, mut is_taken) = (String::new(), false);
    for line in all.lines().skip_while(|line| *line != "Options:") {
        if line.trim_start().starts_with('-') {
            is_taken = line.split_whitespace().any(|word| longs.contains(&word));
        }
        if is_taken {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// The output of argh for `--help`.
fn help_of<T: FromArgs>(name: &str) -> String {
    match T::from_args(&[name], &["--help"]) {
        Err(early) => early.output.trim_end().to_owned() + "\n",
        Ok(_) => String::new(),
    }
}
