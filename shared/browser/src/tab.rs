//! Tabs that calls borrow: one call to a tab at a time, and the page stays for the next.
//!
//! Each tab has a file named by its handle. Whoever locks the file has the tab; what the file says
//! of the tab's page holds only if the last borrower gave it back in order. So a tab whose borrower
//! was killed, or ran out of time on a page that does not answer, is never used again: it is closed.

use std::{
    fs,
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use fs2::FileExt;
use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    codes::{BROWSER_BUSY, BROWSER_LOST},
    devtools::{DevTools, PATIENCE, TabSocket},
    driver::{Driver, Trouble},
    profile::{Profile, Running, private},
};

/// The most tabs that are kept for later calls.
const KEPT: usize = 8;

/// The most tabs that calls have at once: more of them only slow each other down.
const MOST: usize = 16;

/// How long a call that waits for a tab leaves the others alone.
const AGAIN: Duration = Duration::from_millis(10);

/// How long the browser may take to close a tab: a call that is late has no time left.
const CLOSING: Duration = Duration::from_secs(1);

/// How long a page that is not busy may take to answer.
pub(crate) const PULSE: Duration = Duration::from_secs(2);

/// The file that says that the tab the browser was launched with is in use as one of ours.
const LAUNCHED: &str = ".launched";

/// The script that every document of a tab begins with.
const WATCH: &str = include_str!("js/watch.js");

/// What is remembered of a tab between calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// The address that was asked for, and the one it led to; empty where no page was loaded.
    requested: String,
    url: String,
    /// Whether the page still waited for something, which can not be asked of it later.
    waits: bool,
    /// When it was given back, in milliseconds since 1970.
    at: u64,
}

/// Which of the tabs that lie idle a call wants.
#[derive(Clone, Copy)]
pub(crate) enum Wish<'a> {
    /// Any that answers.
    Any,
    /// One that shows this page, by the address asked for or the one it led to; else any.
    Showing(&'a str),
    /// The one that was used last.
    Latest,
}

/// A borrowed tab.
pub(crate) struct Tab {
    /// Where it is sent to its page, and the page read.
    pub(crate) socket: TabSocket,
    /// Its handle, which is the id of its outermost frame as well.
    pub(crate) handle: String,
    file: fs::File,
    path: PathBuf,
    memory: Memory,
    running: Running,
    /// Whether it was used before; then its page may hang, or a person may have closed it.
    pub(crate) resumed: bool,
    /// Whether it shows the page that was wished for, as far as is known.
    pub(crate) fresh: bool,
}

/// A tab file that this process has locked.
struct Claim {
    file: fs::File,
    path: PathBuf,
    handle: String,
    memory: Option<Memory>,
}

