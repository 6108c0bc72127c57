//! The terminal: editing of lines, and questions to the person.
//!
//! Questions are asked only if standard input is a terminal, because input from a pipe is not an answer.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use rustyline::{
    Behavior, Config, Context, Editor, Helper, completion::Completer, error::ReadlineError, highlight::Highlighter,
    hint::Hinter, history::FileHistory, validate::Validator,
};
use serde_json::Value;

use crate::{clean, screen::note};

/// The commands of the prompt.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("/ask", "QUESTION: answer from the knowledge bases of the project"),
    ("/exit", "leave; the conversation is kept (also Ctrl-D)"),
    ("/help", "this list"),
    ("/memos", "what the model keeps in mind for later steps"),
    ("/model", "NAME: use another model of the same provider; without a name, show it"),
    ("/rag", "SOURCE: gather a knowledge base from a web site, a repository, a folder or a file"),
    ("/reset", "begin a new conversation"),
    ("/save", "FILE: write the conversation as Markdown"),
    ("/state", "the plan, the todo list and the rest of the work state"),
    ("/tools", "the tools that are offered"),
];

/// The number of lines of the history that are kept.
const HISTORY: usize = 1_000;
/// The most lines of a call that a question shows.
const SHOWN: usize = 40;

/// The terminal of this process.
pub(crate) struct Terminal {
    history: PathBuf,
    is_there: bool,
}

/// A line of a person.
pub(crate) enum Line {
    /// A line of text.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or no terminal.
    End,
}

/// The reply of a person to the question about a call.
pub(crate) enum Reply {
    /// It may run.
    Yes,
    /// It and all of its kind may run.
    Always,
    /// It may not, with the person's words.
    No(String),
    /// It may run with these arguments.
    Edited(Value),
    /// Ctrl-C.
    Interrupted,
}

impl Terminal {
    /// The terminal, whose history is in the file `history`.
    pub(crate) fn new(history: PathBuf) -> Self {
        let is_there = io::stdin().is_terminal() && (io::stderr().is_terminal() || io::stdout().is_terminal());
        Self { history, is_there }
    }

    /// Whether a person can be asked.
    pub(crate) fn is_there(&self) -> bool {
        self.is_there
    }

    /// The next line at the prompt.
    pub(crate) fn prompt(&mut self) -> Line {
        let line = self.read("> ", "");
        if let Line::Text(text) = &line
            && !text.trim().is_empty()
            && let Some(mut editor) = self.editor()
        {
            // A history that cannot be kept is not worth an error.
            let _ = editor.add_history_entry(text.as_str());
            let _ = editor.save_history(&self.history);
        }
        line
    }

    /// The answer to a question.
    pub(crate) fn line(&mut self, question: &str) -> Line {
        self.read(question, "")
    }

    /// Asks whether a call may run: what it is, and what it would do. `e` edits the text `editable`, which `parse`
    /// makes the arguments of the call, or says why it cannot: then the person edits again.
    pub(crate) fn ask(
        &mut self,
        title: &str,
        details: &str,
        kind: &str,
        editable: &str,
        mut parse: impl FnMut(&str) -> Result<Value, String>,
    ) -> Reply {
        note(&format!("\n\u{1b}[1m{}\u{1b}[0m", clean::line(title, 300)));
        let details = clean::clean(details);
        for line in details.lines().take(SHOWN) {
            note(&format!("  {}", line.chars().take(2_000).collect::<String>()));
        }
        let more = details.lines().count().saturating_sub(SHOWN);
        if more > 0 {
            note(&format!("  … {more} more lines"));
        }
        let question = format!("[y] yes  [n] no  [a] always {}  [e] edit  ? ", clean::line(kind, 60));
        loop {
            match self.read(&question, "") {
                Line::Interrupted => return Reply::Interrupted,
                Line::End => return Reply::No(String::new()),
                Line::Text(answer) => match answer.trim().to_lowercase().as_str() {
                    "y" | "yes" => return Reply::Yes,
                    "a" | "always" => return Reply::Always,
                    "n" | "no" => {
                        return match self.read("why (optional): ", "") {
                            Line::Text(words) => Reply::No(words.trim().to_owned()),
                            Line::Interrupted => Reply::Interrupted,
                            Line::End => Reply::No(String::new()),
                        };
                    }
                    "e" | "edit" => {
                        let mut text = editable.to_owned();
                        loop {
                            text = match self.read("edit: ", &text) {
                                Line::Text(text) => text,
                                Line::Interrupted => return Reply::Interrupted,
                                Line::End => return Reply::No(String::new()),
                            };
                            match parse(&text) {
                                Ok(arguments) => return Reply::Edited(arguments),
                                Err(why) => note(&why),
                            }
                        }
                    }
                    _ => {}
                },
            }
        }
    }

    fn read(&mut self, prompt: &str, initial: &str) -> Line {
        if !self.is_there {
            return Line::End;
        }
        let Some(mut editor) = self.editor() else { return Line::End };
        match editor.readline_with_initial(prompt, (initial, "")) {
            Ok(text) => Line::Text(text),
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(_) => Line::End,
        }
    }

    /// An editor for one line. While it exists, it takes Ctrl-C away from the program; it gives it back when it is
    /// dropped, so that Ctrl-C ends a step.
    fn editor(&self) -> Option<Editor<Commands, FileHistory>> {
        // The terminal itself: standard output may be a file.
        let config = Config::builder().behavior(Behavior::PreferTerm).max_history_size(HISTORY).ok()?.build();
        let mut editor = Editor::with_config(config).ok()?;
        editor.set_helper(Some(Commands));
        // There is none at first.
        let _ = editor.load_history(&self.history);
        Some(editor)
    }
}

/// Edited arguments: a JSON object, or why the text is none.
pub(crate) fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err("the arguments have to be a JSON object".to_owned()),
        Err(error) => Err(format!("this is not JSON: {error}")),
    }
}

/// Completes the commands of the prompt.
struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, completions(&line[..position])))
    }
}

fn completions(typed: &str) -> Vec<String> {
    if !typed.starts_with('/') {
        return vec![];
    }
    COMMANDS.iter().filter(|(name, _)| name.starts_with(typed)).map(|(name, _)| (*name).to_owned()).collect()
}

impl Hinter for Commands {
    type Hint = String;
}
impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}

/// The arguments of a call as a person reads them: one member a line, texts as they are.
///
/// What was not set is left out.
pub(crate) fn spelled(arguments: &Value) -> String {
    let Value::Object(members) = arguments else { return arguments.to_string() };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    let is_set = |(_, value): &(&String, &Value)| !(value.is_null() || value.as_array().is_some_and(Vec::is_empty));
    members.iter().filter(is_set).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_are_completed() {
        assert_eq!(completions("/re"), ["/reset"]);
        assert_eq!(completions("/s"), ["/save", "/state"]);
        assert!(completions("s").is_empty() && completions("/x").is_empty());
        assert!(COMMANDS.is_sorted());
    }

    #[test]
    fn arguments_are_spelled_for_a_person() {
        let arguments = json!({"path": "a b.md", "content": "one\ntwo", "overwrite": true});
        assert_eq!(spelled(&arguments), "path: a b.md\ncontent:\none\ntwo\noverwrite: true");
    }
}
