//! The command line: the agent's own arguments and the host options.

use argh::{ArgsInfo, FromArgs};
use ragmaker_config::Approve;
use ragmaker_tool::host;

use crate::screen::Form;

/// Answer a request with a model that uses the tools, or hold a conversation at a prompt.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// the request in quotes, or rag SOURCE, or ask QUESTION; without it, a conversation begins
    #[argh(positional)]
    pub(crate) request: Vec<String>,
    /// continue the last conversation of the project
    #[argh(switch, long = "continue")]
    pub(crate) continue_last: bool,
    /// continue the conversation with this id
    #[argh(option)]
    pub(crate) resume: Option<String>,
    /// provider of the model: gemini, openai, azure, anthropic or compatible
    #[argh(option)]
    pub(crate) provider: Option<String>,
    /// name of the model
    #[argh(option)]
    pub(crate) model: Option<String>,
    /// the provider's root, with or without /v1
    #[argh(option)]
    pub(crate) base_url: Option<String>,
    /// offer only these tools: names separated by commas
    #[argh(option)]
    pub(crate) tools: Option<String>,
    /// offer only tools that change no files of the user and nothing outside the project
    #[argh(switch)]
    pub(crate) read_only: bool,
    /// which calls run without approval: ask (the default), read, never or all
    #[argh(option)]
    pub(crate) approve: Option<Approve>,
    /// maximum number of model requests per user request (default: 50)
    #[argh(option)]
    pub(crate) max_steps: Option<u64>,
    /// text (the default), json, or jsonl (one event per line)
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
