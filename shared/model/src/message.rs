//! Messages to a model, independent of the provider.

use std::{ops::Deref, sync::OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A message of the person.
    User {
        /// The text.
        text: String,
    },
    /// An answer of the model.
    Assistant {
        /// The text, which may be empty beside calls.
        text: String,
        /// The signed parts of the text, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        signatures: Vec<TextSignature>,
        /// The calls; each has a unique id.
        calls: Vec<Call>,
    },
    /// The result of a call: the conversation has exactly one for each.
    Result {
        /// The id of the call.
        id: String,
        /// The tool's name.
        name: String,
        /// The answer or the error, as JSON.
        text: String,
        /// Whether it is an error.
        is_error: bool,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Unique in the conversation.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments: an object, or the model's text if it is not a JSON object.
    pub arguments: Value,
    /// A value that Gemini requires unchanged when the call is sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A signed part of a text, which Gemini requires unchanged when the text is sent back. The part may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSignature {
    /// The byte offset in the text at which the part begins.
    pub start: usize,
    /// The byte offset of its end.
    pub end: usize,
    /// The signature.
    pub signature: String,
}

/// The declaration of a tool for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// The declarations of a request. Each wire format of them is made once: it is far longer than the rest of a short
/// conversation, and every request has it.
#[derive(Debug, Default)]
pub struct Declarations {
    all: Vec<Declaration>,
    spelled: [OnceLock<String>; 3],
}

impl From<Vec<Declaration>> for Declarations {
    fn from(all: Vec<Declaration>) -> Self {
        Self { all, ..Self::default() }
    }
}

impl Deref for Declarations {
    type Target = [Declaration];

    fn deref(&self) -> &[Declaration] {
        &self.all
    }
}

/// A wire format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WireFormat {
    Chat,
    Gemini,
    Anthropic,
}

impl Declarations {
    /// The declarations as JSON in `format`, which `spell` makes.
    pub(crate) fn spelled(&self, format: WireFormat, spell: impl FnOnce(&[Declaration]) -> Value) -> &str {
        self.spelled[format as usize].get_or_init(|| spell(&self.all).to_string())
    }
}

/// All that an answer depends on.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The instructions.
    pub system: &'a str,
    /// The conversation: starts with a person's message, and every call has its result.
    pub messages: &'a [Message],
    /// The tools that may be called.
    pub tools: &'a Declarations,
}

/// The arguments as an object, for formats that accept nothing else.
pub(crate) fn as_object(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { serde_json::json!({"unreadable_arguments": arguments}) }
}

/// Arguments as a model wrote them: an object, or the text if it is not a JSON object.
pub(crate) fn parsed(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).ok().filter(Value::is_object).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_an_object_or_the_text_of_the_model() {
        assert_eq!(parsed(" "), json!({}));
        assert_eq!(parsed(r#"{"a": 1}"#), json!({"a": 1}));
        for text in ["[1]", "{broken", "a"] {
            assert_eq!(parsed(text), json!(text));
            assert_eq!(as_object(&parsed(text)), json!({"unreadable_arguments": text}));
        }
        assert_eq!(as_object(&json!({"a": 1})), json!({"a": 1}));
    }

    #[test]
    fn a_wire_format_is_made_once() {
        let declarations = Declarations::from(vec![]);
        assert_eq!(declarations.spelled(WireFormat::Chat, |_| json!([1])), "[1]");
        assert_eq!(declarations.spelled(WireFormat::Chat, |_| json!([2])), "[1]");
        assert_eq!(declarations.spelled(WireFormat::Gemini, |_| json!([2])), "[2]");
    }

    #[test]
    fn a_message_is_kept_with_its_role() {
        let message = Message::Result { id: "a".into(), name: "work".into(), text: "{}".into(), is_error: false };
        let json = serde_json::to_value(&message).unwrap();
        assert_eq!(json["role"], "result");
        assert_eq!(serde_json::from_value::<Message>(json).unwrap(), message);
    }
}
