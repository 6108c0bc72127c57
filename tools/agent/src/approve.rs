//! Approval: decides which calls run, which need a person's approval, and which are refused.
//!
//! A call that changes nothing, or only adds to the tools' own data, runs without approval. A call that may destroy
//! something needs approval. Arguments are written by the model, so no argument counts as an approval.

use std::collections::HashSet;

use ragmaker_config::{Approve, Commands};
use ragmaker_tool::{Approval, Error};
pub(crate) use ragmaker_tool::{DENIED_BY_USER, NEEDS_APPROVAL};
use serde_json::Value;

use crate::tools::AvailableTool;

/// The remedy for a refusal when nobody can be asked.
const NOBODY: &str = "Nobody can be asked here. Do without it, and say in the answer what could not be done: the person can \
    allow it with --approve all.";

/// The decision about a call.
#[derive(Debug)]
pub(crate) enum CallDecision {
    /// It runs, with this said of it to the tool.
    Run(Approval),
    /// A person is asked; this is what the call would do.
    Ask(String),
    /// It is refused.
    Refuse(Error),
}

/// The calls that are approved together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ApprovalScope {
    /// All of a tool.
    Tool(String),
    /// Command lines that are one plain command and begin with these words.
    Words(Vec<String>, bool),
    /// This line, in any folder, from the configuration.
    Text(String, bool),
    /// This line, in this folder.
    Line(String, String, bool),
}

/// The rules, and what a person has approved for the rest of the conversation.
#[derive(Debug)]
pub(crate) struct Approvals {
    mode: Approve,
    configured: HashSet<ApprovalScope>,
    always: HashSet<ApprovalScope>,
}

impl Approvals {
    /// The rules of `mode`, where a person can be asked if `can_ask`. The configured commands are approved from the
    /// beginning: programs with their first words, and the lines themselves.
    pub(crate) fn new(mode: Approve, can_ask: bool, commands: &Commands) -> Self {
        // Without a terminal nobody can be asked, and input from a pipe is not an answer.
        let mode = if mode == Approve::Ask && !can_ask { Approve::Never } else { mode };
        let kinds = |line: &String| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            let text = line.trim().to_owned();
            (!words.is_empty())
                .then_some([ApprovalScope::Words(words, commands.network), ApprovalScope::Text(text, commands.network)])
                .into_iter()
                .flatten()
        };
        let configured: HashSet<_> = commands.allow.iter().flat_map(kinds).collect();
        Self { mode, always: configured.clone(), configured }
    }

    /// The decision about a call of `tool`.
    pub(crate) fn verdict(&self, tool: &AvailableTool) -> CallDecision {
        let refuse =
            |what: &str| CallDecision::Refuse(NEEDS_APPROVAL.error(format!("{} {what}", tool.name())).remedy(NOBODY));
        let approves_all = self.mode == Approve::All;
        if tool.asks_itself() {
            // It runs what only reads, and fails where it needs an approval.
            return CallDecision::Run(if approves_all { Approval::Granted } else { Approval::Pending });
        }
        match self.mode {
            _ if tool.is_read_only() => CallDecision::Run(Approval::Pending),
            Approve::Read => refuse("changes something, and only reading is allowed"),
            _ if !tool.is_destructive() || approves_all => CallDecision::Run(Approval::Granted),
            _ if self.is_known(tool, &Value::Null) => CallDecision::Run(Approval::Granted),
            Approve::Never => refuse(&format!("{}, which needs approval", tool.risk())),
            _ => CallDecision::Ask(tool.risk()),
        }
    }

    /// Whether a person can be asked.
    pub(crate) fn may_ask(&self) -> bool {
        self.mode == Approve::Ask
    }

    /// Whether a call that needs approval has it already.
    pub(crate) fn covers(&self, tool: &AvailableTool, details: &Value) -> bool {
        self.mode != Approve::Read && self.is_known(tool, details)
    }

    /// Whether a person approved all calls of this kind.
    fn is_known(&self, tool: &AvailableTool, details: &Value) -> bool {
        let network = details["network"] == true;
        let words = words(details);
        self.always.iter().any(|kind| match kind {
            // Without the network it can do less.
            ApprovalScope::Words(first, with_network) => words.starts_with(first) && *with_network >= network,
            ApprovalScope::Text(line, with_network) => {
                details["command"].as_str().is_some_and(|command| command.trim() == line) && *with_network >= network
            }
            kind => *kind == self::kind(tool, details),
        })
    }

    /// Forgets what a person approved, for a new conversation.
    pub(crate) fn forget(&mut self) {
        self.always.clone_from(&self.configured);
    }

    /// Approves all calls of this kind for the rest of the conversation.
    pub(crate) fn always(&mut self, tool: &AvailableTool, details: &Value) {
        self.always.insert(kind(tool, details));
    }
}

