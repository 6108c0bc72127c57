//! The terminal: editing of lines, and questions to the person.
//!
//! Questions are asked only if standard input is a terminal, because input from a pipe is not an answer.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rustyline::{
    Behavior, Config, Context, Editor, Helper, completion::Completer, error::ReadlineError, highlight::Highlighter,
    hint::Hinter, history::FileHistory, validate::Validator,
};
use serde_json::Value;

use crate::{known_keys::KnownKeys, sanitize, screen::note};

/// The commands of the prompt.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("/ask", "QUESTION: answer from the knowledge bases of the project"),
    ("/exit", "leave; the conversation is kept (also Ctrl-D)"),
    ("/help", "this list"),
    ("/memos", "the memos of the model for later steps"),
    ("/model", "NAME: use another model of the same provider; without a name, show it"),
    ("/rag", "SOURCE: gather a knowledge base from a web site, a repository, a folder or a file"),
    ("/reset", "begin a new conversation"),
    ("/save", "FILE: write the conversation as Markdown"),
    ("/state", "the plan, the todo list and the rest of the work state"),
    ("/tools", "the tools that are offered"),
];

/// The number of lines of the history that are kept.
const HISTORY: usize = 1_000;
/// The maximum number of lines of the text in a call that a question shows, and the most characters of a line. A
/// command is shown whole.
const MAX_PREVIEW: (usize, usize) = (40, 2_000);

/// The interval at which a person's editor is interrupted until it returns: a signal just before it waits is lost.
#[cfg(unix)]
const INTERRUPT_INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// The terminal of this process.
pub(crate) struct Terminal {
    history: PathBuf,
    is_there: bool,
    /// The device: standard error may be a file, and a person has to see what a question is about.
    device: Option<File>,
    editing: Editing,
    keys: KnownKeys,
}

/// Whether an editor reads a line from the terminal. It handles SIGINT itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Editing(Arc<Mutex<bool>>);

impl Editing {
    /// Runs `read`, which a signal that ends the program interrupts.
    pub(crate) fn run<T>(&self, read: impl FnOnce() -> T) -> T {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        let line = read();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = false;
        line
    }

    /// Interrupts the editor until it returns.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self) {
        use rustix::process::{getpid, kill_process};
        loop {
            let is_editing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_editing {
                return;
            }
            let _ = kill_process(getpid(), rustix::process::Signal::INT);
            drop(is_editing);
            std::thread::sleep(INTERRUPT_INTERVAL);
        }
    }
}

/// A question about a call.
pub(crate) struct Question<'a> {
    /// The effect of the call.
    pub(crate) title: &'a str,
    /// The call itself.
    pub(crate) details: &'a str,
    /// Whether all of it is shown, however long it is.
    pub(crate) is_whole: bool,
    /// The kind of calls that `a` approves.
    pub(crate) kind: &'a str,
    /// The text that `e` edits.
    pub(crate) editable: &'a str,
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
    pub(crate) fn new(history: PathBuf, editing: Editing) -> Self {
        let is_there = io::stdin().is_terminal() && (io::stderr().is_terminal() || io::stdout().is_terminal());
        let device = is_there.then(|| File::options().write(true).open("/dev/tty").ok()).flatten();
        Self { history, is_there, device, editing, keys: KnownKeys::default() }
    }

    /// Keeps the history without `keys` from now on.
    pub(crate) fn redact(&mut self, keys: KnownKeys) {
        self.keys = keys;
    }

    /// Writes a line to the person.
    pub(crate) fn say(&mut self, text: &str) {
        match &mut self.device {
            Some(device) => drop(device.write_all(format!("{text}\n").as_bytes())),
            None => note(text),
        }
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
            let _ = editor.add_history_entry(self.keys.of_person(text));
            let _ = editor.save_history(&self.history);
        }
        line
    }

    /// The answer to a question.
    pub(crate) fn line(&mut self, question: &str) -> Line {
        self.read(question, "")
    }

    /// Asks whether a call may run. `parse` makes the edited text the arguments of the call, or says why it cannot:
    /// then the person edits again.
    pub(crate) fn ask(
        &mut self,
        question: &Question<'_>,
        mut parse: impl FnMut(&str) -> Result<Value, String>,
    ) -> Reply {
        self.say(&format!("\n\u{1b}[1m{}\u{1b}[0m", sanitize::visible(question.title).replace('\n', " ")));
        for line in question.lines() {
            self.say(&format!("  {line}"));
        }
        // What was typed before does not answer this question.
        discard_input();
        let Question { kind, editable, .. } = *question;
        let question =
            format!("[y] yes  [n] no  [a] always {}  [e] edit  ? ", sanitize::visible(kind).replace('\n', " "));
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
                                Err(why) => self.say(&why),
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
        loop {
            let Some(mut editor) = self.editor() else { return Line::End };
            return match self.editing.run(|| editor.readline_with_initial(prompt, (initial, ""))) {
                Ok(text) => Line::Text(text),
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Line::Interrupted,
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    drop(editor);
                    discard_input();
                    self.say("the input is not UTF-8, so the line is discarded");
                    continue;
                }
                Err(_) => Line::End,
            };
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

#[cfg(test)]
impl Terminal {
    /// No terminal: nobody can be asked.
    pub(crate) fn absent() -> Self {
        let (editing, keys) = (Editing::default(), KnownKeys::default());
        Self { history: PathBuf::new(), is_there: false, device: None, editing, keys }
    }
}

/// Discards what was typed and not read yet.
fn discard_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

impl Question<'_> {
    /// The details, with everything that a terminal does not show as an escape.
    fn lines(&self) -> Vec<String> {
        let details = sanitize::visible(self.details);
        let all = details.lines();
        if self.is_whole {
            return all.map(str::to_owned).collect();
        }
        let line = |line: &str| {
            let start = crate::compaction::first(line, MAX_PREVIEW.1);
            let left_out = line[start.len()..].chars().count();
            if left_out == 0 { start.to_owned() } else { format!("{start} … {left_out} more characters") }
        };
        let mut shown: Vec<_> = all.clone().take(MAX_PREVIEW.0).map(line).collect();
        let more = all.count().saturating_sub(MAX_PREVIEW.0);
        shown.extend((more > 0).then(|| format!("… {more} more lines")));
        shown
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
/// Unset members are left out. The lines of a text are indented, so that none looks like another member.
pub(crate) fn spelled(arguments: &Value) -> String {
    let Value::Object(members) = arguments else { return arguments.to_string() };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n    {}", text.replace('\n', "\n    ")),
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
        assert_eq!(spelled(&arguments), "path: a b.md\ncontent:\n    one\n    two\noverwrite: true");
    }

    #[test]
    fn a_question_says_what_it_leaves_out() {
        let details = format!("{}\u{1b}[2K\n{}", "x".repeat(MAX_PREVIEW.1 + 7), "line\n".repeat(60));
        let question = |is_whole| Question { title: "", details: &details, is_whole, kind: "", editable: "" };
        let lines = question(false).lines();
        assert_eq!((lines.len(), lines[40].as_str()), (41, "… 21 more lines"));
        assert!(lines[0].ends_with("x … 14 more characters"), "{}", lines[0]);
        let whole = question(true).lines();
        assert!(whole.len() == 61 && whole[0].ends_with("x\\x1b[2K"));
    }
}
