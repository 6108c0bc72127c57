//! The output of `ragmaker`'s own commands: text for people, or the JSON of the tools with `--output json`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use ragmaker_registry::{fail, print};
use ragmaker_tool::{
    Error, Exit, OUTPUT_ERROR, Success,
    json::{self, Charset},
    printable,
};
use serde::{Deserialize, Serialize};

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
    /// Prints how a command ended, and returns the exit status. `text` says the answer for people.
    pub(crate) fn end<A: Serialize>(self, outcome: Result<A, Error>, text: impl FnOnce(&A) -> String) -> ExitCode {
        match (self, outcome) {
            (Self::Text, Ok(answer)) => print(&text(&answer)),
            (Self::Json, Ok(answer)) => {
                let mut out = vec![];
                // Writing a value to memory cannot fail.
                let _ = json::write(&Success::of(&answer), Charset::from_env(), &mut out);
                print(&String::from_utf8_lossy(&out))
            }
            (Self::Text, Err(error)) => {
                eprintln!("error: {}\n{}", printable(error.message()), printable(error.remediation()));
                Exit::from(&error).into()
            }
            (Self::Json, Err(error)) => fail(&error),
        }
    }
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
    fn every_name_is_a_form() {
        assert_eq!(FORMS.map(ragmaker_tool::choice), [Ok(Form::Text), Ok(Form::Json)]);
    }
}