/// The calls that are approved together with this one: the calls of a tool, or the plain commands with the same program
/// and subcommand. A line that is more than one plain command, or whose beginning does not say what it does, is
/// approved only for itself.
pub(crate) fn kind(tool: &AvailableTool, details: &Value) -> ApprovalScope {
    let Some(line) = details["command"].as_str() else { return ApprovalScope::Tool(tool.name().to_owned()) };
    let network = details["network"] == true;
    let alike = details["alike"].as_u64().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0);
    match alike.and_then(|count| words(details).get(..count).map(<[String]>::to_vec)) {
        Some(first) => ApprovalScope::Words(first, network),
        None => ApprovalScope::Line(line.to_owned(), details["cwd"].as_str().unwrap_or_default().to_owned(), network),
    }
}

/// The words of a line that is one plain command and may be approved by its beginning; empty otherwise.
fn words(details: &Value) -> Vec<String> {
    let words = details["words"].as_array().into_iter().flatten();
    words.map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
}

impl std::fmt::Display for ApprovalScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tool(name) => f.write_str(name),
            Self::Words(words, _) => f.write_str(&words.join(" ")),
            Self::Text(line, _) => f.write_str(line),
            Self::Line(..) => f.write_str("this line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{RegistrySettings, Tools};
    use ragmaker_registry::Selection;
    use ragmaker_tool::HostOptions;
    use serde_json::json;

    fn tools() -> Tools {
        Tools::new(&Selection::new(None, None, false).unwrap(), vec![], RegistrySettings::of(HostOptions::default()))
    }

    fn commands(allow: &[&str]) -> Commands {
        Commands { allow: allow.iter().map(|&line| line.to_owned()).collect(), timeout_s: 120, network: false }
    }

    fn line(words: &[&str], network: bool) -> Value {
        let alike = words.get(1).is_some_and(|first| !first.starts_with('-')).then_some(2);
        json!({"command": words.join(" "), "cwd": "/p", "network": network, "words": words, "alike": alike})
    }

    #[test]
    fn a_program_is_approved_with_its_first_words() {
        let tools = tools();
        let tool = tools.find("write_file").unwrap();
        let allowed = commands(&["cargo test", " "]);
        let mut approvals = Approvals::new(Approve::Ask, true, &allowed);
        assert!(!Approvals::new(Approve::Read, true, &allowed).covers(tool, &line(&["cargo", "test"], false)));
        assert!(Approvals::new(Approve::Never, false, &allowed).covers(tool, &line(&["cargo", "test"], false)));
        assert!(approvals.is_known(tool, &line(&["cargo", "test", "--lib"], false)));
        for unknown in [
            line(&["cargo", "test"], true),
            line(&["cargo", "tests"], false),
            line(&["rm", "cargo", "test"], false),
            json!({"command": "cargo test; rm x", "cwd": "/p", "network": false, "words": null}),
            json!({}),
        ] {
            assert!(!approvals.is_known(tool, &unknown), "{unknown}");
        }
        // What runs others has no words, and is approved as it was written.
        let find = |line: &str| json!({"command": line, "cwd": "/p", "network": false, "words": null, "alike": null});
        let listed = Approvals::new(Approve::Ask, true, &commands(&["find . -delete"]));
        assert!(listed.is_known(tool, &find("find . -delete")) && !listed.is_known(tool, &find("find . -delete -x")));
        approvals.always(tool, &find("timeout 5 find . -name x"));
        assert!(approvals.is_known(tool, &find("timeout 5 find . -name x")));
        assert!(!approvals.is_known(tool, &find("timeout 5 rm -rf src")));
        approvals.always(tool, &line(&["rm", "-rf", "target"], false));
        assert!(approvals.is_known(tool, &line(&["rm", "-rf", "target"], false)));
        assert!(!approvals.is_known(tool, &line(&["rm", "-rf", "src"], false)));
        approvals.always(tool, &line(&["git", "push"], true));
        assert!(approvals.is_known(tool, &line(&["git", "push", "origin"], true)));
        assert!(approvals.is_known(tool, &line(&["git", "push"], false)));
        assert!(!approvals.is_known(tool, &Value::Null));
        approvals.always(tool, &Value::Null);
        assert!(approvals.is_known(tool, &Value::Null));
        approvals.forget();
        assert!(approvals.is_known(tool, &line(&["cargo", "test"], false)));
        assert!(!approvals.is_known(tool, &line(&["git", "push"], false)) && !approvals.is_known(tool, &Value::Null));
    }

    #[test]
    fn approval_depends_on_the_effects_of_a_call() {
        let tools = tools();
        for (mode, can_ask, read, add, destroy) in [
            (Approve::Ask, true, "run", "run", "ask"),
            (Approve::Ask, false, "run", "run", "refuse"),
            (Approve::Read, true, "run", "refuse", "refuse"),
            (Approve::Never, true, "run", "run", "refuse"),
            (Approve::All, false, "run", "run", "run"),
        ] {
            let approvals = Approvals::new(mode, can_ask, &commands(&[]));
            for (name, expected) in [("read_file", read), ("create_directory", add), ("delete_file", destroy)] {
                let verdict = match approvals.verdict(tools.find(name).unwrap()) {
                    CallDecision::Run(_) => "run",
                    CallDecision::Ask(_) => "ask",
                    CallDecision::Refuse(error) => {
                        assert!(error.is(NEEDS_APPROVAL));
                        "refuse"
                    }
                };
                assert_eq!(verdict, expected, "{name} with {mode:?}");
            }
        }
    }
}
