//! A session on disk: the browser's profile, its locks, and the record of the browser that runs on it.
//!
//! Everything is in the profile's own folder, so two projects never share anything, and deleting
//! the folder deletes the session.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ragmaker_fs::{LockKind, Replace, lock_within, write_atomically};
use ragmaker_project::{
    BROWSER_PROFILE, BROWSER_PROFILES, create_cache_folder, create_private, variables::PROJECT_ROOT,
};
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    codes::{BROWSER_BUSY, BROWSER_FAILED},
    endpoint::Endpoint,
    kind::BrowserKind,
    limits,
};

/// How the names of the folders begin that go with their browser.
const TEMPORARY: &str = ".remote-";

/// How the names of Firefox's profiles begin.
const FIREFOX: &str = ".firefox-";

/// The file with the origins of the session's pages.
const ORIGINS: &str = "origins";

/// The maximum number of origins that are noted.
const MAX_ORIGINS: usize = 1_000;

/// The name of the session that is used when none is named.
pub const DEFAULT_SESSION: &str = "default";

/// A browser profile, one for each session of a project.
#[derive(Clone, Debug)]
pub struct Profile {
    session: String,
    kind: BrowserKind,
    folder: PathBuf,
    /// The project's cache folder; `None` in a supervisor, which creates no folders.
    cache: Option<PathBuf>,
}

impl Profile {
    /// The profile of `session` in the project whose cache folder is `cache`, for the browser that the environment
    /// names: `browser_profile` in it, or for a named session `browser_profiles/NAME`; `browser_profiles/.firefox-NAME`
    /// for Firefox.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` for a name that no session or no browser has.
    pub fn of(cache: &Path, session: Option<&str>) -> Result<Self, Error> {
        Self::for_kind(cache, session, BrowserKind::chosen()?)
    }

    /// The profiles of `session`, for each kind of browser.
    ///
    /// # Errors
    ///
    /// Those of [`Self::of`].
    pub fn of_session(cache: &Path, session: Option<&str>) -> Result<Vec<Self>, Error> {
        [BrowserKind::Chromium, BrowserKind::Firefox]
            .into_iter()
            .map(|kind| Self::for_kind(cache, session, kind))
            .collect()
    }

    fn for_kind(cache: &Path, session: Option<&str>, kind: BrowserKind) -> Result<Self, Error> {
        let session = session.unwrap_or(DEFAULT_SESSION);
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if session.is_empty() || session.len() > 64 || session.starts_with('.') || !session.chars().all(allowed) {
            return Err(ARGUMENT_ERROR
                .error(format!("--session cannot be {session:?}"))
                .remedy("Use letters, digits, '-', '_' and '.', at most 64 bytes, not beginning with '.'.")
                .detail("argument", "--session"));
        }
        // The driver receives the profile's path as JSON, which cannot represent this path.
        if cache.to_str().is_none() {
            return Err(ARGUMENT_ERROR
                .error(format!("the project's path is not UTF-8: {}", cache.display()))
                .remedy("Rename the folder, or set RAGMAKER_PROJECT_ROOT to another one.")
                .detail("argument", PROJECT_ROOT));
        }
        let folder = match (kind, session) {
            (BrowserKind::Firefox, session) => cache.join(BROWSER_PROFILES).join(format!("{FIREFOX}{session}")),
            (BrowserKind::Chromium, DEFAULT_SESSION) => cache.join(BROWSER_PROFILE),
            (BrowserKind::Chromium, named) => cache.join(BROWSER_PROFILES).join(named),
        };
        Ok(Self { session: session.to_owned(), kind, folder, cache: Some(cache.to_owned()) })
    }

