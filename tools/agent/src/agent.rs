//! The driver: performs the effects of the state machine and returns their results to it as events.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

use ragmaker_model::{Answer, CANCELLED, Call, Cancel, Client, MODEL_ANSWER_INVALID, Progress, Request};
use ragmaker_project::Project;
use ragmaker_tool::{Approval, COMMAND_BLOCKED, Code, Error, INTERNAL_ERROR};
use ragmaker_work_state::{Conversation, Work, rendered};
use serde_json::{Value, json};

use crate::{
    approve::{Approvals, CallDecision, NEEDS_APPROVAL},
    compaction,
    known_keys::KnownKeys,
    log::Log,
    machine::{Decision, Effect, Event, INTERRUPTED, Note, State, Stop, next},
    prompts::{Language, PromptValues},
    rules::Rules,
    screen::Screen,
    session::{Session, WHOLE},
    terminal::Terminal,
    tools::{AvailableTool, ToolOutcome, Tools},
};

/// The turn took too many steps, or the same step again and again.
pub(crate) const STEP_LIMIT: Code =
    Code::new("STEP_LIMIT", "Request a smaller part, or raise --max-steps; the conversation can be resumed.");

/// The maximum number of characters of a result for the model.
const RESULT: usize = 30_000;
/// The characters of a longer one that stay, at its start and at its end.
const ENDS: (usize, usize) = (20_000, 8_000);

/// The number of calls that change nothing and run at the same time.
const AT_ONCE: usize = 8;

/// A conversation under way.
pub(crate) struct Agent {
    /// The project.
    pub(crate) project: Project,
    /// The state machine.
    pub(crate) state: State,
    /// Its limits.
    pub(crate) rules: Rules,
    /// The conversation's file.
    pub(crate) session: Session,
    /// The model.
    pub(crate) client: Client,
    /// The language of the instructions.
    pub(crate) language: Language,
    /// The tools.
    pub(crate) tools: Arc<Tools>,
    /// The rules of approval.
    pub(crate) approvals: Approvals,
    /// The terminal, for questions to the person.
    pub(crate) terminal: Terminal,
    /// The output.
    pub(crate) screen: Screen,
    /// The log of `--debug`.
    pub(crate) log: Log,
    /// Ends the step.
    pub(crate) cancel: Cancel,
    /// Removes API keys from a text.
    pub(crate) blank: Box<dyn Fn(&str) -> String + Send + Sync>,
    pub(crate) keys: KnownKeys,
    /// The calls of the last answer that contain keys, as the model wrote them. Only what is written down has no keys:
    /// a redacted call would write `[key]` into a file in place of a word that is also a key.
    pub(crate) calls_with_keys: Vec<Call>,
    /// The request of this turn, without piped input.
    pub(crate) request: String,
    /// The calls of this turn, for the JSON output.
    pub(crate) calls: Vec<Value>,
    /// The reason why the request to the model failed.
    pub(crate) failure: Option<Error>,
    /// Why a turn that was resumed ends at once.
    pub(crate) ended_by: Option<Stop>,
    /// The configured tools that cannot be offered, with the reasons.
    pub(crate) warnings: Vec<String>,
}

