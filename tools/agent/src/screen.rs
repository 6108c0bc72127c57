//! The output for a person or a program: text, one JSON value, or one JSON object per line.
//!
//! Answers go to standard output. Progress goes to standard error, and only if that is a terminal, so a program that
//! reads the streams gets exactly what the contract says. An event is shown after it was written to the conversation.

use std::{
    io::{self, IsTerminal, Write},
    str::FromStr,
    sync::OnceLock,
    time::Duration,
};

use ragmaker_model::Cancel;
use ragmaker_tool::{
    Error, OUTPUT_ERROR,
    json::{self, Charset},
};
use serde_json::{Value, json};

use crate::{
    machine::{Decision, Event, Note, WAIT_TURNS},
    markdown::Renderer,
    sanitize,
};

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// The answer as text.
    #[default]
    Text,
    /// One value at the end.
    Json,
    /// One object a line, as it happens.
    Jsonl,
}

impl Form {
    /// The names of the forms.
    pub(crate) const NAMES: [&str; 3] = ["text", "json", "jsonl"];
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            "jsonl" => Ok(Self::Jsonl),
            _ => Err("expected text, json or jsonl".to_owned()),
        }
    }
}

/// The maximum length in characters of a call or a message that a line of progress shows.
const LINE: usize = 120;
/// The maximum length in characters of a line that a person has to read.
const NOTICE: usize = 600;

/// The output.
pub(crate) struct Screen {
    form: Form,
    /// Whether answers are shown to a person as they are written.
    streams: bool,
    /// Whether progress is shown.
    progress: bool,
    renderer: Renderer,
    /// Whether text of the current answer was shown.
    has_text: bool,
    /// Ends what is under way when nobody reads standard output any more.
    cancel: Cancel,
    /// Why standard output cannot be written.
    failure: OnceLock<String>,
}

