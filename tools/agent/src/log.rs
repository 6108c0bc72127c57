//! The log of `--debug`: one JSON object per line, without API keys, readable by its owner only.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_model::{Endpoint, Request};
use serde_json::{Value, json};

use crate::{history::fixed_tokens, machine::State};

/// The size at which a file is put aside.
const MAX_LOG_BYTES: u64 = 10 << 20;
/// The number of old log files that are kept.
const MAX_LOG_FILES: u32 = 3;

/// The log, if it is open.
#[derive(Debug, Default)]
pub(crate) struct Log(Option<Open>);

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    session: String,
    /// The numbers of the instructions and messages that the file has, by their JSON.
    numbers: HashMap<String, usize>,
    /// The number of the last line of each kind.
    last: HashMap<String, usize>,
}

impl Log {
    /// Opens the log in the cache folder. If it cannot be written, there is no log, and nothing else fails.
    pub(crate) fn open(cache: &Path, session: &str) -> Self {
        let path = cache.join("logs").join("agent.jsonl");
        let made = ragmaker_project::create_private(&cache.join("logs"));
        let file = made.ok().and_then(|()| append(&path));
        Self(file.map(|file| Open {
            path,
            file,
            session: session.to_owned(),
            numbers: HashMap::new(),
            last: HashMap::new(),
        }))
    }

    /// Names the conversation of the lines that follow.
    pub(crate) fn name_conversation(&mut self, id: &str) {
        if let Some(open) = &mut self.0 {
            id.clone_into(&mut open.session);
        }
    }

    /// Whether lines are written.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a line with a request to the model at `endpoint`. The declarations of tools are the same in each request of
    /// a run, so only the names are written. The instructions and the messages have lines of their own, each only once:
    /// with the whole history in every request, a conversation of 200 turns would fill all files.
    pub(crate) fn request(
        &mut self,
        state: &State,
        endpoint: &Endpoint,
        request: &Request<'_>,
        blank: impl Fn(&str) -> String,
    ) {
        let Some(open) = &mut self.0 else { return };
        // Not between the lines of a request: a file has all messages that its requests name.
        open.rotate_if_full(0);
        let system = self.number(state, "instructions", &json!(request.system), &blank);
        let mut ranges: Vec<[usize; 2]> = vec![];
        for message in request.messages {
            let number = self.number(state, "message", &json!(message), &blank);
            match ranges.last_mut() {
                Some([_, last]) if *last + 1 == number => *last = number,
                _ => ranges.push([number, number]),
            }
        }
        let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let members = json!({
            "model": endpoint.model, "tokens": state.tokens(fixed_tokens(request.system, request.tools)), "instructions": system, "messages": ranges, "tools": tools,
        });
        self.append(state, "request", &members, &blank);
    }

    /// The number of instructions or of a message. A line with it is added if the file has none.
    fn number(&mut self, state: &State, what: &str, content: &Value, blank: impl Fn(&str) -> String) -> usize {
        let Some(open) = &mut self.0 else { return 0 };
        let key = format!("{what} {content}");
        if let Some(number) = open.numbers.get(&key) {
            return *number;
        }
        let last = open.last.entry(what.to_owned()).or_default();
        *last += 1;
        let number = *last;
        open.numbers.insert(key, number);
        self.append(state, what, &json!({"number": number, "content": content}), blank);
        number
    }

    /// Adds a line with these members, without the keys that `blank` removes. `state` is that of the conversation.
    pub(crate) fn line(&mut self, state: &State, what: &str, members: &Value, blank: impl Fn(&str) -> String) {
        let Some(open) = &mut self.0 else { return };
        let text = open.text(state, what, members, blank);
        open.rotate_if_full(text.len());
        let _ = open.file.write_all(text.as_bytes());
    }

    /// Like [`Self::line`], but never begins a new file.
    fn append(&mut self, state: &State, what: &str, members: &Value, blank: impl Fn(&str) -> String) {
        let Some(open) = &mut self.0 else { return };
        let text = open.text(state, what, members, blank);
        let _ = open.file.write_all(text.as_bytes());
    }
}

impl Open {
    fn text(&self, state: &State, what: &str, members: &Value, blank: impl Fn(&str) -> String) -> String {
        let mut line = json!({
            "time": ragmaker_fs::rfc3339(SystemTime::now()), "session": self.session, "step": state.steps,
            "state": state.phase.name(), "what": what,
        });
        if let (Value::Object(line), Value::Object(members)) = (&mut line, members) {
            line.extend(members.clone());
        }
        blank(&line.to_string()) + "\n"
    }

    /// Begins a new file if this one is full with `more` bytes.
    fn rotate_if_full(&mut self, more: usize) {
        if self.file.metadata().is_ok_and(|data| data.len() > 0 && data.len() + more as u64 > MAX_LOG_BYTES) {
            self.rotate();
        }
    }

    fn rotate(&mut self) {
        let aside = |number: u32| self.path.with_extension(format!("{number}.jsonl"));
        for number in (1..MAX_LOG_FILES).rev() {
            let _ = fs::rename(aside(number), aside(number + 1));
        }
        let _ = fs::rename(&self.path, aside(1));
        if let Some(file) = append(&self.path) {
            self.file = file;
            self.numbers.clear();
        }
    }
}

fn append(path: &Path) -> Option<File> {
    ragmaker_fs::private_options().append(true).create(true).open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_keys_and_files_are_put_aside() {
        let cache = tempfile::tempdir().unwrap();
        let mut log = Log::open(cache.path(), "s");
        let state = State::default();
        log.line(&state, "request", &json!({"text": "key abc-123"}), |text| text.replace("abc-123", "[key]"));
        let path = cache.path().join("logs/agent.jsonl");
        let line: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((line["text"].as_str(), line["step"].as_u64()), (Some("key [key]"), Some(0)));
        assert_eq!(line["state"], "user_input");
        log.name_conversation("t");
        log.line(&state, "request", &json!({}), str::to_owned);
        let text = fs::read_to_string(&path).unwrap();
        let sessions = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].clone());
        assert_eq!(sessions.collect::<Vec<_>>(), ["s", "t"]);
        for _ in 0..5 {
            log.line(&state, "big", &json!({"text": "x".repeat(11 << 20)}), str::to_owned);
        }
        let names: Vec<_> = fs::read_dir(cache.path().join("logs")).unwrap().flatten().collect();
        assert_eq!(names.len(), 4);
        assert!(!Log::default().is_on());
    }
}
