//! Questions to the person about calls, and what follows from the replies.

use ragmaker_model::{CANCELLED, Call};
use ragmaker_tool::{Approval, Error};
use serde_json::Value;

use crate::{
    agent::Agent,
    approve::{DENIED_BY_USER, kind},
    machine::{Decision, Event},
    sanitize,
    terminal::{Question, Reply, object, spelled},
    tools::{AvailableTool, ToolOutcome},
};

impl Agent {
    /// Asks a person whether `call` may run, which they may change. `Err` is the outcome of a call that may not.
    pub(crate) fn ask(
        &mut self,
        tool: &AvailableTool,
        call: &mut Call,
        what: &str,
    ) -> Result<Result<Approval, ToolOutcome>, Error> {
        let question = Question {
            title: &format!("{} {what}", tool.name()),
            details: &spelled(&call.arguments),
            is_whole: false,
            kind: &kind(tool, &Value::Null).to_string(),
            editable: &sanitize::visible_json(&call.arguments.to_string()),
        };
        let reply = self.terminal.ask(&question, object);
        self.replied(tool, call, reply, &Value::Null)
    }

    /// Asks about what a tool said that it needs approval for.
    pub(crate) fn ask_again(
        &mut self,
        tool: &AvailableTool,
        call: &mut Call,
        error: &Value,
    ) -> Result<Result<Approval, ToolOutcome>, Error> {
        let details = &error["details"];
        let line = call.arguments["command"].as_str();
        // What decides which later lines are approved as well is said by the choice "always".
        let mut shown = details.clone();
        if let Some(members) = shown.as_object_mut() {
            members.retain(|name, _| name != "words" && name != "alike");
        }
        let question = Question {
            title: &format!("{}: {}", tool.name(), error["message"].as_str().unwrap_or_default()),
            details: &spelled(&shown),
            is_whole: true,
            kind: &kind(tool, details).to_string(),
            // What was invisible is edited as the text that the person sees.
            editable: &line.map_or_else(|| sanitize::visible_json(&call.arguments.to_string()), sanitize::visible),
        };
        let (is_line, mut arguments) = (line.is_some(), call.arguments.clone());
        let reply = self.terminal.ask(&question, |text| {
            if !is_line {
                return object(text);
            }
            arguments["command"] = text.into();
            Ok(arguments.clone())
        });
        self.replied(tool, call, reply, details)
    }

    fn replied(
        &mut self,
        tool: &AvailableTool,
        call: &mut Call,
        reply: Reply,
        details: &Value,
    ) -> Result<Result<Approval, ToolOutcome>, Error> {
        let id = call.id.clone();
        let (decision, reason) = match reply {
            Reply::Yes => (Decision::Approved, String::new()),
            Reply::Always => {
                self.approvals.always(tool, details);
                (Decision::Approved, "always".to_owned())
            }
            Reply::Edited(arguments) => {
                call.arguments = arguments;
                (Decision::Edited, call.arguments.to_string())
            }
            Reply::No(words) => (Decision::Denied, words),
            Reply::Interrupted => {
                self.cancel.cancel();
                return Ok(Err(ToolOutcome::refused(CANCELLED.error("interrupted by the user"))));
            }
        };
        self.take(Event::Approval { id, decision, reason: reason.clone() })?;
        if decision == Decision::Denied {
            let said = if reason.is_empty() { "without a word" } else { "and says" };
            let error = DENIED_BY_USER
                .error(format!("the person denied the call {said}: {reason}").trim_end_matches(": ").to_owned());
            return Ok(Err(ToolOutcome::refused(error.detail("words", reason))));
        }
        Ok(Ok(Approval::Granted))
    }

    pub(crate) fn refuse(&mut self, call: &Call, error: Error) -> Result<ToolOutcome, Error> {
        let reason = error.message().to_owned();
        self.take(Event::Approval { id: call.id.clone(), decision: Decision::Refused, reason })?;
        Ok(ToolOutcome::refused(error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ragmaker_testkit::folder;
    use serde_json::json;

    use super::*;
    use crate::agent::tests::{agent, call};

    /// What follows from `reply` to a question about a call that deletes a file, and the call afterwards.
    fn replied(agent: &mut Agent, reply: Reply) -> (Result<Approval, ToolOutcome>, Call) {
        let tools = Arc::clone(&agent.tools);
        let mut call = call("1", "delete_file", json!({"path": "a"}));
        let outcome = agent.replied(tools.find("delete_file").unwrap(), &mut call, reply, &Value::Null).unwrap();
        (outcome, call)
    }

    #[test]
    fn a_call_runs_only_where_the_person_says_so() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        assert!(matches!(replied(&mut agent, Reply::Yes).0, Ok(Approval::Granted)));
        let edited = json!({"path": "b"});
        let (outcome, call) = replied(&mut agent, Reply::Edited(edited.clone()));
        assert!(matches!(outcome, Ok(Approval::Granted)) && call.arguments == edited);
        for (words, message) in [("", "the person denied the call without a word"), ("not b", "and says: not b")] {
            let denied = replied(&mut agent, Reply::No(words.into())).0.unwrap_err();
            let error: Value = serde_json::from_str(&denied.text).unwrap();
            assert_eq!((&error["error_code"], &error["details"]["words"]), (&"DENIED_BY_USER".into(), &words.into()));
            assert!(error["message"].as_str().unwrap().ends_with(message), "{error}");
        }
        assert!(!agent.cancel.is_cancelled());
        let interrupted = replied(&mut agent, Reply::Interrupted).0.unwrap_err();
        assert!(interrupted.error_code.as_deref() == Some(CANCELLED.name()) && agent.cancel.is_cancelled());
    }

    #[test]
    fn always_covers_later_calls_and_yes_does_not() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        let tools = Arc::clone(&agent.tools);
        let tool = tools.find("delete_file").unwrap();
        for (reply, is_covered) in [(Reply::Yes, false), (Reply::Always, true)] {
            assert!(replied(&mut agent, reply).0.is_ok());
            assert_eq!(agent.approvals.covers(tool, &Value::Null), is_covered);
        }
    }

    #[test]
    fn nobody_to_ask_is_a_denial() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        let tools = Arc::clone(&agent.tools);
        let mut call = call("1", "delete_file", json!({"path": "a"}));
        let outcome = agent.ask(tools.find("delete_file").unwrap(), &mut call, "deletes").unwrap();
        assert_eq!(outcome.unwrap_err().error_code.as_deref(), Some(DENIED_BY_USER.name()));
    }
}
