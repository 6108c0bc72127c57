//! A session's place on disk: the browser's profile, and what we keep about a browser that runs on it.
//!
//! Everything lies in the profile's own folder, so two projects never share anything, and throwing
//! the folder away throws the session away.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use fs2::FileExt;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::codes::{BROWSER_BUSY, BROWSER_FAILED};

/// The name of the session that is used when none is named.
pub const DEFAULT_SESSION: &str = "default";

/// A browser profile, one for each session of a project.
#[derive(Clone, Debug)]
pub struct Profile {
    session: String,
    folder: PathBuf,
}

impl Profile {
    /// The profile of `session` in this project: `.tmp/cache/browser_profile`, or for a named
    /// session `.tmp/cache/browser_profiles/NAME`, under `RAGMAKER_PROJECT_ROOT` or else the
    /// working directory.
    pub fn of(session: Option<&str>) -> Result<Self, Error> {
        let session = session.unwrap_or(DEFAULT_SESSION);
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if session.is_empty() || session.len() > 64 || session.starts_with('.') || !session.chars().all(allowed) {
            return Err(ARGUMENT_ERROR
                .error(format!("--session can not be {session:?}"))
                .remedy("Use letters, digits, '-', '_' and '.', 64 bytes at the most, not beginning with '.'.")
                .detail("argument", "--session"));
        }
        let cache = cache_folder()?;
        let folder = match session {
            DEFAULT_SESSION => cache.join("browser_profile"),
            named => cache.join("browser_profiles").join(named),
        };
        Ok(Self { session: session.to_owned(), folder })
    }

    /// Every profile that this project has.
    pub fn all() -> Result<Vec<Self>, Error> {
        let default = Self::of(None)?;
        let named = cache_folder()?.join("browser_profiles");
        let mut all: Vec<_> = fs::read_dir(named)
            .into_iter()
            .flatten()
            .flatten()
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|entry| Self::of(Some(entry.file_name().to_str()?)).ok())
            .collect();
        all.sort_by(|a, b| a.session.cmp(&b.session));
        all.insert(0, default);
        all.retain(|profile| profile.folder.is_dir());
        Ok(all)
    }

    /// The profile in `folder`, as the keeper is told it.
    pub(crate) fn at(session: String, folder: PathBuf) -> Self {
        Self { session, folder }
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

    /// Makes the folders, for the owner alone.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(self.tabs_folder()).map_err(|error| {
            BROWSER_FAILED
                .error(format!("cannot make the browser profile {}: {error}", self.folder.display()))
                .remedy("Make the folder writable, or set RAGMAKER_PROJECT_ROOT to one that is.")
                .detail("path", self.folder.to_string_lossy())
        })
    }

    /// What is known about a browser on this profile, if one was started and not closed. What a copy of
    /// the folder has is about the browser of the original.
    pub(crate) fn running(&self) -> Option<Running> {
        let running: Running = serde_json::from_slice(&fs::read(self.own("session.json")).ok()?).ok()?;
        (running.profile == self.folder.to_string_lossy()).then_some(running)
    }

    /// Records the browser that runs now, in one step and for the owner's eyes alone.
    pub(crate) fn record(&self, running: &Running) -> io::Result<()> {
        let temporary = self.own("session.json.new");
        let mut file = private(&temporary)?;
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(running)?)?;
        fs::rename(temporary, self.own("session.json"))
    }

    /// Forgets the browser and its tabs.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_file(self.own("session.json"));
        for tab in fs::read_dir(self.tabs_folder()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(tab.path());
        }
    }

    /// Held while a browser is started or closed; one at a time.
    pub(crate) fn lock_start(&self, deadline: Instant) -> Result<Lock, Error> {
        let busy = || {
            BROWSER_BUSY
                .error("another call is starting or closing this session's browser and has not finished")
                .detail("session", self.session.as_str())
        };
        Lock::within(&self.own("start.lock"), deadline, FileExt::try_lock_exclusive).ok_or_else(busy)
    }

    /// Held by everyone who uses the browser, together; says when it was used last.
    pub(crate) fn lock_use(&self, deadline: Instant) -> Result<Lock, Error> {
        let lock = Lock::within(&self.own("use.lock"), deadline, FileExt::try_lock_shared);
        let lock = lock.ok_or_else(|| BROWSER_BUSY.error("the session's browser is being closed"))?;
        lock.touch(SystemTime::now());
        Ok(lock)
    }

    /// The lock that shows nobody uses the browser, if that is so.
    pub(crate) fn lock_unused(&self) -> Option<Lock> {
        Lock::within(&self.own("use.lock"), Instant::now(), FileExt::try_lock_exclusive)
    }

    /// Held by the one who gives the driver commands, which go to the window that it was told last; nothing
    /// where somebody does.
    pub(crate) fn lock_driver(&self) -> Option<Lock> {
        Lock::within(&self.own("driver.lock"), Instant::now(), FileExt::try_lock_exclusive)
    }

    /// Held by the keeper of the browser for as long as it lives.
    pub(crate) fn lock_kept(&self, deadline: Instant) -> Option<Lock> {
        Lock::within(&self.own("keeper.lock"), deadline, FileExt::try_lock_exclusive)
    }

    /// Whether a keeper lives. Who asks at the same time does not stand in the way.
    pub(crate) fn is_kept(&self) -> bool {
        Lock::within(&self.own("keeper.lock"), Instant::now(), FileExt::try_lock_shared).is_none()
    }

    /// How long nobody has begun or ended to use the browser.
    pub(crate) fn unused_for(&self) -> Duration {
        let file = self.own("use.lock");
        let Ok(used) = fs::metadata(&file).and_then(|data| data.modified()) else { return Duration::ZERO };
        used.elapsed().unwrap_or_else(|_| {
            // The clock was set back. It is counted from now, or the browser would stay for as long.
            let _ = private(&file).and_then(|file| file.set_modified(SystemTime::now()));
            Duration::ZERO
        })
    }

    /// Renames settings of the browser that are not JSON, as a crash or a full disk may leave them:
    /// ChromeDriver would refuse the profile for good. The browser makes new ones.
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

