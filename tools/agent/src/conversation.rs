//! A conversation at a prompt.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

use ragmaker_model::{CANCELLED, Client, Message};
use ragmaker_registry::workflow;
use ragmaker_tool::{Error, arguments::nearest};
use ragmaker_work_state::rendered;

use crate::{
    agent::Agent,
    interrupt::Signals,
    sanitize,
    screen::{Screen, note, print},
    session::Session,
    terminal::{COMMANDS, Line},
};

/// Whether the conversation continues.
enum Continuation {
    Continue,
    /// The person ended the step.
    Interrupted,
    End,
}

/// Holds a conversation until the person leaves, or a signal ends the program.
pub(crate) fn run(mut agent: Agent, signals: &Signals, is_resumed: bool) {
    note(&format!(
        "{}, {} tools, model {}; /help for commands, Ctrl-D to leave",
        ragmaker_tool::Commands::of_process().spelled(env!("CARGO_PKG_NAME")),
        agent.tools.declarations().len(),
        agent.client.endpoint().model,
    ));
    if is_resumed {
        show_last(&agent);
    }
    if let Some(answer) = signals.run(|| agent.go_on()) {
        end_turn(answer);
    }
    let mut interrupted: Option<Instant> = None;
    while signals.ended_by().is_none() {
        match agent.terminal.prompt() {
            Line::End => break,
            Line::Interrupted if signals.ended_by().is_some() => break,
            Line::Interrupted if interrupted.is_some_and(|at| at.elapsed().as_secs() < 2) => break,
            Line::Interrupted => {
                interrupted = Some(Instant::now());
                note("(Ctrl-C once more ends the program)");
            }
            Line::Text(text) if text.trim().is_empty() => {}
            Line::Text(text) => {
                interrupted = None;
                match take(&mut agent, signals, text.trim()) {
                    Continuation::Continue => {}
                    Continuation::Interrupted => interrupted = Some(Instant::now()),
                    Continuation::End => break,
                }
            }
        }
    }
    let name = ragmaker_tool::Commands::of_process().spelled(env!("CARGO_PKG_NAME"));
    note(&format!("{name} --resume {}", agent.session.id()));
}

fn take(agent: &mut Agent, signals: &Signals, text: &str) -> Continuation {
    let (command, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let words = words.trim();
    let mut ask = |request: &str| {
        agent.request = request.to_owned();
        let answer = signals.run(|| if command == "/ask" { agent.say_checked(request) } else { agent.say(request) });
        let is_interrupted = answer.as_ref().is_err_and(|error| error.is(CANCELLED));
        end_turn(answer);
        if is_interrupted { Continuation::Interrupted } else { Continuation::Continue }
    };
    match command {
        "/exit" | "/quit" => return Continuation::End,
        "/rag" | "/ask" if words.is_empty() => note(&format!("{command} requires an argument")),
        "/rag" | "/ask" => match workflow(&command[1..]) {
            Some(workflow) => return ask(&workflow.text_with_calls(words)),
            None => note("there is no such workflow"),
        },
        "/help" => {
            for (name, what) in COMMANDS {
                note(&format!("{name:8} {what}"));
            }
        }
        "/tools" => {
            for tool in agent.tools.declarations().iter() {
                note(&format!("{:22} {}", tool.name, sanitize::line(&tool.description, 100)));
            }
        }
        "/state" | "/memos" => {
            let work = agent.work();
            let text = if command == "/memos" { work.memos } else { rendered(&work) };
            let text = sanitize::clean(text.trim());
            note(if text.is_empty() { "(nothing yet)" } else { &text });
        }
        "/model" if words.is_empty() => note(&agent.client.endpoint().model),
        "/model" => {
            let mut endpoint = agent.client.endpoint().clone();
            endpoint.model = words.to_owned();
            agent.client = Client::new(endpoint);
            note(&format!("the model is now {words}"));
        }
        "/reset" => match Session::create(&agent.project.cache_folder()) {
            Ok(session) => {
                agent.begin(session);
                note(&format!("a new conversation: {}", agent.session.id()));
            }
            Err(error) => Screen::error(&error),
        },
        "/save" if words.is_empty() => note("/save needs a file"),
        "/save" => {
            let path = named(words, std::env::home_dir());
            let saved = ragmaker_fs::private_options().write(true).create_new(true).open(&path).and_then(|mut file| {
                std::io::Write::write_all(&mut file, as_markdown(agent.state.history.messages()).as_bytes())
            });
            match saved {
                Ok(()) => note(&format!("saved as {}", path.display())),
                Err(error) => note(&format!("{} cannot be written: {error}", path.display())),
            }
        }
        _ => match no_command(command, words) {
            Some(reason) => note(&reason),
            None => return ask(text),
        },
    }
    Continuation::Continue
}

/// The file that a person names, in which `~/` is the folder `home`.
fn named(words: &str, home: Option<PathBuf>) -> PathBuf {
    match (words.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => words.into(),
    }
}

/// Why a line that begins with `command` is a command that does not exist. `None` for a request, which may begin with
/// the name of a folder, as in "/tmp is full, why?".
fn no_command(command: &str, words: &str) -> Option<String> {
    let name = command.strip_prefix('/')?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase()) || Path::new(command).exists() {
        return None;
    }
    let names: Vec<_> = COMMANDS.iter().map(|(name, _)| *name).collect();
    match nearest(command, &names) {
        Some(near) => Some(format!("there is no {command}; did you mean {near}? /help lists the commands")),
        None if words.is_empty() => Some(format!("there is no {command}; /help lists the commands")),
        None => None,
    }
}

