//! The pattern of `--match`: a regular expression for links.

use std::{
    error::Error as _,
    time::{Duration, Instant},
};

use ragmaker_browser::{Link, codes::TIMEOUT};
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use regex_automata::nfa::thompson::{
    self,
    pikevm::{Cache, PikeVM},
};

/// The memory limit of a pattern, in bytes: the default of the regex crate.
const MOST: usize = 10 << 20;

/// A compiled pattern.
pub(crate) struct Pattern {
    machine: PikeVM,
    scratch: Cache,
}

impl Pattern {
    /// Compiles `text` in the syntax of the regex crate.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let limits = thompson::Config::new().nfa_size_limit(Some(MOST));
        let machine = PikeVM::builder().thompson(limits).build(text).map_err(|error| {
            // The parser's message has several lines; the last one states the problem.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ARGUMENT_ERROR
                .error(format!("--match cannot be {text:?}: {reason}"))
                .remedy("Write a regular expression in the syntax of Rust's regex crate.")
                .detail("argument", "--match")
        })?;
        Ok(Self { scratch: machine.create_cache(), machine })
    }

    /// Removes the links that do not match. The time depends on the sizes of the pattern and of the links;
    /// `time_limit` bounds it.
    pub(crate) fn keep_in(&mut self, links: &mut Vec<Link>, time_limit: Duration) -> Result<(), Error> {
        let until = Instant::now() + time_limit;
        let mut is_late = false;
        links.retain(|link| {
            is_late = is_late || Instant::now() > until;
            !is_late && self.is_in(link)
        });
        if is_late {
            return Err(TIMEOUT
                .error("to look for the pattern of --match in the page's links takes too long")
                .remedy("Give a pattern with fewer or smaller repetitions.")
                .detail("argument", "--match"));
        }
        Ok(())
    }

    /// Whether the pattern matches the text or the URL of `link`.
    fn is_in(&mut self, link: &Link) -> bool {
        [&link.text, &link.href].into_iter().any(|text| self.machine.is_match(&mut self.scratch, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_text_or_url() {
        let link = Link { text: "Ébène 日本".into(), href: "https://a.example/Docs/7".into() };
        for (pattern, expected) in [
            (r"docs/\d$", false),
            (r"(?i)docs/\d$", true),
            (r"(?i)^éBÈNE \p{Han}+$", true),
            (r"^\w+ \w+$", true),
            (r"\bÉbène\b\B", false),
            (r"\b7\b{end}", true),
            (r"^\p{Alphabetic}\p{Lowercase}", true),
            ("^Docs", false),
            ("", true),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().is_in(&link), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_over_the_time_limit_is_an_error() {
        let link = Link { text: "a long text ".repeat(20), href: "https://a.example/".into() };
        let mut links = vec![link; 5000];
        let mut slow = Pattern::new(r"([\x20-\x7e]{0,90}){100}Q").unwrap();
        let error = slow.keep_in(&mut links.clone(), Duration::from_millis(20)).unwrap_err();
        assert!(error.is(TIMEOUT), "{error}");
        Pattern::new("long").unwrap().keep_in(&mut links, Duration::from_hours(1)).unwrap();
        assert_eq!(links.len(), 5000);
    }

    #[test]
    fn an_invalid_or_too_large_pattern_has_a_one_line_error() {
        for (pattern, reason) in [("a(b", "unclosed group"), (r"\p{Nowhere}", "Unicode"), ("(a{1000}){1000}", "limit")]
        {
            let error = Pattern::new(pattern).err().unwrap();
            assert!(error.is(ARGUMENT_ERROR) && error.message().starts_with("--match cannot be \""), "{error}");
            assert!(error.message().contains(reason), "{error}");
            assert!(!error.message().contains('\n'), "{error}");
        }
    }
}
