//! The addresses in an answer, and whether the result of a tool contained each.
//!
//! An address that is in no result was invented, or the model knew it from elsewhere.

use std::collections::BTreeSet;

use ragmaker_model::Message;
use serde::Serialize;

/// A source that an answer names.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Citation {
    /// The address.
    pub(crate) url: String,
    /// Whether it is in a result of the conversation.
    pub(crate) found: bool,
}

/// The addresses in `answer`, each once, in order.
pub(crate) fn found(answer: &str, messages: &[Message]) -> Vec<Citation> {
    let mut seen = BTreeSet::new();
    let urls = addresses(answer).filter(|url| seen.insert(url.to_string()));
    let cited = |url: &str| {
        let found = messages.iter().any(|message| match message {
            Message::Result { text, is_error: false, .. } => addresses(text).any(|other| other == url),
            _ => false,
        });
        Citation { url: url.to_owned(), found }
    };
    urls.map(cited).collect()
}

/// The web addresses in a text, without surrounding punctuation.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let starts = ["https://", "http://"];
    text.match_indices("http").filter_map(move |(at, _)| {
        let rest = &text[at..];
        let start = starts.iter().find(|start| rest.starts_with(**start))?;
        let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || "\"<>`\\|{}、。「」)".contains(c));
        let url = rest[..end.unwrap_or(rest.len())]
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'', ']', '/']);
        (url.len() > start.len()).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_in_results() {
        let result =
            |text: &str, is_error| Message::Result { id: "a".into(), name: "t".into(), text: text.into(), is_error };
        let messages = [
            result("{\"url\": \"https://a.example/tides\", \"text\": \"http://b.example/x?y=1&z\"}", false),
            result("{\"url\": \"https://c.example/error\"}", true),
        ];
        let answer = "Twice a day (https://a.example/tides), see [x](http://b.example/x?y=1&z).\n潮汐は http://c.example。 \
                      https://a.example/tides/ https://c.example/error http://";
        let expected = [
            ("https://a.example/tides", true),
            ("http://b.example/x?y=1&z", true),
            ("http://c.example", false),
            ("https://c.example/error", false),
        ];
        let citations: Vec<_> = found(answer, &messages);
        let citations: Vec<_> = citations.iter().map(|citation| (citation.url.as_str(), citation.found)).collect();
        assert_eq!(citations, expected);
    }
}
