//! The working state of a conversation: the data that `work` and `think` keep, and its form in a system prompt.
//!
//! Each conversation has one file, `.tmp/cache/conversations/NAME.state.json` in the project, readable by its owner
//! only. It is changed under a lock and replaced atomically: any number of processes may change it at the same time,
//! and a killed process leaves the state before or after its change.
//!
//! ```
//! use ragmaker_work_state::{Conversation, rendered};
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().canonicalize()?;
//! # let project = ragmaker_project::Project::from_environment(root.to_str(), Default::default(), None, false)?;
//! let conversation = Conversation::named(&project, Some("tides"))?;
//! conversation.change(|state| Ok(state.work.memos = "Brest is in France.".to_owned()))?;
//! assert!(rendered(&conversation.state()?.work).contains("Brest"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod work;

use std::{
    env, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ragmaker_fs::{LockKind, Replace, lock_within, private_options, write_atomically};
use ragmaker_project::{CONVERSATIONS, Project, variables::CONVERSATION};
use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};
use serde::{Deserialize, Serialize};

pub use work::{Status, Todo, Work, rendered};

/// The state cannot be read or written.
pub const STATE_NOT_USABLE: Code =
    Code::new("STATE_NOT_USABLE", "Check the disk and the permissions of .tmp/cache/conversations in the project.");
/// Another process keeps the state locked.
pub const STATE_BUSY: Code =
    Code::new("STATE_BUSY", "Call again; if this persists, end the process that holds the lock.");

/// The error codes of [`Conversation`], without those of locating the project.
pub const ERRORS: &[Code] = &[STATE_NOT_USABLE, STATE_BUSY];

/// The conversation of calls that name none.
const DEFAULT: &str = "default";
/// The longest name, in characters.
const MAX_NAME: usize = 64;
/// How long a change waits for the lock.
const WAIT: Duration = Duration::from_secs(10);
/// The largest state file, in bytes; a longer file is rejected.
const MAX_BYTES: u64 = 4 << 20;
/// The number of reflections that are kept; all are counted.
const MAX_REFLECTIONS: usize = 20;

/// The stored state of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationState {
    /// Aims, plan, todo list and memos.
    pub work: Work,
    /// The number of reflections.
    pub reflections: u64,
    /// The last reflections, the newest last.
    pub latest: Vec<String>,
}

impl ConversationState {
    /// Adds a reflection, and returns their number.
    pub fn reflect(&mut self, text: String) -> u64 {
        self.latest.push(text);
        let extra = self.latest.len().saturating_sub(MAX_REFLECTIONS);
        self.latest.drain(..extra);
        self.reflections += 1;
        self.reflections
    }
}

/// A conversation, by its name.
#[derive(Clone, Debug)]
pub struct Conversation {
    cache: PathBuf,
    name: String,
}

