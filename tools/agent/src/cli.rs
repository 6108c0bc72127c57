//! The command-line program: a single request, or a conversation at a prompt.

use std::{
    io::{self, IsTerminal},
    panic,
    process::ExitCode,
};

use ragmaker_model::Cancel;
use ragmaker_registry::{fail, print, subprocess};
use ragmaker_tool::{
    ARGUMENT_ERROR, Error, HostOptions,
    json::{self, Charset},
};
use serde_json::json;

use crate::{
    agent::Agent,
    arguments::{Arguments, host_options},
    conversation,
    interrupt::Step,
    piped, prompts,
    screen::Form,
    start,
};

/// Runs this process: its `main` function is this call.
pub fn main() -> ExitCode {
    if let Some(exit) = ragmaker_browser::run_if_asked().or_else(subprocess::run_if_asked) {
        return exit;
    }
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let (arguments, host): (Arguments, _) = match ragmaker_registry::arguments(name, version, &host_options()) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    // A panic in a tool is answered as an error; the default hook would print prose as well.
    panic::set_hook(Box::new(|_| ()));
    match run(&arguments, host) {
        Ok(exit) => exit,
        Err(error) => failed(&arguments, &error),
    }
}

fn run(arguments: &Arguments, host: HostOptions) -> Result<ExitCode, Error> {
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
    let (mut agent, is_resumed) = start::agent(arguments, host, cancel)?;
    if text.trim().is_empty() {
        if is_conversation {
            return Ok(conversation::hold(agent, &step, is_resumed));
        }
        // What the end of the program interrupted goes on.
        let answer = step.run(|| agent.go_on()).unwrap_or_else(|| Err(no_request()));
        return finish(arguments, &agent, answer);
    }
    agent.request = request.unwrap_or_else(|| "(see the message)".to_owned());
    let is_ask = matches!(&arguments.request[..], [name, _, ..] if name == "ask");
    let answer = step.run(|| if is_ask { agent.say_checked(&text) } else { agent.say(&text) });
    finish(arguments, &agent, answer)
}

/// The request of the person.
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
        "citations": agent.sources(&answer),
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
