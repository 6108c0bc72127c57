//! The supervisor: the process that starts a browser, watches it, and closes it.
//!
//! A tool ends, or is killed, at any moment. Its browser must neither end with it nor stay for ever. So the tool starts
//! its own executable a second time, as the supervisor. The supervisor starts the driver and the browser, and closes
//! them when they are no longer used: immediately for a browser that was started for one call, after the idle time for
//! a browser that `browser-open` started.

use std::{
    env, fs,
    io::Write,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::{Code, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    cdp::BrowserSocket,
    codes::{BROWSER_FAILED, SESSION_ERRORS},
    endpoint::{Endpoint, accepts_connections},
    error::CommandError,
    firefox,
    kind::BrowserKind,
    launch::{self, Launch, OutputLines, end},
    limits, process,
    profile::{Profile, Running},
    remote_session,
    tab::{self, Orphans},
    webdriver::{self, Driver},
};

/// The first argument of a supervisor.
const SUPERVISE: &str = "--supervise-browser";

/// How many questions in a row another machine that runs a browser may leave without an answer.
const UNANSWERED: u32 = 2;

#[derive(Serialize, Deserialize)]
struct StartRequest {
    session: String,
    /// `None` for a running browser that lost its supervisor.
    launch: Option<Launch>,
}

/// The report of the supervisor to the tool that started it, in one line.
#[derive(Serialize, Deserialize)]
enum StartReport {
    Running(Box<Running>),
    Failed(Value),
}

/// Starts a supervisor with a browser on `profile`, or without `launch` for the one that runs there and has none,
/// and waits until the browser can be used, or the caller gives up. The caller holds the start lock, and has made sure
/// which it is.
pub(crate) fn start(
    profile: &Profile,
    launch: Option<Launch>,
    deadline: Instant,
    give_up: &dyn Fn() -> bool,
) -> Result<Running, Error> {
    let failed = |what: &str| BROWSER_FAILED.error(what).detail("session", profile.session());
    let adopts = launch.is_none();
    let endpoint = launch.as_ref().and_then(|launch| launch.endpoint.clone());
    let order = json!(StartRequest { session: profile.session().to_owned(), launch });
    let program = env::current_exe().map_err(|error| failed(&format!("cannot find this executable: {error}")))?;
    let mut command = Command::new(program);
    command.arg(SUPERVISE).env(process::MARK, profile.folder());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    detach(&mut command);
    let mut supervisor =
        command.spawn().map_err(|error| failed(&format!("cannot start the browser's supervisor: {error}")))?;
    // By this way, since everybody can read a command line, and the endpoint may have a password.
    let ordered = supervisor.stdin.take().map(|mut input| input.write_all(order.to_string().as_bytes()));
    if !matches!(ordered, Some(Ok(()))) {
        return Err(failed("the browser's supervisor ended before it received its request"));
    }
    let lines = OutputLines::of(&mut supervisor);
    if let Some(endpoint) = endpoint {
        // It may have to wait in a queue. The supervisor releases one that comes too late.
        let line = loop {
            match lines.next(deadline.min(Instant::now() + limits::WAITING_CHECK_INTERVAL)) {
                None if give_up() || Instant::now() >= deadline => break None,
                None if !process::runs(supervisor.id()) => {
                    break lines.next(Instant::now() + limits::WAITING_CHECK_INTERVAL);
                }
                None => {}
                line => break line,
            }
        };
        return line
            .ok_or_else(|| remote_session::busy(&remote_session::redacted_url(&endpoint)))
            .and_then(|line| reported(&line, profile));
    }
    let patience = Instant::now() + limits::LAUNCH_TIMEOUT;
    let line = lines.next(deadline.min(patience)).ok_or_else(|| {
        // A start after the deadline would leave a browser that nobody uses.
        if !adopts {
            process::end_all(profile.folder(), None);
        }
        let late = failed("the browser did not start in time");
        if deadline < patience { late.remedy("Raise --timeout, or run ragmaker-browser-open first.") } else { late }
    })?;
    reported(&line, profile)
}

/// Parses the supervisor's report.
fn reported(line: &str, profile: &Profile) -> Result<Running, Error> {
    match serde_json::from_str(line) {
        Ok(StartReport::Running(running)) => Ok(*running),
        Ok(StartReport::Failed(report)) => Err(received(&report)),
        Err(_) => Err(BROWSER_FAILED
            .error("the browser's supervisor ended before the browser had started")
            .detail("session", profile.session())),
    }
}

/// Detaches the supervisor from the terminal and the process group of the tool, which may end at any time, and
/// from open files of the tool's caller, such as a lock or a pipe, which would otherwise stay open as long as
/// the browser runs.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0208); // DETACHED_PROCESS | NEW_PROCESS_GROUP
}