impl Agent {
    /// Goes on with what the person says, to the answer.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) fn say(&mut self, text: &str) -> Result<String, Error> {
        self.calls.clear();
        if self.state.announced.is_some() {
            // The program was ended before the message that this was about.
            self.take(Event::Checked)?;
        }
        let answer = self.turn(text)?;
        self.screen.answer(&answer);
        Ok(answer)
    }

    /// Performs a turn to its answer, which is not shown as the answer yet.
    pub(crate) fn turn(&mut self, text: &str) -> Result<String, Error> {
        let effects = self.take(Event::User { text: text.to_owned() })?;
        self.go(effects)
    }

    /// Continues an interrupted turn to its answer; `None` if no turn was interrupted.
    pub(crate) fn go_on(&mut self) -> Option<Result<String, Error>> {
        if let Some(stop) = self.ended_by.take() {
            return Some(Err(self.why(stop)));
        }
        let draft = match self.state.unfinished() {
            Some(effect) => self.go(vec![effect]),
            None => Ok(self.unchecked()?),
        };
        Some(draft.and_then(|draft| self.checked(draft)))
    }

    /// Writes down what happened, shows it, and returns what is to be done.
    pub(crate) fn take(&mut self, event: Event) -> Result<Vec<Effect>, Error> {
        let event = self.redacted(event);
        self.session.append(&event)?;
        self.screen.happened(&event);
        if self.log.is_on() {
            self.log.line(&self.state, "event", &json!({"event": event}), &self.blank);
        }
        let summary = match &event {
            Event::Summary { cut, text, .. } => Some((*cut, text.clone())),
            _ => None,
        };
        let (state, effects) = next(std::mem::take(&mut self.state), event, &self.rules);
        self.state = state;
        if let Some((cut, text)) = summary {
            self.report_summary(cut, &text);
        }
        if matches!(effects[..], [Effect::Answer(_) | Effect::Stop(_)]) {
            self.session.sync()?;
        }
        Ok(effects)
    }

    fn go(&mut self, mut effects: Vec<Effect>) -> Result<String, Error> {
        loop {
            let Some(effect) = effects.pop() else {
                return Err(INTERNAL_ERROR.error("the conversation stopped unexpectedly"));
            };
            let event = match effect {
                Effect::Decide => self.decide(),
                Effect::Run(calls) => {
                    effects = self.run(&calls)?;
                    continue;
                }
                Effect::Tell(note) => self.note(note),
                Effect::Summarise { cut, strict } => self.summarise(cut, strict),
                Effect::Shorten { cut } => self.shorten(cut)?,
                Effect::Answer(text) => return Ok(text),
                Effect::Stop(stop) => return Err(self.why(stop)),
            };
            effects = self.take(event)?;
        }
    }

    /// Adds a warning to the answer, and shows it.
    pub(crate) fn warn(&mut self, warning: String) {
        self.screen.dim(&format!("  {warning}"));
        self.warnings.push(warning);
    }

    /// Asks the model.
    fn decide(&mut self) -> Event {
        if let Some(broken) = self.state.history.broken() {
            let error = INTERNAL_ERROR.error(format!("the conversation cannot be sent: {broken}"));
            return self.failed(error);
        }
        let system = (self.blank)(&self.system());
        let request =
            Request { system: &system, messages: self.state.history.messages(), tools: self.tools.declarations() };
        self.log.request(&self.state, self.client.endpoint(), &request, &self.blank);
        let (screen, log, blank, state) = (&mut self.screen, &mut self.log, &self.blank, &self.state);
        let mut shown = String::new();
        let answer = self.client.complete(&request, &self.cancel, &mut |progress| match progress {
            Progress::Text(text) => {
                shown += text;
                screen.text(text);
            }
            Progress::Retry { number, wait, reason } => {
                shown.clear();
                log.line(state, "retry", &json!({"number": number, "reason": reason}), blank);
                screen.retry(number, wait, &blank(reason));
            }
        });
        self.screen.end_text(answer.is_ok());
        match answer {
            Ok(answer) => {
                let reason = match answer.stop {
                    ragmaker_model::Stop::End => None,
                    ragmaker_model::Stop::Length => Some("it reached the token limit"),
                    ragmaker_model::Stop::Filtered => Some("the provider withheld a part of it"),
                };
                let Answer { text, signatures, calls, usage, stop } = answer;
                if let Some(reason) = reason {
                    self.warn(format!("an answer of the model is incomplete: {reason}"));
                }
                Event::Assistant { text, signatures, calls, usage, stop }
            }
            Err(error) if error.is(CANCELLED) => Event::Interrupted { text: shown },
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: Error) -> Event {
        let event = Event::Failed { code: error.code().to_owned(), message: error.message().to_owned() };
        self.failure = Some(error);
        event
    }

    /// The instructions for the model.
    pub(crate) fn system(&self) -> String {
        let date = ragmaker_fs::rfc3339(SystemTime::now());
        self.language.system(&PromptValues {
            folder: &self.project.root().to_string_lossy(),
            date: date.get(..10).unwrap_or_default(),
            tools: &self.tools.names(),
            work: &rendered(&self.work()),
            request: &self.request,
        })
    }

    /// The plan, the todo list and the rest of the working state. A file that cannot be read counts as empty, because
    /// the tool `work` reports the error.
    pub(crate) fn work(&self) -> Work {
        let conversation = Conversation::named(&self.project, Some(self.session.id()));
        conversation.and_then(|conversation| conversation.state()).unwrap_or_default().work
    }

    fn note(&self, note: Note) -> Event {
        Event::Note { note, text: self.language.note(note) }
    }

    /// Runs calls, group by group; each gets a result, and what is to be done after the last is returned.
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Effect>, Error> {
        let mut effects = vec![];
        let tools = Arc::clone(&self.tools);
        let mut calls = Cow::Borrowed(calls);
        for written in &self.calls_with_keys {
            if let Some(call) = calls.to_mut().iter_mut().find(|call| call.id == written.id) {
                call.clone_from(written);
            }
        }
        for group in tools.groups(&calls) {
            let outcomes = match group {
                [call] => vec![self.alone(call)?],
                group => self.at_once(group),
            };
            let is_cancelled = self.cancel.is_cancelled();
            for (call, outcome) in group.iter().zip(outcomes) {
                // What was done before the step was ended has been done.
                if !is_cancelled || outcome.error_code.as_deref() != Some(CANCELLED.name()) {
                    effects = self.ended(call, &outcome)?;
                }
            }
            if is_cancelled {
                return self.take(Event::Interrupted { text: String::new() });
            }
        }
        Ok(effects)
    }

    /// Runs calls that change nothing, at the same time.
    fn at_once(&self, calls: &[Call]) -> Vec<ToolOutcome> {
        let outcomes: Vec<_> = calls.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..calls.len().min(AT_ONCE) {
                scope.spawn(|| {
                    while let Some((call, outcome)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        calls.get(at).zip(outcomes.get(at))
                    } {
                        let run = || self.tools.run(call, &Approval::Pending, &|| !self.cancel.is_cancelled());
                        let ended = self.cut_off(call).unwrap_or_else(run);
                        *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
                    }
                });
            }
        });
        let outcome = |outcome: Mutex<Option<ToolOutcome>>| {
            let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
            outcome.unwrap_or_else(|| ToolOutcome::refused(INTERNAL_ERROR.error("the call was lost")))
        };
        outcomes.into_iter().map(outcome).collect()
    }

    /// The outcome of a call that the model did not write to its end; `None` if it did.
    fn cut_off(&self, call: &Call) -> Option<ToolOutcome> {
        (self.state.is_cut_off && !call.arguments.is_object()).then(|| ToolOutcome::cut_off(call))
    }

    /// Runs a call, after its approval if it needs one.
    fn alone(&mut self, call: &Call) -> Result<ToolOutcome, Error> {
        if let Some(outcome) = self.cut_off(call) {
            return Ok(outcome);
        }
        let tools = Arc::clone(&self.tools);
        let tool = match tools.find(&call.name) {
            Ok(tool) => tool,
            Err(error) => return Ok(ToolOutcome::refused(error)),
        };
        let mut call = call.clone();
        let original = call.arguments.clone();
        let mut allowed_by = "rule";
        let mut approval = match self.approvals.verdict(tool) {
            CallDecision::Run(approval) => {
                if approval == Approval::Granted {
                    allowed_by = "mode";
                }
                approval
            }
            CallDecision::Refuse(error) => return self.refuse(&call, error),
            CallDecision::Ask(what) => match self.ask(tool, &mut call, &what)? {
                Ok(approval) => approval,
                Err(refused) => return Ok(refused),
            },
        };
        let mut is_edited = call.arguments != original;
        tools.complete(&mut call, approval == Approval::Granted);
        let cancel = self.cancel.clone();
        let goes_on = move || !cancel.is_cancelled();
        loop {
            let mut outcome = tools.run(&call, &approval, &goes_on);
            if is_edited {
                outcome.add("arguments_as_edited_by_the_person", &call.arguments);
            }
            if outcome.error_code.as_deref() != Some(NEEDS_APPROVAL.name()) || approval == Approval::Granted {
                self.log_gate(tool, &call, &outcome, Some(allowed_by));
                return Ok(outcome);
            }
            // Asked about as it would run.
            if tools.complete(&mut call, true) {
                continue;
            }
            // The tool itself says what there is to approve, and is called again with the answer.
            let error: Value = serde_json::from_str(&outcome.text).unwrap_or_default();
            if self.approvals.covers(tool, &error["details"]) {
                (approval, allowed_by) = (Approval::Granted, "earlier_approval");
                continue;
            }
            self.log_gate(tool, &call, &outcome, None);
            if !self.approvals.may_ask() {
                let reason = error["message"].as_str().unwrap_or_default().to_owned();
                self.take(Event::Approval { id: call.id, decision: Decision::Refused, reason })?;
                return Ok(outcome);
            }
            let asked = call.arguments.clone();
            match self.ask_again(tool, &mut call, &error)? {
                Ok(granted) => (approval, allowed_by) = (granted, "person"),
                Err(refused) => return Ok(refused),
            }
            is_edited |= call.arguments != asked;
        }
    }

    /// Logs how a tool classified a call, and who allowed a call that ran.
    fn log_gate(&mut self, tool: &AvailableTool, call: &Call, outcome: &ToolOutcome, allowed_by: Option<&str>) {
        let code = outcome.error_code.as_deref();
        if self.log.is_on() && tool.asks_itself() {
            let answer: Value = serde_json::from_str(&outcome.text).unwrap_or_default();
            let folder = answer["cwd"].as_str().or(answer["details"]["cwd"].as_str());
            let is_refused = code.is_some_and(|code| code == NEEDS_APPROVAL.name() || code == COMMAND_BLOCKED.name());
            let members = json!({
                "call": call.id, "tool": tool.name(), "command": call.arguments["command"], "folder": folder, "rule": outcome.rule,
                "allowed_by": allowed_by.filter(|_| !is_refused), "error_code": code,
            });
            self.log.line(&self.state, "gate", &members, &self.blank);
        }
    }
}

