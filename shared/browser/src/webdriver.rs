//! WebDriver: the session with ChromeDriver that launches the browser and prepares its tabs.
//!
//! The client is fantoccini. WebDriver is used for two things: launching the browser with its capabilities, and
//! preparing each new tab with the script that starts in every document and with the rule for downloads. Both settings
//! end with the session that made them, and this session outlives the calls. A grid provides a browser in the same way.
//! All other work on pages uses DevTools sockets; [`crate::cdp`] explains why. Without a socket,
//! [`crate::webdriver_only`] reads pages by WebDriver commands alone.
//!
//! A WebDriver session has one current window and runs one command at a time. A caller must hold the driver's lock, and
//! must not send commands that wait for a page. Every command has a deadline. The methods block; only this module uses
//! the async runtime that fantoccini needs.

use std::{
    future::Future,
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use fantoccini::{
    Client, ClientBuilder,
    error::{CmdError, ErrorStatus, NewSessionError},
    wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use ragmaker_tool::Error;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

use crate::{
    codes::BROWSER_FAILED,
    endpoint,
    error::{CommandError, FailedCommand},
    readiness::watch_script,
};

/// Asks the driver at `url` to end. It closes the browsers that it launched first.
pub(crate) fn shut_down(url: &Url, timeout: Duration) {
    let ask = || {
        let mut stream = endpoint::connect(url, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        write!(stream, "GET /shutdown HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut vec![])
    };
    // If it does not end, it is killed.
    let _: io::Result<usize> = ask();
}

/// One WebDriver session.
pub(crate) struct Driver {
    runtime: Runtime,
    client: Client,
}

/// A browser that the driver launched.
pub(crate) struct Launched {
    /// The id of the session that launched it.
    pub(crate) session: String,
    /// Its name and version.
    pub(crate) browser: String,
    /// Its main process.
    pub(crate) pid: Option<u32>,
    /// Its DevTools socket as a grid offers it.
    pub(crate) devtools: Option<Url>,
}

/// Why there is no session.
#[derive(Debug)]
pub(crate) enum NoSession {
    /// None was free in time.
    Late,
    /// No WebDriver server answers there.
    Unreachable,
    /// The server is not a WebDriver server.
    OtherServer,
    /// The server made none.
    Refused(FailedCommand),
}

impl NoSession {
    /// The error for a browser of this machine.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Late => BROWSER_FAILED.error("the browser did not start in time"),
            Self::Unreachable => BROWSER_FAILED.error("the driver ended before the browser had started"),
            Self::OtherServer => BROWSER_FAILED.error("another program answers at the port of the driver"),
            Self::Refused(refusal) => did_not_start(&refusal.words),
        }
    }
}

impl Driver {
    /// Launches a browser with `capabilities` by the driver at `url`.
    pub(crate) fn launch(url: &Url, capabilities: &Value, deadline: Instant) -> Result<Launched, NoSession> {
        let runtime = runtime();
        let session = new_session(url, capabilities);
        let (client, session) = runtime.block_on(with_deadline(deadline, session)).map_err(|_| NoSession::Late)??;
        let granted = client.capabilities();
        let text = |name: &str| granted.and_then(|all| all.get(name)?.as_str()).unwrap_or_default().to_owned();
        let pid = ["goog:processID", "moz:processID"].into_iter().find_map(|name| granted?.get(name)?.as_u64());
        let pid = pid.and_then(|pid| pid.try_into().ok());
        let browser = format!("{} {}", text("browserName"), text("browserVersion"));
        let devtools = Url::parse(&text("se:cdp")).ok();
        Ok(Launched { session, browser, pid, devtools })
    }

    /// Ends the session, and with it the browser that it launched.
    pub(crate) fn end(&self, deadline: Instant) -> Result<(), CommandError> {
        self.delete("", deadline)
    }

    /// Continues a session of an earlier call.
    pub(crate) fn resume(url: &Url, session: &str, deadline: Instant) -> Result<Self, CommandError> {
        let runtime = runtime();
        let resumed = async {
            let client = Client::with_existing_session(url.as_str(), session, HttpConnector::new())
                .await
                .map_err(|_| CommandError::Gone)?;
            client.persist().await.map_err(|error| command_error(&error))?;
            Ok(client)
        };
        let client = runtime.block_on(with_deadline(deadline, resumed))??;
        Ok(Self { runtime, client })
    }

    /// Sends a command of the DevTools protocol to the current tab.
    pub(crate) fn devtools(&self, method: &str, params: &Value, deadline: Instant) -> Result<Value, CommandError> {
        self.post("goog/cdp/execute", json!({"cmd": method, "params": params}), deadline)
    }

    /// Prepares the current tab: the script that every document begins with, no downloads, and for a browser that
    /// could not be told when it was launched, a name that does not say that it has no window.
    pub(crate) fn prepare_tab(&self, renames: bool, deadline: Instant) -> Result<(), CommandError> {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({"source": watch_script()}), deadline)?;
        self.devtools("Browser.setDownloadBehavior", &json!({"behavior": "deny"}), deadline)?;
        if renames {
            let version = self.devtools("Browser.getVersion", &json!({}), deadline)?;
            let name = version["userAgent"].as_str().unwrap_or_default().replace("Headless", "");
            self.devtools("Emulation.setUserAgentOverride", &json!({"userAgent": name}), deadline)?;
        }
        Ok(())
    }

    /// Makes the tab with `handle` the current one.
    pub(crate) fn switch_to(&self, handle: &str, deadline: Instant) -> Result<(), CommandError> {
        self.post("window", json!({"handle": handle}), deadline).map(drop)
    }

    /// Lets the driver process the browser's events since its last command, which it stores until then.
    pub(crate) fn process_events(&self, deadline: Instant) -> Result<(), CommandError> {
        self.windows(deadline).map(drop)
    }

    /// The handles of all tabs.
    pub(crate) fn windows(&self, deadline: Instant) -> Result<Vec<String>, CommandError> {
        let handles = self.run(self.client.windows(), deadline)?;
        Ok(handles.into_iter().map(String::from).collect())
    }

    /// Closes the current tab.
    pub(crate) fn close_window(&self, deadline: Instant) -> Result<(), CommandError> {
        self.delete("window", deadline)
    }

    /// The handle of the current tab.
    pub(crate) fn window(&self, deadline: Instant) -> Result<String, CommandError> {
        self.run(self.client.window(), deadline).map(String::from)
    }

    /// Sends a command that fantoccini has no name for, or the wrong one.
    pub(crate) fn post(&self, path: &str, body: Value, deadline: Instant) -> Result<Value, CommandError> {
        self.command(http::Method::POST, path, Some(body), deadline)
    }

    /// Asks for what a command without a body answers.
    pub(crate) fn get(&self, path: &str, deadline: Instant) -> Result<Value, CommandError> {
        self.command(http::Method::GET, path, None, deadline)
    }

    /// Removes what a command without a body names.
    pub(crate) fn delete(&self, path: &str, deadline: Instant) -> Result<(), CommandError> {
        self.command(http::Method::DELETE, path, None, deadline).map(drop)
    }

    fn command(
        &self,
        method: http::Method,
        path: &str,
        body: Option<Value>,
        deadline: Instant,
    ) -> Result<Value, CommandError> {
        let command = Command { method, path: path.to_owned(), body };
        self.run(self.client.issue_cmd(command), deadline)
    }

    fn run<T>(&self, command: impl Future<Output = Result<T, CmdError>>, deadline: Instant) -> Result<T, CommandError> {
        self.runtime.block_on(with_deadline(deadline, command))?.map_err(|error| command_error(&error))
    }
}

fn runtime() -> Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // It fails only if the system has no descriptors left.
    runtime.expect("an event loop")
}

