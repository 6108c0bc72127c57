//! Failures of a request: error codes, and whether to send the request again.

use std::time::Duration;

use ragmaker_tool::{Code, Error};

/// The endpoint refused the key.
pub const MODEL_AUTH_FAILED: Code =
    Code::new("MODEL_AUTH_FAILED", "Check the key in the variable that the configuration names, and its permissions.");
/// The endpoint refused further requests for now.
pub const MODEL_RATE_LIMITED: Code =
    Code::new("MODEL_RATE_LIMITED", "Wait, or use another model or key; the conversation can be resumed.");
/// The endpoint did not answer, or not to the end.
pub const MODEL_UNREACHABLE: Code =
    Code::new("MODEL_UNREACHABLE", "Check the address and the network; the conversation can be resumed.");
/// The answer of the endpoint is not that of a model.
pub const MODEL_ANSWER_INVALID: Code =
    Code::new("MODEL_ANSWER_INVALID", "Check the provider, the model's name and the base URL.");
/// The conversation does not fit into the model's context.
pub const CONTEXT_TOO_LONG: Code = Code::new(
    "CONTEXT_TOO_LONG",
    "Start a new conversation, offer fewer tools, or use a model with a larger context window.",
);
/// A person ended the step.
pub const CANCELLED: Code = Code::new("CANCELLED", "Nothing needs to be done; the conversation can be resumed.");

/// The codes of [`crate::Client::complete`].
pub const ERRORS: &[Code] =
    &[MODEL_AUTH_FAILED, MODEL_RATE_LIMITED, MODEL_UNREACHABLE, MODEL_ANSWER_INVALID, CONTEXT_TOO_LONG, CANCELLED];

/// The failure of one attempt.
pub(crate) enum Failure {
    Final(Error),
    Again {
        code: Code,
        reason: String,
        wait: Option<Duration>,
    },
    /// No connection could be opened.
    NotOpened {
        reason: String,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}