/// Recording of events, and failures.
impl Agent {
    /// Writes down how a call ended. What is too long for the model is kept in a file.
    fn ended(&mut self, call: &Call, outcome: &ToolOutcome) -> Result<Vec<Effect>, Error> {
        let redacted = self.without_keys(&call.arguments);
        let arguments = redacted.as_ref().unwrap_or(&call.arguments);
        self.calls.push(json!({"name": call.name, "arguments": arguments, "error_code": outcome.error_code}));
        let milliseconds = u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX);
        if self.log.is_on() {
            let answer: Value = serde_json::from_str(&outcome.text).unwrap_or_default();
            let members = json!({
                "call": call.id, "tool": call.name, "milliseconds": milliseconds, "exit_code": answer["exit_code"],
                "bytes": outcome.text.len(), "error_code": outcome.error_code,
            });
            self.log.line(&self.state, "call", &members, &self.blank);
        }
        let mut text = (self.blank)(&outcome.text);
        if text.chars().count() > RESULT {
            let path = self.session.keep(&call.id, &text)?;
            let (head, tail) = (compaction::first(&text, ENDS.0), compaction::last(&text, ENDS.1));
            let left_out = text.len() - head.len() - tail.len();
            text = format!("{head}\n[… {left_out} bytes left out; {WHOLE} {} …]\n{tail}", path.display());
        }
        let (id, name) = (call.id.clone(), call.name.clone());
        self.take(Event::ToolResult { id, name, text, is_error: outcome.is_error, milliseconds })
    }

    fn why(&mut self, stop: Stop) -> Error {
        match stop {
            Stop::Interrupted => CANCELLED.error("the step was ended"),
            Stop::Steps(steps) => STEP_LIMIT.error(format!("no answer after {steps} requests to the model")),
            Stop::Repeats(name) => STEP_LIMIT
                .error(format!("the model called {name} five times with the same result"))
                .remedy("Ask in other words, or use another model; the conversation can be resumed."),
            Stop::Empty => MODEL_ANSWER_INVALID
                .error("the model returned two empty answers")
                .remedy("Ask in other words, or use another model; the conversation can be resumed."),
            Stop::Failed => match self.failure.take() {
                Some(error) => error,
                None => INTERNAL_ERROR.error("the request to the model failed"),
            },
        }
    }
}