    /// Every profile of the project whose cache folder is `cache`.
    pub fn all(cache: &Path) -> Result<Vec<Self>, Error> {
        let default = Self::for_kind(cache, None, BrowserKind::Chromium)?;
        let named = cache.join(BROWSER_PROFILES);
        let mut all: Vec<_> = fs::read_dir(named)
            .into_iter()
            .flatten()
            .flatten()
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?;
                let (kind, session) = match name.strip_prefix(FIREFOX) {
                    Some(session) => (BrowserKind::Firefox, session),
                    None => (BrowserKind::Chromium, name),
                };
                Self::for_kind(cache, Some(session), kind).ok()
            })
            .collect();
        all.sort_by(|a, b| a.session.cmp(&b.session));
        all.insert(0, default);
        all.retain(|profile| profile.folder.is_dir());
        Ok(all)
    }

    /// The profile in `folder`, for the supervisor.
    pub(crate) fn at(session: String, folder: PathBuf) -> Self {
        Self { session, kind: BrowserKind::default(), folder, cache: None }
    }

    /// The kind of its browser.
    pub(crate) fn kind(&self) -> BrowserKind {
        self.kind
    }

    /// A profile for the browser that one process has on another machine; it has a folder for its locks alone,
    /// which goes with it.
    pub(crate) fn temporary(&self) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{TEMPORARY}{}-{}-{count}", std::process::id(), since.as_nanos());
        // No session has a name like this.
        let folder = self.cache.as_deref().unwrap_or(&self.folder).join(BROWSER_PROFILES).join(name);
        Self { session: self.session.clone(), kind: self.kind, folder, cache: self.cache.clone() }
    }

    /// The profiles of this kind that nobody uses any more. One that was just made may not be locked yet.
    pub(crate) fn abandoned(&self) -> Vec<Self> {
        let folder = self.cache.as_deref().unwrap_or(&self.folder).join(BROWSER_PROFILES);
        let profile = |entry: fs::DirEntry| {
            let age = entry.metadata().ok()?.modified().ok()?.elapsed().ok()?;
            Some(Self { folder: entry.path(), cache: None, ..self.clone() })
                .filter(|profile| age > limits::NEW_PROFILE_GRACE && profile.is_temporary())
                .filter(|profile| !profile.is_supervised() && profile.lock_unused().is_some())
        };
        fs::read_dir(folder).into_iter().flatten().flatten().filter_map(profile).collect()
    }

    /// Whether the profile goes with its browser.
    pub(crate) fn is_temporary(&self) -> bool {
        self.folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY))
    }

    /// Removes the folder of a profile that goes with its browser, for the caller that uses it, if no supervisor does.
    pub(crate) fn remove_if_unused(&self) {
        // A supervisor that has no browser is about to end.
        if self.is_temporary() && self.lock_supervised(Instant::now() + limits::OWNER_END_TIMEOUT).is_some() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// The same for the supervisor, if no caller uses it.
    pub(crate) fn remove_if_abandoned(&self) {
        if self.is_temporary() && self.lock_unused().is_some() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// The session's name.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The browser's user data directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn own(&self, name: &str) -> PathBuf {
        self.folder.join("ragmaker").join(name)
    }

    pub(crate) fn tabs_folder(&self) -> PathBuf {
        self.own("tabs")
    }

    pub(crate) fn snapshots_folder(&self) -> PathBuf {
        self.own("looks")
    }

    /// Creates the folders, accessible to the owner only.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let cache = self.cache.as_deref().map_or(Ok(()), create_cache_folder);
        cache.and_then(|()| create_private(&self.tabs_folder())).map_err(|error| {
            BROWSER_FAILED
                .error(format!("cannot make the browser profile {}: {error}", self.folder.display()))
                .remedy("Make the folder writable, or set RAGMAKER_PROJECT_ROOT to a writable one.")
                .detail("path", self.folder.to_string_lossy())
        })
    }

    /// The record of the running browser, if one was started and not closed. The record in a copied folder
    /// belongs to the original and is ignored.
    pub(crate) fn running(&self) -> Option<Running> {
        let running: Running = serde_json::from_slice(&fs::read(self.own("session.json")).ok()?).ok()?;
        (running.profile == self.folder.to_string_lossy()).then_some(running)
    }

    /// Records the running browser atomically, readable by the owner only.
    pub(crate) fn record(&self, running: &Running) -> io::Result<()> {
        let text = serde_json::to_vec(running)?;
        // Durability is not needed, because after a power failure no browser runs.
        let replace = Replace { mode: 0o600, sync_directory: false, ..Replace::default() };
        write_atomically(&self.own("session.json"), replace, |file| file.write_all(&text))?;
        Ok(())
    }

    /// The origins of the session's pages, whose storage may have something in it.
    pub(crate) fn origins(&self) -> Vec<String> {
        let text = fs::read_to_string(self.own(ORIGINS)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Notes an origin of the session's pages.
    pub(crate) fn note_origin(&self, origin: &str) {
        let known = self.origins();
        if known.len() >= MAX_ORIGINS || known.iter().any(|known| known == origin) {
            return;
        }
        // Several calls may write concurrently: each line is one write.
        let file = fs::OpenOptions::new().append(true).create(true).open(self.own(ORIGINS));
        let _ = file.and_then(|mut file| file.write_all(format!("{origin}\n").as_bytes()));
    }

    /// Removes the records of the browser and its tabs.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_file(self.own("session.json"));
        for tab in fs::read_dir(self.tabs_folder()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(tab.path());
        }
    }

    /// The lock for starting or closing a browser; exclusive.
    pub(crate) fn lock_start(&self, deadline: Instant) -> Result<Lock, Error> {
        let busy = || {
            BROWSER_BUSY
                .error("another call is starting or closing this session's browser and has not finished")
                .detail("session", self.session.as_str())
        };
        Lock::acquire_before(&self.own("start.lock"), deadline, LockKind::Exclusive).ok_or_else(busy)
    }

    /// The lock for using the browser, which is shared. Its file records the time of the last use.
    pub(crate) fn lock_use(&self, deadline: Instant) -> Result<Lock, Error> {
        let lock = Lock::acquire_before(&self.own("use.lock"), deadline, LockKind::Shared);
        let lock = lock.ok_or_else(|| BROWSER_BUSY.error("the session's browser is being closed"))?;
        lock.touch(SystemTime::now());
        Ok(lock)
    }

    /// The exclusive lock that proves that nobody uses the browser; `None` if somebody does.
    pub(crate) fn lock_unused(&self) -> Option<Lock> {
        Lock::acquire_before(&self.own("use.lock"), Instant::now(), LockKind::Exclusive)
    }

    /// The lock for sending commands to the driver, which has one current window; `None` if another process
    /// holds it.
    pub(crate) fn lock_driver(&self) -> Option<Lock> {
        Lock::acquire_before(&self.own("driver.lock"), Instant::now(), LockKind::Exclusive)
    }

    /// The lock that the supervisor of the browser holds during its life.
    pub(crate) fn lock_supervised(&self, deadline: Instant) -> Option<Lock> {
        Lock::acquire_before(&self.own("supervisor.lock"), deadline, LockKind::Exclusive)
    }

    /// Whether a supervisor lives. Concurrent checks do not interfere.
    pub(crate) fn is_supervised(&self) -> bool {
        Lock::acquire_before(&self.own("supervisor.lock"), Instant::now(), LockKind::Shared).is_none()
    }

    /// The time since the last start or end of a use.
    pub(crate) fn unused_for(&self) -> Duration {
        let file = self.own("use.lock");
        let Ok(used) = fs::metadata(&file).and_then(|data| data.modified()) else { return Duration::ZERO };
        used.elapsed().unwrap_or_else(|_| {
            // The clock was set back. The time is counted from now; otherwise, the browser would stay open for
            // too long.
            let _ = private(&file).and_then(|file| file.set_modified(SystemTime::now()));
            Duration::ZERO
        })
    }

    /// Renames settings of the browser that are not valid JSON, for example after a crash or a full disk.
    /// ChromeDriver would refuse the profile. The browser creates new settings.
    pub(crate) fn set_aside_damaged_settings(&self) {
        for name in ["Local State", "Default/Preferences"] {
            let file = self.folder.join(name);
            let damaged = fs::read(&file)
                .is_ok_and(|bytes| serde_json::from_slice::<BTreeMap<String, &RawValue>>(&bytes).is_err());
            if damaged {
                let _ = fs::rename(&file, self.folder.join(format!("{name}.damaged")));
            }
        }
    }
}

