//! Tabs that calls borrow: one call at a time has a tab, and the page stays loaded for the next call.
//!
//! Each tab has a file, named by the tab's handle. The process that locks the file owns the tab. The content of the
//! file, a [`TabState`] of the tab's page, is valid only if the last borrower returned the tab properly. A tab is
//! closed and never used again if its borrower was killed, or timed out on a page that does not answer.

use std::{
    fs,
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    thread,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use ragmaker_address::same_page;
use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{
    cdp::{BrowserSocket, TabSocket},
    codes::{BROWSER_BUSY, BROWSER_LOST},
    error::CommandError,
    limits,
    loading::Load,
    page::WaitOutcome,
    profile::{Profile, Running, private},
    readiness::SilentHosts,
    webdriver::Driver,
};

/// The maximum number of tabs that are kept for later calls.
const MAX_IDLE_TABS: usize = 8;

/// The maximum number of tabs in use at the same time; more would only slow each other down.
const MAX_TABS: usize = 16;

/// The file that marks the tab of the browser's launch as taken.
const LAUNCHED: &str = ".launched";

/// The page in a tab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShownPage {
    /// The requested URL.
    pub(crate) requested: Url,
    /// The URL of the page after redirects.
    pub(crate) url: Url,
    /// The end of the wait for it.
    pub(crate) outcome: WaitOutcome,
    /// The parts of it that were loaded.
    pub(crate) load: Load,
    /// Whether a call acted in it since it was loaded.
    #[serde(default)]
    pub(crate) acted: bool,
}

impl ShownPage {
    pub(crate) fn is(&self, url: &Url) -> bool {
        same_page(&self.requested, url) || same_page(&self.url, url)
    }
}

/// The state of a tab between calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct TabState {
    /// The page; `None` if none was loaded.
    shown: Option<ShownPage>,
    /// The time at which it was returned, in milliseconds since 1970.
    at: u64,
    /// The silent hosts of its pages.
    silent: SilentHosts,
}

impl TabState {
    fn shows(&self, url: &Url) -> bool {
        self.shown.as_ref().is_some_and(|page| page.is(url))
    }

    fn is_acted(&self) -> bool {
        self.shown.as_ref().is_some_and(|page| page.acted)
    }
}

