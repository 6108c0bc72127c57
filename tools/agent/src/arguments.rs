//! The command line: the agent's own arguments and the host options.

use argh::{ArgsInfo, FromArgs};
use ragmaker_config::Approve;
use ragmaker_tool::host;

use crate::screen::Form;

/// Ask a model that has the tools: one request, or a conversation at a prompt.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// the request in quotes, or rag SOURCE, or ask QUESTION; without it, a conversation begins
    #[argh(positional)]
    pub(crate) request: Vec<String>,
    /// go on with the last conversation of the project
    #[argh(switch, long = "continue")]
    pub(crate) continue_last: bool,
    /// go on with the conversation of this id
    #[argh(option)]
    pub(crate) resume: Option<String>,
    /// who serves the model: gemini, openai, azure, anthropic or compatible
    #[argh(option)]
    pub(crate) provider: Option<String>,
    /// name of the model
    #[argh(option)]
    pub(crate) model: Option<String>,
    /// the provider's root, with or without /v1
    #[argh(option)]
    pub(crate) base_url: Option<String>,
    /// offer only these tools: their names, with commas between
    #[argh(option)]
    pub(crate) tools: Option<String>,
    /// offer only tools that change nothing
    #[argh(switch)]
    pub(crate) read_only: bool,
    /// what runs without a question: ask (the default), read, never or all
    #[argh(option)]
    pub(crate) approve: Option<Approve>,
    /// the most requests to the model for one of yours (default: 50)
    #[argh(option)]
    pub(crate) max_steps: Option<u64>,
    /// text (the default), json, or jsonl for one object a line as it happens
    #[argh(option, default = "Form::default()")]
    pub(crate) output: Form,
    /// log requests, answers and decisions to .tmp/cache/logs in the project, without keys
    #[argh(switch)]
    pub(crate) debug: bool,
}

/// The host options of the agent: all except the conversation, which the agent sets itself.
pub(crate) fn host_options() -> Vec<&'static str> {
    host::ALL.iter().copied().filter(|option| *option != "--conversation").collect()
}