impl Tab {
    /// Borrows a tab of the running browser, by `wish` or, failing that, a new one.
    pub(crate) async fn borrow(
        profile: &Profile,
        running: &Running,
        wish: Wish<'_>,
        deadline: Instant,
    ) -> Result<Option<Self>, Error> {
        loop {
            let (mut claims, taken) = claims(profile);
            claims.sort_by_key(|claim| std::cmp::Reverse(claim.memory.as_ref().map_or(0, |memory| memory.at)));
            // The others were left behind: the keeper closes them.
            let mut idle: Vec<_> = claims.into_iter().filter(|claim| claim.memory.is_some()).collect();
            let shows = |claim: &Claim, page: &str| {
                claim.memory.as_ref().is_some_and(|memory| {
                    [&memory.requested, &memory.url].iter().any(|url| crate::address::page(url) == page)
                })
            };
            let index = match wish {
                Wish::Showing(url) => idle
                    .iter()
                    .position(|claim| shows(claim, crate::address::page(url)))
                    .or_else(|| (!idle.is_empty()).then(|| idle.len() - 1)),
                Wish::Latest => {
                    idle.iter().position(|claim| claim.memory.as_ref().is_some_and(|memory| !memory.url.is_empty()))
                }
                // The page used last is the likeliest to be wanted again: take the oldest.
                Wish::Any => (!idle.is_empty()).then(|| idle.len() - 1),
            };
            let Some(index) = index else {
                drop(idle);
                let latest = matches!(wish, Wish::Latest);
                if latest && taken == 0 {
                    return Ok(None);
                }
                let all_taken = taken >= MOST;
                if !latest
                    && !all_taken
                    && let Some(_commands) = profile.lock_driver()
                {
                    return Self::open(profile, running, deadline).await.map(Some);
                }
                // Its page, every tab, or the driver is in somebody's hands: one of them will be free.
                if Instant::now() >= deadline {
                    return Err(BROWSER_BUSY.error(if latest {
                        "another call works on the page and has not finished"
                    } else if all_taken {
                        "other calls work in all of the session's tabs and have not finished"
                    } else {
                        "another call is opening a tab and has not finished"
                    }));
                }
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            let claim = idle.swap_remove(index);
            drop(idle);
            let fresh = match wish {
                Wish::Showing(url) => shows(&claim, crate::address::page(url)),
                Wish::Latest => true,
                Wish::Any => false,
            };
            let Some(memory) = claim.memory.clone() else { continue };
            let socket = match TabSocket::connect(running, &claim.handle, deadline) {
                Ok(socket) => socket,
                Err(Trouble::Late) => return Err(BROWSER_BUSY.error("the browser does not answer")),
                Err(_) => {
                    // A person has closed it, or the browser is gone, which opening another one shows.
                    claim.mark_borrowed();
                    continue;
                }
            };
            return Ok(Some(Self::resume(claim, memory, socket, running, fresh)));
        }
    }

    /// Takes up a tab that lay idle. Whether its page still answers shows when it is asked something.
    fn resume(claim: Claim, memory: Memory, socket: TabSocket, running: &Running, fresh: bool) -> Self {
        claim.mark_borrowed();
        let Claim { file, path, handle, .. } = claim;
        Self { socket, handle, file, path, memory, running: running.clone(), resumed: true, fresh }
    }

    /// Opens a new tab. The caller holds the driver's lock.
    ///
    /// The session that launched the browser readies it. A session of its own would have to attach to the
    /// browser, for which the driver looks into some tab, and waits where the page there has not come yet.
    async fn open(profile: &Profile, running: &Running, deadline: Instant) -> Result<Self, Error> {
        let fail = |trouble: Trouble| match trouble {
            Trouble::Late => BROWSER_BUSY.error("the browser is too busy for a new tab"),
            other => other.into_error(),
        };
        let driver = Driver::resume(running.driver_port, &running.launch_session, deadline).await.map_err(fail)?;
        // A tab is there already: the first call takes it.
        let first = fs::File::create_new(profile.tabs_folder().join(LAUNCHED)).is_ok();
        let handle = if first {
            driver.window(deadline).await.map_err(fail)?
        } else {
            let opened =
                DevTools::connect(running, deadline).and_then(|mut browser| browser.open_tab(running.headless));
            opened.map_err(fail)?
        };
        let unused = Unused::own(profile, handle)?;
        let ready = async {
            driver.switch_to(&unused.handle, deadline).await?;
            driver.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": WATCH}), deadline).await?;
            driver.devtools("Browser.setDownloadBehavior", json!({"behavior": "deny"}), deadline).await?;
            TabSocket::connect(running, &unused.handle, deadline)
        };
        match ready.await {
            Ok(socket) => {
                let Unused { handle, file, path } = unused;
                let (memory, running) = (Memory::default(), running.clone());
                Ok(Self { socket, handle, file, path, memory, running, resumed: false, fresh: false })
            }
            Err(trouble) => {
                close(running, &unused.handle, &unused.path);
                Err(fail(trouble))
            }
        }
    }

    /// Gives the tab back with the page it shows, for later calls to use.
    ///
    /// `waits` says whether the page still waits for something.
    pub(crate) fn give_back(mut self, requested: &str, url: &str, waits: bool, profile: &Profile) {
        self.memory.requested = requested.to_owned();
        self.memory.url = url.to_owned();
        self.memory.waits = waits;
        self.memory.at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let open = fs::read_dir(profile.tabs_folder()).into_iter().flatten().count();
        if open > KEPT {
            return self.dispose();
        }
        if let Ok(text) = serde_json::to_vec(&self.memory) {
            let _ = self.file.rewind().and_then(|()| self.file.write_all(&text));
        }
    }

    /// Closes the tab, whatever its page is doing.
    pub(crate) fn dispose(self) {
        let _ = self.file.set_len(0);
        close(&self.running, &self.handle, &self.path);
    }

    /// The page that was asked for and the one it led to, as remembered.
    pub(crate) fn remembered(&self) -> (&str, &str) {
        (&self.memory.requested, &self.memory.url)
    }

    /// Whether the page that it shows still waited for something when the last call left it.
    pub(crate) fn waited(&self) -> bool {
        self.fresh && self.memory.waits
    }
}

/// A tab that this process has opened and not used yet, and its file, which it has locked.
struct Unused {
    handle: String,
    file: fs::File,
    path: PathBuf,
}

impl Unused {
    fn own(profile: &Profile, handle: String) -> Result<Self, Error> {
        let path = profile.tabs_folder().join(&handle);
        let own = || {
            // Locked before it has its name, so that nobody takes it for one that was left behind.
            let unnamed = profile.tabs_folder().join(format!(".{handle}"));
            let file = private(&unnamed)?;
            file.try_lock_exclusive()?;
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
    let browser = DevTools::connect(running, Instant::now() + CLOSING);
    // Where that takes too long, what the file says leaves it to the keeper.
    if !matches!(browser.and_then(|mut browser| browser.close_tab(handle)), Err(Trouble::Late)) {
        let _ = fs::remove_file(path);
    }
}

/// Closes the tabs whose borrower went without giving them back, as one that was killed does.
pub(crate) fn close_abandoned(profile: &Profile, running: &Running) {
    for entry in fs::read_dir(profile.tabs_folder()).into_iter().flatten().flatten() {
        // What is written in the file of a tab says that it was given back.
        let unwritten = entry.metadata().is_ok_and(|data| data.len() == 0);
        let Ok(handle) = entry.file_name().into_string() else { continue };
        if !unwritten || handle.starts_with('.') {
            continue;
        }
        let Ok(file) = fs::OpenOptions::new().read(true).write(true).open(entry.path()) else { continue };
        if file.try_lock_exclusive().is_ok() && file.metadata().is_ok_and(|data| data.len() == 0) {
            close(running, &handle, &entry.path());
        }
    }
}

/// Empty tabs that are nobody's: what a tool leaves that is killed the moment it has opened one.
#[derive(Default)]
pub(crate) struct Orphans {
    seen: Vec<String>,
}

impl Orphans {
    /// Closes those that were nobody's at the last look already: a tool takes milliseconds to own what
    /// it opens. A person's tabs are not empty, and one tab has to stay.
    pub(crate) fn close(&mut self, profile: &Profile, running: &Running) {
        let folder = profile.tabs_folder();
        // Until the first call takes it, the tab that came with the browser is meant to be nobody's.
        if !folder.join(LAUNCHED).exists() {
            return;
        }
        let Ok(mut browser) = DevTools::connect(running, Instant::now() + PATIENCE) else { return };
        let Ok(tabs) = browser.addresses() else { return };
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

impl Claim {
    /// Until the tab is given back in order, its file says nothing.
    fn mark_borrowed(&self) {
        let _ = self.file.set_len(0);
    }
}

/// Locks every tab that nobody has borrowed; also says how many somebody has.
fn claims(profile: &Profile) -> (Vec<Claim>, usize) {
    let (mut claims, mut taken) = (vec![], 0);
    for entry in fs::read_dir(profile.tabs_folder()).into_iter().flatten().flatten() {
        let Ok(handle) = entry.file_name().into_string() else { continue };
        if handle.starts_with('.') {
            continue;
        }
        let path = entry.path();
        let Ok(mut file) = fs::OpenOptions::new().read(true).write(true).open(&path) else { continue };
        if file.try_lock_exclusive().is_err() {
            taken += 1;
            continue;
        }
        let mut text = vec![];
        let memory = file.read_to_end(&mut text).ok().and_then(|_| serde_json::from_slice(&text).ok());
        // It may have been closed between the look at the folder and the lock.
        if path.exists() {
            claims.push(Claim { file, path, handle, memory });
        }
    }
    (claims, taken)
}
