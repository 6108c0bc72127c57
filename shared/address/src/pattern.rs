//! Regular expressions that select addresses and names of links.

use std::{
    error::Error as _,
    fmt,
    sync::{Mutex, PoisonError},
};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use regex_automata::nfa::thompson::{
    self,
    pikevm::{Cache, PikeVM},
};

/// The memory limit of a pattern, in bytes: the default of the regex crate.
const MAX_MEMORY: usize = 10 << 20;

/// A compiled regular expression of a caller.
///
/// The time of a match is linear in the sizes of the pattern and of the text, whatever the caller writes.
pub struct Pattern {
    text: String,
    machine: PikeVM,
    scratch: Mutex<Cache>,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

impl Pattern {
    /// Compiles the value `text` of `argument`, in the syntax of the regex crate.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` with a reason of one line.
    pub fn new(argument: &str, text: &str) -> Result<Self, Error> {
        let limits = thompson::Config::new().nfa_size_limit(Some(MAX_MEMORY));
        let machine = PikeVM::builder().thompson(limits).build(text).map_err(|error| {
            // The parser's message has several lines; the last one states the problem.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ARGUMENT_ERROR
                .error(format!("{argument} cannot be {text:?}: {reason}"))
                .remedy("Write a regular expression in the syntax of Rust's regex crate.")
                .detail("argument", argument)
        })?;
        Ok(Self { text: text.to_owned(), scratch: Mutex::new(machine.create_cache()), machine })
    }

    /// The text that it was compiled from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches somewhere in `text`.
    pub fn is_in(&self, text: &str) -> bool {
        self.machine.is_match(&mut self.scratch.lock().unwrap_or_else(PoisonError::into_inner), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_unicode_classes_and_anchors() {
        for (pattern, text, expected) in [
            (r"docs/\d$", "https://a.example/Docs/7", false),
            (r"(?i)docs/\d$", "https://a.example/Docs/7", true),
            (r"(?i)^éBÈNE \p{Han}+$", "Ébène 日本", true),
            (r"^\w+ \w+$", "Ébène 日本", true),
            (r"\bÉbène\b\B", "Ébène 日本", false),
            (r"\b7\b{end}", "https://a.example/Docs/7", true),
            (r"^\p{Alphabetic}\p{Lowercase}", "Ébène", true),
            ("^Docs", "https://a.example/Docs/7", false),
            ("", "", true),
        ] {
            assert_eq!(Pattern::new("--match", pattern).unwrap().is_in(text), expected, "{pattern}");
        }
    }

    #[test]
    fn an_invalid_or_too_large_pattern_has_a_one_line_error() {
        for (pattern, reason) in [("a(b", "unclosed group"), (r"\p{Nowhere}", "Unicode"), ("(a{1000}){1000}", "limit")]
        {
            let error = Pattern::new("--match", pattern).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.message().starts_with("--match cannot be \""), "{error}");
            assert!(error.message().contains(reason) && error.details()["argument"] == "--match", "{error}");
            assert!(!error.message().contains('\n'), "{error}");
        }
    }
}
