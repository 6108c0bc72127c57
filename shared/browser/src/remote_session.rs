//! The WebDriver endpoint that the host of a call names, and the sessions on it.

use std::{thread, time::Instant};

use fantoccini::error::ErrorStatus;
use ragmaker_project::variables::WEBDRIVER_URL;
use ragmaker_tool::{ARGUMENT_ERROR, Error, HostOptions};
use serde_json::{Value, json};
use url::Url;

use crate::{
    cdp::BrowserSocket,
    codes::{BROWSER_BUSY, WEBDRIVER_FAILED},
    endpoint::Endpoint,
    error::{CommandError, FailedCommand},
    firefox,
    kind::BrowserKind,
    launch::{self, EXCLUDED, Launch, arguments, exited},
    limits,
    profile::{Profile, Running},
    webdriver::{Driver, NoSession},
};

/// The reason of [`WEBDRIVER_FAILED`] where nothing answers.
const UNREACHABLE: &str = "unreachable";

/// Its reason where a grid has no node with such a browser.
const NO_NODE: &str = "no-node";

/// Whether an endpoint that provided browsers before may provide some again soon: a hub that restarts does not answer
/// first, and then has no nodes until they have found it.
pub(crate) fn may_come_back(error: &Error) -> bool {
    error.is(WEBDRIVER_FAILED) && [UNREACHABLE, NO_NODE].iter().any(|reason| error.details()["reason"] == *reason)
}

/// The endpoint that the host names, by its option or in the environment, if it names one.
///
/// # Errors
///
/// [`ARGUMENT_ERROR`], which names the option or the variable.
pub fn endpoint(host: &HostOptions) -> Result<Option<Url>, Error> {
    let (name, value) = match &host.webdriver_url {
        Some(url) => ("--webdriver-url", Some(url.clone())),
        None => (WEBDRIVER_URL, std::env::var(WEBDRIVER_URL).ok()),
    };
    value.filter(|url| !url.trim().is_empty()).map(|url| parse(name, &url)).transpose()
}

