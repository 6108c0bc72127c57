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
