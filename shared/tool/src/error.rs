//! Failures as values: a stable code, what happened, and what to do about it.

use serde::Serialize;
use serde_json::{Map, Value};

/// The arguments can not be used as they are. Every tool can fail with it; its exit status is 2.
pub const ARGUMENT_ERROR: Code =
    Code::new("ARGUMENT_ERROR", "Run the tool with --help or --describe to see its arguments.");
/// What was asked for begins after the end.
pub const OFFSET_BEYOND_END: Code = Code::new("OFFSET_BEYOND_END", "Choose a smaller --offset.");
/// The answer could not be written to standard output.
pub const OUTPUT_ERROR: Code = Code::new("OUTPUT_ERROR", "Check where standard output goes: the disk may be full.");
/// A defect of the tool itself.
pub const INTERNAL_ERROR: Code =
    Code::new("INTERNAL_ERROR", "This is a defect in the tool: please report it with the command line used.");

/// The most that one text of an error costs, in characters of ASCII JSON.
///
/// What the caller wrote is quoted in errors, and may be of any length. A message, an advice and
/// two facts of this length still stay below [`crate::OUTPUT_LIMIT`].
const TEXT_LIMIT: usize = 6_000;

/// A stable name for one kind of failure, and the advice that usually helps.
///
/// A code is declared beside the code that can fail with it, and listed in [`crate::Tool::ERRORS`]
/// by every tool that can print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    name: &'static str,
    remedy: &'static str,
}

impl Code {
    /// A code called `name`, with the advice that holds unless an error brings its own.
    pub const fn new(name: &'static str, remedy: &'static str) -> Self {
        Self { name, remedy }
    }

    /// The name as clients see it, such as `FILE_NOT_FOUND`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// An error of this kind.
    pub fn error(self, message: impl Into<String>) -> Error {
        Error(Box::new(Failure {
            status: "error",
            error_code: self.name,
            message: bounded(message.into()),
            remediation_suggestion: self.remedy.into(),
            details: Map::new(),
        }))
    }
}

/// Why a tool stopped. It serializes to the object that clients read on standard error.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Error(Box<Failure>);

#[derive(Clone, Debug, Serialize)]
struct Failure {
    status: &'static str,
    error_code: &'static str,
    message: String,
    remediation_suggestion: String,
    details: Map<String, Value>,
}

impl Error {
    /// The same error with other advice than its code's.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remediation_suggestion = bounded(remedy.into());
        self
    }

    /// The same error with one more fact for programs.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => bounded(text).into(),
            other => other,
        };
        self.0.details.insert(name.to_owned(), value);
        self
    }

    /// The name of the code.
    pub fn code(&self) -> &'static str {
        self.0.error_code
    }

    /// Whether this is an error of kind `code`.
    pub fn is(&self, code: Code) -> bool {
        self.0.error_code == code.name
    }

    /// What happened, for people and models.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The facts for programs.
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.details
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.0.error_code, self.0.message)
    }
}

impl std::error::Error for Error {}

/// `text`, cut to what an error may hold.
fn bounded(mut text: String) -> String {
    let mut left = TEXT_LIMIT;
    let end = text.char_indices().find_map(|(at, c)| {
        let cost = match c {
            '"' | '\\' => 2,
            ' '..='~' => 1,
            _ => 6 * c.len_utf16(),
        };
        match left.checked_sub(cost) {
            Some(rest) => left = rest,
            None => return Some(at),
        }
        None
    });
    if let Some(end) = end {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        OUTPUT_LIMIT,
        json::{Charset, cost},
    };
    use proptest::prelude::*;

    #[test]
    fn an_error_serializes_to_what_clients_read() {
        const GONE: Code = Code::new("GONE", "Look elsewhere.");
        let error = GONE.error("it is gone").detail("path", "a b.md");
        let expected = serde_json::json!({
            "status": "error", "error_code": "GONE", "message": "it is gone",
            "remediation_suggestion": "Look elsewhere.", "details": {"path": "a b.md"},
        });
        assert_eq!(serde_json::to_value(&error).unwrap(), expected);
        assert!(error.is(GONE));
        let other = serde_json::to_value(error.remedy("Wait.")).unwrap();
        assert_eq!(other["remediation_suggestion"], "Wait.");
    }

    proptest! {
        #[test]
        fn what_the_caller_wrote_does_not_flood_the_client(text in ".{0,9}", times in 0..20_000_usize) {
            let long = text.repeat(times);
            let error = ARGUMENT_ERROR.error(&long).remedy(&long).detail("argument", long.clone()).detail("value", long.clone());
            prop_assert!(cost(&error, Charset::Ascii) < OUTPUT_LIMIT);
            prop_assert!(long.len() > 1_000 || error.message() == long);
        }
    }
}