/// The endpoint at `url`, which the option or the variable `name` has.
fn parse(name: &str, url: &str) -> Result<Url, Error> {
    // A password may stand in it: what is wrong is said without it.
    let refused = |what: &str| {
        ARGUMENT_ERROR
            .error(format!("{name} {what}"))
            .remedy("Use http://HOST:PORT, such as the hub of a Selenium Grid. Use a tunnel for a server with TLS.")
            .detail("argument", name)
    };
    let mut url = Url::parse(url).map_err(|error| refused(&format!("is not a URL: {error}")))?;
    if url.scheme() != "http" {
        return Err(refused(&format!("begins with {}:, not with http://", url.scheme())));
    }
    if !url.has_host() || url.query().is_some() || url.fragment().is_some() {
        return Err(refused("is not the root of a WebDriver server"));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// The endpoint as it may be shown: without name and password.
pub(crate) fn redacted_url(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// Starts a browser at `endpoint`, and records it. This is the supervisor's work.
pub(crate) fn start(profile: &Profile, launch: &Launch, endpoint: &Url) -> Result<Running, Error> {
    let until = Instant::now() + limits::QUEUE_TIMEOUT;
    let mut sandbox = launch.sandbox;
    let launched = loop {
        match Driver::launch(endpoint, &capabilities(launch, sandbox), until) {
            // Chromium's sandbox does not work for root, nor in some containers.
            Err(NoSession::Refused(refusal)) if sandbox && exited(&refusal.words) => sandbox = false,
            Err(none) => return Err(no_session(none, endpoint)),
            Ok(launched) => break launched,
        }
    };
    let devtools = launched.devtools.as_ref().and_then(|offered| reachable(offered, endpoint));
    if devtools.is_none() {
        let until = Instant::now() + limits::SOCKET_TIMEOUT;
        let driver = Driver::resume(endpoint, &launched.session, until);
        // What a browser does not know of this, it does without.
        let _ = driver.and_then(|driver| driver.prepare_tab(true, until));
    }
    let running = Running {
        profile: profile.folder().to_string_lossy().into_owned(),
        endpoint: Endpoint { webdriver: endpoint.clone(), is_remote: true, devtools },
        driver_pid: 0,
        launch_session: launched.session,
        browser_pid: None,
        browser: format!("{} on {}", launched.browser, redacted_url(endpoint)),
        headless: launch.headless,
        sandbox,
        stays: launch.stays,
        idle_seconds: launch.idle_seconds,
        supervisor_pid: std::process::id(),
    };
    let recorded = launch::record(profile, &running);
    if recorded.is_err() {
        release(&running, Instant::now() + limits::QUEUE_TIMEOUT);
    }
    recorded.map(|()| running)
}

/// The DevTools socket that a grid offers, as it can be reached from here: a grid behind another address does not
/// know that one.
fn reachable(offered: &Url, endpoint: &Url) -> Option<Url> {
    let mut here = offered.clone();
    let moved = here.set_host(endpoint.host_str()).is_ok() && here.set_port(endpoint.port_or_known_default()).is_ok();
    let answers = |url: &Url| {
        let endpoint = Endpoint { webdriver: endpoint.clone(), devtools: Some(url.clone()), is_remote: true };
        let browser = BrowserSocket::connect(&endpoint, Instant::now() + limits::SOCKET_TIMEOUT);
        browser.and_then(|mut browser| browser.tab_urls()).is_ok()
    };
    moved.then_some(here).into_iter().chain([offered.clone()]).find(answers)
}

/// The capabilities for the endpoint.
fn capabilities(launch: &Launch, sandbox: bool) -> Value {
    if launch.browser == BrowserKind::Firefox {
        return firefox::capabilities(launch, None);
    }
    json!({
        "browserName": "chrome",
        "pageLoadStrategy": "none",
        "unhandledPromptBehavior": "accept",
        "goog:chromeOptions": {
            "args": arguments(launch.headless, sandbox).collect::<Vec<_>>(),
            "excludeSwitches": EXCLUDED,
            // Nothing is written to a disk that nobody looks at.
            "prefs": {"download_restrictions": 3, "credentials_enable_service": false},
        },
    })
}

fn no_session(none: NoSession, endpoint: &Url) -> Error {
    let at = redacted_url(endpoint);
    match none {
        NoSession::Late => busy(&at),
        NoSession::Unreachable => WEBDRIVER_FAILED
            .error(format!("no WebDriver server answers at {at}"))
            .detail("endpoint", at)
            .detail("reason", UNREACHABLE),
        NoSession::OtherServer => WEBDRIVER_FAILED
            .error(format!("the server at {at} is not a WebDriver server"))
            .remedy("Check the address, also its path: that of some grids ends with /wd/hub.")
            .detail("endpoint", at)
            .detail("reason", "refused"),
        NoSession::Refused(refusal) if is_queue_timeout(&refusal) => busy(&at),
        NoSession::Refused(refusal) => {
            let reason = if has_no_node(&refusal) { NO_NODE } else { "refused" };
            let words = refusal.words;
            let words: String = words.lines().take(2).collect::<Vec<_>>().join(" ").chars().take(300).collect();
            WEBDRIVER_FAILED
                .error(format!("the WebDriver server at {at} did not provide a browser: {words}"))
                .remedy("Check that it has a node with this browser, and that the browser starts there.")
                .detail("endpoint", at)
                .detail("reason", reason)
        }
    }
}

/// Whether a grid says that no browser became free in its own limit of time. The standard has only the code `session not
/// created` for that; the words are those of Selenium Grid's queue (`LocalNewSessionQueue`).
fn is_queue_timeout(refusal: &FailedCommand) -> bool {
    let words = ["New session request timed out", "Timed out creating session"];
    is_session_not_created(refusal) && words.iter().any(|said| refusal.words.contains(said))
}

/// Whether a grid has no node with the browser. The standard has no code for it; the words are those of Selenium Grid's
/// distributor (`LocalDistributor`): `No nodes support the capabilities in the request`.
fn has_no_node(refusal: &FailedCommand) -> bool {
    is_session_not_created(refusal) && refusal.words.contains("No nodes support")
}

/// Whether the code is the one for a session that was not created, or missing.
fn is_session_not_created(refusal: &FailedCommand) -> bool {
    matches!(refusal.status, None | Some(ErrorStatus::SessionNotCreated))
}

/// The error where every browser of an endpoint is in use.
pub(crate) fn busy(at: &str) -> Error {
    BROWSER_BUSY
        .error(format!("the WebDriver server at {at} had no free browser in time"))
        .remedy("Raise --timeout, or ask the user for fewer tabs at a time or more nodes.")
        .detail("endpoint", at)
}

/// The error where an endpoint that provided browsers before has not come back in time, for the reason `error`.
pub(crate) fn not_back(error: &Error) -> Error {
    let words = format!("{}, which provided browsers before", error.message());
    let late = BROWSER_BUSY.error(words).remedy("Check the server, then call again.");
    error.details().iter().fold(late, |late, (name, value)| late.detail(name, value.clone()))
}

/// Whether the remote browser answers.
pub(crate) fn answers(running: &Running) -> bool {
    let until = Instant::now() + limits::SOCKET_TIMEOUT;
    let driver = Driver::resume(&running.endpoint.webdriver, &running.launch_session, until);
    driver.and_then(|driver| driver.process_events(until)).is_ok()
}

/// Ends the session; whether the endpoint confirms it, or does not know the session any more.
pub(crate) fn release(running: &Running, deadline: Instant) -> bool {
    // The end of a session waits for what a page is loading.
    if let Ok(mut browser) =
        BrowserSocket::connect(&running.endpoint, deadline.min(Instant::now() + limits::SOCKET_TIMEOUT))
    {
        let _ = browser.empty();
    }
    loop {
        let Running { endpoint, launch_session, .. } = running;
        let ended =
            Driver::resume(&endpoint.webdriver, launch_session, deadline).and_then(|driver| driver.end(deadline));
        match ended {
            Ok(()) | Err(CommandError::Ended) => return true,
            Err(_) if Instant::now() + limits::QUEUE_RETRY >= deadline => return false,
            Err(_) => thread::sleep(limits::QUEUE_RETRY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ErrorStatus::{InvalidArgument, SessionNotCreated};

    #[test]
    fn an_endpoint_is_the_root_of_a_server() {
        for (named, url) in [
            ("http://grid.example:4444", "http://grid.example:4444/"),
            ("http://a:b@grid.example/wd/hub", "http://a:b@grid.example/wd/hub/"),
        ] {
            assert_eq!(parse(WEBDRIVER_URL, named).unwrap().as_str(), url);
        }
        for bad in
            ["grid.example:4444", "https://a:secret@grid.example", "http://grid.example/?a:secret", "http://", "x"]
        {
            let error = parse(WEBDRIVER_URL, bad).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && !serde_json::to_string(&error).unwrap().contains("secret"), "{error}");
        }
        assert_eq!(redacted_url(&parse(WEBDRIVER_URL, "http://a:secret@grid.example").unwrap()), "grid.example:80");
    }

    #[test]
    fn answers_of_an_endpoint_are_distinguished() {
        let url = parse(WEBDRIVER_URL, "http://a:secret@grid.example:4444").unwrap();
        let error = |none| no_session(none, &url);
        let refused =
            |status, words: &str| NoSession::Refused(FailedCommand { status: Some(status), words: words.to_owned() });
        assert!(error(NoSession::Late).is(BROWSER_BUSY));
        assert!(
            error(refused(SessionNotCreated, "Could not start a new session. Timed out creating session"))
                .is(BROWSER_BUSY)
        );
        assert!(error(NoSession::Refused("New session request timed out".into())).is(BROWSER_BUSY));
        for (none, reason) in [
            (NoSession::Unreachable, UNREACHABLE),
            (NoSession::OtherServer, "refused"),
            (NoSession::Refused("No nodes support the capabilities".into()), NO_NODE),
            (NoSession::Refused("session not created: cannot find Chrome binary".into()), "refused"),
            // The browser was late, not the queue.
            (refused(SessionNotCreated, "timed out receiving message from renderer"), "refused"),
            (refused(InvalidArgument, "New session request timed out"), "refused"),
            (refused(SessionNotCreated, "No nodes support the capabilities in the request"), NO_NODE),
        ] {
            let error = error(none);
            assert!(error.is(WEBDRIVER_FAILED) && error.details()["reason"] == reason, "{error}");
            let late = not_back(&error);
            assert!(late.is(BROWSER_BUSY) && late.details() == error.details(), "{late}");
            assert!(!serde_json::to_string(&error).unwrap().contains("secret"), "{error}");
        }
    }

    #[test]
    fn nothing_of_this_machine_is_asked_for() {
        let browser = BrowserKind::Chromium;
        let launch = Launch { browser, headless: true, stays: false, idle_seconds: 1, endpoint: None, sandbox: true };
        let asked = capabilities(&launch, false).to_string();
        assert!(asked.contains("--no-sandbox") && asked.contains("--headless=new"), "{asked}");
        assert!(!asked.contains("user-data-dir") && !asked.contains("binary"), "{asked}");
    }
}