impl Conversation {
    /// The conversation `name`; by default the one of the environment variable, or else `default`.
    ///
    /// # Errors
    /// [`ARGUMENT_ERROR`] for a name that is not safe as a file name.
    pub fn named(project: &Project, name: Option<&str>) -> Result<Self, Error> {
        let inherited = env::var(CONVERSATION).ok().filter(|name| !name.is_empty());
        let (named_by, name) = match (name, inherited) {
            (Some(name), _) => ("--conversation", name.to_owned()),
            (None, Some(name)) => (CONVERSATION, name),
            (None, None) => ("", DEFAULT.to_owned()),
        };
        let is_safe = !name.is_empty()
            && name.len() <= MAX_NAME
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !is_safe {
            return Err(ARGUMENT_ERROR
                .error(format!("{named_by} cannot be {name:?}"))
                .remedy(format!("Use at most {MAX_NAME} letters, digits, - and _, a letter or digit first."))
                .detail("argument", named_by));
        }
        Ok(Self { cache: project.cache_folder(), name })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the state; a new conversation has an empty one.
    ///
    /// # Errors
    /// [`STATE_NOT_USABLE`] for a file that cannot be read or is invalid.
    pub fn state(&self) -> Result<ConversationState, Error> {
        let path = self.path("state.json");
        let file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ConversationState::default()),
            Err(error) => return Err(failed(&path, "read", &error)),
        };
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| failed(&path, "read", &error))?;
        serde_json::from_str(&text).map_err(|error| {
            failed(&path, "read", &error).remedy("Another program changed the file: delete it to start again.")
        })
    }

    /// Applies `change` to the state and saves it. An error of `change` leaves the state as it is. Returns the
    /// new state and the result of `change`.
    ///
    /// # Errors
    /// [`STATE_NOT_USABLE`], [`STATE_BUSY`] and the errors of `change`.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut ConversationState) -> Result<T, Error>,
    ) -> Result<(ConversationState, T), Error> {
        let folder = self.cache.join(CONVERSATIONS);
        ragmaker_project::create_cache_folder(&self.cache)
            .and_then(|()| ragmaker_project::create_private(&folder))
            .map_err(|error| failed(&folder, "made", &error))?;
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let before = state.clone();
        let done = change(&mut state)?;
        if state != before {
            self.write(&state)?;
        }
        Ok((state, done))
    }

    fn write(&self, state: &ConversationState) -> Result<(), Error> {
        let path = self.path("state.json");
        let mut text = serde_json::to_vec(state).map_err(|error| failed(&path, "written", &error))?;
        text.push(b'\n');
        // The temporary file of a killed writer is removed by the next writer, who holds the lock.
        let temporary = format!(".{}.state.tmp", self.name);
        let replace =
            Replace { mode: 0o600, temporary: Some(temporary.as_ref()), sync_directory: false, ..Replace::default() };
        write_atomically(&path, replace, |file| file.write_all(&text))
            .map_err(|error| failed(&path, "written", &error))?;
        Ok(())
    }

    fn lock(&self) -> Result<fs::File, Error> {
        let path = self.path("state.lock");
        let file =
            private_options().append(true).create(true).open(&path).map_err(|error| failed(&path, "opened", &error))?;
        match lock_within(file, LockKind::Exclusive, Instant::now() + WAIT) {
            Ok(Some(file)) => Ok(file),
            Ok(None) => Err(STATE_BUSY.error(format!("{} is locked by another process", path.display()))),
            Err(error) => Err(failed(&path, "locked", &error)),
        }
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.cache.join(CONVERSATIONS).join(format!("{}.{extension}", self.name))
    }
}

fn failed(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Error {
    STATE_NOT_USABLE
        .error(format!("{} cannot be {what}: {error}", path.display()))
        .detail("path", path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn project() -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project =
            Project::from_environment(root.to_str(), ragmaker_project::Environment::default(), None, false).unwrap();
        (folder, project)
    }

    #[test]
    fn a_name_is_safe_as_the_name_of_a_file() {
        let (_folder, project) = project();
        let long = "a".repeat(65);
        for name in ["", "..", "../a", "a/b", "a.b", ".a", "-a", "a b", "潮", "a\0", long.as_str()] {
            let error = Conversation::named(&project, Some(name)).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--conversation", "{name}: {error}");
        }
        assert_eq!(Conversation::named(&project, Some("20261124-220158-1a2b")).unwrap().name(), "20261124-220158-1a2b");
    }

    #[test]
    fn concurrent_changes_are_all_kept() {
        let (_folder, project) = project();
        let conversation = Conversation::named(&project, Some("a")).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        conversation.change(|state| Ok(state.reflect("x".to_owned()))).unwrap();
                    }
                });
            }
        });
        let state = conversation.state().unwrap();
        assert_eq!((state.reflections, state.latest.len()), (40, MAX_REFLECTIONS));
        assert_eq!(Conversation::named(&project, Some("b")).unwrap().state().unwrap(), ConversationState::default());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = conversation.path("state.json").metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn an_invalid_state_file_is_an_error_and_is_kept() {
        let (_folder, project) = project();
        let conversation = Conversation::named(&project, Some("a")).unwrap();
        conversation.change(|state| Ok(state.reflect("x".to_owned()))).unwrap();
        let path = conversation.path("state.json");
        fs::write(&path, "{\"work\": 7}").unwrap();
        assert!(conversation.change(|_| Ok(())).unwrap_err().is(STATE_NOT_USABLE));
        assert_eq!(fs::read_to_string(path).unwrap(), "{\"work\": 7}");
    }
}
