//! The output of `ragmaker`'s own commands: text for people, or the JSON of the tools with `--output json`.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::{fail, print};
use ragmaker_tool::{
    Error, Exit, HostOptions, OUTPUT_ERROR, Success,
    arguments::{Parsed, of_program},
    json::{self, Charset},
    printable,
};
use serde::{Deserialize, Serialize, Serializer};

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// Text for people.
    #[default]
    Text,
    /// One JSON value.
    Json,
}

/// The names of the forms.
pub(crate) const FORMS: [&str; 2] = ["text", "json"];

impl Form {
    /// The form that the command line `words` asks for, which need not be valid.
    fn of(words: &[OsString]) -> Self {
        let is_option = |pair: &[OsString]| pair[0] == "--output" && pair[1] == "json";
        let asks = words.windows(2).any(is_option) || words.iter().any(|word| word == "--output=json");
        if asks { Self::Json } else { Self::Text }
    }

    /// Prints how a command ended, and returns the exit status. `text` says the answer for people.
    pub(crate) fn end<A: Serialize>(self, outcome: Result<A, Error>, text: impl FnOnce(&A) -> String) -> ExitCode {
        match (self, outcome) {
            (Self::Text, Ok(answer)) => print(&text(&answer)),
            (Self::Json, Ok(answer)) => {
                let mut out = vec![];
                // As a whole: an answer that cannot be written must not leave a part of it.
                match json::write(&Success::of(&answer), Charset::from_env(), &mut out) {
                    Ok(()) => print(&String::from_utf8_lossy(&out)),
                    Err(error) => fail(&OUTPUT_ERROR.error(format!("the answer cannot be written as JSON: {error}"))),
                }
            }
            (Self::Text, Err(error)) => {
                let error = error.for_person();
                eprintln!("error: {}\n{}", printable(error.message()), printable(error.remediation()));
                Exit::from(&error).into()
            }
            (Self::Json, Err(error)) => fail(&error),
        }
    }
}

/// The arguments of `ragmaker COMMAND` in the command line `words`, with the options in `host`; or how the command ends:
/// after `--help`, `--version` or a mistake, which is reported in the form that the command line asks for.
///
/// # Errors
///
/// The exit status, after everything has been printed.
pub(crate) fn arguments<T: FromArgs + ArgsInfo>(
    command: &str,
    words: Vec<OsString>,
    host: &[&str],
) -> Result<(T, HostOptions), ExitCode> {
    let (name, form) = (format!("ragmaker {command}"), Form::of(&words));
    match of_program::<T>(&name, words, host) {
        Ok(Parsed::Work(arguments)) => Ok(arguments),
        Ok(Parsed::Help(text)) => Err(print(&text)),
        Ok(Parsed::Version | Parsed::Describe) => Err(print(&format!("{name} {}\n", env!("CARGO_PKG_VERSION")))),
        Err(error) => Err(form.end(Err::<(), _>(error), |()| String::new())),
    }
}

/// A path as text, for answers: JSON has no bytes. What is not UTF-8 is replaced.
///
/// # Errors
///
/// Those of the serializer.
pub(crate) fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Shows a line to the person. A closed pipe is not a failure.
///
/// # Errors
///
/// [`OUTPUT_ERROR`].
pub(crate) fn show(line: &str) -> Result<(), Error> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(OUTPUT_ERROR.error(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Asks the person a question, and returns whether the answer is yes. The end of the input is a no.
///
/// # Errors
///
/// [`OUTPUT_ERROR`].
pub(crate) fn ask(question: &str) -> Result<bool, Error> {
    show(&format!("{question} [y/N]"))?;
    let mut answer = String::new();
    let is_read = io::stdin().read_line(&mut answer).is_ok();
    Ok(is_read && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_path_that_is_not_utf8_is_text() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let path = Path::new(OsStr::from_bytes(b"/home/x\xff"));
        assert_eq!(as_text(path, serde_json::value::Serializer).unwrap(), "/home/x\u{fffd}");
    }

    #[test]
    fn a_mistake_is_reported_in_the_form_that_was_asked_for() {
        let of = |words: &[&str]| Form::of(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["x", "--output", "json"]), Form::Json);
        assert_eq!(of(&["--output=json", "--x"]), Form::Json);
        for words in [&["json"][..], &["--output"], &["--output", "text"], &[]] {
            assert_eq!(of(words), Form::Text, "{words:?}");
        }
    }

    #[test]
    fn every_name_is_a_form() {
        assert_eq!(FORMS.map(ragmaker_tool::choice), [Ok(Form::Text), Ok(Form::Json)]);
    }
}