async fn new_session(url: &Url, capabilities: &Value) -> Result<(Client, String), NoSession> {
    let refused = |error: CmdError| NoSession::Refused(error.to_string().into());
    let capabilities = capabilities.as_object().cloned().unwrap_or_default();
    let mut builder = ClientBuilder::new(HttpConnector::new());
    let client = builder.capabilities(capabilities).connect(url.as_str()).await.map_err(no_session)?;
    // Otherwise, dropping the client would close the browser.
    client.persist().await.map_err(refused)?;
    let session = client.session_id().await.map_err(refused)?.unwrap_or_default();
    Ok((client, session))
}

fn no_session(error: NewSessionError) -> NoSession {
    match error {
        NewSessionError::Failed(_) | NewSessionError::FailedC(_) | NewSessionError::Lost(_) => NoSession::Unreachable,
        NewSessionError::NotW3C(Value::Object(said)) if said.contains_key("message") => {
            let status = said.get("error").and_then(Value::as_str).and_then(|code| code.parse().ok());
            NoSession::Refused(FailedCommand { status, words: said["message"].as_str().unwrap_or_default().to_owned() })
        }
        // Its words are the whole answer.
        NewSessionError::NotW3C(_)
        | NewSessionError::UnexpectedError(CmdError::NotJson(_) | CmdError::Json(_) | CmdError::NotW3C(_)) => {
            NoSession::OtherServer
        }
        NewSessionError::SessionNotCreated(standard)
        | NewSessionError::UnexpectedError(CmdError::Standard(standard)) => NoSession::Refused((&standard).into()),
        other => NoSession::Refused(other.to_string().into()),
    }
}

