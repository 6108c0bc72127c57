//! Reading the events of an answer, and the meaning of the endpoint's status values.

use ragmaker_config::Redactor;
use serde_json::Value;

use crate::{
    CONTEXT_TOO_LONG, MODEL_ANSWER_INVALID, MODEL_UNREACHABLE, Provider,
    answer::{EventOutcome, PartialAnswer},
    anthropic, chat,
    error::Failure,
    gemini,
};

/// Turns the data of events into an answer.
pub(crate) struct Reader<'a> {
    pub(crate) provider: Provider,
    pub(crate) redactor: &'a Redactor,
    /// Nothing more comes.
    pub(crate) done: bool,
    /// Whether any event was received.
    pub(crate) any: bool,
}

impl Reader<'_> {
    pub(crate) fn take(
        &mut self,
        data: &str,
        answer: &mut PartialAnswer,
        show: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        if data.trim().is_empty() || self.done {
            return Ok(());
        }
        if data.trim() == "[DONE]" {
            // Some servers give no other reason for the end.
            if self.any {
                answer.stop.get_or_insert_default();
            }
            self.done = answer.stop.is_some();
            return Ok(());
        }
        let event = serde_json::from_str(data)
            .map_err(|error| MODEL_ANSWER_INVALID.error(format!("an event of the answer is not JSON: {error}")))?;
        self.feed(&event, answer, show)
    }

    /// Whether the last event of a body ends before its JSON does.
    pub(crate) fn is_cut(&self, data: &str) -> bool {
        let is_json = |data| serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok();
        !self.done && !data.trim().is_empty() && data.trim() != "[DONE]" && !is_json(data)
    }

    /// An answer that did not stream: one value, or a list of them.
    pub(crate) fn take_whole(
        &mut self,
        body: &[u8],
        answer: &mut PartialAnswer,
        show: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| MODEL_ANSWER_INVALID.error(format!("the answer is not JSON: {error}")))?;
        match value {
            Value::Array(events) => events.iter().try_for_each(|event| self.feed(event, answer, show)),
            event => self.feed(&event, answer, show),
        }
    }

    fn feed(&mut self, event: &Value, answer: &mut PartialAnswer, show: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        self.any = true;
        let fed = match self.provider {
            Provider::Gemini => gemini::feed(event, answer, show),
            Provider::Anthropic => {
                self.done = event["type"] == "message_stop" && answer.stop.is_some();
                anthropic::feed(event, answer, show)
            }
            _ => chat::feed(event, answer, show),
        };
        match fed? {
            EventOutcome::Taken => Ok(()),
            EventOutcome::Failed(said) if is_about_length(&said) => {
                Err(CONTEXT_TOO_LONG.error(shortened(self.redactor, &said)).into())
            }
            EventOutcome::Failed(said) => {
                let reason = format!("the endpoint reports: {}", shortened(self.redactor, &said));
                Err(Failure::Again { code: MODEL_UNREACHABLE, reason, wait: None })
            }
        }
    }
}

/// The start of an endpoint's message, without keys. The keys are removed before the text is cut, because a part of a
/// key would not be found.
pub(crate) fn shortened(redactor: &Redactor, said: &str) -> String {
    redactor.redacted(said).chars().take(500).collect()
}

/// Whether an endpoint's message says that the context is too long; there is no common code for this.
pub(crate) fn is_about_length(said: &str) -> bool {
    let said = said.to_lowercase();
    ["context length", "context_length", "context window", "context size", "maximum context", "too many tokens"]
        .into_iter()
        .chain(["prompt is too long", "input is too long", "token count exceeds", "exceeds the available context"])
        .any(|words| said.contains(words))
        || said.contains("input token count") && said.contains("exceed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_the_length_are_recognised() {
        for said in [
            "This model's maximum context length is 8192 tokens.",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1200000) exceeds the maximum number of tokens allowed",
            "the request exceeds the available context size",
        ] {
            assert!(is_about_length(said), "{said}");
        }
        for said in ["Rate limit reached", "input token count is missing", "the server is overloaded"] {
            assert!(!is_about_length(said), "{said}");
        }
    }

    fn read(provider: Provider, events: &[&str]) -> (Result<(), Failure>, PartialAnswer, bool) {
        let redactor = Redactor::default();
        let mut reader = Reader { provider, redactor: &redactor, done: false, any: false };
        let mut answer = PartialAnswer::default();
        let outcome = events.iter().try_for_each(|event| reader.take(event, &mut answer, &mut |_| ()));
        (outcome, answer, reader.done)
    }

    #[test]
    fn events_become_an_answer_until_its_end() {
        let hello = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;
        let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        let (outcome, answer, done) = read(Provider::OpenAi, &["", hello, stop, "[DONE]", hello]);
        assert!(outcome.is_ok() && done);
        assert_eq!(answer.text, "Hello");
        // Some servers give no other reason for the end, which must come after an event.
        assert!(read(Provider::OpenAi, &[hello, "[DONE]"]).2);
        assert!(!read(Provider::OpenAi, &["[DONE]"]).2);
        assert!(read(Provider::OpenAi, &["{broken"]).0.is_err());
    }

    #[test]
    fn a_reported_failure_may_be_tried_again_but_not_one_about_the_length() {
        let (outcome, ..) = read(Provider::OpenAi, &[r#"{"error":{"message":"overloaded"}}"#]);
        assert!(matches!(outcome, Err(Failure::Again { .. })));
        let (outcome, ..) = read(Provider::OpenAi, &[r#"{"error":{"message":"maximum context length exceeded"}}"#]);
        assert!(outcome.is_err() && !matches!(outcome, Err(Failure::Again { .. })));
    }
}
