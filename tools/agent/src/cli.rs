//! The command-line program: a single request, or a conversation at a prompt.

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    sync::Arc,
};

use ragmaker_config::{Approve, MODEL_NOT_CONFIGURED, Provider};
use ragmaker_registry::{Workflow, arguments_with_help, subprocess, workflow};
use ragmaker_tool::{ARGUMENT_ERROR, Error, HostOptions, INTERNAL_ERROR, Usage};

use crate::{
    agent::Agent,
    arguments::{Arguments, host_options},
    conversation,
    interrupt::Signals,
    piped,
    report::{End, RunReport},
    screen::Form,
    start,
};

/// The command line.
pub fn usage() -> Usage {
    Usage::of_program::<Arguments>(&host_options())
        .with_choices("--provider", Provider::NAMES.iter().copied())
        .with_choices("--approve", Approve::NAMES.iter().copied())
        .with_choices("--output", Form::NAMES)
}

/// Runs the program with the command line `words`.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    start(env!("CARGO_PKG_NAME"), words, |help| help)
}

/// Runs `workflow` as a command of its own, such as `ragmaker rag`, with the command line `words` after its name.
pub fn main_of_workflow(workflow: &Workflow, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = [workflow.name.into()].into_iter().chain(words);
    start(&format!("ragmaker {}", workflow.name), words, |help| help_of_workflow(workflow, &help))
}

/// The help of `workflow` as a command: its purpose, its argument and an example, with the options of the agent, whose
/// help is `agent`.
fn help_of_workflow(workflow: &Workflow, agent: &str) -> String {
    let Workflow { name, hint, argument, argument_help, example, .. } = workflow;
    // The sentences after the first tell a model when to use it.
    let purpose = workflow.description.split_inclusive(". ").next().unwrap_or_default().trim_end();
    let options = agent.find("\nOptions:").map_or("", |at| &agent[at..]);
    format!(
        "Usage: ragmaker {name} [OPTION]... {hint}\n\n{purpose}\n\nPositional Arguments:\n  \
         {argument:<17} {argument_help}\n\nExample:\n  ragmaker {name} {example}\n\n\
         A language model does the work. ragmaker doctor checks its configuration.\n{options}"
    )
}

/// Runs the program as `name`; `help` changes the text for `--help`.
fn start(name: &str, words: impl IntoIterator<Item = OsString>, help: impl FnOnce(String) -> String) -> ExitCode {
    let roles = [ragmaker_browser::run_if_asked, subprocess::run_if_asked, ragmaker_external_tools::run_if_asked];
    if let Some(exit) = roles.iter().find_map(|run_if_asked| run_if_asked()) {
        return exit;
    }
    let parsed = arguments_with_help(name, env!("CARGO_PKG_VERSION"), words, &host_options(), help);
    let (arguments, host): (Arguments, _) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    // A panic in a tool is answered as an error; the default hook would print prose as well.
    panic::set_hook(Box::new(|_| ()));
    let is_silent = arguments.request.iter().all(|word| word.trim().is_empty());
    let is_conversation = is_silent && arguments.output == Form::Text && io::stdin().is_terminal();
    let report = Arc::new(RunReport::new(arguments.output, is_conversation));
    let signals = Signals::watch(Arc::clone(&report), is_conversation);
    let end = panic::catch_unwind(AssertUnwindSafe(|| run(&arguments, host, is_conversation, &signals)));
    let end = end.unwrap_or_else(|_| Err(INTERNAL_ERROR.error("the program failed unexpectedly")));
    report.end(&end, signals.ended_by())
}

fn run(arguments: &Arguments, host: HostOptions, is_conversation: bool, signals: &Signals) -> Result<End, Error> {
    let request = request(arguments)?;
    // Read before anything is made: it may be refused.
    let input = piped::input(signals.cancel())?;
    signals.check()?;
    let text = piped::appended(request.as_deref().unwrap_or_default(), &input);
    let goes_on = arguments.continue_last || arguments.resume.is_some();
    if text.trim().is_empty() && !goes_on && !is_conversation {
        return Err(no_request());
    }
    let agent = start::agent(arguments, host, signals).map_err(|error| without_model(error, arguments));
    let (mut agent, is_resumed) = agent?;
    if input == piped::Input::Silent {
        agent.warn(piped::silence());
    }
    if is_conversation {
        conversation::run(agent, signals, is_resumed);
        return Ok(End::Left);
    }
    let written = |agent: &Agent| match agent.screen.failure() {
        // A terminal that is gone fails as well.
        Some(error) if signals.ended_by().is_none() => Err(error),
        _ => Ok(()),
    };
    let answer = written(&agent).and_then(|()| {
        if text.trim().is_empty() {
            // A turn that the end of the program interrupted is continued.
            return signals.run(|| agent.go_on()).unwrap_or_else(|| Err(no_request()));
        }
        agent.request = request.unwrap_or_else(|| "(see the message)".to_owned());
        let is_ask = matches!(&arguments.request[..], [name, _, ..] if name == "ask");
        signals.run(|| if is_ask { agent.say_checked(&text) } else { agent.say(&text) })
    });
    let answer = written(&agent).and(answer).map_err(|error| error.detail("session", agent.session.id()))?;
    Ok(End::answered(&agent, &answer))
}