/// An error that the supervisor reported.
fn received(report: &Value) -> Error {
    let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
    let known = |code: &&Code| report["error_code"] == code.name();
    let code = SESSION_ERRORS.iter().find(known).copied().unwrap_or(BROWSER_FAILED);
    let details = report["details"].as_object().into_iter().flatten();
    let error = code.error(text("message")).remedy(text("remediation_suggestion"));
    details.fold(error, |error, (name, value)| error.detail(name, value.clone()))
}

/// Becomes the supervisor if this process was started as one. The `main` function of every tool that opens a
/// browser calls it first.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != SUPERVISE {
        return None;
    }
    let order: StartRequest = serde_json::from_reader(std::io::stdin().lock()).ok()?;
    let profile = Profile::at(order.session, PathBuf::from(env::var_os(process::MARK)?));
    Some(supervise(&profile, order.launch.as_ref()))
}

fn supervise(profile: &Profile, launch: Option<&Launch>) -> ExitCode {
    let _alive = profile.lock_supervised(Instant::now() + limits::SUPERVISOR_LOCK_TIMEOUT);
    let started = match launch {
        Some(launch @ Launch { endpoint: Some(endpoint), .. }) => {
            remote_session::start(profile, launch, endpoint).map(|running| (running, None))
        }
        Some(launch) => {
            let start = match launch.browser {
                BrowserKind::Chromium => launch::start_browser,
                BrowserKind::Firefox => firefox::start,
            };
            start(profile, launch).map(|(running, driver)| (running, Some(driver)))
        }
        None => take_over(profile).map(|running| (running, None)),
    };
    let (report, browser) = match started {
        Ok((running, driver)) => (StartReport::Running(running.clone().into()), Some((running, driver))),
        Err(error) => (StartReport::Failed(json!(error)), None),
    };
    if let Ok(line) = serde_json::to_string(&report) {
        // The tool may be gone. Then nobody uses the browser, and it is closed below.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    let Some((running, driver)) = browser else {
        profile.remove_if_abandoned();
        return ExitCode::FAILURE;
    };
    watch(profile, &running, driver);
    ExitCode::SUCCESS
}

/// Whether the recorded browser and its driver run and answer. Their ports may have been reused by other
/// programs.
pub(crate) fn is_alive(profile: &Profile, running: &Running) -> bool {
    process::profile_of(running.driver_pid).as_deref() == Some(profile.folder())
        && accepts_connections(&running.endpoint.webdriver)
        && if running.endpoint.devtools.is_some() {
            BrowserSocket::connect(&running.endpoint, Instant::now() + limits::SOCKET_TIMEOUT).is_ok()
        } else {
            firefox::runs(running) && remote_session::answers(running)
        }
}

/// Takes over from a supervisor that was killed.
fn take_over(profile: &Profile) -> Result<Running, Error> {
    let gone = || BROWSER_FAILED.error("the session's browser no longer exists");
    let running = Running { supervisor_pid: std::process::id(), ..profile.running().ok_or_else(gone)? };
    launch::record(profile, &running)?;
    Ok(running)
}

