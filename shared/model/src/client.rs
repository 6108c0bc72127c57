//! A request to a model, with retries, and its streamed answer.
//!
//! A thread reads the connection and sends the bytes through a channel, so a person who cancels does not have to wait
//! for the endpoint. Cancelling a request closes its connection, which ends the thread.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use ragmaker_config::Redactor;
use ragmaker_http::Backoff;
use ragmaker_tool::{Code, Error};
use serde_json::Value;

use crate::{
    Answer, CANCELLED, CONTEXT_TOO_LONG, Declarations, Endpoint, MODEL_ANSWER_INVALID, MODEL_AUTH_FAILED,
    MODEL_RATE_LIMITED, MODEL_UNREACHABLE, Protocol, Provider, Request,
    answer::{PartialAnswer, reported},
    anthropic, chat,
    connection::{self, Part, WHOLE, agent, read},
    error::Failure,
    gemini,
    message::WireFormat,
    reader::{Reader, is_about_length, shortened},
    sse::{EVENT_LIMIT, Events},
    text,
};

/// The interval at which a wait checks whether a person cancelled.
const POLL: Duration = Duration::from_millis(10);
/// The time to wait for the token count, which follows the end of an answer.
const AFTER_STOP: Duration = Duration::from_secs(2);
/// The longest wait that a person is kept for; an endpoint that asks for more has failed.
const MAX_WAIT: Duration = Duration::from_mins(2);
/// The maximum number of retries where no connection could be opened: a local server may be starting.
const NOT_OPENED: u32 = 2;

/// Ends a request from another thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends the request that is under way.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Lets the next request through.
    pub fn reset(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// The progress of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The next text of the answer.
    Text(&'a str),
    /// The request is sent again after `wait`; the text so far is discarded.
    Retry {
        /// The number of the retry, from 1.
        number: u32,
        /// The delay.
        wait: Duration,
        /// The failure.
        reason: &'a str,
    },
}

/// When a request that failed is sent again: on 429, 5xx and lost connections.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// The maximum number of retries.
    pub most: u32,
    /// The delays, if the endpoint names none.
    pub backoff: Backoff,
}

impl Default for Retries {
    fn default() -> Self {
        Self { most: 4, backoff: Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(30) } }
    }
}

/// A client of one endpoint.
///
/// It serves one request at a time: one that is given up closes the connections of all.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint,
    retries: Retries,
    redactor: Redactor,
    agent: Mutex<ureq::Agent>,
    uses_text: AtomicBool,
    /// Whether it has made a call in the form of its provider.
    makes_native_calls: AtomicBool,
    /// The endpoint refuses any temperature but its own.
    has_fixed_temperature: AtomicBool,
}

/// A request whose connection is closed where this is dropped before the answer's end.
struct OpenRequest<'a> {
    client: &'a Client,
    parts: Receiver<Part>,
    is_over: bool,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.client.disconnect();
        }
    }
}

impl Client {
    /// A client of `endpoint`. It opens no connection before the first request.
    pub fn new(endpoint: Endpoint) -> Self {
        let uses_text = AtomicBool::new(endpoint.protocol == Protocol::Text);
        let makes_native_calls = AtomicBool::new(false);
        Self {
            agent: Mutex::new(agent(&endpoint)),
            retries: Retries::default(),
            redactor: endpoint.redactor(),
            uses_text,
            makes_native_calls,
            has_fixed_temperature: AtomicBool::new(false),
            endpoint,
        }
    }

