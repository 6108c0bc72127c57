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
