//! The classification of shell lines: run without approval, ask a person first, or block.
//!
//! A line is parsed, not matched against patterns: of 70 harmful lines, a list of patterns stopped 9, and a strict list
//! of allowed lines stopped all 70. [`judge`] blocks lines that nobody should approve (`harm`). It runs lines in a
//! small grammar (`plain`) whose programs only read (`programs`) and whose paths the agent may read. For all other
//! lines, it asks.

mod git;
mod harm;
mod paths;
mod plain;
mod programs;
mod scope;
mod syntax;
mod word;

pub use scope::Scope;

use serde::Serialize;

/// What may be done with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It only reads, and may run unasked.
    Run,
    /// A person has to approve it.
    Ask,
    /// It is refused, whoever approves it.
    Block,
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What may be done with the line.
    pub verdict: Verdict,
    /// The rule that decided, such as `delete-root`; a stable name.
    pub rule: &'static str,
    /// What the line does, for the person who decides, the deciding reason first.
    pub reasons: Vec<String>,
    /// The words of a line that is one plain command without redirects; a host may approve further lines
    /// that begin with the same words.
    pub words: Option<Vec<String>>,
}

/// The longest line that is read, in bytes. Linux takes no argument of more than 128 KiB.
pub const LONGEST: usize = 100_000;

/// Why a line is not run unasked, or is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The name of the rule.
    pub(crate) rule: &'static str,
    /// What the line does.
    pub(crate) text: String,
}

impl Reason {
    pub(crate) fn new(rule: &'static str, text: impl Into<String>) -> Self {
        Self { rule, text: text.into() }
    }
}

/// Judges `line` as a shell would run it in the directory of `scope`.
///
/// The file system is read for what paths and patterns lead to; nothing is run. A line that cannot be
/// parsed, or calls what is not known, is never run unasked.
pub fn judge(line: &str, scope: &Scope) -> Judgement {
    let asked = |verdict, reason: Reason, more: Vec<String>, words| Judgement {
        verdict,
        rule: reason.rule,
        reasons: std::iter::once(reason.text).chain(more).collect(),
        words,
    };
    if line.len() > LONGEST {
        let reason = Reason::new("too-long", format!("it has more than {LONGEST} bytes"));
        return asked(Verdict::Block, reason, vec![], None);
    }
    if line.contains('\0') {
        return asked(Verdict::Block, Reason::new("no-text", "it has a NUL character in it"), vec![], None);
    }
    let Some(tree) = syntax::parse(line) else {
        return asked(Verdict::Ask, Reason::new("syntax", "it cannot be parsed"), vec![], None);
    };
    let harm = harm::look(line, &tree, scope);
    let plain = plain::parts(line, &tree);
    let words = plain.as_ref().ok().and_then(|parts| plain::only_command(parts));
    if let Some(reason) = harm.block {
        return asked(Verdict::Block, reason, harm.notes, words);
    }
    match plain.and_then(|parts| plain::check(&parts, scope)) {
        Ok(()) => Judgement { verdict: Verdict::Run, rule: "read-only", reasons: vec![], words },
        Err(reason) => asked(Verdict::Ask, reason, harm.notes, words),
    }
}
