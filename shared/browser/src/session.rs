//! A session's browser: connecting to the running one or starting one, keeping it open, closing it.

use std::time::{Instant, SystemTime};

use ragmaker_tool::{Error, HostOptions};

use crate::{
    codes::{BROWSER_BUSY, BROWSER_LOST, NO_DISPLAY, PAGE_CRASHED, PROFILE_IN_USE, TIMEOUT},
    endpoint::accepts_connections,
    find::{Program, has_display},
    firefox,
    kind::BrowserKind,
    launch::Launch,
    limits, process,
    profile::{Lock, Profile, Running},
    remote_session, supervisor,
};

/// The default idle time in seconds after which a browser closes.
pub const IDLE_SECONDS: u64 = 30 * 60;

/// A browser in use. While this value exists, the browser is not closed because of idleness.
pub(crate) struct BrowserLease {
    pub(crate) running: Running,
    /// Whether the browser ran before the call.
    pub(crate) was_open: bool,
    profile: Profile,
    lock: Option<Lock>,
}

impl BrowserLease {
    /// Connects to the browser on `profile`, or starts one that closes when its last user leaves.
    pub(crate) fn acquire(profile: &Profile, visible: bool, deadline: Instant) -> Result<Self, Error> {
        let idle_seconds = IDLE_SECONDS;
        let browser = profile.kind();
        let launch = Launch { browser, headless: !visible, stays: false, idle_seconds, endpoint: None, sandbox: true };
        profile.create()?;
        let lock = profile.lock_use(deadline)?;
        if let Some(running) = usable(profile, visible) {
            return Ok(Self { running, was_open: true, profile: profile.clone(), lock: Some(lock) });
        }
        drop(lock);
        Self::start(profile, launch, deadline, &|| false)
    }

    /// Starts a browser, here or at an endpoint; `give_up` returns whether to stop waiting.
    pub(crate) fn start(
        profile: &Profile,
        mut launch: Launch,
        deadline: Instant,
        give_up: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        // A browser of another machine that the session keeps is replaced by one of that machine.
        let remote = profile.running().filter(|old| old.endpoint.is_remote && old.stays);
        launch.endpoint = launch.endpoint.or(remote.map(|old| old.endpoint.webdriver));
        if launch.endpoint.is_none() {
            // Missing programs are reported before anything is changed.
            let needed = match launch.browser {
                BrowserKind::Chromium => [Program::Chromium, Program::ChromeDriver],
                BrowserKind::Firefox => [Program::Firefox, Program::GeckoDriver],
            };
            needed.into_iter().try_for_each(|program| program.find().map(drop))?;
            if !launch.headless && !has_display() {
                return Err(NO_DISPLAY.error("no display is available for a window").remedy(NO_SCREEN));
            }
        }
        let start = profile.lock_start(deadline)?;
        // Another call may have started it meanwhile.
        if let Some(running) = usable(profile, !launch.headless) {
            let lock = profile.lock_use(deadline)?;
            return Ok(Self { running, was_open: true, profile: profile.clone(), lock: Some(lock) });
        }
        if let Some(old) = profile.running() {
            // A browser that replaces a broken or a headless one keeps its settings.
            launch.stays |= old.stays;
            launch.idle_seconds = if old.stays { old.idle_seconds } else { launch.idle_seconds };
            if supervisor::is_alive(profile, &old) {
                if launch.headless || !old.headless {
                    let lock = profile.lock_use(deadline)?;
                    let running = supervisor::start(profile, None, deadline, give_up)?;
                    return Ok(Self { running, was_open: true, profile: profile.clone(), lock: Some(lock) });
                }
                // Other calls may use the old browser, so it is closed after they end.
                while profile.lock_unused().is_none() {
                    if Instant::now() >= deadline {
                        return Err(BROWSER_BUSY
                            .error("the session's browser has no window, and other calls are still using it")
                            .detail("session", profile.session()));
                    }
                    std::thread::sleep(limits::UNUSED_POLL);
                }
            }
        }
        let lost = profile.running().filter(|old| old.endpoint.is_remote && old.stays);
        supervisor::close(profile, None);
        // Taken before the browser starts, so that its supervisor never sees it unused.
        let lock = profile.lock_use(deadline)?;
        let started = supervisor::start(profile, Some(launch), deadline, give_up);
        if let (Err(_), Some(lost)) = (&started, lost) {
            // The next call asks that machine again, and opens its pages on no other one.
            let _ = profile.record(&lost);
        }
        let running = started?;
        drop(start);
        Ok(Self { running, was_open: false, profile: profile.clone(), lock: Some(lock) })
    }

    /// The session's profile, or that of a remote browser.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Whether the browser may be of no use any more after a visit that ended with `error`: it is gone, or is remote
    /// and does not answer.
    pub(crate) fn is_spent(&self, error: &Error) -> bool {
        let stuck = error.is(TIMEOUT) || error.is(PAGE_CRASHED);
        let has_no_tabs = self.running.endpoint.devtools.is_none();
        error.is(BROWSER_LOST)
            || error.is(BROWSER_BUSY)
            || (stuck && (has_no_tabs || !remote_session::answers(&self.running)))
    }

    /// Ends the use. The last call closes a browser that `browser-open` did not open.
    pub(crate) fn release(mut self) {
        if let Some(lock) = self.lock.take() {
            lock.touch(SystemTime::now());
        }
        if self.profile.running().is_none_or(|running| running.stays) {
            return;
        }
        // If another call holds this lock, it starts, uses or closes the browser itself.
        let Ok(_start) = self.profile.lock_start(Instant::now() + limits::CLOSE_TIMEOUT) else { return };
        let ours = self
            .profile
            .running()
            .is_some_and(|running| !running.stays && running.supervisor_pid == self.running.supervisor_pid);
        if ours && let Some(_unused) = self.profile.lock_unused() {
            supervisor::close(&self.profile, None);
            self.profile.remove_if_unused();
        }
    }
}

