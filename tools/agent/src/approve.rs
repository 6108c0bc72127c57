//! Which calls run unasked, which a person is asked about, and which are refused.
//!
//! A call that changes nothing, or only adds to what the tools themselves keep, runs unasked. What may destroy something
//! needs approval. Arguments come from the model, so nothing in them is an approval.

use std::collections::HashSet;

use ragmaker_config::Approve;
use ragmaker_tool::{Approval, Error};
pub(crate) use ragmaker_tool::{DENIED_BY_USER, NEEDS_APPROVAL};
use serde_json::Value;

use crate::offered::Offered;

/// What to do about a refusal where nobody can be asked.
const NOBODY: &str = "Nobody can be asked here. Do without it, and say in the answer what could not be done: the person can \
    allow it with --approve all.";

/// What is done about a call.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It runs, with this said of it to the tool.
    Run(Approval),
    /// A person is asked; this is what the call would do.
    Ask(String),
    /// It is refused.
    Refuse(Error),
}

/// The rules, and what a person has approved for the rest of the conversation.
#[derive(Debug)]
pub(crate) struct Approvals {
    mode: Approve,
    always: HashSet<String>,
}

impl Approvals {
    /// The rules of `mode`, where a person can be asked if `can_ask`.
    pub(crate) fn new(mode: Approve, can_ask: bool) -> Self {
        // Without a terminal nobody can be asked, and what comes through a pipe is no answer.
        let mode = if mode == Approve::Ask && !can_ask { Approve::Never } else { mode };
        Self { mode, always: HashSet::new() }
    }

    /// What is done about a call of `tool`.
    pub(crate) fn verdict(&self, tool: &Offered) -> Verdict {
        let refuse =
            |what: &str| Verdict::Refuse(NEEDS_APPROVAL.error(format!("{} {what}", tool.name())).remedy(NOBODY));
        let approves_all = self.mode == Approve::All;
        if tool.asks_itself() {
            // It runs what only reads, and fails where it needs an approval.
            return Verdict::Run(if approves_all { Approval::Granted } else { Approval::Pending });
        }
        match self.mode {
            _ if tool.is_read_only() => Verdict::Run(Approval::Pending),
            Approve::Read => refuse("changes something, and only reading is allowed"),
            _ if !tool.is_destructive() || approves_all => Verdict::Run(Approval::Granted),
            _ if self.is_known(tool, &Value::Null) => Verdict::Run(Approval::Granted),
            Approve::Never => refuse("may change or remove what is there, which needs approval"),
            _ => Verdict::Ask("may change or remove what is there".to_owned()),
        }
    }

    /// Whether a person can be asked.
    pub(crate) fn may_ask(&self) -> bool {
        self.mode == Approve::Ask
    }

    /// Whether a person approved all calls of this kind.
    pub(crate) fn is_known(&self, tool: &Offered, details: &Value) -> bool {
        self.always.contains(&Self::kind(tool, details))
    }

    /// Approves all calls of this kind for the rest of the conversation.
    pub(crate) fn always(&mut self, tool: &Offered, details: &Value) {
        let kind = Self::kind(tool, details);
        self.always.insert(kind);
    }

    /// The calls that are approved together with this one: those of a tool, or what the tool says itself.
    pub(crate) fn kind(tool: &Offered, details: &Value) -> String {
        details["kind"].as_str().map_or_else(|| tool.name().to_owned(), str::to_owned)
    }
}
