//! The process that starts a browser and watches over it: the keeper.
//!
//! A tool ends, or is killed, at any moment; its browser must neither die with it nor stay for
//! ever. So the tool starts its own executable a second time, as the keeper, which starts the
//! driver and the browser and closes them when nobody has used them for long enough: at once for a
//! browser that was started for one call, after the idle time for one that `browser-open` left.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use ragmaker_tool::{Code, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    codes::{BROWSER_FAILED, SESSION_ERRORS},
    devtools::{self, DevTools, PATIENCE},
    driver::{self, Driver},
    find::Program,
    process,
    profile::{Profile, Running},
    tab::{self, Orphans},
};

/// The first argument of a keeper.
const KEEP: &str = "--keep-browser";

/// How long the driver and the browser may take to start.
const START: Duration = Duration::from_mins(1);

/// How long the driver may take to answer that it ends, and then to end.
const DISMISS: Duration = Duration::from_secs(2);

/// How often the keeper looks for tabs that are nobody's, and has the driver take in what it was told of tabs.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// What a browser is to be started like.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) headless: bool,
    pub(crate) stays: bool,
    pub(crate) idle_seconds: u64,
}

#[derive(Serialize, Deserialize)]
struct Order {
    session: String,
    /// Nothing where a browser runs that has lost its keeper.
    launch: Option<Launch>,
}

/// What the keeper tells the tool that started it, in one line.
#[derive(Serialize, Deserialize)]
enum Report {
    Running(Running),
    Failed(Value),
}

/// Starts a keeper with a browser on `profile`, or without `launch` for the one that runs there and has none,
/// and waits until the browser can be used. The caller holds the start lock, and has made sure which it is.
pub(crate) fn start(profile: &Profile, launch: Option<Launch>, deadline: Instant) -> Result<Running, Error> {
    let failed = |what: &str| BROWSER_FAILED.error(what).detail("session", profile.session());
    let adopts = launch.is_none();
    let order = json!(Order { session: profile.session().to_owned(), launch });
    let program = env::current_exe().map_err(|error| failed(&format!("cannot find this executable: {error}")))?;
    let mut command = Command::new(program);
    command.arg(KEEP).arg(order.to_string()).env(process::MARK, profile.folder());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    detach(&mut command);
    let mut keeper = command.spawn().map_err(|error| failed(&format!("cannot start the browser's keeper: {error}")))?;
    let mut lines = lines(&mut keeper);
    let patience = Instant::now() + START;
    let line = lines.next(deadline.min(patience)).ok_or_else(|| {
        // A start that comes too late would leave a browser that nobody knows of.
        if !adopts {
            process::end_all(profile.folder(), None);
        }
        let late = failed("the browser did not start in time");
        if deadline < patience { late.remedy("Raise --timeout, or run ragmaker-browser-open first.") } else { late }
    })?;
    match serde_json::from_str(&line) {
        Ok(Report::Running(running)) => Ok(running),
        Ok(Report::Failed(report)) => Err(received(&report)),
        Err(_) => Err(failed("the browser's keeper ended before the browser was up")),
    }
}

/// Leaves the terminal and the process group of the tool, which may end at any time; and what the
/// tool's caller has open, such as a lock or a pipe, which nobody else would see closed while the
/// browser runs.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0208); // DETACHED_PROCESS | NEW_PROCESS_GROUP
}

/// An error that came over from the keeper.
fn received(report: &Value) -> Error {
    let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
    let known = |code: &&Code| report["error_code"] == code.name();
    let code = SESSION_ERRORS.iter().find(known).copied().unwrap_or(BROWSER_FAILED);
    let details = report["details"].as_object().into_iter().flatten();
    let error = code.error(text("message")).remedy(text("remediation_suggestion"));
    details.fold(error, |error, (name, value)| error.detail(name, value.clone()))
}

/// Becomes the keeper if this process was started as one; the `main` of every tool that opens a
/// browser begins with it.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != KEEP {
        return None;
    }
    let order: Order = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let profile = Profile::at(order.session, PathBuf::from(env::var_os(process::MARK)?));
    Some(keep(&profile, order.launch.as_ref()))
}