impl Screen {
    /// The screen of this process.
    ///
    /// Where nobody reads its output any more, `cancel` ends the run: what it does after that, nobody would learn.
    pub(crate) fn new(form: Form, cancel: Cancel) -> Self {
        let is_text = form == Form::Text;
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            form,
            streams: is_text && out,
            progress: is_text && err,
            renderer: Renderer::default(),
            has_text: false,
            cancel,
            failure: OnceLock::new(),
        }
    }

    /// Shows one object as a line, where lines are the form.
    pub(crate) fn object(&self, object: &Value) {
        if self.form == Form::Jsonl {
            self.written(&line(object));
        }
    }

    /// Shows the next text of an answer.
    pub(crate) fn text(&mut self, piece: &str) {
        if self.streams {
            let shown = self.renderer.feed(piece);
            if !shown.is_empty() {
                self.has_text = true;
                self.written(&print(&shown));
            }
        }
    }

    /// Ends the text of an answer, which the model did not finish where `is_whole` is false.
    pub(crate) fn end_text(&mut self, is_whole: bool) {
        if self.streams {
            let shown = self.renderer.end();
            self.has_text |= !shown.is_empty();
            self.written(&print(&shown));
            if !is_whole && self.has_text {
                self.dim("(not finished)");
            }
        }
        self.has_text = false;
    }

    /// Shows what happened.
    pub(crate) fn happened(&mut self, event: &Event) {
        match event {
            Event::User { text } => self.object(&json!({"type": "user", "text": text})),
            // Whether a summary is accepted is known only afterwards.
            Event::Check { repairs: 0 } | Event::Checked | Event::Summary { .. } => {}
            Event::Check { .. } => {
                self.object(&json!({"type": "note", "note": "repair"}));
                self.dim("(quotations of this answer were not found; the model repairs it)");
            }
            Event::Assistant { text, calls, usage, stop, .. } => {
                self.object(&json!({"type": "assistant", "text": text, "usage": usage, "stop": stop}));
                for call in calls {
                    self.object(
                        &json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}),
                    );
                    self.dim(&format!("▸ {} {}", call.name, call.arguments));
                }
            }
            Event::ToolResult { id, name, text, is_error, milliseconds } => {
                let json: Value = serde_json::from_str(text).unwrap_or_default();
                let code = json["error_code"].as_str().filter(|_| *is_error);
                self.object(&json!({
                    "type": "tool_result", "id": id, "name": name, "is_error": is_error, "error_code": code,
                    "milliseconds": milliseconds, "text": text,
                }));
                match code {
                    Some(code) => {
                        let message = json["message"].as_str().unwrap_or_default();
                        self.dim(&format!("  {name}: {code}: {message}"));
                    }
                    None => self.dim(&format!("  {name}: {milliseconds} ms")),
                }
            }
            Event::Approval { id, decision, reason } => {
                self.object(&json!({"type": "approval", "id": id, "decision": decision, "reason": reason}));
                if *decision == Decision::Refused {
                    self.dim(&format!("  not allowed: {reason}"));
                }
            }
            Event::Note { note, .. } => {
                self.object(&json!({"type": "note", "note": note}));
                self.dim(match note {
                    Note::Review => "(the draft is reviewed once more)",
                    Note::Empty => "(the answer was empty; the request is repeated)",
                    Note::Repeated => "(the model repeats a call; it was told so)",
                });
            }
            Event::Shortened { results } => {
                self.object(&json!({"type": "summary", "messages": 0, "accepted": false, "shortened": results.len()}));
                let count = results.len();
                self.dim(&format!(
                    "  ({count} long results were shortened; the next summary follows in {WAIT_TURNS} turns)"
                ));
            }
            Event::Failed { code, message } => {
                self.object(&json!({"type": "failed", "error_code": code, "message": message}));
            }
            Event::Interrupted { text } => self.object(&json!({"type": "interrupted", "text": text})),
        }
    }

    /// Says that `text` is the summary of the first `messages`, or why it was refused.
    pub(crate) fn summary(&self, messages: usize, text: &str, refusal: Option<&str>) {
        let accepted = refusal.is_none();
        self.object(
            &json!({"type": "summary", "messages": messages, "accepted": accepted, "reason": refusal, "text": text}),
        );
        match refusal {
            None => self.dim("  (older turns were summarised)"),
            Some(reason) => self.dim(&format!("  (a summary of older turns was refused: {reason})")),
        }
    }

    /// Says that a request is repeated.
    pub(crate) fn retry(&mut self, number: u32, wait: Duration, reason: &str) {
        self.end_text(false);
        let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.object(&json!({"type": "retry", "number": number, "wait_milliseconds": milliseconds, "reason": reason}));
        self.dim(&format!("  {reason}; trying again in {:.0} s", wait.as_secs_f64().ceil()));
    }

    /// Shows an answer that was not shown as it was written.
    pub(crate) fn answer(&mut self, text: &str) {
        self.object(&json!({"type": "answer", "text": text}));
        if self.form == Form::Text && !self.streams {
            self.written(&print(&format!("{}\n", sanitize::clean(text).trim_end())));
        }
    }

    /// Shows the answer `whole`, which ends with `mark`: the rest was shown as it was written, if it was.
    pub(crate) fn marked(&mut self, mark: &str, whole: &str) {
        self.answer(whole);
        if self.streams {
            self.written(&print(&sanitize::clean(mark)));
        }
    }

    /// Why the output cannot be written. A pipe that its reader closed is not a failure.
    pub(crate) fn failure(&self) -> Option<Error> {
        let reason = self.failure.get()?;
        Some(OUTPUT_ERROR.error(format!("cannot write to standard output: {reason}")))
    }

    fn written(&self, outcome: &io::Result<()>) {
        if let Err(error) = outcome {
            if error.kind() != io::ErrorKind::BrokenPipe {
                // The first failure is the reason of the others.
                let _ = self.failure.set(error.to_string());
            }
            self.cancel.cancel();
        }
    }

    /// Shows an error to a person, in words.
    pub(crate) fn error(error: &Error) {
        let error = serde_json::to_value(error.clone().for_person()).unwrap_or_default();
        let text = |name: &str| sanitize::line(error[name].as_str().unwrap_or_default(), 600);
        note(&format!("{}: {}\n  {}", text("error_code"), text("message"), text("remediation_suggestion")));
    }

    /// Shows a line that a person has to read to its end.
    pub(crate) fn notice(&self, line: &str) {
        if self.progress {
            note(&sanitize::line(line, NOTICE));
        }
    }

    /// Shows a line of progress.
    pub(crate) fn dim(&self, line: &str) {
        if self.progress {
            note(&format!("\u{1b}[2m{}\u{1b}[0m", sanitize::line(line, LINE).replace('\n', " ")));
        }
    }
}

/// Writes `value` as a line to standard output, with control characters escaped.
pub(crate) fn line(value: &Value) -> io::Result<()> {
    let mut out = vec![];
    // Writing a value to memory cannot fail.
    let _ = json::write_line(value, Charset::from_env(), &mut out);
    print(&String::from_utf8_lossy(&out))
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a line to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_ends_the_run_without_an_error() {
        for (kind, is_failure) in [(io::ErrorKind::BrokenPipe, false), (io::ErrorKind::StorageFull, true)] {
            let cancel = Cancel::default();
            let screen = Screen::new(Form::Json, cancel.clone());
            screen.written(&Ok(()));
            assert!(!cancel.is_cancelled() && screen.failure().is_none());
            screen.written(&Err(io::Error::new(kind, "first")));
            assert!(cancel.is_cancelled());
            assert_eq!(screen.failure().is_some(), is_failure, "{kind:?}");
        }
    }

    #[test]
    fn the_first_failure_is_reported() {
        let screen = Screen::new(Form::Json, Cancel::default());
        for text in ["first", "second"] {
            screen.written(&Err(io::Error::other(text)));
        }
        let error = screen.failure().unwrap();
        assert!(error.is(OUTPUT_ERROR) && error.message().ends_with("first"), "{error}");
    }

    #[test]
    fn every_named_form_is_accepted_and_no_other() {
        for name in Form::NAMES {
            assert_eq!(format!("{:?}", name.parse::<Form>().unwrap()).to_lowercase(), name);
        }
        for name in ["", "JSON", "json "] {
            assert!(name.parse::<Form>().is_err(), "{name:?}");
        }
    }
}
