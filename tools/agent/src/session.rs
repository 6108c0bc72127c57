//! Conversations on disk: one file of JSON lines for each, in the project's cache folder.
//!
//! Every event is appended in one write before it is shown, so a killed program loses nothing that was shown. The end
//! of a turn is forced to the disk, so a power failure loses nothing of the turns before. An incomplete last line is
//! removed when the conversation continues. The file is locked while it is in use. Only its owner can read it.

use std::{
    collections::hash_map::RandomState,
    fs::{self, File, OpenOptions, TryLockError},
    hash::{BuildHasher, Hasher},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_fs::private_options;
use ragmaker_project::CONVERSATIONS;
use ragmaker_tool::{Code, Error};
use serde_json::{Value, json};

use crate::machine::Event;

/// There is no such conversation.
pub(crate) const SESSION_NOT_FOUND: Code =
    Code::new("SESSION_NOT_FOUND", "Leave --continue and --resume out to begin a new conversation.");
/// Another program works on the conversation.
pub(crate) const SESSION_IN_USE: Code =
    Code::new("SESSION_IN_USE", "End the other ragmaker-agent, or begin a new conversation.");
/// The conversation cannot be read or written.
pub(crate) const SESSION_FAILED: Code =
    Code::new("SESSION_FAILED", "Check the disk and the permissions of .tmp/cache/conversations in the project.");

/// The type of the first line of a file.
const HEADER: &str = "session";

/// The words before the path of the file with a complete result, in a shortened one.
pub(crate) const WHOLE: &str = "the whole is in";

/// An open conversation.
pub(crate) struct Session {
    id: String,
    file: File,
    length: u64,
    /// The folder for complete results.
    results: PathBuf,
}

impl Session {
    /// A new conversation in the cache folder `cache`.
    pub(crate) fn create(cache: &Path) -> Result<Self, Error> {
        let folder = folder(cache)?;
        let time = ragmaker_fs::rfc3339(SystemTime::now());
        let digits: String = time.chars().filter(char::is_ascii_digit).collect();
        let (day, hour) = digits.split_at(digits.len().min(8));
        loop {
            let id = format!("{day}-{hour}-{:04x}", RandomState::new().build_hasher().finish() & 0xffff);
            let path = folder.join(&id).with_extension("jsonl");
            let file = match private_options().append(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed("made", &error)),
            };
            lock(&file, &id)?;
            let results = folder.join(&id);
            let mut session = Self { id, file, length: 0, results };
            if let Err(error) = session.begin(&time) {
                // An empty file is not a conversation.
                let _ = fs::remove_file(&path);
                return Err(error);
            }
            return Ok(session);
        }
    }

    /// The conversation `id`, and what happened in it.
    pub(crate) fn open(cache: &Path, id: &str) -> Result<(Self, Vec<Event>), Error> {
        let missing = || SESSION_NOT_FOUND.error(format!("there is no conversation {id:?}")).detail("session", id);
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(missing());
        }
        let folder = folder(cache)?;
        let path = folder.join(id).with_extension("jsonl");
        let mut file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(error) => return Err(failed("opened", &error)),
        };
        lock(&file, id)?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(|error| failed("read", &error))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if end < bytes.len() {
            // The program was ended in the middle of this line, before it was shown.
            file.set_len(end as u64).map_err(|error| failed("mended", &error))?;
        }
        let mut events = vec![];
        for (number, line) in bytes[..end].split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() || (number == 0 && is_header(line)) {
                continue;
            }
            events.push(serde_json::from_slice(line).map_err(|error| {
                SESSION_FAILED
                    .error(format!("line {} of {} is not an event: {error}", number + 1, path.display()))
                    .remedy("The file was changed by another program: begin a new conversation.")
            })?);
        }
        let mut session = Self { id: id.to_owned(), file, length: end as u64, results: folder.join(id) };
        if end == 0 {
            // The program was ended before the header.
            session.begin(&ragmaker_fs::rfc3339(SystemTime::now()))?;
        }
        Ok((session, events))
    }

    /// The id of the conversation that was changed last, of those in which a person said something.
    pub(crate) fn last(cache: &Path) -> Result<String, Error> {
        let entries = fs::read_dir(cache.join(CONVERSATIONS)).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| {
            let path = entry.path();
            let is_ours = path.extension().is_some_and(|extension| extension == "jsonl");
            let id = path.file_stem().filter(|_| is_ours)?.to_str()?.to_owned();
            Some((entry.metadata().ok()?.modified().ok()?, id, path))
        });
        let mut files: Vec<_> = files.collect();
        files.sort_unstable();
        let last = files.into_iter().rev().find(|(_, _, path)| has_message(path));
        last.map(|(_, id, _)| id).ok_or_else(|| SESSION_NOT_FOUND.error("there is no conversation in this project"))
    }

    /// The name of the conversation.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Adds what happened.
    pub(crate) fn append(&mut self, event: &Event) -> Result<(), Error> {
        self.line(&json!(event))
    }

    /// Forces what was added to the disk, at the end of a turn. For every event it would take longer than all else that
    /// a step needs.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        match self.file.sync_data() {
            // Some file systems cannot.
            Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
                Err(failed("written", &error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a complete result to a file, and returns the path of the file. A text that names its file, because it was
    /// shortened before, is not written again.
    pub(crate) fn keep(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(60).collect();
        if let Some(path) = self.kept(&name, text) {
            return Ok(path);
        }
        let keep = || {
            ragmaker_project::create_private(&self.results)?;
            let mut number = 1;
            loop {
                let file = if number == 1 { format!("{name}.txt") } else { format!("{name}.{number}.txt") };
                let path = self.results.join(file);
                match private_options().write(true).create_new(true).open(&path) {
                    Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                    Err(error) => return Err(error),
                }
            }
        };
        keep().map_err(|error| failed("written", &error))
    }

    /// The file of the result `name` that `text` names.
    fn kept(&self, name: &str, text: &str) -> Option<PathBuf> {
        let start = format!("{WHOLE} {}.", self.results.join(name).display());
        let (_, rest) = text.rsplit_once(&start)?;
        let (number, _) = rest.split_once("txt")?;
        if !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let path = self.results.join(format!("{name}.{number}txt"));
        path.is_file().then_some(path)
    }

    /// Writes the header.
    fn begin(&mut self, time: &str) -> Result<(), Error> {
        self.line(&json!({"type": HEADER, "id": self.id, "version": 1, "time": time}))
    }

    fn line(&mut self, value: &Value) -> Result<(), Error> {
        let line = value.to_string() + "\n";
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line would make the next one unreadable.
            let _ = self.file.set_len(self.length);
            return Err(failed("written", &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}

/// Whether the conversation in the file `path` has a message of a person.
fn has_message(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let is_message = |line: io::Result<Vec<u8>>| {
        line.is_ok_and(|line| serde_json::from_slice::<Value>(&line).is_ok_and(|event| event["type"] == "user"))
    };
    BufReader::new(file).split(b'\n').any(is_message)
}

/// Whether a line is the header, which is not an event.
fn is_header(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|value| value["type"] == HEADER)
}

fn folder(cache: &Path) -> Result<PathBuf, Error> {
    let folder = cache.join(CONVERSATIONS);
    let made = ragmaker_project::create_cache_folder(cache).and_then(|()| ragmaker_project::create_private(&folder));
    made.map_err(|error| failed("made", &error))?;
    // Whoever wrote the project may have made a link of it.
    let real = |path: &Path| ragmaker_fs::canonicalize(path).map_err(|error| failed("made", &error));
    if let Some(root) = cache.parent().and_then(Path::parent)
        && !real(&folder)?.starts_with(real(root)?)
    {
        return Err(SESSION_FAILED
            .error(format!("{} leads out of the project through a symbolic link", folder.display()))
            .remedy("Remove the link: conversations are kept in the project."));
    }
    Ok(folder)
}

fn lock(file: &File, id: &str) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(SESSION_IN_USE
            .error(format!("another ragmaker-agent is using the conversation {id}"))
            .detail("session", id)),
        Err(TryLockError::Error(error)) => Err(failed("locked", &error)),
    }
}

fn failed(what: &str, error: &io::Error) -> Error {
    SESSION_FAILED.error(format!("the conversation cannot be {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_message(text: &str) -> Event {
        Event::User { text: text.into() }
    }

    #[test]
    fn appended_events_are_read_again() {
        let cache = tempfile::tempdir().unwrap();
        assert!(Session::last(cache.path()).unwrap_err().is(SESSION_NOT_FOUND));
        let mut session = Session::create(cache.path()).unwrap();
        session.append(&user_message("one\ntwo")).unwrap();
        let id = session.id().to_owned();
        assert!(Session::open(cache.path(), &id).err().unwrap().is(SESSION_IN_USE));
        drop(session);
        assert_eq!(Session::last(cache.path()).unwrap(), id);
        let path = cache.path().join(CONVERSATIONS).join(&id).with_extension("jsonl");
        // Killed in the middle of a line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"type\": \"us").unwrap();
        let (mut session, events) = Session::open(cache.path(), &id).unwrap();
        assert_eq!(events, [user_message("one\ntwo")]);
        session.append(&user_message("three")).unwrap();
        let whole = session.keep("a/../b", "whole").unwrap();
        assert!(whole.ends_with("ab.txt"));
        drop(session);
        assert_eq!(Session::open(cache.path(), &id).unwrap().1, [user_message("one\ntwo"), user_message("three")]);
        #[cfg(unix)]
        for path in [path, whole] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn the_last_conversation_is_one_with_a_message() {
        let cache = tempfile::tempdir().unwrap();
        let mut session = Session::create(cache.path()).unwrap();
        assert!(Session::last(cache.path()).unwrap_err().is(SESSION_NOT_FOUND));
        session.append(&Event::Check { repairs: 0 }).unwrap();
        session.append(&user_message("one")).unwrap();
        let at = |name: &str| cache.path().join(CONVERSATIONS).join(name).with_extension("jsonl");
        let old = SystemTime::now() - std::time::Duration::from_mins(1);
        File::options().append(true).open(at(session.id())).unwrap().set_modified(old).unwrap();
        // Begun without a word, and on a full disk.
        let _empty = Session::create(cache.path()).unwrap();
        fs::write(at("29990101-000000-0000"), "").unwrap();
        assert_eq!(Session::last(cache.path()).unwrap(), session.id());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), project.path().join(".tmp")).unwrap();
        let error = Session::create(&project.path().join(".tmp/cache")).err().unwrap();
        assert!(error.is(SESSION_FAILED) && error.message().contains("symbolic link"), "{error}");
        assert!(!elsewhere.path().join("cache/conversations").read_dir().is_ok_and(|mut all| all.next().is_some()));
    }

    #[test]
    fn an_event_without_a_header_is_not_lost() {
        let cache = tempfile::tempdir().unwrap();
        let id = Session::create(cache.path()).unwrap().id().to_owned();
        let path = cache.path().join(CONVERSATIONS).join(&id).with_extension("jsonl");
        for before in ["", "{\"type\": \"sess"] {
            // Killed before the header was complete.
            fs::write(&path, before).unwrap();
            let (mut session, events) = Session::open(cache.path(), &id).unwrap();
            assert_eq!(events, []);
            session.append(&user_message("one")).unwrap();
            drop(session);
            assert!(fs::read_to_string(&path).unwrap().starts_with("{\"type\":\"session\""));
            assert_eq!(Session::open(cache.path(), &id).unwrap().1, [user_message("one")]);
        }
        // A file of an earlier version.
        fs::write(&path, json!(user_message("one")).to_string() + "\n").unwrap();
        assert_eq!(Session::open(cache.path(), &id).unwrap().1, [user_message("one")]);
    }

    #[test]
    fn a_kept_result_is_not_overwritten() {
        let cache = tempfile::tempdir().unwrap();
        let session = Session::create(cache.path()).unwrap();
        let paths = ["one", "two"].map(|text| session.keep("a", text).unwrap());
        assert!(paths[0].ends_with("a.txt") && paths[1].ends_with("a.2.txt"));
        for path in &paths {
            let short = format!("short\n[… 9 bytes left out; {WHOLE} {} …]\nend", path.display());
            assert_eq!(session.keep("a", &short).unwrap(), *path);
        }
        // The file of another call, and a file that is not there.
        for (name, path) in [("b", paths[0].clone()), ("a", paths[0].with_file_name("a.9.txt"))] {
            let text = format!("{WHOLE} {}", path.display());
            assert_eq!(fs::read_to_string(session.keep(name, &text).unwrap()).unwrap(), text);
        }
        assert_eq!(paths.map(|path| fs::read_to_string(path).unwrap()), ["one", "two"]);
    }

    #[test]
    fn files_that_are_no_conversations_are_rejected() {
        let cache = tempfile::tempdir().unwrap();
        for id in ["", "../x", "20260101-000000-0000", "a/b", "."] {
            assert!(Session::open(cache.path(), id).err().unwrap().is(SESSION_NOT_FOUND), "{id}");
        }
        let id = Session::create(cache.path()).unwrap().id().to_owned();
        let path = cache.path().join(CONVERSATIONS).join(&id).with_extension("jsonl");
        OpenOptions::new().append(true).open(path).unwrap().write_all(b"{\"type\": \"unheard of\"}\n").unwrap();
        assert!(Session::open(cache.path(), &id).err().unwrap().is(SESSION_FAILED));
    }
}
