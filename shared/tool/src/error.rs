//! Errors as values: a stable code, a message, and a remedy.

use serde::Serialize;
use serde_json::{Map, Value};

/// The arguments cannot be used as they are. Every tool can fail with it; its exit status is 2.
pub const ARGUMENT_ERROR: Code =
    Code::new("ARGUMENT_ERROR", "Run the tool with --help or --describe to see its arguments.");
/// The requested page starts after the last element.
pub const OFFSET_BEYOND_END: Code = Code::new("OFFSET_BEYOND_END", "Choose a smaller --offset.");
/// Nothing on the page matches a selector.
pub const SELECTOR_NOT_FOUND: Code =
    Code::new("SELECTOR_NOT_FOUND", "Check the selector against the page, or leave it out.");
/// The answer could not be written to standard output.
pub const OUTPUT_ERROR: Code = Code::new("OUTPUT_ERROR", "Check where standard output goes: the disk may be full.");
/// A defect of the tool itself.
pub const INTERNAL_ERROR: Code =
    Code::new("INTERNAL_ERROR", "This is a bug in the tool: please report it with the command line used.");

/// The maximum length of one text of an error, in characters of ASCII JSON.
///
/// Errors quote what the caller wrote, which may be of any length. A message, a remedy and two details of
/// this length stay below [`crate::OUTPUT_LIMIT`].
pub(crate) const TEXT_LIMIT: usize = 6_000;

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

    /// The advice that holds unless an error brings its own.
    pub const fn remedy(self) -> &'static str {
        self.remedy
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

/// The error with which a tool fails. It serializes to the object that clients read on standard error.
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
    /// Replaces the remedy of the code by another one.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remediation_suggestion = bounded(remedy.into());
        self
    }

    /// Replaces the remedy, if the error has `code`.
    #[must_use]
    pub fn remedy_for(self, code: Code, remedy: impl Into<String>) -> Self {
        if self.is(code) { self.remedy(remedy) } else { self }
    }

    /// Adds a fact for programs.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => bounded(text).into(),
            other => other,
        };
        self.0.details.insert(name.to_owned(), value);
        self
    }

    /// Replaces every text of the error by the result of `rewrite`, for example to remove keys.
    #[must_use]
    pub fn rewritten(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        self.0.message = bounded(rewrite(&self.0.message));
        self.0.remediation_suggestion = bounded(rewrite(&self.0.remediation_suggestion));
        for value in self.0.details.values_mut() {
            if let Value::String(text) = value {
                *text = bounded(rewrite(text));
            }
        }
        self
    }

    /// Whether the remedy is still the one of `code`.
    pub(crate) fn has_remedy_of(&self, code: Code) -> bool {
        self.is(code) && self.0.remediation_suggestion == code.remedy
    }

    /// Replaces the message and the remedy by the results of `text`, which also takes the values of the caller that
    /// they may quote. Replaces each name of an argument in the details for which `name` has another.
    #[must_use]
    pub(crate) fn respelled(
        mut self,
        text: impl Fn(&str, &[String]) -> String,
        name: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut values = vec![];
        for (key, value) in &mut self.0.details {
            if OF_ARGUMENTS.contains(&key.as_str()) {
                respell_names(value, &name);
            } else {
                add_texts(value, &mut values);
            }
        }
        self.0.message = text(&self.0.message, &values);
        self.0.remediation_suggestion = text(&self.0.remediation_suggestion, &values);
        self
    }

    /// The name of the code.
    pub fn code(&self) -> &'static str {
        self.0.error_code
    }

    /// Whether a policy of the host forbids the call: the code ends with `_NOT_ALLOWED`.
    pub fn is_not_allowed(&self) -> bool {
        self.code().ends_with("_NOT_ALLOWED")
    }

    /// Whether this is an error of kind `code`.
    pub fn is(&self, code: Code) -> bool {
        self.0.error_code == code.name
    }

    /// The description of the error, for people and models.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The remedy.
    pub fn remediation(&self) -> &str {
        &self.0.remediation_suggestion
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

/// The details that have names of arguments. The others have values, such as a file whose name is `--path`.
const OF_ARGUMENTS: [&str; 3] = ["argument", "missing", "nearest"];

/// Adds the texts of a detail to `texts`.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        _ => {}
    }
}

/// Replaces the spelling of options in a detail. Only texts that are exactly an option are replaced.
fn respell_names(value: &mut Value, spell: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => *text = spell(text).unwrap_or_else(|| std::mem::take(text)),
        Value::Array(values) => values.iter_mut().for_each(|value| respell_names(value, spell)),
        _ => {}
    }
}

/// `text`, cut to what an error may contain.
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
        fn long_input_is_truncated_in_errors(text in ".{0,9}", times in 0..20_000_usize) {
            let long = text.repeat(times);
            let error = ARGUMENT_ERROR.error(&long).remedy(&long).detail("argument", long.clone()).detail("value", long.clone());
            prop_assert!(cost(&error, Charset::Ascii) < OUTPUT_LIMIT);
            prop_assert!(long.len() > 1_000 || error.message() == long);
        }
    }
}