/// Adds what can be done without a model to the error that none is configured.
fn without_model(error: Error, arguments: &Arguments) -> Error {
    let instead = match arguments.request.first().map(String::as_str) {
        _ if !error.is(MODEL_NOT_CONFIGURED) => return error,
        Some("rag") => "Without a model, ragmaker-http-fetch --url URL --section --kb-root kb/NAME saves a site.",
        Some("ask") => "Without a model, ragmaker-search-knowledge-base --query QUESTION finds the places.",
        _ => return error,
    };
    let advice = format!("{} {instead}", error.remediation());
    error.remedy(advice)
}

/// The request of the person.
fn request(arguments: &Arguments) -> Result<Option<String>, Error> {
    match &arguments.request[..] {
        [] => Ok(None),
        [name, words @ ..] if workflow(name).is_some() && words.iter().all(|word| word.trim().is_empty()) => {
            Err(ARGUMENT_ERROR
                .error(format!("the workflow {name} requires an argument"))
                .remedy("Give it as rag SOURCE or ask QUESTION.")
                .detail("argument", "request")
                .detail("value", name.clone()))
        }
        [request] => Ok(Some(request.clone())),
        [name, words @ ..] => {
            workflow(name).map(|found| Some(found.text_with_calls(&words.join(" ")))).ok_or_else(|| {
                ARGUMENT_ERROR
                    .error(format!("there is no workflow {name:?}"))
                    .remedy(
                        "Put quotes around a request of several words; the workflows are rag SOURCE and ask QUESTION.",
                    )
                    .detail("argument", "request")
                    .detail("value", name.clone())
            })
        }
    }
}

fn no_request() -> Error {
    ARGUMENT_ERROR
        .error("there is no request")
        .remedy("Give a request as an argument or on standard input, or start it at a terminal.")
        .detail("argument", "request")
}

#[cfg(test)]
mod tests {
    use argh::FromArgs;
    use ragmaker_tool::arguments::Parsed;

    use super::*;

    #[test]
    fn a_workflow_has_a_help_of_its_own() {
        let agent = "Usage: ragmaker-agent [<request...>]\n\nAnswer.\n\nOptions:\n  --model           the model\n";
        let help = help_of_workflow(workflow("ask").unwrap(), agent);
        for part in ["ragmaker ask [OPTION]... QUESTION\n", "  question          the", "with sources.\n", "  --model  "]
        {
            assert!(help.contains(part), "{part}: {help}");
        }
        assert!(!help.contains("request") && !help.contains("Use it when"), "{help}");
    }

    #[test]
    fn a_workflow_needs_its_word() {
        let request = |words: &[&str]| request(&Arguments::from_args(&["ragmaker-agent"], words).unwrap());
        for words in [&["rag"][..], &["ask"], &["ask", ""], &["rag", " ", ""], &["none", "x"]] {
            assert!(request(words).unwrap_err().is(ARGUMENT_ERROR), "{words:?}");
        }
        assert_eq!(request(&[]).unwrap(), None);
        assert_eq!(request(&["Why?"]).unwrap().as_deref(), Some("Why?"));
        assert!(request(&["ask", "Why", "so?"]).unwrap().unwrap().contains("Why so?"));
    }

    #[test]
    fn a_request_may_begin_with_a_dash() {
        let parsed = |words: &[&str]| {
            let words = words.iter().map(OsString::from);
            ragmaker_tool::arguments::of_program::<Arguments>("ragmaker-agent", words, &host_options())
        };
        for (words, expected) in [
            (&["- fix this"][..], &["- fix this"][..]),
            (&["-5 degrees?"], &["-5 degrees?"]),
            (&["--", "-5"], &["-5"]),
            (&["--output", "json", "--", "--help"], &["--help"]),
            (&["ask", "--", "-5", "or", "5?"], &["ask", "-5", "or", "5?"]),
            (&["--", "--"], &["--"]),
        ] {
            let Ok(Parsed::Work((arguments, _))) = parsed(words) else { panic!("{words:?}") };
            assert_eq!(arguments.request, expected);
        }
        for words in [&["-5"][..], &["--what is it?"]] {
            let error = parsed(words).err().unwrap();
            assert!(error.remediation().ends_with("Put -- before a word that begins with -."), "{error}");
        }
    }
}
