//! The limits of a conversation, for the state machine and the summaries.

/// The limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The maximum number of questions to the model in a turn.
    pub(crate) max_steps: usize,
    /// Whether an answer after the use of tools has to be reviewed with `think`.
    pub(crate) think_required: bool,
    /// The maximum number of turns before the older ones are summarised; 0 for any number.
    pub(crate) max_turns: usize,
    /// The number of turns that a summary leaves unchanged.
    pub(crate) kept_turns: usize,
    /// The size of the context window in tokens; 0 if it is not known.
    pub(crate) context_tokens: usize,
    /// About how many of them each request has besides the conversation: the instructions and the tools.
    pub(crate) fixed_tokens: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self { max_steps: 50, think_required: true, max_turns: 20, kept_turns: 6, context_tokens: 0, fixed_tokens: 0 }
    }
}
