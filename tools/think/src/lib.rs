//! `ragmaker-think`: records a reflection before the next step.
//!
//! A model that must write its judgement into a call judges before it answers. The reflection stays in the
//! conversation; the tool counts and stores it.

use argh::{ArgsInfo, FromArgs};
use ragmaker_project::Project;
use ragmaker_tool::{ARGUMENT_ERROR, Annotations, Code, Error, Invocation, JsonSchema, Tool, host};
use ragmaker_work_state::Conversation;
use serde::Serialize;

/// The maximum length in characters of a reflection.
const MAX_CHARACTERS: usize = 12_000;

/// Write down a reflection: after each round of results progress, findings, gaps and the next step; before a final
/// answer whether every statement has a source, every question is answered and nothing is invented. Plans and facts go
/// into `ragmaker-work`. Returns the number of reflections.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// progress, findings, gaps, next step; or a review of the draft
    #[argh(option)]
    pub reflection: String,
}

/// The confirmation.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Always true.
    pub recorded: bool,
    /// The number of reflections in the conversation.
    pub count: u64,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    // It changes nothing but the notes of its own conversation, which nobody has to approve.
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY.repeating();
    const HOST_OPTIONS: &'static [&'static str] = host::CONVERSATION;
    const OPERANDS: &'static [&'static str] = &["--reflection"];
    const ERRORS: &'static [&'static [Code]] = &[ragmaker_work_state::ERRORS, ragmaker_project::ERRORS];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        let refused =
            |what: &str| ARGUMENT_ERROR.error(format!("--reflection {what}")).detail("argument", "--reflection");
        if self.reflection.trim().is_empty() {
            return Err(refused("is empty").remedy("Write what was found, what is missing and what comes next."));
        }
        if self.reflection.chars().count() > MAX_CHARACTERS {
            return Err(refused(&format!("has more than {MAX_CHARACTERS} characters")).remedy("Shorten it."));
        }
        let project = Project::discover(invocation.host.project_root.as_deref())?;
        let conversation = Conversation::named(&project, invocation.host.conversation.as_deref())?;
        let (_, count) = conversation.change(|state| Ok(state.reflect(self.reflection)))?;
        Ok(Answer { recorded: true, count })
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;

    use super::*;

    #[test]
    fn a_refused_reflection_is_not_counted() {
        let (_holder, root) = folder("project");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let invocation = Invocation { host, ..Invocation::default() };
        let think = |reflection: String| Args { reflection }.run(&invocation).map(|answer| answer.count);
        // The limit is one of characters, not of bytes.
        assert_eq!(think("潮".repeat(MAX_CHARACTERS)).unwrap(), 1);
        for reflection in ["潮".repeat(MAX_CHARACTERS + 1), "\u{3000}\n".to_owned()] {
            let error = think(reflection).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--reflection", "{error}");
        }
        assert_eq!(think("b".to_owned()).unwrap(), 2);
    }
}