/// `.tmp/cache` of the project, absolute and without links, so that it has one name only.
fn cache_folder() -> Result<PathBuf, Error> {
    let root = env::var_os("RAGMAKER_PROJECT_ROOT")
        .filter(|value| !value.is_empty())
        .map_or_else(env::current_dir, |root| Ok(root.into()));
    let root = root.and_then(fs::canonicalize).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("the project's root is not there: {error}"))
            .remedy("Set RAGMAKER_PROJECT_ROOT to the project's folder, or work in a folder that exists.")
            .detail("argument", "RAGMAKER_PROJECT_ROOT")
    })?;
    // The driver is told the profile's path in JSON, which could only hold the path of another folder.
    if root.to_str().is_none() {
        return Err(ARGUMENT_ERROR
            .error(format!("the project's path is not UTF-8: {}", root.display()))
            .remedy("Rename the folder, or set RAGMAKER_PROJECT_ROOT to another one.")
            .detail("argument", "RAGMAKER_PROJECT_ROOT"));
    }
    Ok(root.join(".tmp").join("cache"))
}

/// An open file that only its owner can read.
pub(crate) fn private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A lock on a file, held until it is dropped; the system drops it when the process dies.
pub(crate) struct Lock(fs::File);

impl Lock {
    /// Notes on the file when it was used.
    pub(crate) fn touch(&self, at: SystemTime) {
        let _ = self.0.set_modified(at);
    }

    fn within(path: &Path, deadline: Instant, lock: impl Fn(&fs::File) -> io::Result<()>) -> Option<Self> {
        let file = private(path).ok()?;
        loop {
            if lock(&file).is_ok() {
                return Some(Self(file));
            }
            if Instant::now() >= deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A browser that was started, and how to reach it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    /// The folder of the profile that it runs on.
    pub(crate) profile: String,
    /// The driver's port on loopback.
    pub(crate) driver_port: u16,
    /// The driver's process.
    pub(crate) driver_pid: u32,
    /// The browser's own debugging port on loopback.
    pub(crate) debug_port: u16,
    /// The path of the browser's own debugging socket; it holds a random name, so it tells this
    /// browser from another that has the port by now.
    pub(crate) debug_path: String,
    /// The WebDriver session that launched the browser: it may be used, but never be deleted.
    pub(crate) launch_session: String,
    /// The browser's main process.
    pub(crate) browser_pid: Option<u32>,
    /// The name and version of the browser.
    pub(crate) browser: String,
    /// Whether the browser has no window.
    pub(crate) headless: bool,
    /// Whether Chromium's sandbox is on.
    pub(crate) sandbox: bool,
    /// Whether it stays when nobody uses it.
    pub(crate) stays: bool,
    /// After how many seconds without use it closes.
    pub(crate) idle_seconds: u64,
    /// The process that watches over it.
    pub(crate) keeper_pid: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile of its own, and the folder that goes with it.
    pub(crate) fn profile() -> (tempfile::TempDir, Profile) {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::at("x".into(), folder.path().join("profile"));
        profile.create().unwrap();
        (folder, profile)
    }

    #[test]
    fn session_names_stay_in_their_folder() {
        for bad in ["", "..", ".hidden", "a/b", "a\\b", "a b", "a\0", &"x".repeat(65)] {
            assert!(Profile::of(Some(bad)).unwrap_err().is(ARGUMENT_ERROR), "{bad:?}");
        }
        assert!(Profile::of(None).unwrap().folder().ends_with(".tmp/cache/browser_profile"));
        assert!(Profile::of(Some("docs-2.日本")).unwrap().folder().ends_with("browser_profiles/docs-2.日本"));
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
    fn a_clock_that_was_set_back_does_not_keep_a_browser() {
        let (_kept, profile) = profile();
        let lock = profile.lock_use(Instant::now()).unwrap();
        lock.0.set_modified(SystemTime::now() + Duration::from_hours(1)).unwrap();
        assert_eq!(profile.unused_for(), Duration::ZERO);
        assert!(lock.0.metadata().unwrap().modified().unwrap() <= SystemTime::now());
    }

    #[test]
    fn users_share_and_the_closer_waits_for_them() {
        let (_kept, profile) = profile();
        let one = profile.lock_use(Instant::now()).unwrap();
        let two = profile.lock_use(Instant::now()).unwrap();
        drop(one);
        assert!(profile.lock_unused().is_none());
        drop(two);
        let closing = profile.lock_unused().unwrap();
        assert!(profile.lock_use(Instant::now()).is_err_and(|error| error.is(BROWSER_BUSY)));
        drop(closing);
        assert!(!profile.is_kept());
        let keeper = profile.lock_kept(Instant::now()).unwrap();
        assert!(profile.is_kept());
        drop(keeper);
        assert!(!profile.is_kept());
        let start = profile.lock_start(Instant::now()).unwrap();
        assert!(profile.lock_start(Instant::now()).is_err_and(|error| error.is(BROWSER_BUSY)));
        drop(start);
    }
}