/// Waits until the browser must be closed, and closes it. The driver is a child of this process if this process
/// started it.
fn watch(profile: &Profile, started: &Running, mut driver: Option<Child>) {
    let endpoint = started.endpoint.clone();
    thread::spawn(move || {
        if let Ok(browser) = BrowserSocket::connect(&endpoint, Instant::now() + limits::SOCKET_TIMEOUT) {
            browser.answer_dialogs();
        }
    });
    let mut pause = limits::FIRST_CHECK;
    let (mut orphans, mut looked) = (Orphans::default(), Instant::now());
    let mut unanswered = 0;
    loop {
        thread::sleep(pause);
        pause = limits::CHECK_INTERVAL;
        let Some(running) = profile.running().filter(|running| running.supervisor_pid == started.supervisor_pid) else {
            // The folder was deleted or moved, so nobody else can find this browser. A tool that closes it also
            // ends this process.
            quit(started, limits::RELEASE_TIMEOUT);
            if let Some(pid) =
                started.browser_pid.filter(|&pid| process::profile_of(pid).as_deref() == Some(profile.folder()))
            {
                process::end(pid);
            }
            end_driver(profile, started);
            driver.as_mut().map(end);
            return;
        };
        let is_driven = driver.as_mut().map_or_else(
            || accepts_connections(&running.endpoint.webdriver),
            |driver| matches!(driver.try_wait(), Ok(None)),
        );
        let broken = match &running.endpoint {
            Endpoint { is_remote: true, .. } => unanswered > UNANSWERED,
            Endpoint { devtools: None, .. } => !is_driven || !firefox::runs(&running),
            Endpoint { devtools: Some(devtools), .. } => !is_driven || !accepts_connections(devtools),
        };
        let idle = !running.stays || profile.unused_for() > Duration::from_secs(running.idle_seconds);
        if !broken && !idle {
            tab::close_abandoned(profile, &running);
            if looked.elapsed() > limits::UPKEEP_INTERVAL {
                orphans.close(profile, &running);
                if let Some(_commands) = profile.lock_driver() {
                    let until = Instant::now() + limits::DRIVER_END_TIMEOUT;
                    let session = Driver::resume(&running.endpoint.webdriver, &running.launch_session, until);
                    // Where it fails for a driver of this machine, that is gone, which is seen above. For a grid,
                    // this is also the sign that the browser is wanted yet.
                    unanswered = match session.and_then(|session| session.process_events(until)) {
                        Ok(()) => 0,
                        Err(CommandError::Ended) => UNANSWERED + 1,
                        Err(_) => unanswered + 1,
                    };
                }
                looked = Instant::now();
            }
            continue;
        }
        let Ok(_start) = profile.lock_start(Instant::now()) else { continue };
        // A broken browser is useless to its users, who must start a new one.
        let unused = profile.lock_unused();
        if broken || unused.is_some() {
            close(profile, Some(std::process::id()));
            driver.as_mut().map(end);
            // The next call restarts it with the same settings.
            if broken && running.stays {
                let _ = profile.record(&running);
            }
            drop(unused);
            profile.remove_if_abandoned();
            return;
        }
    }
}

/// Asks the driver to end, after its browser ended, and waits for it. The driver then removes the files that it
/// unpacked for the browser; a killed one leaves them.
fn end_driver(profile: &Profile, running: &Running) {
    // Its port may belong to another program.
    if process::profile_of(running.driver_pid).as_deref() != Some(profile.folder()) {
        return;
    }
    if running.endpoint.devtools.is_none() {
        // geckodriver has no such command, and leaves nothing behind.
        return process::end(running.driver_pid);
    }
    webdriver::shut_down(&running.endpoint.webdriver, limits::DRIVER_END_TIMEOUT);
    let until = Instant::now() + limits::DRIVER_END_TIMEOUT;
    while process::runs(running.driver_pid) && Instant::now() < until {
        thread::sleep(limits::PROCESS_END_POLL);
    }
}