/// A browser that is reserved for a series of calls, which neither start nor close it.
pub struct BrowserReservation(Option<BrowserLease>);

impl BrowserReservation {
    pub(crate) fn new(in_use: BrowserLease) -> Self {
        Self(Some(in_use))
    }
}

impl Drop for BrowserReservation {
    fn drop(&mut self) {
        let Some(mut in_use) = self.0.take() else { return };
        // If this browser was lost, a call may have started another one.
        if let Some(running) = in_use.profile.running() {
            in_use.running = running;
        }
        in_use.release();
    }
}

/// A browser that stays open.
#[derive(Debug)]
pub struct Opened {
    /// Whether the browser ran before the call.
    pub already_open: bool,
    /// The name and version of the browser.
    pub browser: String,
    /// The process id of the browser.
    pub pid: Option<u32>,
    /// Whether Chromium's sandbox is on.
    pub sandbox: bool,
    /// Whether the browser has no window.
    pub headless: bool,
}

/// Keeps a browser running on `profile`. It closes after `idle_seconds` without use.
pub fn open(profile: &Profile, visible: bool, idle_seconds: u64, host: &HostOptions) -> Result<Opened, Error> {
    let deadline = Instant::now() + limits::CLOSE_TIMEOUT;
    let endpoint = remote_session::endpoint(host)?;
    profile.create()?;
    if let (Some(endpoint), Some(running)) = (&endpoint, profile.running()) {
        let is_other = !running.endpoint.is_remote || running.endpoint.webdriver != *endpoint;
        if is_other && profile.is_supervised() {
            return Err(PROFILE_IN_USE
                .error("the session has a browser on another server than --webdriver-url names")
                .remedy("Close it with ragmaker-browser-close, or choose another --session.")
                .detail("session", profile.session()));
        }
    }
    let lock = profile.lock_use(deadline)?;
    let in_use = if let Some(running) = usable(profile, visible) {
        BrowserLease { running, was_open: true, profile: profile.clone(), lock: Some(lock) }
    } else {
        drop(lock);
        let browser = profile.kind();
        let launch = Launch { browser, headless: !visible, stays: true, idle_seconds, endpoint, sandbox: true };
        BrowserLease::start(profile, launch, deadline, &|| false)?
    };
    let _start = profile.lock_start(deadline)?;
    if let Some(running) = profile.running().filter(|running| running.supervisor_pid == in_use.running.supervisor_pid) {
        let stays = Running { stays: true, idle_seconds, ..running };
        let _ = profile.record(&stays);
    }
    let Running { browser, browser_pid, sandbox, headless, .. } = in_use.running.clone();
    Ok(Opened { already_open: in_use.was_open, browser, pid: browser_pid, sandbox, headless })
}

/// Closes the browser on `profile` and ends remaining processes of earlier ones. Returns whether any process
/// ran.
pub fn close(profile: &Profile) -> Result<bool, Error> {
    if !profile.folder().is_dir() {
        // The folder may have been deleted while a browser ran on it.
        return Ok(process::end_all(profile.folder(), None));
    }
    profile.create()?;
    let _start = profile.lock_start(Instant::now() + limits::CLOSE_TIMEOUT)?;
    Ok(supervisor::close(profile, None))
}

/// The remedy if there is no display.
const NO_SCREEN: &str = "Leave --no-headless out, or run where a person can see the window: DISPLAY or WAYLAND_DISPLAY names the display (xvfb-run provides a virtual one).";

/// The running browser on `profile`, if it is usable. Its supervisor must live: the recorded port may belong to
/// another program, and without a supervisor the browser would never be closed.
fn usable(profile: &Profile, visible: bool) -> Option<Running> {
    let running = profile.running().filter(|running| !(visible && running.headless))?;
    let Running { endpoint, .. } = &running;
    // The process of a driver is looked up instead: a connection wakes the driver, which takes 4 ms.
    let is_driven = if endpoint.is_remote {
        accepts_connections(&endpoint.webdriver)
    } else {
        process::profile_of(running.driver_pid).as_deref() == Some(profile.folder())
    };
    // A driver outlives a browser that has crashed.
    let runs = match &endpoint.devtools {
        Some(devtools) => accepts_connections(devtools),
        None => endpoint.is_remote || firefox::runs(&running),
    };
    (is_driven && runs && profile.is_supervised()).then_some(running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_browser_is_used_until_the_end_of_a_call() {
        let (_kept, profile) = crate::profile::tests::profile();
        let lock = profile.lock_use(Instant::now()).unwrap();
        let running: Running = serde_json::from_value(serde_json::json!({
            "profile": profile.folder(), "driver_pid": 1, "launch_session": "",
            "endpoint": {"webdriver": "http://127.0.0.1:1/", "devtools": "ws://127.0.0.1:1/x"}, "browser_pid": null, "browser": "", "headless": true, "sandbox": true, "stays": true, "idle_seconds": 60,
            "supervisor_pid": std::process::id(),
        }))
        .unwrap();
        profile.record(&running).unwrap();
        // The call started an hour ago.
        lock.touch(SystemTime::now() - Duration::from_hours(1));
        assert!(profile.unused_for() > Duration::from_mins(59));
        BrowserLease { running, was_open: true, profile: profile.clone(), lock: Some(lock) }.release();
        assert!(profile.unused_for() < Duration::from_mins(1));
    }
}
