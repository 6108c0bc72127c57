//! Launching a browser: the driver's process, the browser's capabilities, the record of both.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Instant,
};

use ragmaker_tool::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::{
    cdp::socket_of,
    codes::{BROWSER_FAILED, PROFILE_IN_USE},
    endpoint::Endpoint,
    find::Program,
    kind::BrowserKind,
    limits, process,
    profile::{Profile, Running},
    webdriver::{Driver, NoSession},
};

/// The properties of a browser to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) browser: BrowserKind,
    pub(crate) headless: bool,
    pub(crate) stays: bool,
    pub(crate) idle_seconds: u64,
    /// The WebDriver endpoint that is to provide a browser; without one, it is started on this machine.
    pub(crate) endpoint: Option<Url>,
    /// Whether Chromium's sandbox is tried.
    pub(crate) sandbox: bool,
}

/// Starts a driver and a browser on `profile`, and records them.
pub(crate) fn start_browser(profile: &Profile, launch: &Launch) -> Result<(Running, Child), Error> {
    let (browser, driver) = (Program::Chromium.find()?, Program::ChromeDriver.find()?);
    if let Some(pid) = holder(profile) {
        return Err(PROFILE_IN_USE
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

/// A started driver without a browser.
struct StartedDriver {
    process: Child,
    /// Its major version, which is equal to the browser's.
    version: String,
    url: Url,
}

/// Starts the driver. It may lose the race for the port that it chose, so three attempts are made.
fn start_driver(program: &Path) -> Result<StartedDriver, Error> {
    let until = Instant::now() + limits::LAUNCH_TIMEOUT;
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
        let lines = OutputLines::of(&mut child);
        while let Some(line) = lines.next(until) {
            if let Some(rest) = line.strip_prefix("Starting ChromeDriver ") {
                version = rest.split('.').next().unwrap_or_default().to_owned();
            } else if let Some(rest) = line.strip_prefix("ChromeDriver was started successfully on port ")
                && let Some(url) = driver_url(rest)
            {
                return Ok(StartedDriver { process: child, version, url });
            }
            last = line;
        }
        end(&mut child);
    }
    let last = if last.is_empty() { "it said nothing" } else { &last };
    Err(BROWSER_FAILED.error(format!("ChromeDriver did not start: {last}")))
}

/// The URL of the driver, from its message with the port.
fn driver_url(port: &str) -> Option<Url> {
    let port: u16 = port.trim_end_matches('.').parse().ok()?;
    Url::parse(&format!("http://127.0.0.1:{port}/")).ok()
}

fn launched(profile: &Profile, launch: &Launch, browser: &Path, driver: &StartedDriver) -> Result<Running, Error> {
    let until = Instant::now() + limits::LAUNCH_TIMEOUT;
    // Chromium's sandbox does not work for root. For other users it is disabled only if it fails.
    let mut sandbox = launch.sandbox && !ragmaker_fs::is_root();
    let launched = loop {
        let options = options(profile, launch, browser, &driver.version, sandbox);
        match Driver::launch(&driver.url, &options, until).map_err(NoSession::into_error) {
            Err(error) if sandbox && exited(error.message()) => sandbox = false,
            Err(error) if !launch.headless && exited(error.message()) => return Err(error.remedy(NO_WINDOW)),
            result => break result?,
        }
    };
    let devtools = socket_of(profile.folder())
        .ok_or_else(|| BROWSER_FAILED.error("the browser does not say where it can be reached"))?;
    let running = Running {
        profile: profile.folder().to_string_lossy().into_owned(),
        endpoint: Endpoint { webdriver: driver.url.clone(), devtools: Some(devtools), is_remote: false },
        driver_pid: driver.process.id(),
        launch_session: launched.session,
        browser_pid: launched.pid,
        browser: launched.browser,
        headless: launch.headless,
        sandbox,
        stays: launch.stays,
        idle_seconds: launch.idle_seconds,
        supervisor_pid: std::process::id(),
    };
    record(profile, &running)?;
    Ok(running)
}

/// The remedy for a browser with a window that ends immediately.
const NO_WINDOW: &str =
    "Check that the screen that DISPLAY or WAYLAND_DISPLAY names can be used, or leave --no-headless out.";

/// Whether the driver reports that the browser ended immediately, as it does if its sandbox fails. The text depends
/// on the driver's version.
pub(crate) fn exited(message: &str) -> bool {
    ["Chrome failed to start", "Chrome instance exited"].iter().any(|sign| message.contains(sign))
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
        // Without a window, the browser would identify itself as HeadlessChrome.
        format!(
            "--user-agent=Mozilla/5.0 ({platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36"
        ),
        "--hide-crash-restore-bubble".into(),
    ];
    args.extend(arguments(launch.headless, sandbox).map(str::to_owned));
    json!({
        "browserName": "chrome",
        "pageLoadStrategy": "none",
        "unhandledPromptBehavior": "accept",
        "goog:chromeOptions": {
            "binary": browser,
            "args": args,
            "excludeSwitches": EXCLUDED,
            "prefs": {
                // The browser keeps session cookies only if it restores its tabs.
                "session.restore_on_startup": 1,
                "download.prompt_for_download": false,
                "credentials_enable_service": false,
            },
        },
    })
}

/// The arguments that the driver must not add to the browser's command line.
pub(crate) const EXCLUDED: [&str; 3] = ["enable-automation", "disable-popup-blocking", "enable-logging"];

/// The command line that a browser has on any machine.
pub(crate) fn arguments(headless: bool, sandbox: bool) -> impl Iterator<Item = &'static str> {
    let always = [
        "--disable-blink-features=AutomationControlled",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // Several tabs work in parallel: background tabs must not be throttled.
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        "--disable-background-timer-throttling",
        // RenderDocument: to give every document a frame of its own takes a seventh of a page's time.
        // DeferRendererTasksAfterInput: after a click or a key, the page's other tasks wait for the next frame, which
        // takes 5 to 15 ms of each step of an action.
        "--disable-features=RenderDocument,DeferRendererTasksAfterInput",
        "--window-size=1280,1024",
    ];
    let without_window = ["--headless=new", "--disable-gpu"].into_iter().filter(move |_| headless);
    always.into_iter().chain(without_window).chain((!sandbox).then_some("--no-sandbox"))
}