/// Asks the browser to quit and waits for its end. Returns whether its tabs are empty; `None` if it could not
/// be asked.
fn quit(running: &Running, patience: Duration) -> Option<bool> {
    if running.endpoint.devtools.is_none() || running.endpoint.is_remote {
        // The end of its session is the end of the browser.
        return remote_session::release(running, Instant::now() + patience).then_some(true);
    }
    let browser = BrowserSocket::connect(&running.endpoint, Instant::now() + limits::SOCKET_TIMEOUT).ok()?;
    let emptied = browser.quit().unwrap_or_default();
    // The socket closes early. The process ends after it has written its cookies.
    let until = Instant::now() + limits::BROWSER_END_TIMEOUT;
    while running.browser_pid.is_some_and(process::runs) && Instant::now() < until {
        thread::sleep(limits::PROCESS_END_POLL);
    }
    Some(emptied)
}

/// Closes the browser on `profile`, normally if it answers, and ends all remaining processes except `except`.
/// The caller holds the start lock. Returns whether any process ran.
pub(crate) fn close(profile: &Profile, except: Option<u32>) -> bool {
    let running = profile.running();
    let patience = if except.is_some() { limits::RELEASE_TIMEOUT } else { limits::DRIVER_END_TIMEOUT };
    let emptied = running.as_ref().and_then(|running| quit(running, patience));
    if let Some(running) = running.as_ref().filter(|running| running.endpoint.is_remote)
        && emptied.is_none()
        && except.is_none()
        && profile.is_supervised()
    {
        // Its machine does not answer now. The supervisor has more time.
        return profile.record(&Running { stays: false, ..running.clone() }).is_ok();
    }
    if let Some(running) = &running {
        end_driver(profile, running);
    }
    let left = process::end_all(profile.folder(), except);
    profile.forget();
    if launch::holder(profile).is_none() {
        remove_socket(profile);
        for name in ["SingletonLock", "SingletonSocket", "SingletonCookie", "DevToolsActivePort"] {
            let _ = fs::remove_file(profile.folder().join(name));
        }
        // Otherwise, the next browser would restore the tabs of this one: pages that nobody requested, and one
        // that hangs would block the driver.
        if emptied != Some(true) && (left || running.is_some()) {
            let _ = fs::remove_dir_all(profile.folder().join("Default/Sessions"));
        }
    }
    emptied.is_some() || left
}

/// Removes the temporary folder in which a killed browser left its socket.
fn remove_socket(profile: &Profile) {
    let Ok(socket) = fs::read_link(profile.folder().join("SingletonSocket")) else { return };
    if let (Some(folder), true) = (socket.parent(), socket.ends_with("SingletonSocket")) {
        for left in [&socket, &folder.join("SingletonCookie")] {
            let _ = fs::remove_file(left);
        }
        // Only an empty folder is removed.
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::NO_DISPLAY;

    #[test]
    fn an_error_of_the_supervisor_arrives_whole() {
        let sent = NO_DISPLAY.error("no screen").remedy("Look again.").detail("pid", 7);
        let error = received(&json!(sent));
        assert!(error.is(NO_DISPLAY), "{error}");
        assert_eq!(json!(error), json!(sent));
        // A code that this version does not know.
        assert!(received(&json!({"error_code": "NEW", "message": "m"})).is(BROWSER_FAILED));
    }

    #[cfg(unix)]
    #[test]
    fn the_socket_of_a_killed_browser_is_removed_and_nothing_else() {
        let (folder, profile) = crate::profile::tests::profile();
        let temporary = folder.path().join("tmp");
        let make = |name: &str| {
            fs::create_dir_all(&temporary).unwrap();
            for file in [name, "SingletonCookie"] {
                fs::write(temporary.join(file), "").unwrap();
            }
            let link = profile.folder().join("SingletonSocket");
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(temporary.join(name), link).unwrap();
            remove_socket(&profile);
        };
        make("other");
        assert!(temporary.join("other").exists());
        fs::remove_dir_all(&temporary).unwrap();
        make("SingletonSocket");
        assert!(!temporary.exists());
    }
}