/// Start and resumption of a conversation.
impl Agent {
    /// The first object of the output for programs.
    pub(crate) fn described(&self, is_resumed: bool) -> Value {
        json!({
            "type": "session", "id": self.session.id(), "resumed": is_resumed, "model": self.client.endpoint().model,
            "tools": self.tools.declarations().len(), "warnings": self.warnings,
        })
    }

    /// Records results for interrupted calls, and returns the turn to its state.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let open: Vec<_> = self.state.history.open().into_iter().cloned().collect();
        for Call { id, name, .. } in open {
            let text = INTERRUPTED.to_owned();
            let effects = self.take(Event::ToolResult { id, name, text, is_error: true, milliseconds: 0 })?;
            if let [Effect::Stop(stop)] = &effects[..] {
                self.ended_by = Some(stop.clone());
            }
        }
        Ok(())
    }

    /// Begins a new conversation with the same settings.
    pub(crate) fn begin(&mut self, session: Session) {
        if let Some(tools) = Arc::get_mut(&mut self.tools) {
            tools.name_conversation(session.id());
        }
        self.log.name_conversation(session.id());
        self.approvals.forget();
        self.session = session;
        self.state = State::default();
        self.request.clear();
        self.calls.clear();
    }
}

#[cfg(test)]
pub(crate) mod tests;
