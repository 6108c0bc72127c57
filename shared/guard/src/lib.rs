//! The classification of shell lines: run without approval, ask a person first, or block.
//!
//! A line is parsed, not matched against patterns: of 70 harmful lines, a list of patterns stopped 9, and a strict list
//! of allowed lines stopped all 70. [`classify`] blocks lines that nobody should approve (`harm`). It runs lines in a
//! small grammar (`plain`) whose programs only read (`programs`) and whose paths the agent may read. For all other
//! lines, it asks.

mod alike;
mod git;
mod grammar;
mod harm;
mod paths;
mod programs;
mod reading;
mod scope;
mod syntax;
mod word;

pub use scope::Scope;

use serde::Serialize;

/// The verdict on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineVerdict {
    /// The line only reads, and may run without approval.
    Run,
    /// A person has to approve it.
    Ask,
    /// The line is refused, even with approval.
    Block,
}

/// The files with keys that a line could read without naming them, so that its check does not find them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hides {
    /// None: it searches no folders, and Git would report a hidden file as changed.
    Nothing,
    /// It reads only files that it names, so it is enough to hide those at the top.
    #[default]
    Top,
    /// It searches folders: all of them have to be hidden, or a person has to approve it.
    Everywhere,
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The verdict.
    pub verdict: LineVerdict,
    /// The identifier of the rule that decided, such as `delete-root`; stable.
    pub rule: &'static str,
    /// The effects of the line, for the person who decides; the deciding reason is first.
    pub reasons: Vec<String>,
    /// The words of a line that is a single plain command without redirects, without wrappers such as `timeout`. A host
    /// may approve lines by the words that they begin with. `None` if the beginning does not say what a line does.
    pub words: Option<Vec<String>>,
    /// The number of these words that stand for all lines like it, such as 2 for `cargo test --lib`. `None` if the line
    /// is like itself only.
    pub alike: Option<usize>,
    /// The files with keys in the project that have to be hidden from a line that runs without approval.
    pub hides: Hides,
}

/// The longest line in bytes. Linux limits an argument to 128 KiB.
pub const MAX_LINE: usize = 100_000;

/// The reason why a line is not run without approval, or is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The identifier of the rule.
    pub(crate) rule: &'static str,
    /// The effect of the line.
    pub(crate) text: String,
}

impl Reason {
    pub(crate) fn new(rule: &'static str, text: impl Into<String>) -> Self {
        Self { rule, text: text.into() }
    }
}

/// Classifies `line` as a shell would run it in the directory of `scope`.
///
/// The file system is read to resolve paths and patterns. Of a line with `git`, Git itself is asked which files it
/// would print; otherwise nothing is run. A line that cannot be parsed or that
/// calls unknown programs never runs without approval.
pub fn classify(line: &str, scope: &Scope) -> Classification {
    let asked = |verdict, reason: Reason, more: Vec<String>, words: Option<Vec<String>>| Classification {
        verdict,
        rule: reason.rule,
        reasons: std::iter::once(reason.text).chain(more).collect(),
        alike: alike_of(words.as_deref()),
        hides: Hides::default(),
        words,
    };
    if line.len() > MAX_LINE {
        let reason = Reason::new("too-long", format!("it has more than {MAX_LINE} bytes"));
        return asked(LineVerdict::Block, reason, vec![], None);
    }
    if line.contains('\0') {
        return asked(LineVerdict::Block, Reason::new("no-text", "it has a NUL character in it"), vec![], None);
    }
    let Some(tree) = syntax::parse(line) else {
        return asked(LineVerdict::Ask, Reason::new("syntax", "it cannot be parsed"), vec![], None);
    };
    let harm = harm::find(line, &tree, scope);
    let plain = grammar::parts(line, &tree);
    let words = plain.as_ref().ok().and_then(|parts| grammar::only_command(parts)).and_then(alike::words);
    if let Some(reason) = harm.block {
        // Its other effects would hide the reason why nobody may approve it.
        return asked(LineVerdict::Block, reason, vec![], words);
    }
    let checked = plain.and_then(|parts| {
        grammar::check(&parts, scope)?;
        let reading = reading::of(&parts, scope);
        match (reading.trees, reading.tracked_secrets) {
            (true, true) => Err(Reason::new("secret", "it searches folders in which Git tracks files with keys")),
            (true, false) => Ok(Hides::Everywhere),
            (false, true) => Ok(Hides::Nothing),
            (false, false) => Ok(Hides::Top),
        }
    });
    match checked {
        Ok(hides) => {
            let alike = alike_of(words.as_deref());
            Classification { verdict: LineVerdict::Run, rule: "read-only", reasons: vec![], words, alike, hides }
        }
        Err(reason) => asked(LineVerdict::Ask, reason, harm.notes, words),
    }
}

/// The number of the words that stand for all lines like theirs.
fn alike_of(words: Option<&[String]>) -> Option<usize> {
    words.and_then(alike::beginning).map(<[String]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_no_shell_takes_is_blocked_or_asked_about() {
        let (_folder, scope) = Scope::of_project(&["a.md"]);
        let of = |line: &str| {
            let found = classify(line, &scope);
            (found.verdict, found.rule)
        };
        assert_eq!(of(&"a".repeat(MAX_LINE + 1)), (LineVerdict::Block, "too-long"));
        assert_eq!(of("cat a.md\0"), (LineVerdict::Block, "no-text"));
        assert_eq!(of("cat 'a.md"), (LineVerdict::Ask, "syntax"));
        assert_eq!(of("cat a.md\r\n").0, LineVerdict::Ask);
        assert_eq!(of("cat a.md"), (LineVerdict::Run, "read-only"));
    }

    #[test]
    fn a_person_is_told_the_reason_first_and_lines_alike_have_their_beginning() {
        let (_folder, scope) = Scope::of_project(&["a.md"]);
        let found = classify("cargo test --lib > out", &scope);
        assert_eq!((found.verdict, found.words), (LineVerdict::Ask, None));
        let found = classify("cargo test --lib", &scope);
        assert_eq!((found.words.unwrap().join(" ").as_str(), found.alike), ("cargo test --lib", Some(2)));
        let found = classify("rm -rf / && touch x", &scope);
        assert_eq!((found.verdict, found.reasons.len()), (LineVerdict::Block, 1));
        let found = classify("sort a.md -o b.md", &scope);
        assert_eq!((found.verdict, found.alike), (LineVerdict::Ask, None));
        assert_eq!(classify("rg x", &scope).hides, Hides::Everywhere);
        assert_eq!(classify("cat a.md", &scope).hides, Hides::Top);
    }
}
