//! The pattern of `--match`: a regular expression that links are held against.

use std::error::Error as _;

use ragmaker_browser::Link;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use regex_automata::nfa::thompson::{
    self,
    pikevm::{Cache, PikeVM},
};

/// The most memory in bytes that a pattern may take, which is what the regex crate grants one.
const MOST: usize = 10 << 20;

/// A pattern, ready to be searched for.
pub(crate) struct Pattern {
    machine: PikeVM,
    scratch: Cache,
}

impl Pattern {
    /// The pattern that `text` spells, in the syntax of the regex crate.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let limits = thompson::Config::new().nfa_size_limit(Some(MOST));
        let machine = PikeVM::builder().thompson(limits).build(text).map_err(|error| {
            // The parser's own words are in several lines, what is wrong in the last.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ARGUMENT_ERROR
                .error(format!("--match can not be {text:?}: {reason}"))
                .remedy("Write a regular expression in the syntax of Rust's regex crate.")
                .detail("argument", "--match")
        })?;
        Ok(Self { scratch: machine.create_cache(), machine })
    }

    /// Whether it is somewhere in the text or the address of `link`.
    pub(crate) fn is_in(&mut self, link: &Link) -> bool {
        [&link.text, &link.href].into_iter().any(|text| self.machine.is_match(&mut self.scratch, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_looked_for_in_text_and_address() {
        let link = Link { text: "Ébène 日本".into(), href: "https://a.example/Docs/7".into() };
        for (pattern, expected) in [
            (r"docs/\d$", false),
            (r"(?i)docs/\d$", true),
            (r"(?i)^éBÈNE \p{Han}+$", true),
            (r"^\w+ \w+$", true),
            ("^Docs", false),
            ("", true),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().is_in(&link), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_or_too_large_is_refused_in_one_line() {
        for (pattern, reason) in [("a(b", "unclosed group"), (r"\p{Nowhere}", "Unicode"), ("(a{1000}){1000}", "limit")]
        {
            let error = Pattern::new(pattern).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.message().starts_with("--match can not be \""), "{error}");
            assert!(error.message().contains(reason), "{error}");
            assert!(!error.message().contains('\n'), "{error}");
        }
    }
}
