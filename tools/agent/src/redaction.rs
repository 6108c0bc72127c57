//! Events and calls without the keys that neither files nor requests of a conversation may contain.

use serde_json::Value;

use crate::{agent::Agent, machine::Event};

impl Agent {
    /// The arguments of a call without keys; `None` if they contain none.
    pub(crate) fn without_keys(&self, arguments: &Value) -> Option<Value> {
        let text = arguments.to_string();
        let clean = (self.blank)(&text);
        (clean != text).then(|| serde_json::from_str(&clean).unwrap_or(clean.into()))
    }

    /// The event without keys. The calls of an answer that contain some are kept as they are, to be run.
    pub(crate) fn redacted(&mut self, event: Event) -> Event {
        let blank = &self.blank;
        match event {
            Event::User { text } => Event::User { text: self.keys.of_person(&text) },
            Event::Assistant { text, signatures, mut calls, usage, stop } => {
                let mut with_keys = vec![];
                for call in &mut calls {
                    if let Some(arguments) = self.without_keys(&call.arguments) {
                        with_keys.push(call.clone());
                        call.arguments = arguments;
                    }
                }
                let clean = blank(&text);
                // A signature belongs to the text as it was.
                let signatures = if clean == text { signatures } else { vec![] };
                self.calls_with_keys = with_keys;
                Event::Assistant { text: clean, signatures, calls, usage, stop }
            }
            Event::Summary { cut, text, strict, usage, failure } => {
                Event::Summary { cut, text: blank(&text), strict, usage, failure: failure.as_deref().map(blank) }
            }
            Event::Interrupted { text } => Event::Interrupted { text: blank(&text) },
            Event::Failed { code, message } => Event::Failed { code, message: blank(&message) },
            Event::Approval { id, decision, reason } => {
                Event::Approval { id, decision, reason: self.keys.of_person(&reason) }
            }
            // Blanked when the call ended.
            event => event,
        }
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_model::{TextSignature, Usage};
    use ragmaker_testkit::folder;
    use serde_json::json;

    use super::*;
    use crate::{
        agent::tests::{KEY, agent, call},
        machine::Decision,
    };

    fn answer(text: &str, calls: Vec<ragmaker_model::Call>) -> Event {
        let signatures = vec![TextSignature { start: 0, end: text.len(), signature: "s".into() }];
        let (usage, stop) = (Usage::default(), ragmaker_model::Stop::End);
        Event::Assistant { text: text.into(), signatures, calls, usage, stop }
    }

    #[test]
    fn no_event_has_a_key() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        let text = || format!("a {KEY} b");
        for event in [
            Event::User { text: text() },
            answer(&text(), vec![call("1", "think", json!({"thought": text(), KEY: [KEY]}))]),
            Event::Summary { cut: 1, text: text(), strict: false, usage: Usage::default(), failure: Some(text()) },
            Event::Interrupted { text: text() },
            Event::Failed { code: "X".into(), message: text() },
            Event::Approval { id: "1".into(), decision: Decision::Denied, reason: text() },
        ] {
            let redacted = serde_json::to_string(&agent.redacted(event)).unwrap();
            assert!(redacted.contains("a [key] b") && !redacted.contains(KEY), "{redacted}");
        }
    }

    #[test]
    fn a_signature_stays_only_with_the_text_that_it_signs() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        for (text, kept) in [("plain", 1), (KEY, 0)] {
            let Event::Assistant { signatures, .. } = agent.redacted(answer(text, vec![])) else { panic!() };
            assert_eq!(signatures.len(), kept, "{text}");
        }
    }

    #[test]
    fn a_key_that_the_person_types_is_known_from_then_on() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        let typed = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        let arguments = json!({"content": typed});
        // The form alone does not make a text of a tool or a model a key.
        assert_eq!(agent.without_keys(&arguments), None);
        let Event::User { text } = agent.redacted(Event::User { text: format!("use {typed}") }) else { panic!() };
        assert_eq!(text, "use [key]");
        assert_eq!(agent.without_keys(&arguments), Some(json!({"content": "[key]"})));
    }

    #[test]
    fn only_the_calls_with_keys_are_kept_as_they_were() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        let all = vec![call("1", "think", json!({"thought": "plain"})), call("2", "think", json!({"thought": KEY}))];
        agent.redacted(answer("", all.clone()));
        assert_eq!(agent.calls_with_keys, all[1..]);
        agent.redacted(answer("", all[..1].to_vec()));
        assert!(agent.calls_with_keys.is_empty(), "the calls of the last answer alone");
    }
}