/// The error for a browser that the driver could not start, with the driver's message without its stack trace.
fn did_not_start(message: &str) -> Error {
    let words: Vec<&str> = message.lines().take(2).map(str::trim).collect();
    let words = words.join(" ");
    let error = BROWSER_FAILED.error(format!("the browser did not start: {words}"));
    // The standard has no code for it: ChromeDriver reports `cannot create temp dir for …` as an unknown error or as
    // `session not created`.
    if words.contains("cannot create temp dir") {
        return error.remedy("Make the folder for temporary files writable, or name a writable one with TMPDIR.");
    }
    error
}

async fn with_deadline<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, CommandError> {
    tokio::time::timeout_at(deadline.into(), work).await.map_err(|_| CommandError::Late)
}

/// Whether the element of a command has gone.
pub(crate) fn is_stale_element(error: &CommandError) -> bool {
    matches!(error, CommandError::Failed(failed) if failed.is_stale_element())
}

/// The meaning of a WebDriver error. ChromeDriver's own errors are not in the standard and are reported by
/// their names only.
fn command_error(error: &CmdError) -> CommandError {
    match error {
        CmdError::Failed(_) | CmdError::FailedC(_) | CmdError::Lost(_) => CommandError::Gone,
        CmdError::Standard(standard) => match standard.error {
            ErrorStatus::InvalidSessionId => CommandError::Ended,
            ErrorStatus::NoSuchWindow => CommandError::Gone,
            ErrorStatus::Timeout | ErrorStatus::ScriptTimeout => CommandError::Late,
            // geckodriver's words for a browser that has ended, for which the standard has no code.
            ErrorStatus::UnknownError if standard.message.contains("Failed to decode response from marionette") => {
                CommandError::Gone
            }
            _ => CommandError::Failed(standard.into()),
        },
        // ChromeDriver's own codes, which the standard does not have.
        CmdError::NotW3C(Value::String(name)) => match name.as_str() {
            "tab crashed" => CommandError::Crashed,
            "chrome not reachable" | "disconnected" => CommandError::Gone,
            _ => CommandError::Failed(name.as_str().into()),
        },
        other => CommandError::Failed(other.to_string().into()),
    }
}