    /// Closes all connections, which ends the threads that read them.
    fn disconnect(&self) {
        let mut current = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, agent(&self.endpoint)).shutdown();
    }

    /// The client with other retry settings.
    #[must_use]
    pub fn with_retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// The model that is asked.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The answer to `request`; `show` sees its text as it comes, and every repetition.
    ///
    /// # Errors
    ///
    /// Those of [`crate::ERRORS`].
    pub fn complete(
        &self,
        request: &Request<'_>,
        cancel: &Cancel,
        show: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Answer, Error> {
        let mut number = 0;
        loop {
            let (code, reason, wait, most) = match self.attempt(request, cancel, &mut |text| show(Progress::Text(text)))
            {
                Ok(answer) => return Ok(answer),
                Err(Failure::Final(error)) => return Err(error.rewritten(|text| self.redactor.redacted(text))),
                Err(Failure::Again { code, reason, wait }) => (code, reason, wait, self.retries.most),
                Err(Failure::NotOpened { reason }) => {
                    (MODEL_UNREACHABLE, reason, None, self.retries.most.min(NOT_OPENED))
                }
            };
            let reason = self.redactor.redacted(&reason);
            number += 1;
            if number > most || wait.is_some_and(|wait| wait > MAX_WAIT) {
                return Err(given_up(code, reason, number, wait));
            }
            let wait = wait.unwrap_or_else(|| self.retries.backoff.wait(number));
            show(Progress::Retry { number, wait, reason: &reason });
            let until = Instant::now() + wait;
            while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                cancelled(cancel)?;
                thread::sleep(left.min(POLL));
            }
        }
    }

    fn attempt(&self, request: &Request<'_>, cancel: &Cancel, show: &mut dyn FnMut(&str)) -> Result<Answer, Failure> {
        cancelled(cancel)?;
        if self.endpoint.protocol == Protocol::JsonSchema {
            return self.attempt_schema(request, cancel, show);
        }
        let uses_text = self.uses_text.load(Ordering::Relaxed);
        let mut shown = text::Shown::default();
        let mut collected = if uses_text {
            let (system, messages) = text::rendered(request, text::RULES);
            let plain = Request { system: &system, messages: &messages, tools: &Declarations::default() };
            self.collect(&plain, None, cancel, &mut |piece| shown.feed(piece, show))?
        } else {
            self.collect(request, None, cancel, show)?
        };
        // A model that makes native calls quotes calls, for example of a file that it has read.
        let makes_native_calls = !uses_text && !collected.drafts.is_empty();
        self.makes_native_calls.fetch_or(makes_native_calls, Ordering::Relaxed);
        let position = if uses_text { text::Position::OwnLine } else { text::Position::End };
        if collected.drafts.is_empty()
            && self.endpoint.protocol != Protocol::Native
            && !self.makes_native_calls.load(Ordering::Relaxed)
            && let Some((left, drafts)) = text::calls(&collected.text, request.tools, position)
        {
            self.uses_text.store(true, Ordering::Relaxed);
            collected.replace_text(left);
            collected.drafts = drafts;
        }
        if uses_text {
            shown.end(&collected.text, show);
        }
        Ok(collected.finish(request.messages))
    }

    /// One attempt at an answer that the server holds to a JSON schema: a call of a tool, or a text.
    fn attempt_schema(
        &self,
        request: &Request<'_>,
        cancel: &Cancel,
        show: &mut dyn FnMut(&str),
    ) -> Result<Answer, Failure> {
        let (system, messages) = text::rendered(request, text::SCHEMA_RULES);
        let plain = Request { system: &system, messages: &messages, tools: &Declarations::default() };
        let schema = text::schema(request.tools);
        let (mut said, mut shown) = (text::StreamedAnswer::default(), false);
        let mut collected = self.collect(&plain, Some(&schema), cancel, &mut |piece| {
            said.feed(piece, &mut |text| {
                shown = true;
                show(text);
            });
        })?;
        let (decoded, rest) = said.end();
        if let Some(answer) = text::answer_text(&collected.text) {
            collected.replace_text(answer);
        } else if let Some((left, drafts)) = text::calls(&collected.text, request.tools, text::Position::OwnLine) {
            collected.replace_text(if left.is_empty() { decoded } else { left });
            collected.drafts = drafts;
        } else if !decoded.is_empty() {
            // It was cut off, or is not valid JSON: then the rest is shown as it is.
            if !rest.is_empty() {
                show(&rest);
            }
            collected.replace_text(decoded + &rest);
        }
        if !shown && !collected.text.is_empty() {
            show(&collected.text);
        }
        Ok(collected.finish(request.messages))
    }

    /// Sends the request once and collects the events of the answer.
    fn collect(
        &self,
        request: &Request<'_>,
        schema: Option<&Value>,
        cancel: &Cancel,
        show: &mut dyn FnMut(&str),
    ) -> Result<PartialAnswer, Failure> {
        let mut open = OpenRequest { client: self, parts: self.send(request, schema)?, is_over: false };
        let (mut answer, mut events, mut whole) = (PartialAnswer::default(), Events::default(), vec![]);
        let mut head = None;
        let mut reader = Reader { provider: self.endpoint.provider, redactor: &self.redactor, done: false, any: false };
        let whole_end = Instant::now() + self.endpoint.timeout * WHOLE;
        let mut silent_until = Instant::now() + self.endpoint.timeout;
        let lost = |reason: String| Failure::Again { code: MODEL_UNREACHABLE, reason, wait: None };
        loop {
            cancelled(cancel)?;
            let part = match open.parts.recv_timeout(POLL) {
                Ok(part) => part,
                Err(RecvTimeoutError::Timeout) if Instant::now() < silent_until.min(whole_end) => continue,
                Err(RecvTimeoutError::Timeout) if answer.stop.is_some() => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.endpoint.timeout.as_secs();
                    return Err(lost(format!(
                        "the endpoint sent nothing for {seconds} s, or did not finish its answer"
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(lost("the reading thread ended".to_owned())),
            };
            silent_until = Instant::now() + if answer.stop.is_some() { AFTER_STOP } else { self.endpoint.timeout };
            match part {
                Part::Head { status, retry_after, is_json } => head = Some((status, retry_after, is_json)),
                Part::Bytes(bytes) if head.is_some_and(|(status, _, is_json)| status != 200 || is_json) => {
                    whole.extend(bytes);
                    if whole.len() > EVENT_LIMIT {
                        return Err(too_long().into());
                    }
                }
                Part::Bytes(bytes) => {
                    let mut outcome = Ok(());
                    let fed = events.feed(&bytes, |data| {
                        if outcome.is_ok() {
                            outcome = reader.take(data, &mut answer, show);
                        }
                    });
                    outcome?;
                    fed.map_err(|_| too_long())?;
                }
                Part::Failed(_) if answer.stop.is_some() => return Ok(answer),
                Part::Failed(reason) => return Err(lost(reason)),
                Part::Unsent(failure) => return Err(failure),
                Part::End => {
                    open.is_over = true;
                    let (status, retry_after, is_json) = head.unwrap_or_default();
                    if status != 200 {
                        return Err(self.refused(status, retry_after, &whole));
                    }
                    if is_json {
                        reader.take_whole(&whole, &mut answer, show)?;
                    } else {
                        let (mut outcome, mut is_cut) = (Ok(()), false);
                        events.end(|data| {
                            is_cut = reader.is_cut(data);
                            if !is_cut {
                                outcome = reader.take(data, &mut answer, show);
                            }
                        });
                        outcome?;
                        if is_cut && answer.stop.is_none() {
                            return Err(lost("the connection ended in an event of the answer".to_owned()));
                        }
                    }
                    return match answer.stop {
                        Some(_) => Ok(answer),
                        None if reader.any => Err(lost("the connection ended before the answer did".to_owned())),
                        None => Err(MODEL_ANSWER_INVALID.error("the endpoint sent no event of an answer").into()),
                    };
                }
            }
            if reader.done {
                // The thread reads the little that is left, so that the connection can be used again.
                open.is_over = true;
                return Ok(answer);
            }
        }
    }

    /// Starts the thread that sends the request and reads the answer.
    fn send(&self, request: &Request<'_>, schema: Option<&Value>) -> Result<Receiver<Part>, Error> {
        connection::check_headers(&self.endpoint)?;
        let mut endpoint = self.endpoint.clone();
        if self.has_fixed_temperature.load(Ordering::Relaxed) {
            endpoint.temperature = None;
        }
        let (body, tools) = match endpoint.provider {
            Provider::Gemini => {
                let tools = request.tools.spelled(WireFormat::Gemini, gemini::tools);
                (gemini::body(&endpoint, request, schema), tools)
            }
            // It has no schema of answers: the instructions have to do.
            Provider::Anthropic => {
                let tools = request.tools.spelled(WireFormat::Anthropic, anthropic::tools);
                (anthropic::body(&endpoint, request), tools)
            }
            _ => (chat::body(&endpoint, request, schema), request.tools.spelled(WireFormat::Chat, chat::tools)),
        };
        let mut body = body.to_string();
        if !request.tools.is_empty() {
            // One member more of the object.
            body.truncate(body.len() - 1);
            body.extend([",\"tools\":", tools, "}"]);
        }
        let agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut post = agent.post(endpoint.url()).header("content-type", "application/json");
        for (name, value) in endpoint.headers() {
            post = post.header(name, value);
        }
        let address = endpoint.address();
        let (sender, receiver) = sync_channel(16);
        let started = thread::Builder::new().name("model".to_owned()).spawn(move || {
            let last = match post.send(body) {
                Ok(response) => read(response, &sender),
                Err(error) => Part::Unsent(connection::failure(&error, &address)),
            };
            // Nobody waits for an answer that was cancelled.
            let _ = sender.send(last);
        });
        started.map_err(|error| MODEL_UNREACHABLE.error(format!("no thread for the request: {error}")))?;
        Ok(receiver)
    }

    /// The failure for a status other than 200.
    fn refused(&self, status: u16, wait: Option<Duration>, body: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(body);
        let said = serde_json::from_str::<Value>(&text).ok().and_then(|body| {
            // Gemini sends a list.
            reported(body.as_array().and_then(|all| all.first()).unwrap_or(&body))
        });
        let said = shortened(&self.redactor, &said.unwrap_or_else(|| text.into_owned()));
        let reason = format!("the endpoint answered {status}: {said}");
        let code = match status {
            429 => return Failure::Again { code: MODEL_RATE_LIMITED, reason, wait },
            408 | 500.. => return Failure::Again { code: MODEL_UNREACHABLE, reason, wait },
            401 | 403 => MODEL_AUTH_FAILED,
            // Gemini's answer to a wrong key.
            400 if said.contains("API key not valid") => MODEL_AUTH_FAILED,
            // Models that reason take their own temperature alone.
            400 if self.endpoint.temperature.is_some()
                && said.to_lowercase().contains("temperature")
                && !self.has_fixed_temperature.swap(true, Ordering::Relaxed) =>
            {
                return Failure::Again { code: MODEL_ANSWER_INVALID, reason, wait: Some(Duration::ZERO) };
            }
            400 | 413 if is_about_length(&said) || status == 413 => CONTEXT_TOO_LONG,
            _ => MODEL_ANSWER_INVALID,
        };
        Failure::Final(code.error(reason).detail("http_status", status))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.disconnect();
    }
}

/// The error after `attempts` whose last failed for this `reason`. The endpoint asked to `wait`.
fn given_up(code: Code, reason: String, attempts: u32, wait: Option<Duration>) -> Error {
    let Some(seconds) = wait.map(|wait| wait.as_secs()) else { return code.error(reason).detail("attempts", attempts) };
    let longest = MAX_WAIT.as_secs();
    let reason = match seconds {
        _ if seconds <= longest => reason,
        _ => format!("{reason}; it asks to wait {seconds} s, more than the maximum of {longest} s"),
    };
    let remedy = format!("Ask again in {seconds} s, or use another model or key; the conversation can be resumed.");
    code.error(reason).remedy(remedy).detail("attempts", attempts).detail("retry_after_s", seconds)
}

fn cancelled(cancel: &Cancel) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(CANCELLED.error("the request was cancelled")) } else { Ok(()) }
}

fn too_long() -> Error {
    MODEL_ANSWER_INVALID.error(format!("the endpoint sent more than {EVENT_LIMIT} bytes in one event"))
}

#[cfg(test)]
mod tests;