fn keep(profile: &Profile, launch: Option<&Launch>) -> ExitCode {
    // Nobody who only looks at it holds it for long.
    let _alive = profile.lock_kept(Instant::now() + Duration::from_secs(5));
    let started = match launch {
        Some(launch) => start_browser(profile, launch).map(|(running, driver)| (running, Some(driver))),
        None => take_over(profile).map(|running| (running, None)),
    };
    let (report, kept) = match started {
        Ok((running, driver)) => (Report::Running(running.clone()), Some((running, driver))),
        Err(error) => (Report::Failed(json!(error)), None),
    };
    if let Ok(line) = serde_json::to_string(&report) {
        // The tool may be gone by now; then nobody uses the browser, and it is closed below.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    let Some((running, driver)) = kept else { return ExitCode::FAILURE };
    watch(profile, &running, driver);
    ExitCode::SUCCESS
}

/// Whether the browser that is recorded runs and answers, with its driver. Its ports may be somebody else's.
pub(crate) fn is_alive(profile: &Profile, running: &Running) -> bool {
    process::profile_of(running.driver_pid).as_deref() == Some(profile.folder())
        && driver::listens(running.driver_port)
        && DevTools::connect(running, Instant::now() + PATIENCE).is_ok()
}

/// Takes the place of a keeper that was killed.
fn take_over(profile: &Profile) -> Result<Running, Error> {
    let gone = || BROWSER_FAILED.error("the session's browser is not there any more");
    let running = Running { keeper_pid: std::process::id(), ..profile.running().ok_or_else(gone)? };
    record(profile, &running)?;
    Ok(running)
}

fn record(profile: &Profile, running: &Running) -> Result<(), Error> {
    profile
        .record(running)
        .map_err(|error| BROWSER_FAILED.error(format!("cannot write to {}: {error}", profile.folder().display())))
}

/// Waits until the browser has to go, and closes it. The driver is a child of this process where that has
/// started it.
fn watch(profile: &Profile, started: &Running, mut driver: Option<Child>) {
    let answering = started.clone();
    std::thread::spawn(move || {
        if let Ok(browser) = DevTools::connect(&answering, Instant::now() + PATIENCE) {
            browser.answer_dialogs();
        }
    });
    // The tool that asked for the browser uses it by now, unless it was killed meanwhile.
    let mut pause = Duration::from_millis(500);
    let (mut orphans, mut looked) = (Orphans::default(), Instant::now());
    loop {
        std::thread::sleep(pause);
        pause = Duration::from_millis(200);
        let Some(running) = profile.running().filter(|running| running.keeper_pid == started.keeper_pid) else {
            // Somebody deleted or moved the folder: nobody else knows of this browser any more. A tool that
            // closes it ends us, too.
            quit(started);
            if let Some(pid) =
                started.browser_pid.filter(|&pid| process::profile_of(pid).as_deref() == Some(profile.folder()))
            {
                process::end(pid);
            }
            dismiss(profile, started);
            driver.as_mut().map(end);
            return;
        };
        let is_driven = driver
            .as_mut()
            .map_or_else(|| driver::listens(running.driver_port), |driver| matches!(driver.try_wait(), Ok(None)));
        let broken = !is_driven || !driver::listens(running.debug_port);
        let idle = !running.stays || profile.unused_for() > Duration::from_secs(running.idle_seconds);
        if !broken && !idle {
            tab::close_abandoned(profile, &running);
            if looked.elapsed() > BETWEEN_LOOKS {
                orphans.close(profile, &running);
                let catch_up = async {
                    let until = Instant::now() + DISMISS;
                    Driver::resume(running.driver_port, &running.launch_session, until).await?.catch_up(until).await
                };
                if let Some(_commands) = profile.lock_driver() {
                    // Where it fails, the driver is gone, which is seen above.
                    let _ = driver::runtime(catch_up);
                }
                looked = Instant::now();
            }
            continue;
        }
        let Ok(_start) = profile.lock_start(Instant::now()) else { continue };
        // What is broken is of no use to those who use it: they have to start anew.
        let unused = profile.lock_unused();
        if broken || unused.is_some() {
            close(profile, Some(std::process::id()));
            driver.as_mut().map(end);
            // The next call brings it back the way it was meant to stay.
            if broken && running.stays {
                let _ = profile.record(&running);
            }
            return;
        }
    }
}

/// Kills what has not ended, and takes its exit status, without which it would stay a zombie.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Asks the driver to end, once its browser is gone, and waits until it has: it takes away what it
/// unpacked for the browser, after it has answered, and one that is killed leaves that behind.
fn dismiss(profile: &Profile, running: &Running) {
    // Its port may be somebody else's by now.
    if process::profile_of(running.driver_pid).as_deref() != Some(profile.folder()) {
        return;
    }
    driver::shut_down(running.driver_port, DISMISS);
    let until = Instant::now() + DISMISS;
    while process::runs(running.driver_pid) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asks the browser to quit, and waits until it has; tells whether its tabs are empty, and nothing where it
/// could not be asked.
fn quit(running: &Running) -> Option<bool> {
    let browser = DevTools::connect(running, Instant::now() + PATIENCE).ok()?;
    let emptied = browser.quit().unwrap_or_default();
    // The socket closes early; the process is gone when its cookies are written.
    let until = Instant::now() + Duration::from_secs(10);
    while running.browser_pid.is_some_and(process::runs) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(emptied)
}

/// Closes the browser on `profile`, cleanly where it still answers, and ends all that is left of
/// it but for the process `except`. The caller holds the start lock. Returns whether anything ran.
pub(crate) fn close(profile: &Profile, except: Option<u32>) -> bool {
    let running = profile.running();
    let emptied = running.as_ref().and_then(quit);
    if let Some(running) = &running {
        dismiss(profile, running);
    }
    let left = process::end_all(profile.folder(), except);
    profile.forget();
    if holder(profile).is_none() {
        remove_socket(profile);
        for name in ["SingletonLock", "SingletonSocket", "SingletonCookie", "DevToolsActivePort"] {
            let _ = fs::remove_file(profile.folder().join(name));
        }
        // The next browser would open again what this one had open: pages that nobody asks for, and one that
        // hangs would hold up the driver.
        if emptied != Some(true) && (left || running.is_some()) {
            let _ = fs::remove_dir_all(profile.folder().join("Default/Sessions"));
        }
    }
    emptied.is_some() || left
}

/// Removes the folder for temporary files in which a browser that was killed has left its socket.
fn remove_socket(profile: &Profile) {
    let Ok(socket) = fs::read_link(profile.folder().join("SingletonSocket")) else { return };
    if let (Some(folder), true) = (socket.parent(), socket.ends_with("SingletonSocket")) {
        for left in [&socket, &folder.join("SingletonCookie")] {
            let _ = fs::remove_file(left);
        }
        // It goes only where it is empty.
        let _ = fs::remove_dir(folder);
    }
}

/// The living process that holds the profile's own lock; a lock that was copied with another profile
/// is held by nobody.
fn holder(profile: &Profile) -> Option<u32> {
    let target = fs::read_link(profile.folder().join("SingletonLock")).ok()?;
    let pid = target.to_str()?.rsplit_once('-')?.1.parse().ok()?;
    let is_other_s = process::profile_of(pid).is_some_and(|folder| folder != profile.folder());
    (process::runs(pid) && !is_other_s).then_some(pid)
}

fn start_browser(profile: &Profile, launch: &Launch) -> Result<(Running, Child), Error> {
    let (browser, driver) = (Program::Chromium.find()?, Program::ChromeDriver.find()?);
    if let Some(pid) = holder(profile) {
        return Err(crate::codes::PROFILE_IN_USE
            .error(format!("another browser (process {pid}) uses the profile {}", profile.folder().display()))
            .detail("pid", pid));
    }
    let _ = fs::remove_file(profile.folder().join("DevToolsActivePort"));
    profile.set_aside_damaged_settings();
    let mut driver = start_driver(&driver)?;
    let result = launched(profile, launch, &browser, &driver);
    if result.is_err() {
        end(&mut driver.process);
        process::end_all(profile.folder(), Some(std::process::id()));
    }
    result.map(|running| (running, driver.process))
}

/// A driver that was started, and has no browser yet.
struct StartedDriver {
    process: Child,
    /// Its major version, which is the browser's.
    version: String,
    port: u16,
}

/// Starts the driver. It may fail to get the port that it chose, so it may choose three times.
fn start_driver(program: &Path) -> Result<StartedDriver, Error> {
    let until = Instant::now() + START;
    let mut last = String::new();
    for _ in 0..3 {
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| BROWSER_FAILED.error(format!("cannot start {}: {error}", program.display())))?;
        let mut version = String::new();
        let mut lines = lines(&mut child);
        while let Some(line) = lines.next(until) {
            if let Some(rest) = line.strip_prefix("Starting ChromeDriver ") {
                version = rest.split('.').next().unwrap_or_default().to_owned();
            } else if let Some(rest) = line.strip_prefix("ChromeDriver was started successfully on port ")
                && let Ok(port) = rest.trim_end_matches('.').parse()
            {
                return Ok(StartedDriver { process: child, version, port });
            }
            last = line;
        }
        end(&mut child);
    }
    let last = if last.is_empty() { "it said nothing" } else { &last };
    Err(BROWSER_FAILED.error(format!("ChromeDriver did not start: {last}")))
}

fn launched(profile: &Profile, launch: &Launch, browser: &Path, driver: &StartedDriver) -> Result<Running, Error> {
    let until = Instant::now() + START;
    // Chromium's sandbox does not work for root; elsewhere it is left out only where it must be.
    let mut sandbox = !is_root();
    let launched = loop {
        let options = options(profile, launch, browser, &driver.version, sandbox);
        match driver::runtime(Driver::launch(driver.port, &options, until)) {
            Err(error) if sandbox && exited(error.message()) => sandbox = false,
            Err(error) if !launch.headless && exited(error.message()) => return Err(error.remedy(NO_WINDOW)),
            result => break result?,
        }
    };
    let (debug_port, debug_path) = devtools::endpoint(profile.folder())
        .ok_or_else(|| BROWSER_FAILED.error("the browser does not say where it can be reached"))?;
    let running = Running {
        profile: profile.folder().to_string_lossy().into_owned(),
        driver_port: driver.port,
        driver_pid: driver.process.id(),
        debug_port,
        debug_path,
        launch_session: launched.session,
        browser_pid: launched.pid,
        browser: launched.browser,
        headless: launch.headless,
        sandbox,
        stays: launch.stays,
        idle_seconds: launch.idle_seconds,
        keeper_pid: std::process::id(),
    };
    record(profile, &running)?;
    Ok(running)
}

/// What helps where a browser with a window ends at once.
const NO_WINDOW: &str =
    "Check that the screen that DISPLAY or WAYLAND_DISPLAY names can be used, or leave --no-headless out.";

/// Whether the driver says that the browser ended as soon as it was started, as one does whose sandbox
/// can not work; what it says depends on its version.
fn exited(message: &str) -> bool {
    ["Chrome failed to start", "Chrome instance exited"].iter().any(|sign| message.contains(sign))
}

fn is_root() -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// The capabilities that the browser is launched with.
fn options(profile: &Profile, launch: &Launch, browser: &Path, version: &str, sandbox: bool) -> Value {
    let platform = match env::consts::OS {
        "macos" => "Macintosh; Intel Mac OS X 10_15_7",
        "windows" => "Windows NT 10.0; Win64; x64",
        _ => "X11; Linux x86_64",
    };
    let mut args = vec![
        format!("--user-data-dir={}", profile.folder().display()),
        // Without a window the browser would name itself HeadlessChrome.
        format!(
            "--user-agent=Mozilla/5.0 ({platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36"
        ),
        "--disable-blink-features=AutomationControlled".into(),
        "--no-first-run".into(),
        "--no-default-browser-check".into(),
        "--hide-crash-restore-bubble".into(),
        "--disable-background-networking".into(),
        "--disable-component-update".into(),
        "--disable-sync".into(),
        // Several tabs work at once: none may be slowed down for not being in front.
        "--disable-backgrounding-occluded-windows".into(),
        "--disable-renderer-backgrounding".into(),
        "--disable-background-timer-throttling".into(),
        // To give every document a frame of its own takes a seventh of a page's time.
        "--disable-features=RenderDocument".into(),
        "--window-size=1280,1024".into(),
    ];
    if launch.headless {
        args.extend(["--headless=new".into(), "--disable-gpu".into()]);
    }
    if !sandbox {
        args.push("--no-sandbox".into());
    }
    json!({
        "browserName": "chrome",
        "pageLoadStrategy": "none",
        "unhandledPromptBehavior": "accept",
        "goog:chromeOptions": {
            "binary": browser,
            "args": args,
            "excludeSwitches": ["enable-automation", "disable-popup-blocking", "enable-logging"],
            "prefs": {
                // Session cookies are kept over a close only by a browser that opens again what was open.
                "session.restore_on_startup": 1,
                "download.prompt_for_download": false,
                "credentials_enable_service": false,
            },
        },
    })
}

/// What a child process prints, line by line, with a deadline for each.
struct Lines(mpsc::Receiver<String>);

fn lines(child: &mut Child) -> Lines {
    let (send, receive) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A reader that has seen enough does not stop the child from printing.
                let _ = send.send(line);
            }
        });
    }
    Lines(receive)
}

impl Lines {
    fn next(&mut self, deadline: Instant) -> Option<String> {
        self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_ended_at_once_is_told_from_one_of_another_version() {
        for words in [
            "session not created: Chrome failed to start: exited abnormally.",
            "session not created: Chrome instance exited. Examine ChromeDriver verbose log to determine the cause.",
        ] {
            assert!(exited(words), "{words}");
        }
        assert!(!exited("session not created: This version of ChromeDriver only supports Chrome version 156"));
    }
}
