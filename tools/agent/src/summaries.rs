//! Shortening older turns: by a summary of the model, or by cutting long results.

use ragmaker_model::{CANCELLED, Declarations, Message, Progress, Request, Usage};
use ragmaker_tool::Error;
use serde_json::json;

use crate::{
    agent::Agent,
    compaction::{self, Refusal},
    machine::Event,
    session::WHOLE,
};

impl Agent {
    /// Asks the model for a summary of the first messages.
    pub(crate) fn summarise(&mut self, cut: usize, strict: bool) -> Event {
        let text = compaction::rendered(&self.state.history, cut);
        let limit = (text.chars().count() / 3).clamp(200, 8_000);
        let system = self.language.summary(limit, strict);
        let messages = [Message::User { text: format!("<conversation>\n{text}</conversation>") }];
        let request = Request { system: &system, messages: &messages, tools: &Declarations::default() };
        self.log.request(&self.state, self.client.endpoint(), &request, &self.blank);
        let (screen, log, blank, state) = (&mut self.screen, &mut self.log, &self.blank, &self.state);
        screen.dim("  (summarising older turns)");
        let answer = self.client.complete(&request, &self.cancel, &mut |progress| {
            if let Progress::Retry { number, wait, reason } = progress {
                log.line(state, "retry", &json!({"number": number, "reason": reason}), blank);
                screen.retry(number, wait, &blank(reason));
            }
        });
        match answer {
            Ok(answer) => Event::Summary { cut, text: answer.text, strict, usage: answer.usage, failure: None },
            Err(error) if error.is(CANCELLED) => Event::Interrupted { text: String::new() },
            // Asking again, more strictly, would fail for the same reason.
            Err(error) => {
                let failure = Some(format!("{}: {}", error.code(), error.message()));
                Event::Summary { cut, text: String::new(), strict: true, usage: Usage::default(), failure }
            }
        }
    }

    /// Says whether the summary `text` replaced the first messages, and if not, why. The conversation continues either
    /// way.
    pub(crate) fn report_summary(&mut self, cut: usize, text: &str) {
        let reason = self.state.refusal.as_ref().map(Refusal::to_string);
        self.screen.summary(cut, text, reason.as_deref());
        if self.log.is_on() {
            let members = json!({"messages": cut, "accepted": reason.is_none(), "reason": reason});
            self.log.line(&self.state, "summary", &members, &self.blank);
        }
        self.warnings.extend(reason.map(|reason| format!("a summary of older turns was refused: {reason}")));
    }

    /// Shortens the results among the first messages; files keep the complete results.
    pub(crate) fn shorten(&mut self, cut: usize) -> Result<Event, Error> {
        let mut results = vec![];
        for (id, text) in compaction::long_results(&self.state.history, cut) {
            let path = self.session.keep(id, text)?;
            let short = compaction::shortened(text).unwrap_or_default();
            results.push((id.to_owned(), format!("{short}\n[{WHOLE} {}]", path.display())));
        }
        Ok(Event::Shortened { results })
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{
        folder,
        scripted::{Reply, Scripted},
    };
    use serde_json::json;

    use super::*;
    use crate::agent::tests::{agent, call, calls, model};

    #[test]
    fn a_summary_is_asked_for_without_tools() {
        let (_holder, root) = folder("project");
        let server = model(&["short"]);
        let mut agent = agent(&root, &server.url);
        agent.take(Event::User { text: "the tides".into() }).unwrap();
        let event = agent.summarise(1, true);
        let Event::Summary { cut: 1, text, strict: true, usage, failure: None } = event else { panic!("{event:?}") };
        assert_eq!((text.as_str(), usage.input_tokens), ("short", 5));
        let request = &server.requests()[0].body;
        assert!(request["tools"].is_null() && request.to_string().contains("the tides"), "{request}");
    }

    #[test]
    fn a_summary_that_cannot_be_had_says_why_and_is_not_asked_for_again() {
        let (_holder, root) = folder("project");
        let server = Scripted::new(vec![Reply::status("401 Unauthorized", "", "{}")]);
        let mut agent = agent(&root, &server.url);
        agent.take(Event::User { text: "go".into() }).unwrap();
        let event = agent.summarise(1, false);
        let Event::Summary { text, strict: true, failure: Some(failure), .. } = event else { panic!("{event:?}") };
        assert!(text.is_empty() && failure.starts_with("MODEL_AUTH_FAILED: "), "{failure}");
        agent.cancel.cancel();
        assert!(matches!(agent.summarise(1, false), Event::Interrupted { .. }));
    }

    #[test]
    fn shortened_results_name_the_file_with_the_whole() {
        let (_holder, root) = folder("project");
        let mut agent = agent(&root, "http://127.0.0.1:9");
        agent.take(Event::User { text: "go".into() }).unwrap();
        agent.take(calls(&[call("1", "think", json!({})), call("2", "think", json!({}))])).unwrap();
        let long = "line\n".repeat(2_000);
        for (id, text) in [("1", long.clone()), ("2", "short".to_owned())] {
            let (id, name) = (id.to_owned(), "think".to_owned());
            agent.take(Event::ToolResult { id, name, text, is_error: false, milliseconds: 0 }).unwrap();
        }
        let Event::Shortened { results } = agent.shorten(4).unwrap() else { panic!() };
        let [(id, text)] = &results[..] else { panic!("{results:?}") };
        assert!(id == "1" && text.len() < long.len() / 2);
        let path = text.rsplit_once(WHOLE).unwrap().1.trim().trim_end_matches(']');
        assert_eq!(std::fs::read_to_string(path).unwrap(), long);
    }
}
