//! Launching Firefox: geckodriver, and the capabilities that it starts the browser with.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use ragmaker_tool::Error;
use serde_json::{Value, json};
use url::Url;

use crate::{
    codes::BROWSER_FAILED,
    endpoint::Endpoint,
    find::Program,
    launch::{Launch, OutputLines, end, record},
    limits, process,
    profile::{Profile, Running},
    webdriver::{Driver, NoSession},
};

/// Starts geckodriver and Firefox on `profile`, and records them.
pub(crate) fn start(profile: &Profile, launch: &Launch) -> Result<(Running, Child), Error> {
    let (browser, driver) = (Program::Firefox.find()?, Program::GeckoDriver.find()?);
    let (mut process, url) = start_driver(&driver)?;
    let result = launched(profile, launch, &browser, &process, url);
    if result.is_err() {
        end(&mut process);
        process::end_all(profile.folder(), Some(std::process::id()));
    }
    result.map(|running| (running, process))
}

fn start_driver(program: &Path) -> Result<(Child, Url), Error> {
    let mut child = Command::new(program)
        .args(["--port", "0", "--log", "info"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| BROWSER_FAILED.error(format!("cannot start {}: {error}", program.display())))?;
    let (lines, until) = (OutputLines::of(&mut child), Instant::now() + limits::LAUNCH_TIMEOUT);
    let mut last = None;
    while let Some(line) = lines.next(until) {
        if let Some(url) = driver_url(&line) {
            return Ok((child, url));
        }
        last = Some(line);
    }
    end(&mut child);
    let last = last.unwrap_or_else(|| "it said nothing".into());
    Err(BROWSER_FAILED.error(format!("geckodriver did not start: {last}")).remedy(REMEDY))
}

/// The URL of the driver that says where it listens.
fn driver_url(line: &str) -> Option<Url> {
    let (_, address) = line.split_once("Listening on ")?;
    Url::parse(&format!("http://{}/", address.trim())).ok()
}

fn launched(profile: &Profile, launch: &Launch, browser: &Path, driver: &Child, url: Url) -> Result<Running, Error> {
    let asked = capabilities(launch, Some((profile, browser)));
    let launched = Driver::launch(&url, &asked, Instant::now() + limits::LAUNCH_TIMEOUT).map_err(NoSession::into_error);
    let launched = launched.map_err(|error| error.remedy(REMEDY))?;
    let running = Running {
        profile: profile.folder().to_string_lossy().into_owned(),
        endpoint: Endpoint { webdriver: url, devtools: None, is_remote: false },
        driver_pid: driver.id(),
        launch_session: launched.session,
        browser_pid: launched.pid,
        browser: launched.browser,
        headless: launch.headless,
        sandbox: true,
        stays: launch.stays,
        idle_seconds: launch.idle_seconds,
        supervisor_pid: std::process::id(),
    };
    record(profile, &running)?;
    Ok(running)
}

/// The remedy if Firefox does not start.
const REMEDY: &str = "Check that Firefox starts by itself, and that geckodriver supports its version.";

/// The capabilities for geckodriver: a browser of this machine on its profile, or any browser of another machine.
pub(crate) fn capabilities(launch: &Launch, here: Option<(&Profile, &Path)>) -> Value {
    let mut args = vec!["--width=1280".to_owned(), "--height=1024".into()];
    if launch.headless {
        args.push("-headless".into());
    }
    if let Some((profile, _)) = here {
        args.extend(["-profile".into(), profile.folder().to_string_lossy().into_owned()]);
    }
    let mut options = json!({
        "args": args,
        "prefs": {
            // Nothing is saved that nobody asked for: a file is offered, and nobody takes it.
            "browser.download.always_ask_before_handling_new_types": true,
            "browser.download.useDownloadDir": false,
            "pdfjs.disabled": true,
            "signon.rememberSignons": false,
            // Several windows work in parallel: background windows must not be throttled.
            "dom.min_background_timeout_value": 4,
            "dom.timeout.enable_budget_timer_throttling": false,
        },
    });
    if let Some((_, browser)) = here {
        options["binary"] = json!(browser);
    }
    json!({
        "browserName": "firefox",
        "pageLoadStrategy": "none",
        "unhandledPromptBehavior": "accept",
        "moz:firefoxOptions": options,
    })
}

/// Whether the browser runs, as far as its process says.
pub(crate) fn runs(running: &Running) -> bool {
    running.browser_pid.is_none_or(process::runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::BrowserKind;

    #[test]
    fn the_driver_says_where_it_listens() {
        let line = "1795616696504\tgeckodriver\tINFO\tListening on 127.0.0.1:40123";
        assert_eq!(driver_url(line).unwrap().as_str(), "http://127.0.0.1:40123/");
        assert_eq!(driver_url("geckodriver: error: Address already in use"), None);
    }

    #[test]
    fn another_machine_is_asked_for_nothing_of_this_one() {
        let launch = Launch {
            browser: BrowserKind::Firefox,
            headless: true,
            stays: false,
            idle_seconds: 1,
            endpoint: None,
            sandbox: true,
        };
        let there = capabilities(&launch, None).to_string();
        assert!(there.contains("-headless") && !there.contains("-profile") && !there.contains("binary"), "{there}");
        let profile = Profile::at("x".into(), "/p/profile".into());
        let here = capabilities(&launch, Some((&profile, Path::new("/usr/bin/firefox")))).to_string();
        assert!(here.contains("\"-profile\",\"/p/profile\"") && here.contains("/usr/bin/firefox"), "{here}");
    }
}