/// A call's preference among the idle tabs.
#[derive(Clone, Copy)]
pub(crate) enum TabPreference<'a> {
    /// Any that answers.
    Any,
    /// One that shows this page, by the requested or the final URL; otherwise any.
    Showing(&'a Url),
    /// The same if a call acted in the page; otherwise like `Showing`.
    Acted(&'a Url),
    /// The tab that was used last.
    Latest,
    /// A new one, even if others are idle.
    New,
}

/// A borrowed tab.
pub(crate) struct Tab {
    /// The connection for navigating and reading the page.
    pub(crate) socket: TabSocket,
    /// The handle, which is also the id of the outermost frame.
    handle: String,
    file: fs::File,
    path: PathBuf,
    memory: TabState,
    running: Running,
    /// Whether it was used before; then its page may hang, or a person may have closed it.
    pub(crate) reused: bool,
    /// Whether it shows the page that was preferred, as far as is known.
    pub(crate) is_current: bool,
}

/// A tab file that this process has locked.
struct LockedTab {
    file: fs::File,
    path: PathBuf,
    handle: String,
    memory: Option<TabState>,
}

impl Tab {
    /// Borrows a tab of the running browser, by `preference` or, failing that, a new one. Nothing where
    /// the one that was used last is wanted and there is none.
    pub(crate) fn borrow(
        profile: &Profile,
        running: &Running,
        preference: TabPreference<'_>,
        deadline: Instant,
    ) -> Result<Option<Self>, Error> {
        let latest = matches!(preference, TabPreference::Latest);
        loop {
            let (claims, taken) = claims(profile);
            let Some((claim, memory)) = chosen(claims, preference) else {
                if latest && taken == 0 {
                    return Ok(None);
                }
                let all_taken = taken >= MAX_TABS;
                if !latest
                    && !all_taken
                    && let Some(_commands) = profile.lock_driver()
                {
                    return Self::open(profile, running, deadline).map(Some);
                }
                // Another call has its page, every tab, or the driver: one of them will be free.
                if Instant::now() >= deadline {
                    return Err(BROWSER_BUSY.error(if latest {
                        "another call is using the page and has not finished"
                    } else if all_taken {
                        "other calls are using all of the session's tabs and have not finished"
                    } else {
                        "another call is opening a tab and has not finished"
                    }));
                }
                thread::sleep(limits::TAB_RETRY);
                continue;
            };
            let is_current = match preference {
                TabPreference::Showing(url) => memory.shows(url),
                TabPreference::Acted(url) => memory.shows(url) && memory.is_acted(),
                TabPreference::Latest => true,
                TabPreference::Any | TabPreference::New => false,
            };
            match TabSocket::connect(&running.endpoint, &claim.handle, deadline) {
                Ok(socket) => return Ok(Some(Self::resume(claim, memory, socket, running, is_current))),
                Err(CommandError::Late) => return Err(BROWSER_BUSY.error("the browser does not answer")),
                // A person has closed it, or the browser is gone, which opening another one shows.
                Err(_) => claim.mark_borrowed(),
            }
        }
    }

    /// Takes an idle tab. Whether its page still answers shows when it is asked something.
    fn resume(claim: LockedTab, memory: TabState, socket: TabSocket, running: &Running, is_current: bool) -> Self {
        claim.mark_borrowed();
        let LockedTab { file, path, handle, .. } = claim;
        Self { socket, handle, file, path, memory, running: running.clone(), reused: true, is_current }
    }

    /// Opens a new tab. The caller holds the driver's lock.
    ///
    /// The session that launched the browser prepares it. A session of its own would have to attach to the
    /// browser, for which the driver looks into some tab, and waits where the page there has not come yet.
    fn open(profile: &Profile, running: &Running, deadline: Instant) -> Result<Self, Error> {
        let fail = |error: CommandError| match error {
            CommandError::Late => BROWSER_BUSY.error("the browser opened no new tab in time"),
            other => other.into_error(),
        };
        let driver = Driver::resume(&running.endpoint.webdriver, &running.launch_session, deadline).map_err(fail)?;
        // A tab is there already: the first call takes it.
        let first = fs::File::create_new(profile.tabs_folder().join(LAUNCHED)).is_ok();
        let handle = if first {
            driver.window(deadline).map_err(fail)?
        } else {
            let opened = BrowserSocket::connect(&running.endpoint, deadline)
                .and_then(|mut browser| browser.open_tab(running.headless));
            opened.map_err(fail)?
        };
        let unused = NewTab::own(profile, handle)?;
        let prepare = || {
            driver.switch_to(&unused.handle, deadline)?;
            driver.prepare_tab(running.endpoint.is_remote, deadline)?;
            TabSocket::connect(&running.endpoint, &unused.handle, deadline)
        };
        match prepare() {
            Ok(socket) => {
                let NewTab { handle, file, path } = unused;
                let (memory, running) = (TabState::default(), running.clone());
                Ok(Self { socket, handle, file, path, memory, running, reused: false, is_current: false })
            }
            Err(error) => {
                close(running, &unused.handle, &unused.path);
                Err(fail(error))
            }
        }
    }

    /// Returns the tab with the page that it shows, for later calls.
    pub(crate) fn give_back(mut self, shown: Option<ShownPage>, profile: &Profile) {
        self.memory.shown = shown;
        self.memory.at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let is_tab = |entry: &fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
        let open = fs::read_dir(profile.tabs_folder()).into_iter().flatten().flatten().filter(is_tab).count();
        if open > MAX_IDLE_TABS {
            return self.dispose();
        }
        if let Ok(text) = serde_json::to_vec(&self.memory) {
            let _ = self.file.rewind().and_then(|()| self.file.write_all(&text));
        }
    }

    /// Closes the tab, even if its page is busy.
    pub(crate) fn dispose(self) {
        let _ = self.file.set_len(0);
        close(&self.running, &self.handle, &self.path);
    }

    /// Closes the tabs that its page opened.
    pub(crate) fn close_opened(&self) {
        let browser = BrowserSocket::connect(&self.running.endpoint, Instant::now() + limits::TAB_CLOSE_TIMEOUT);
        let _ = browser.and_then(|mut browser| browser.close_opened_by(&self.handle));
    }

    /// The driver of the browser, if it is on another machine.
    pub(crate) fn remote_driver(&self, deadline: Instant) -> Result<Option<Driver>, CommandError> {
        let Running { endpoint, launch_session, .. } = &self.running;
        endpoint.is_remote.then(|| Driver::resume(&endpoint.webdriver, launch_session, deadline)).transpose()
    }

    /// The page at the end of the last call.
    pub(crate) fn shown(&self) -> Option<&ShownPage> {
        self.memory.shown.as_ref()
    }

    /// Whether less of its page was loaded than `load`. A page in which a call acted is not loaded again for that.
    pub(crate) fn shows_too_little(&self, load: Load) -> bool {
        load == Load::Everything && self.shown().is_none_or(|page| page.load != load && !page.acted)
    }

    /// The hosts that recently did not respond.
    pub(crate) fn silent_hosts(&self) -> SilentHosts {
        self.memory.silent.clone().current()
    }

    /// Stores the silent hosts for the next call.
    pub(crate) fn remember_silent(&mut self, hosts: SilentHosts) {
        self.memory.silent = hosts;
    }

    /// Whether a call acted in the page since it was loaded.
    pub(crate) fn is_acted(&self) -> bool {
        self.is_current && self.memory.is_acted()
    }

    /// The end of an earlier call's wait for the page, if the tab still shows that page.
    pub(crate) fn outcome(&self) -> Option<&WaitOutcome> {
        self.memory.shown.as_ref().filter(|_| self.is_current).map(|page| &page.outcome)
    }
}

/// A new tab of this process that was not used yet, with its locked file.
struct NewTab {
    handle: String,
    file: fs::File,
    path: PathBuf,
}

impl NewTab {
    fn own(profile: &Profile, handle: String) -> Result<Self, Error> {
        let path = profile.tabs_folder().join(&handle);
        let own = || {
            // Locked before it gets its name, so that no other process mistakes it for an abandoned tab.
            let unnamed = profile.tabs_folder().join(format!(".{handle}"));
            let file = private(&unnamed)?;
            file.try_lock()?;
            fs::rename(&unnamed, &path)?;
            Ok(file)
        };
        let file = own().map_err(|error: io::Error| {
            BROWSER_LOST.error(format!("cannot write to the browser's profile: {error}"))
        })?;
        Ok(Self { handle, file, path })
    }
}

fn close(running: &Running, handle: &str, path: &Path) {
    let browser = BrowserSocket::connect(&running.endpoint, Instant::now() + limits::TAB_CLOSE_TIMEOUT);
    // If that takes too long, the file remains, and the supervisor closes the tab.
    if !matches!(browser.and_then(|mut browser| browser.close_tab(handle)), Err(CommandError::Late)) {
        let _ = fs::remove_file(path);
    }
}

/// Closes the tabs of processes that ended without returning them.
pub(crate) fn close_abandoned(profile: &Profile, running: &Running) {
    for entry in fs::read_dir(profile.tabs_folder()).into_iter().flatten().flatten() {
        // The file of a returned tab is not empty.
        let unwritten = entry.metadata().is_ok_and(|data| data.len() == 0);
        let Ok(handle) = entry.file_name().into_string() else { continue };
        if !unwritten || handle.starts_with('.') {
            continue;
        }
        let Ok(file) = fs::OpenOptions::new().read(true).write(true).open(entry.path()) else { continue };
        if file.try_lock().is_ok() && file.metadata().is_ok_and(|data| data.len() == 0) {
            close(running, &handle, &entry.path());
        }
    }
}

/// Empty tabs without an owner, for example of a tool that was killed right after it opened one.
#[derive(Default)]
pub(crate) struct Orphans {
    seen: Vec<String>,
}

impl Orphans {
    /// Closes the tabs that had no owner at the previous call either, because a tool needs milliseconds to
    /// record its tab. A person's tabs are not empty, and one tab must remain.
    pub(crate) fn close(&mut self, profile: &Profile, running: &Running) {
        let folder = profile.tabs_folder();
        // Until the first call takes it, the tab of the browser's launch has no owner.
        if !folder.join(LAUNCHED).exists() {
            return;
        }
        let Ok(mut browser) = BrowserSocket::connect(&running.endpoint, Instant::now() + limits::SOCKET_TIMEOUT) else {
            return;
        };
        let Ok(tabs) = browser.tab_urls() else { return };
        let mut open = tabs.len();
        let orphan = |(handle, url): (String, String)| {
            (url == "about:blank" && !folder.join(&handle).exists()).then_some(handle)
        };
        let now: Vec<String> = tabs.into_iter().filter_map(orphan).collect();
        for handle in now.iter().filter(|handle| self.seen.contains(handle)) {
            if open > 1 && browser.close_tab(handle).is_ok() {
                open -= 1;
            }
        }
        self.seen = now;
    }
}

impl LockedTab {
    /// Empties the file; it is valid again when the tab is returned.
    fn mark_borrowed(&self) {
        let _ = self.file.set_len(0);
    }
}

/// The idle tab that a call prefers. The other ones are unlocked; abandoned tabs are left to the supervisor.
fn chosen(claims: Vec<LockedTab>, preference: TabPreference<'_>) -> Option<(LockedTab, TabState)> {
    let idle = claims.into_iter().filter_map(|mut claim| Some((claim.memory.take()?, claim)));
    let mut idle: Vec<_> = idle.map(|(memory, claim)| (claim, memory)).collect();
    idle.sort_by_key(|(_, memory)| std::cmp::Reverse(memory.at));
    // The most recent page is the most likely to be needed again, so the oldest one is replaced.
    let oldest = idle.len().checked_sub(1);
    let index = match preference {
        TabPreference::Showing(url) => idle.iter().position(|(_, memory)| memory.shows(url)).or(oldest),
        // A page that was loaded again later has replaced the state after the action.
        TabPreference::Acted(url) => {
            let latest = idle.iter().position(|(_, memory)| memory.shows(url));
            latest.filter(|index| idle[*index].1.is_acted()).or(oldest)
        }
        TabPreference::Latest => idle.iter().position(|(_, memory)| memory.shown.is_some()),
        TabPreference::Any => oldest,
        TabPreference::New => None,
    };
    Some(idle.swap_remove(index?))
}

/// Locks every tab that is not in use, and counts the others.
fn claims(profile: &Profile) -> (Vec<LockedTab>, usize) {
    let (mut claims, mut taken) = (vec![], 0);
    for entry in fs::read_dir(profile.tabs_folder()).into_iter().flatten().flatten() {
        let Ok(handle) = entry.file_name().into_string() else { continue };
        if handle.starts_with('.') {
            continue;
        }
        let path = entry.path();
        let Ok(mut file) = fs::OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_err() {
            taken += 1;
            continue;
        }
        let mut text = vec![];
        let memory = file.read_to_end(&mut text).ok().and_then(|_| serde_json::from_slice(&text).ok());
        // The tab may have been closed between listing the folder and locking.
        if path.exists() {
            claims.push(LockedTab { file, path, handle, memory });
        }
    }
    (claims, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str) -> Url {
        Url::parse(&format!("https://x.example/{name}")).unwrap()
    }

    /// Writes the file of an idle tab that was returned `at` and shows `page`.
    fn idle(profile: &Profile, handle: &str, at: u64, page: Option<&str>) {
        idle_after(profile, handle, at, page, false);
    }

    fn idle_after(profile: &Profile, handle: &str, at: u64, page: Option<&str>, acted: bool) {
        let shown = page.map(|page| ShownPage {
            requested: url(page),
            url: url("led-to"),
            outcome: WaitOutcome::IDLE,
            load: Load::Text,
            acted,
        });
        let text = serde_json::to_vec(&TabState { shown, at, silent: SilentHosts::default() }).unwrap();
        fs::write(profile.tabs_folder().join(handle), text).unwrap();
    }

    fn choice(profile: &Profile, preference: TabPreference<'_>) -> Option<String> {
        chosen(claims(profile).0, preference).map(|(claim, _)| claim.handle)
    }

    #[test]
    fn a_tab_is_chosen_by_what_it_shows_and_when_it_was_used() {
        let (_kept, profile) = crate::profile::tests::profile();
        assert_eq!(choice(&profile, TabPreference::Any), None);
        idle(&profile, "old", 1, Some("a"));
        idle(&profile, "middle", 2, Some("b"));
        idle(&profile, "new", 3, None);
        fs::write(profile.tabs_folder().join("left-behind"), "").unwrap();
        fs::write(profile.tabs_folder().join(LAUNCHED), "").unwrap();
        assert_eq!(choice(&profile, TabPreference::Any).unwrap(), "old");
        assert_eq!(choice(&profile, TabPreference::Latest).unwrap(), "middle");
        for (page, tab) in [("b#place", "middle"), ("led-to", "middle"), ("c", "old")] {
            assert_eq!(choice(&profile, TabPreference::Showing(&url(page))).unwrap(), tab, "{page}");
        }
    }

    #[test]
    fn a_page_with_actions_is_preferred_until_reloaded() {
        let (_kept, profile) = crate::profile::tests::profile();
        idle_after(&profile, "acted", 3, Some("a"), true);
        idle(&profile, "oldest", 1, Some("x"));
        let page = url("a");
        assert_eq!(choice(&profile, TabPreference::Acted(&page)).unwrap(), "acted");
        assert_eq!(choice(&profile, TabPreference::Acted(&url("b"))).unwrap(), "oldest");
        idle(&profile, "again", 4, Some("a"));
        assert_eq!(choice(&profile, TabPreference::Acted(&page)).unwrap(), "oldest");
        assert_eq!(choice(&profile, TabPreference::Showing(&page)).unwrap(), "again");
    }

    #[test]
    fn a_tab_in_use_is_counted_and_not_chosen() {
        let (_kept, profile) = crate::profile::tests::profile();
        idle(&profile, "one", 1, Some("a"));
        let (held, taken) = claims(&profile);
        assert_eq!((held.len(), taken), (1, 0));
        let (others, taken) = claims(&profile);
        assert_eq!((others.len(), taken), (0, 1));
        drop(held);
        let borrowed = claims(&profile).0.remove(0);
        borrowed.mark_borrowed();
        drop(borrowed);
        assert_eq!(choice(&profile, TabPreference::Any), None);
    }
}
