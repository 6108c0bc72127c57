//! The history: the messages of the conversation as they are sent to the model.
//!
//! All providers require this invariant: each call has exactly one result, which directly follows the call's message,
//! and each result has a call.

use ragmaker_model::{Call, Declaration, Message, TextSignature};

/// The conversation since its last summary. If there is a summary, it is the first message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// The indices of the messages of the person, with which the complete turns begin.
    turns: Vec<usize>,
    is_summarised: bool,
}

/// The start of a summary, with which the model recognises it.
const SUMMARY: &str = "<summary>\n";

impl History {
    /// All messages, for a request.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The indices at which the turns begin.
    pub(crate) fn turns(&self) -> &[usize] {
        &self.turns
    }

    /// The first message that a summary may replace.
    pub(crate) fn first(&self) -> usize {
        usize::from(self.is_summarised)
    }

    /// The summary of what is no longer here.
    #[cfg(test)]
    pub(crate) fn summary(&self) -> Option<&str> {
        match self.messages.first() {
            Some(Message::User { text }) if self.is_summarised => Some(text),
            _ => None,
        }
    }

    /// Adds what the person said, which begins a turn.
    pub(crate) fn say(&mut self, text: String) {
        self.turns.push(self.messages.len());
        self.messages.push(Message::User { text });
    }

    /// Adds what the program tells the model by itself.
    pub(crate) fn note(&mut self, text: String) {
        self.messages.push(Message::User { text });
    }

    /// Adds an answer. A call with an empty id, or with the id of an open call, is left out, because its result could
    /// not be assigned.
    pub(crate) fn answer(&mut self, text: String, signatures: Vec<TextSignature>, calls: Vec<Call>) {
        let mut known = std::collections::HashSet::new();
        let calls: Vec<_> =
            calls.into_iter().filter(|call| !call.id.is_empty() && known.insert(call.id.clone())).collect();
        self.messages.push(Message::Assistant { text, signatures, calls });
    }

    /// Adds the result of an open call, and returns that call; `None` if no such call is open.
    pub(crate) fn result(&mut self, id: &str, text: String, is_error: bool) -> Option<Call> {
        let call = self.open().into_iter().find(|call| call.id == id)?.clone();
        self.messages.push(Message::Result { id: call.id.clone(), name: call.name.clone(), text, is_error });
        Some(call)
    }

    /// The calls of the last answer.
    pub(crate) fn last_calls(&self) -> &[Call] {
        let calls = self.messages.iter().rev().find_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls.as_slice()),
            _ => None,
        });
        calls.unwrap_or_default()
    }

    /// The calls that have no result yet.
    pub(crate) fn open(&self) -> Vec<&Call> {
        let results = self.messages.iter().rev().take_while(|message| matches!(message, Message::Result { .. }));
        let answered: Vec<&str> = results
            .filter_map(|message| match message {
                Message::Result { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        match self.messages.iter().rev().nth(answered.len()) {
            Some(Message::Assistant { calls, .. }) => {
                calls.iter().filter(|call| !answered.contains(&call.id.as_str())).collect()
            }
            _ => vec![],
        }
    }

    /// Whether the history may be cut before message `at`: everywhere but between calls and their results.
    pub(crate) fn may_cut(&self, at: usize) -> bool {
        at > self.first()
            && at <= self.messages.len()
            && !matches!(self.messages.get(at), Some(Message::Result { .. }))
            && (at < self.messages.len() || self.open().is_empty())
    }

    /// Replaces the first `cut` messages by a summary. The request of the current turn is kept in `request`.
    pub(crate) fn summarise(&mut self, cut: usize, summary: &str, request: &str) {
        if !self.may_cut(cut) {
            return;
        }
        let mut text = format!("{SUMMARY}{}\n</summary>", summary.trim());
        if !self.turns.contains(&cut) && cut < self.messages.len() {
            text += "\n<request>\n";
            text.extend(request.chars().take(8_000));
            text += "\n</request>";
        }
        let kept = self.messages.split_off(cut);
        self.messages = vec![Message::User { text }];
        self.messages.extend(kept);
        self.turns = self.turns.iter().filter(|turn| **turn >= cut).map(|turn| turn + 1 - cut).collect();
        self.is_summarised = true;
    }

    /// Puts another text in the place of the result of call `id`.
    pub(crate) fn shorten(&mut self, id: &str, shorter: String) {
        for message in &mut self.messages {
            if let Message::Result { id: other, text, .. } = message
                && other == id
            {
                *text = shorter;
                return;
            }
        }
    }

    /// The violation of the invariant, in words; `None` if the invariant holds.
    pub(crate) fn broken(&self) -> Option<String> {
        let mut open: Vec<&str> = vec![];
        let mut all = std::collections::HashSet::new();
        for (at, message) in self.messages.iter().enumerate() {
            match message {
                Message::Result { id, .. } => match open.iter().position(|call| call == id) {
                    Some(place) => drop(open.remove(place)),
                    None => return Some(format!("message {at} is the result {id:?} without its call")),
                },
                _ if !open.is_empty() => return Some(format!("message {at} comes before the result of {open:?}")),
                Message::Assistant { calls, .. } => {
                    for call in calls {
                        if !all.insert(call.id.as_str()) {
                            return Some(format!("the id {:?} is given twice", call.id));
                        }
                        open.push(&call.id);
                    }
                }
                Message::User { .. } => {}
            }
        }
        (!open.is_empty()).then(|| format!("{open:?} have no result"))
    }
}

/// About how many tokens a message takes.
pub(crate) fn tokens(message: &Message) -> usize {
    // What stands around each message.
    4 + match message {
        Message::User { text } | Message::Result { text, .. } => of_text(text),
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| 8 + of_text(&call.name) + of_text(&call.arguments.to_string()));
            of_text(text) + calls.sum::<usize>()
        }
    }
}