/// Kills the process if it still runs, and reaps it.
pub(crate) fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Records the running browser.
pub(crate) fn record(profile: &Profile, running: &Running) -> Result<(), Error> {
    profile
        .record(running)
        .map_err(|error| BROWSER_FAILED.error(format!("cannot write to {}: {error}", profile.folder().display())))
}

/// The living process that holds the browser's lock on the profile. A lock in a copied profile is held by
/// nobody.
pub(crate) fn holder(profile: &Profile) -> Option<u32> {
    let target = fs::read_link(profile.folder().join("SingletonLock")).ok()?;
    let pid = target.to_str()?.rsplit_once('-')?.1.parse().ok()?;
    let is_other_s = process::profile_of(pid).is_some_and(|folder| folder != profile.folder());
    (process::runs(pid) && !is_other_s).then_some(pid)
}

/// The output lines of a child process, each with a deadline.
pub(crate) struct OutputLines(mpsc::Receiver<String>);

impl OutputLines {
    /// The lines of a child with piped standard output.
    pub(crate) fn of(child: &mut Child) -> Self {
        let (send, receive) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // The child must not block if nobody reads its output.
                    let _ = send.send(line);
                }
            });
        }
        Self(receive)
    }

    /// The next line; `None` after the deadline or at the end.
    pub(crate) fn next(&self, deadline: Instant) -> Option<String> {
        self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_exits_at_once_is_recognised() {
        for words in [
            "session not created: Chrome failed to start: exited abnormally.",
            "session not created: Chrome instance exited. Examine ChromeDriver verbose log to determine the cause.",
        ] {
            assert!(exited(words), "{words}");
        }
        assert!(!exited("session not created: This version of ChromeDriver only supports Chrome version 156"));
    }

    #[test]
    fn a_browser_is_launched_on_its_profile_and_as_was_asked() {
        let profile = Profile::at("x".into(), "/p/profile".into());
        let args = |headless, sandbox| {
            let launch = Launch {
                browser: BrowserKind::Chromium,
                headless,
                stays: false,
                idle_seconds: 1,
                endpoint: None,
                sandbox: true,
            };
            let options = options(&profile, &launch, Path::new("/usr/bin/chromium"), "156", sandbox);
            options["goog:chromeOptions"]["args"].to_string()
        };
        assert!(
            args(true, true).contains("--user-data-dir=/p/profile") && args(true, true).contains("Chrome/156.0.0.0")
        );
        assert!(args(true, true).contains("--headless=new") && !args(false, true).contains("--headless"));
        assert!(args(true, false).contains("--no-sandbox") && !args(true, true).contains("--no-sandbox"));
    }

    #[test]
    fn the_driver_says_its_port() {
        assert_eq!(driver_url("40123.").unwrap().as_str(), "http://127.0.0.1:40123/");
        assert_eq!(driver_url("many"), None);
    }

    #[cfg(unix)]
    #[test]
    fn lines_of_a_child_have_a_deadline() {
        let mut child = Command::new("sh").args(["-c", "echo one; sleep 60"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = OutputLines::of(&mut child);
        assert_eq!(lines.next(Instant::now() + limits::LAUNCH_TIMEOUT).as_deref(), Some("one"));
        assert_eq!(lines.next(Instant::now() + std::time::Duration::from_millis(10)), None);
        end(&mut child);
    }
}
