//! The answer of a model, collected from its events.

use std::collections::HashSet;

use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Call, MODEL_ANSWER_INVALID, Message, TextSignature, message::parsed};

/// The maximum size in bytes of text and arguments in an answer: one that never ends is given up here.
const ANSWER_LIMIT: usize = 8 << 20;
/// The maximum number of calls in an answer.
const CALLS: usize = 128;

/// The answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The signed parts of its text, in order.
    pub signatures: Vec<TextSignature>,
    /// Its calls, each with an id that no other call of the conversation has.
    pub calls: Vec<Call>,
    /// The tokens used.
    pub usage: Usage,
    /// The reason of its end.
    pub stop: Stop,
}

/// The tokens of an answer as the provider counts them; 0 if it does not report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens of the request.
    pub input_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
}

/// The reason why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done.
    #[default]
    End,
    /// It reached the most tokens of an answer.
    Length,
    /// The provider withheld the rest.
    Filtered,
}

/// The effect of an event on an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// It belongs to the answer.
    Taken,
    /// The endpoint reports an internal failure: another request may succeed.
    Failed(String),
}

/// A call whose parts are still coming.
#[derive(Debug, Default)]
pub(crate) struct PartialCall {
    pub(crate) key: u64,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) signature: Option<String>,
}

/// An answer whose events are still coming.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer {
    pub(crate) text: String,
    pub(crate) signatures: Vec<TextSignature>,
    pub(crate) drafts: Vec<PartialCall>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
    bytes: usize,
}

impl PartialAnswer {
    /// Counts `bytes` more of text or arguments.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes += bytes;
        if self.bytes > ANSWER_LIMIT || self.drafts.len() > CALLS {
            let message = format!("the answer is longer than {ANSWER_LIMIT} bytes or {CALLS} calls");
            return Err(MODEL_ANSWER_INVALID.error(message).remedy("Request a shorter answer, or use another model."));
        }
        Ok(())
    }

    /// Adds text.
    pub(crate) fn say(&mut self, text: &str, show: &mut dyn FnMut(&str)) -> Result<(), Error> {
        self.grow(text.len())?;
        self.text += text;
        if !text.is_empty() {
            show(text);
        }
        Ok(())
    }

    /// Replaces the text by another, which no signature belongs to.
    pub(crate) fn replace_text(&mut self, text: String) {
        self.text = text;
        self.signatures.clear();
    }

    /// The answer, with an id for every call that differs from those in `messages` and from each other: providers
    /// leave ids out or use one twice.
    pub(crate) fn finish(self, messages: &[Message]) -> Answer {
        let mut taken: HashSet<String> = messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { calls, .. } => Some(calls),
                _ => None,
            })
            .flatten()
            .map(|call| call.id.clone())
            .collect();
        let mut number = taken.len();
        let mut unique = |id: String| {
            let mut id = id;
            while id.is_empty() || !taken.insert(id.clone()) {
                id = format!("call_{number}");
                number += 1;
            }
            id
        };
        let calls = self.drafts.into_iter().map(|PartialCall { id, name, arguments, signature, .. }| {
            let arguments = parsed(&arguments);
            Call { id: unique(id), name, arguments, signature }
        });
        let (calls, stop) = (calls.collect(), self.stop.unwrap_or_default());
        Answer { text: self.text, signatures: self.signatures, calls, usage: self.usage, stop }
    }
}

/// The message of an `error` member, where an event has one.
pub(crate) fn reported(event: &Value) -> Option<String> {
    let error = event.get("error").filter(|error| !error.is_null())?;
    Some(error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(id: &str) -> PartialCall {
        PartialCall { id: id.into(), name: "think".into(), arguments: "{}".into(), ..PartialCall::default() }
    }

    #[test]
    fn every_call_gets_an_id_of_its_own() {
        let earlier = Call { id: "a".into(), name: "think".into(), arguments: Value::Null, signature: None };
        let earlier = Message::Assistant { text: String::new(), signatures: vec![], calls: vec![earlier] };
        let drafts = ["a", "b", "b", ""].map(draft).into();
        let answer = PartialAnswer { drafts, ..PartialAnswer::default() }.finish(&[earlier]);
        let mut ids: Vec<_> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids[1], "b");
        ids.push("a");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 5);
    }

    #[test]
    fn an_endless_answer_is_given_up() {
        let mut answer = PartialAnswer::default();
        assert!(answer.grow(ANSWER_LIMIT).is_ok());
        assert!(answer.grow(1).unwrap_err().is(MODEL_ANSWER_INVALID));
        let mut answer = PartialAnswer { drafts: (0..=CALLS).map(|_| draft("")).collect(), ..PartialAnswer::default() };
        assert!(answer.grow(0).is_err());
    }

    #[test]
    fn text_is_shown_as_it_comes() {
        let (mut answer, mut shown) = (PartialAnswer::default(), vec![]);
        for part in ["a", "", "b"] {
            answer.say(part, &mut |text| shown.push(text.to_owned())).unwrap();
        }
        assert_eq!((answer.text.as_str(), shown), ("ab", vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn an_error_is_reported_with_its_message() {
        let of = |text: &str| reported(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{"error": {"message": "no"}}"#).as_deref(), Some("no"));
        assert_eq!(of(r#"{"error": "no"}"#).as_deref(), Some("\"no\""));
        assert_eq!((of(r#"{"error": null}"#), of("{}")), (None, None));
    }
}