/// A WebDriver command by its method and its path below that of the session.
#[derive(Debug)]
struct Command {
    method: http::Method,
    path: String,
    body: Option<Value>,
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        let path = format!("session/{}/{}", session.unwrap_or_default(), self.path);
        base.join(path.trim_end_matches('/'))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (self.method.clone(), self.body.as_ref().map(Value::to_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fantoccini::error::WebDriver;

    #[test]
    fn the_driver_s_error_message_is_passed_on() {
        let error = did_not_start("session not created\nfrom unknown error: cannot parse x: EOF\n#0 0x5\n#1 0x6");
        assert!(error.message().ends_with("session not created from unknown error: cannot parse x: EOF"), "{error}");
        let remedy =
            |message: &str| serde_json::to_value(did_not_start(message)).unwrap()["remediation_suggestion"].to_string();
        assert!(remedy("unknown error: cannot create temp dir for unpacking extensions").contains("TMPDIR"));
        assert!(remedy("session not created: it supports version 1").contains("version"));
    }

    #[test]
    fn a_server_that_does_not_speak_webdriver_is_another_one() {
        for other in [
            NewSessionError::NotW3C(json!({"error": "no such path"})),
            NewSessionError::UnexpectedError(CmdError::NotJson("<html>".into())),
        ] {
            assert!(matches!(no_session(other), NoSession::OtherServer));
        }
        let refused = NewSessionError::NotW3C(json!({"message": "No nodes support it"}));
        assert!(matches!(no_session(refused), NoSession::Refused(refusal) if refusal.words == "No nodes support it"));
    }

    #[test]
    fn errors_are_distinguished_by_their_type() {
        let standard = |status| CmdError::Standard(WebDriver::new(status, "no such window, tab crashed"));
        let other = |name: &str| CmdError::NotW3C(name.into());
        for gone in [standard(ErrorStatus::NoSuchWindow), other("disconnected")] {
            assert!(matches!(command_error(&gone), CommandError::Gone), "{gone:?}");
        }
        assert!(matches!(command_error(&standard(ErrorStatus::InvalidSessionId)), CommandError::Ended));
        assert!(matches!(command_error(&standard(ErrorStatus::ScriptTimeout)), CommandError::Late));
        assert!(matches!(command_error(&other("tab crashed")), CommandError::Crashed));
        for failed in [standard(ErrorStatus::UnknownError), other("no such cast device"), CmdError::WaitTimeout] {
            assert!(matches!(command_error(&failed), CommandError::Failed(_)), "{failed:?}");
        }
    }

    #[test]
    fn an_element_that_has_gone_is_recognised_by_its_code() {
        let failed = |status, words: &'static str| command_error(&CmdError::Standard(WebDriver::new(status, words)));
        for gone in [ErrorStatus::StaleElementReference, ErrorStatus::NoSuchElement, ErrorStatus::DetachedShadowRoot] {
            let error = failed(gone, "The element with the reference x is gone");
            assert!(is_stale_element(&error), "{error:?}");
        }
        // The words of a page are not those of a driver.
        for other in [ErrorStatus::JavascriptError, ErrorStatus::UnknownError] {
            assert!(!is_stale_element(&failed(other, "stale element reference: no such element")));
        }
        assert!(!is_stale_element(&CommandError::Failed("stale element reference".into())));
    }

    #[test]
    fn a_session_that_was_not_created_has_its_code() {
        let standard = |status| WebDriver::new(status, "timed out");
        for (error, code) in [
            (NewSessionError::SessionNotCreated(standard(ErrorStatus::SessionNotCreated)), "session not created"),
            (
                NewSessionError::UnexpectedError(CmdError::Standard(standard(ErrorStatus::InvalidArgument))),
                "invalid argument",
            ),
            (NewSessionError::NotW3C(json!({"error": "unknown error", "message": "timed out"})), "unknown error"),
        ] {
            let NoSession::Refused(refusal) = no_session(error) else { panic!("{code}") };
            assert_eq!((refusal.status, refusal.words.as_str()), (code.parse().ok(), "timed out"));
        }
    }

    #[test]
    fn a_command_goes_to_its_session_below_the_drivers_path() {
        let base = Url::parse("http://grid.example:4444/wd/hub/").unwrap();
        for (path, url) in [("window", "session/s1/window"), ("", "session/s1")] {
            let command = Command { method: http::Method::POST, path: path.into(), body: None };
            let there = command.endpoint(&base, Some("s1")).unwrap();
            assert_eq!(there.as_str(), format!("http://grid.example:4444/wd/hub/{url}"));
        }
    }
}
