//! The remote browsers of this process: sessions of a WebDriver endpoint.
//!
//! A call has a browser of its own, and a run of calls in one process keeps it; a session that `browser-open` keeps
//! is shared as a local one is. In both cases a supervisor holds it, so it is released when the call ends, in
//! whatever way: the supervisor is a process of its own. When that is killed as well, the endpoint's own time limit is
//! what is left.

use std::{
    cell::RefCell,
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use ragmaker_tool::{Error, HostOptions};
use url::Url;

use crate::{
    launch::Launch,
    limits,
    profile::{Profile, Running},
    remote_session::{endpoint, may_come_back, not_back, redacted_url, release},
    session::{BrowserLease, IDLE_SECONDS},
};

/// Whether an endpoint has given this process a browser: one that cannot be reached now may be restarting.
static WAS_AVAILABLE: AtomicBool = AtomicBool::new(false);

/// Whether Chromium's sandbox did not work there: each try costs the endpoint the start of a browser.
static NO_SANDBOX: AtomicBool = AtomicBool::new(false);

/// An endpoint, and the browser of it that this process has.
pub(crate) struct Remote {
    url: Url,
    own: RefCell<Option<BrowserLease>>,
}

impl Remote {
    /// The endpoint that the host names, if it names one.
    pub(crate) fn of(host: &HostOptions) -> Result<Option<Self>, Error> {
        Ok(endpoint(host)?.map(|url| Self { url, own: RefCell::default() }))
    }

    /// Whether `browser-open` keeps a browser of this endpoint for the session of `named`.
    pub(crate) fn keeps(&self, named: &Profile) -> bool {
        let is_kept =
            |running: &Running| running.stays && running.endpoint.is_remote && running.endpoint.webdriver == self.url;
        named.running().is_some_and(|running| is_kept(&running))
    }

    /// The session's browser where `browser-open` keeps one of this endpoint's, else one of this process's own.
    pub(crate) fn acquire(
        &self,
        named: &Profile,
        visible: bool,
        deadline: Instant,
        give_up: &dyn Fn() -> bool,
    ) -> Result<BrowserLease, Error> {
        if self.keeps(named) {
            return BrowserLease::acquire(named, visible, deadline);
        }
        if let Some(own) = self.own.take() {
            return Ok(own);
        }
        release_abandoned(named);
        let endpoint = Some(self.url.clone());
        let sandbox = !NO_SANDBOX.load(Ordering::Relaxed);
        let browser = named.kind();
        let launch =
            Launch { browser, headless: !visible, stays: false, idle_seconds: IDLE_SECONDS, endpoint, sandbox };
        loop {
            let profile = named.temporary();
            profile.create()?;
            let error = match BrowserLease::start(&profile, launch.clone(), deadline, give_up) {
                Ok(in_use) => {
                    WAS_AVAILABLE.store(true, Ordering::Relaxed);
                    NO_SANDBOX.store(!in_use.running.sandbox, Ordering::Relaxed);
                    return Ok(in_use);
                }
                Err(error) => error,
            };
            profile.remove_if_unused();
            if !may_come_back(&error) || !WAS_AVAILABLE.load(Ordering::Relaxed) {
                return Err(error);
            }
            // The endpoint had browsers, so a list of pages may wait for it longer.
            if Instant::now() + limits::QUEUE_RETRY >= deadline || give_up() {
                return Err(not_back(&error));
            }
            thread::sleep(limits::QUEUE_RETRY);
        }
    }

    /// Keeps the browser for the next call of this process, unless it is of no use any more.
    pub(crate) fn keep(&self, in_use: BrowserLease) {
        self.own.replace(Some(in_use));
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&redacted_url(&self.url)).finish()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            own.release();
        }
    }
}

/// Releases what callers and supervisors have left that were both killed.
fn release_abandoned(named: &Profile) {
    for left in named.abandoned() {
        if let Some(running) = left.running() {
            release(&running, Instant::now() + limits::QUEUE_RETRY);
        }
        left.remove_if_unused();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{endpoint::Endpoint, profile::tests::profile};

    fn remote(url: &str) -> Remote {
        Remote { url: Url::parse(url).unwrap(), own: RefCell::default() }
    }

    #[test]
    fn a_session_is_that_of_its_endpoint_while_its_browser_stays() {
        let (_kept, profile) = profile();
        let hub = remote("http://hub.test:4444/");
        assert!(!hub.keeps(&profile));
        let endpoint = Endpoint { webdriver: hub.url.clone(), is_remote: true, devtools: None };
        let running = Running {
            profile: profile.folder().to_string_lossy().into_owned(),
            endpoint: endpoint.clone(),
            driver_pid: 0,
            launch_session: "s".into(),
            browser_pid: None,
            browser: String::new(),
            headless: true,
            sandbox: true,
            stays: true,
            idle_seconds: 1,
            supervisor_pid: 0,
        };
        profile.record(&running).unwrap();
        assert!(hub.keeps(&profile) && !remote("http://other.test:4444/").keeps(&profile));
        profile.record(&Running { stays: false, ..running.clone() }).unwrap();
        assert!(!hub.keeps(&profile));
        // A driver on this machine may have the same address.
        profile.record(&Running { endpoint: Endpoint { is_remote: false, ..endpoint }, ..running }).unwrap();
        assert!(!hub.keeps(&profile));
    }

    #[test]
    fn the_password_of_an_endpoint_is_not_shown() {
        let shown = format!("{:?}", remote("http://me:pass-word@hub.test:4444/wd/hub/"));
        assert!(shown.contains("hub.test:4444") && !shown.contains("pass-word"), "{shown}");
    }
}