/// Opens a file that only its owner can access.
pub(crate) fn private(path: &Path) -> io::Result<fs::File> {
    ragmaker_fs::private_options().read(true).write(true).create(true).truncate(false).open(path)
}

/// A lock on a file, held until it is dropped or the process ends.
pub(crate) struct Lock(fs::File);

impl Lock {
    /// Sets the time of the last use.
    pub(crate) fn touch(&self, at: SystemTime) {
        let _ = self.0.set_modified(at);
    }

    fn acquire_before(path: &Path, deadline: Instant, kind: LockKind) -> Option<Self> {
        lock_within(private(path).ok()?, kind, deadline).ok()?.map(Self)
    }
}

/// The record of a running browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    /// The folder of its profile.
    pub(crate) profile: String,
    /// The URLs of driver and browser.
    pub(crate) endpoint: Endpoint,
    /// The driver's process.
    pub(crate) driver_pid: u32,
    /// The WebDriver session that launched the browser. It may be used, but must not be deleted.
    pub(crate) launch_session: String,
    /// The browser's main process.
    pub(crate) browser_pid: Option<u32>,
    /// The name and version of the browser.
    pub(crate) browser: String,
    /// Whether the browser has no window.
    pub(crate) headless: bool,
    /// Whether Chromium's sandbox is on.
    pub(crate) sandbox: bool,
    /// Whether it stays open when nobody uses it.
    pub(crate) stays: bool,
    /// The idle time in seconds after which it closes.
    pub(crate) idle_seconds: u64,
    /// The process that supervises it.
    pub(crate) supervisor_pid: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile in a temporary folder, and the folder.
    pub(crate) fn profile() -> (tempfile::TempDir, Profile) {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::at("x".into(), folder.path().join("profile"));
        profile.create().unwrap();
        (folder, profile)
    }

    #[test]
    fn session_names_stay_in_their_folder() {
        for bad in ["", "..", ".hidden", "a/b", "a\\b", "a b", "a\0", &"x".repeat(65)] {
            assert!(Profile::of(Path::new("/p/.tmp/cache"), Some(bad)).unwrap_err().is(ARGUMENT_ERROR), "{bad:?}");
        }
        let folder = |session| Profile::of(Path::new("/p/.tmp/cache"), session).unwrap().folder().to_owned();
        assert_eq!(folder(None), Path::new("/p/.tmp/cache/browser_profile"));
        assert_eq!(folder(Some("docs-2.日本")), Path::new("/p/.tmp/cache/browser_profiles/docs-2.日本"));
    }

    #[test]
    fn a_profile_is_created_in_a_cache_folder_that_git_ignores() {
        let root = tempfile::tempdir().unwrap();
        let cache = root.path().join(".tmp/cache");
        assert!(Profile::all(&cache).unwrap().is_empty() && !cache.exists());
        for session in [Some("b"), None, Some("a")] {
            Profile::of(&cache, session).unwrap().create().unwrap();
        }
        assert!(fs::read_to_string(cache.join(".gitignore")).unwrap().ends_with("\n*\n"));
        let sessions: Vec<_> = Profile::all(&cache).unwrap().iter().map(|profile| profile.session.clone()).collect();
        assert_eq!(sessions, [DEFAULT_SESSION, "a", "b"]);
    }

    #[test]
    fn settings_that_are_not_json_are_set_aside() {
        let (_kept, profile) = profile();
        let folder = profile.folder();
        profile.set_aside_damaged_settings();
        fs::create_dir(folder.join("Default")).unwrap();
        for (name, text) in [("Local State", "{\"a\": {\"b\": 1}}"), ("Default/Preferences", "")] {
            fs::write(folder.join(name), text).unwrap();
        }
        profile.set_aside_damaged_settings();
        let exists = |name: &str| folder.join(name).exists();
        assert!(exists("Local State") && !exists("Local State.damaged"));
        assert!(!exists("Default/Preferences") && exists("Default/Preferences.damaged"));
        fs::write(folder.join("Local State"), "{\"a\": ").unwrap();
        profile.set_aside_damaged_settings();
        assert!(!exists("Local State") && exists("Local State.damaged"));
    }

    #[test]
    fn a_clock_set_back_does_not_keep_a_browser_open() {
        let (_kept, profile) = profile();
        let lock = profile.lock_use(Instant::now()).unwrap();
        lock.0.set_modified(SystemTime::now() + Duration::from_hours(1)).unwrap();
        assert_eq!(profile.unused_for(), Duration::ZERO);
        assert!(lock.0.metadata().unwrap().modified().unwrap() <= SystemTime::now());
    }

    #[test]
    fn users_share_a_lock_and_closing_waits_for_it() {
        let (_kept, profile) = profile();
        let one = profile.lock_use(Instant::now()).unwrap();
        let two = profile.lock_use(Instant::now()).unwrap();
        drop(one);
        assert!(profile.lock_unused().is_none());
        drop(two);
        let closing = profile.lock_unused().unwrap();
        assert!(profile.lock_use(Instant::now()).is_err_and(|error| error.is(BROWSER_BUSY)));
        drop(closing);
        assert!(!profile.is_supervised());
        let supervisor = profile.lock_supervised(Instant::now()).unwrap();
        assert!(profile.is_supervised());
        drop(supervisor);
        assert!(!profile.is_supervised());
        let start = profile.lock_start(Instant::now()).unwrap();
        assert!(profile.lock_start(Instant::now()).is_err_and(|error| error.is(BROWSER_BUSY)));
        drop(start);
    }
}
