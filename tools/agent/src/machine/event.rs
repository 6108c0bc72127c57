//! The events of a conversation.

use ragmaker_model::{Call, Stop as Ended, TextSignature, Usage};
use serde::{Deserialize, Serialize};

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The person said something.
    User {
        /// The text.
        text: String,
    },
    /// The answer to the next message is checked: its quotations have to be in the knowledge bases.
    Check {
        /// The number of repairs of the answer, with the one that the message asks for; 0 for the question itself.
        repairs: usize,
    },
    /// The check of the answer is over.
    Checked,
    /// The model answered.
    Assistant {
        /// The text, which may be empty beside calls.
        text: String,
        /// The signed parts of the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        signatures: Vec<TextSignature>,
        /// The calls.
        calls: Vec<Call>,
        /// The tokens used.
        usage: Usage,
        /// The reason of its end.
        #[serde(default)]
        stop: Ended,
    },
    /// A call ended.
    ToolResult {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The answer or the error.
        text: String,
        /// Whether it is an error.
        is_error: bool,
        /// The duration in milliseconds.
        milliseconds: u64,
    },
    /// The program added a note for the model.
    Note {
        /// The kind of note.
        note: Note,
        /// The text.
        text: String,
    },
    /// The model summarised the first messages.
    Summary {
        /// The number of summarised messages.
        cut: usize,
        /// The text; empty if the model returned none.
        text: String,
        /// Whether the stricter prompt was used.
        strict: bool,
        /// The tokens used.
        #[serde(default)]
        usage: Usage,
        /// Why the model could not be asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// Old results were shortened, after no summary could be had.
    Shortened {
        /// The ids of the calls, and the new texts of their results.
        results: Vec<(String, String)>,
    },
    /// It was decided whether a call may run.
    Approval {
        /// The call.
        id: String,
        /// The decision.
        decision: Decision,
        /// The reason, or the message of the person.
        reason: String,
    },
    /// The model could not be asked.
    Failed {
        /// The code of the error.
        code: String,
        /// The message of the error.
        message: String,
    },
    /// The person ended the step, or the program was ended in the middle of it.
    Interrupted {
        /// What the model had written of its answer.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
}

/// The decision about a call that needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// The person approved it, or once approved all of its kind.
    Approved,
    /// The person changed its arguments and approved it.
    Edited,
    /// The person denied it.
    Denied,
    /// Nobody was asked: the rules refuse it.
    Refused,
}

/// A note of the program to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// Review the draft before it is the answer.
    #[serde(alias = "judge")]
    Review,
    /// The answer was empty.
    Empty,
    /// The same call had the same result repeatedly.
    Repeated,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, json, to_value};

    use super::*;

    #[test]
    fn events_of_older_conversations_are_read() {
        for (line, expected) in [
            (r#"{"type":"user","text":"潮\n"}"#, Event::User { text: "潮\n".to_owned() }),
            (r#"{"type":"note","note":"judge","text":""}"#, Event::Note { note: Note::Review, text: String::new() }),
            (r#"{"type":"interrupted"}"#, Event::Interrupted { text: String::new() }),
            (r#"{"type":"checked"}"#, Event::Checked),
            (
                r#"{"type":"summary","cut":2,"text":"S","strict":false}"#,
                Event::Summary { cut: 2, text: "S".to_owned(), strict: false, usage: Usage::default(), failure: None },
            ),
            (
                r#"{"type":"approval","id":"1","decision":"denied","reason":"no"}"#,
                Event::Approval { id: "1".to_owned(), decision: Decision::Denied, reason: "no".to_owned() },
            ),
        ] {
            assert_eq!(from_str::<Event>(line).unwrap(), expected, "{line}");
        }
        for line in
            ["{}", r#"{"type":"unknown"}"#, r#"{"type":"check"}"#, r#"{"type":"note","note":"x","text":""}"#, "[]"]
        {
            assert!(from_str::<Event>(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_empty_is_not_written() {
        let event = Event::Interrupted { text: String::new() };
        assert_eq!(to_value(&event).unwrap(), json!({"type": "interrupted"}));
        let results = vec![("1".to_owned(), "short".to_owned())];
        let event = Event::Shortened { results };
        assert_eq!(to_value(&event).unwrap(), json!({"type": "shortened", "results": [["1", "short"]]}));
        assert_eq!(from_str::<Event>(&to_value(&event).unwrap().to_string()).unwrap(), event);
    }
}
