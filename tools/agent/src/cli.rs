//! The command line: one request, or a conversation at a prompt.

use std::{
    io::{self, IsTerminal},
    panic,
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_config::Approve;
use ragmaker_model::Cancel;
use ragmaker_registry::{fail, print, subprocess};
use ragmaker_tool::{
    ARGUMENT_ERROR, Error,
    json::{self, Charset},
};
use serde_json::json;

use crate::{agent::Agent, conversation, interrupt::Step, piped, prompts, screen::Form, start};

/// Ask a model that has the tools: one request, or a conversation at a prompt.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
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
    /// configuration file in place of ragmaker.toml
    #[argh(option)]
    pub(crate) config: Option<String>,
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
    /// directory of the project (default: the nearest project, else the working directory)
    #[argh(option)]
    pub(crate) project_root: Option<String>,
    /// another directory that may be read, and written with rw= before it; may be repeated
    #[argh(option)]
    pub(crate) allow_root: Vec<String>,
    /// knowledge base that may be read beside the project; may be repeated
    #[argh(option)]
    pub(crate) kb_root: Vec<String>,
    /// domain whose pages may be opened, with the hosts below it; may be repeated (default: any)
    #[argh(option)]
    pub(crate) allow_domain: Vec<String>,
    /// let pages be fetched from this machine and from private networks
    #[argh(switch)]
    pub(crate) allow_private: bool,
}

/// Runs this process: its `main` function is this call.
pub fn main() -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked().or_else(subprocess::run_if_asked) {
        return exit;
    }
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let (arguments, _): (Arguments, _) = match ragmaker_registry::arguments(name, version, &[]) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    // A panic in a tool is answered as an error; the default hook would print prose as well.
    panic::set_hook(Box::new(|_| ()));
    match run(&arguments) {
        Ok(exit) => exit,
        Err(error) => failed(&arguments, &error),
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let request = request(arguments)?;
    // Read before anything is made: it may be refused.
    let input = piped::text()?;
    let text = piped::appended(request.as_deref().unwrap_or_default(), &input);
    let goes_on = arguments.continue_last || arguments.resume.is_some();
    let is_conversation = arguments.output == Form::Text && io::stdin().is_terminal();
    if text.trim().is_empty() && !goes_on && !is_conversation {
        return Err(no_request());
    }
    let cancel = Cancel::default();
    let step = Step::watch(cancel.clone());
    let (mut agent, is_resumed) = start::agent(arguments, cancel)?;
    if text.trim().is_empty() {
        if is_conversation {
            return Ok(conversation::hold(agent, &step, is_resumed));
        }
        // What the end of the program interrupted goes on.
        let answer = step.run(|| agent.go_on()).unwrap_or_else(|| Err(no_request()));
        return finish(arguments, &agent, answer);
    }
    agent.request = request.unwrap_or_else(|| "(see the message)".to_owned());
    let answer = step.run(|| agent.say(&text));
    finish(arguments, &agent, answer)
}

/// What the person asks for.
fn request(arguments: &Arguments) -> Result<Option<String>, Error> {
    match &arguments.request[..] {
        [] => Ok(None),
        [request] => Ok(Some(request.clone())),
        [name, words @ ..] => prompts::workflow(name, &words.join(" ")).map(Some).ok_or_else(|| {
            ARGUMENT_ERROR
                .error(format!("there is no workflow {name:?}"))
                .remedy("Put quotes around a request of several words; the workflows are rag SOURCE and ask QUESTION.")
                .detail("argument", "request")
                .detail("value", name.clone())
        }),
    }
}

fn no_request() -> Error {
    ARGUMENT_ERROR
        .error("there is no request")
        .remedy("Give a request as an argument or on standard input, or start it at a terminal.")
        .detail("argument", "request")
}

fn finish(arguments: &Arguments, agent: &Agent, answer: Result<String, Error>) -> Result<ExitCode, Error> {
    let answer = answer?;
    if arguments.output != Form::Json {
        return Ok(ExitCode::SUCCESS);
    }
    let answer = json!({
        "status": "success",
        "answer": answer,
        "steps": agent.state.steps,
        "tool_calls": agent.calls,
        "usage": agent.state.usage,
        "session": agent.session.id(),
        "citations": crate::citations::found(&answer, agent.state.history.messages()),
        "warnings": agent.warnings,
    });
    let mut out = vec![];
    // Writing a value to memory cannot fail.
    let _ = json::write(&answer, Charset::from_env(), &mut out);
    Ok(print(&String::from_utf8_lossy(&out)))
}

fn failed(arguments: &Arguments, error: &Error) -> ExitCode {
    if arguments.output == Form::Jsonl {
        let mut line = serde_json::to_value(error).unwrap_or_default();
        line["type"] = "error".into();
        crate::screen::print(&format!("{line}\n"));
    }
    fail(error)
}