/// About how many tokens a request has besides the conversation.
pub(crate) fn fixed_tokens(instructions: &str, tools: &[Declaration]) -> usize {
    let of_tool =
        |tool: &Declaration| of_text(&tool.name) + of_text(&tool.description) + of_text(&tool.parameters.to_string());
    of_text(instructions) + tools.iter().map(of_tool).sum::<usize>()
}

/// About how many tokens a text takes: one for four characters, 0.7 for each of Chinese, Japanese and Korean.
pub(crate) fn of_text(text: &str) -> usize {
    let (mut wide, mut narrow) = (0, 0);
    for c in text.chars() {
        if matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
        {
            wide += 1;
        } else {
            narrow += 1;
        }
    }
    narrow / 4 + wide * 7 / 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str) -> Call {
        Call { id: id.into(), name: "t".into(), arguments: json!({}), signature: None }
    }

    #[test]
    fn every_call_gets_one_result() {
        let mut history = History::default();
        history.say("?".into());
        history.answer(String::new(), vec![], vec![call("a"), call("b"), call("a"), call("")]);
        assert!(history.broken().is_some());
        assert_eq!(history.open().len(), 2);
        assert!(history.result("c", String::new(), false).is_none());
        assert!(history.result("b", String::new(), false).is_some());
        assert!(history.result("b", String::new(), false).is_none());
        assert!(!history.may_cut(2) && !history.may_cut(3));
        assert!(history.result("a", String::new(), false).is_some());
        assert_eq!((history.broken(), history.open().len()), (None, 0));
        assert!(!history.may_cut(0) && history.may_cut(1) && !history.may_cut(3) && history.may_cut(4));
    }

    #[test]
    fn a_turn_that_goes_on_keeps_its_request() {
        let mut history = History::default();
        history.say("first".into());
        history.answer("one".into(), vec![], vec![]);
        history.say("second".into());
        history.answer("two".into(), vec![], vec![]);
        let mut inside = history.clone();
        inside.summarise(3, "short", "second");
        assert!(inside.summary().unwrap().contains("short") && inside.summary().unwrap().contains("second"));
        assert_eq!((inside.turns(), inside.messages().len()), (&[][..], 2));
        history.summarise(2, "short", "second");
        assert!(!history.summary().unwrap().contains("second"));
        assert_eq!(history.turns(), [1]);
        assert_eq!(history.messages()[1], Message::User { text: "second".into() });
    }

    #[test]
    fn tokens_are_estimated_by_script() {
        assert_eq!(of_text("spring tides are high now"), 6);
        assert_eq!(of_text("大潮のときの水位差"), 6);
    }
}
