//! Messages to a model, independent of the provider.

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

/// All that an answer depends on.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The instructions.
    pub system: &'a str,
    /// The conversation: starts with a person's message, and every call has its result.
    pub messages: &'a [Message],
    /// The tools that may be called.
    pub tools: &'a [Declaration],
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
