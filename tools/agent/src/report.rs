//! The report of a run: one JSON object, in whatever way the run ended.
//!
//! An answer goes to standard output, an error to standard error. A signal can force the end while the run reports
//! another one, so only the first report is made.

use std::{
    process::ExitCode,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ragmaker_model::CANCELLED;
use ragmaker_registry::{fail, print};
use ragmaker_tool::{
    Error,
    json::{self, Charset},
};
use serde_json::{Value, json};

use crate::{
    agent::Agent,
    screen::{self, Form},
    signal::Signal,
};

/// How a run ended that did not fail.
pub(crate) enum End {
    /// With this answer, as it is printed for programs.
    Answered(Value),
    /// The person left the conversation.
    Left,
}

impl End {
    /// The end with `answer`.
    pub(crate) fn answered(agent: &Agent, answer: &str) -> Self {
        Self::Answered(json!({
            "status": "success",
            "answer": answer,
            "steps": agent.state.all_steps(),
            "tool_calls": agent.calls,
            "usage": agent.state.usage,
            "session": agent.session.id(),
            "citations": agent.sources(answer),
            "warnings": agent.warnings,
        }))
    }
}

/// The report of this process.
#[derive(Debug)]
pub(crate) struct RunReport {
    form: Form,
    /// Whether a person holds a conversation, which needs no report.
    is_conversation: bool,
    is_made: Mutex<bool>,
}

impl RunReport {
    /// The report of a run whose output has this form.
    pub(crate) fn new(form: Form, is_conversation: bool) -> Self {
        Self { form, is_conversation, is_made: Mutex::new(false) }
    }

    /// Reports the end of the run, which `signal` asked for if there is one. Returns the exit status.
    pub(crate) fn end(&self, end: &Result<End, Error>, signal: Option<Signal>) -> ExitCode {
        let Some(_first) = self.first() else { return ExitCode::FAILURE };
        match end {
            Ok(End::Answered(answer)) if self.form == Form::Json => {
                let mut out = vec![];
                // Writing a value to memory cannot fail.
                let _ = json::write(answer, Charset::from_env(), &mut out);
                print(&String::from_utf8_lossy(&out))
            }
            Ok(End::Answered(_)) => ExitCode::SUCCESS,
            Ok(End::Left) => signal.map_or(ExitCode::SUCCESS, |signal| signal.status().into()),
            Err(error) => {
                let exit = self.failed(error);
                if error.is(CANCELLED) { signal.unwrap_or(Signal::INTERRUPT).status().into() } else { exit }
            }
        }
    }

    /// Reports that `signal` ended the run at once, unless another end is reported already.
    pub(crate) fn interrupted(&self, signal: Signal) {
        if let Some(_first) = self.first()
            && !self.is_conversation
        {
            self.failed(&signal.error());
        }
    }

    /// The right to report; `None` after the first time.
    fn first(&self) -> Option<MutexGuard<'_, bool>> {
        let mut is_made = self.is_made.lock().unwrap_or_else(PoisonError::into_inner);
        (!std::mem::replace(&mut *is_made, true)).then_some(is_made)
    }

    fn failed(&self, error: &Error) -> ExitCode {
        if self.form == Form::Jsonl {
            let mut line = serde_json::to_value(error.clone().for_person()).unwrap_or_default();
            line["type"] = "error".into();
            // Nobody may read it any more.
            let _ = screen::line(&line);
        }
        fail(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_reported_once() {
        let report = RunReport::new(Form::Json, true);
        assert!(report.first().is_some());
        assert!(report.first().is_none());
        // The second end is not reported, and fails.
        let end = report.end(&Ok(End::Left), None);
        assert_eq!(format!("{end:?}"), format!("{:?}", ExitCode::FAILURE));
    }
}