/// Ends a turn: the answer was shown as it was written; an error is shown here.
fn end_turn(answer: Result<String, Error>) {
    match answer {
        // A terminal that is gone ends the program by a signal.
        Ok(_) => drop(print("\n")),
        Err(error) => Screen::error(&error),
    }
}

/// Shows the last messages, when a person continues a conversation.
fn show_last(agent: &Agent) {
    let messages = agent.state.history.messages();
    note(&format!("(conversation {}, {} messages)", agent.session.id(), messages.len()));
    for message in &messages[messages.len().saturating_sub(4)..] {
        match message {
            Message::User { text } => note(&format!("> {}", sanitize::line(text, 300))),
            Message::Assistant { text, .. } if !text.trim().is_empty() => note(&sanitize::line(text, 300)),
            _ => {}
        }
    }
}

/// The conversation as a document.
fn as_markdown(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        // Writing to a string cannot fail.
        let _ = match message {
            Message::User { text: said } => writeln!(text, "## Person\n\n{said}\n"),
            Message::Assistant { text: said, calls, .. } => {
                let calls = calls
                    .iter()
                    .fold(String::new(), |all, call| format!("{all}- `{} {}`\n", call.name, call.arguments));
                writeln!(text, "## Assistant\n\n{said}\n{calls}")
            }
            Message::Result { name, text: said, .. } => {
                writeln!(text, "### Result of {name}\n\n```json\n{said}\n```\n")
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_begin_with_a_path() {
        for (line, is_request) in [
            ("/ is full, why?", true),
            ("/nosuchfolder is full, why?", true),
            ("/Users/me/x.txt what is it?", true),
            ("/tmp/x", true),
            ("what is /x?", true),
            ("/bogus", false),
            ("/modle gpt-5", false),
            ("/resett", false),
        ] {
            let (command, words) = line.split_once(' ').unwrap_or((line, ""));
            assert_eq!(no_command(command, words).is_none(), is_request, "{line}");
        }
        // A folder of this machine.
        assert_eq!(no_command("/usr", "is full"), None);
        assert!(no_command("/modle", "x").unwrap().contains("did you mean /model?"));
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = || Some(PathBuf::from("/home/me"));
        for (words, path) in [("~/a b.md", "/home/me/a b.md"), ("a.md", "a.md"), ("~x/a.md", "~x/a.md"), ("~", "~")] {
            assert_eq!(named(words, home()), Path::new(path));
        }
        assert_eq!(named("~/a.md", None), Path::new("~/a.md"));
    }
}
