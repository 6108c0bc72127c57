//! WebDriver: the session with ChromeDriver that launches the browser and readies its tabs, every command
//! with a deadline.
//!
//! A WebDriver session has one current window and does one thing at a time: whoever gives it commands holds
//! the driver's lock, and gives none that waits for a page.

use std::{
    future::Future,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use fantoccini::{Client, ClientBuilder, error::CmdError, wd::WebDriverCompatibleCommand};
use hyper_util::client::legacy::connect::HttpConnector;
use ragmaker_tool::Error;
use serde_json::{Value, json};

use crate::codes::{BROWSER_FAILED, BROWSER_LOST};

/// Why a command gave no result.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The deadline came first.
    Late,
    /// The page's process crashed.
    Crashed,
    /// The tab, the session, the driver or the browser is gone.
    Gone,
    /// What an earlier call left in the tab does not answer.
    Stale,
    /// The command itself failed, as the driver words it.
    Failed(String),
}

/// Runs `work` to its end on this thread.
pub(crate) fn runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // It fails only where the system has no descriptors left, which nothing here could work without.
    runtime.expect("an event loop").block_on(work)
}

/// Whether anything listens on `port`.
pub(crate) fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(1)).is_ok()
}

/// Asks the driver at `port` to end. It closes what it launched first.
pub(crate) fn shut_down(port: u16, patience: Duration) {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), patience)?;
        stream.set_read_timeout(Some(patience))?;
        write!(stream, "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut vec![])
    };
    // One that does not is killed.
    let _ = ask();
}

/// One WebDriver session.
pub(crate) struct Driver {
    client: Client,
    /// Its name with the driver.
    pub(crate) session: String,
}

/// A browser that the driver launched.
pub(crate) struct Launched {
    pub(crate) session: String,
    pub(crate) browser: String,
    pub(crate) pid: Option<u32>,
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
}

impl Driver {
    /// Launches a browser by `options`, the WebDriver capabilities.
    pub(crate) async fn launch(port: u16, options: &Value, deadline: Instant) -> Result<Launched, Error> {
        let session = async {
            let driver = Self::new_session(port, options).await?;
            Ok::<_, String>(driver)
        };
        let driver =
            within(deadline, session).await.map_err(|_| BROWSER_FAILED.error("the browser did not start in time"))?;
        let driver = driver.map_err(|message| did_not_start(&message))?;
        let granted = driver.client.capabilities();
        let text = |name: &str| granted.and_then(|all| all.get(name)?.as_str()).unwrap_or_default().to_owned();
        let pid = granted.and_then(|all| all.get("goog:processID")?.as_u64()?.try_into().ok());
        Ok(Launched {
            session: driver.session,
            browser: format!("{} {}", text("browserName"), text("browserVersion")),
            pid,
        })
    }

    async fn new_session(port: u16, options: &Value) -> Result<Self, String> {
        let capabilities = options.as_object().cloned().unwrap_or_default();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client =
            builder.capabilities(capabilities).connect(&address(port)).await.map_err(|error| error.to_string())?;
        // Without this, the end of the client would be the end of the browser.
        client.persist().await.map_err(|error| error.to_string())?;
        let session = client.session_id().await.map_err(|error| error.to_string())?.unwrap_or_default();
        Ok(Self { client, session })
    }

    /// Goes on with a session of an earlier call.
    pub(crate) async fn resume(port: u16, session: &str, deadline: Instant) -> Result<Self, Trouble> {
        let resumed = async {
            let client = Client::with_existing_session(&address(port), session, HttpConnector::new())
                .await
                .map_err(|_| Trouble::Gone)?;
            client.persist().await.map_err(|error| trouble(&error))?;
            Ok(Self { client, session: session.to_owned() })
        };
        within(deadline, resumed).await?
    }

    /// Gives a command of the DevTools protocol to the tab.
    pub(crate) async fn devtools(&self, method: &str, params: Value, deadline: Instant) -> Result<Value, Trouble> {
        self.post("goog/cdp/execute", json!({"cmd": method, "params": params}), deadline).await
    }

    /// Makes the tab with `handle` the one that commands go to.
    pub(crate) async fn switch_to(&self, handle: &str, deadline: Instant) -> Result<(), Trouble> {
        self.post("window", json!({"handle": handle}), deadline).await.map(drop)
    }

    /// Has the driver take in what the browser has told it since its last command, which it keeps until then.
    pub(crate) async fn catch_up(&self, deadline: Instant) -> Result<(), Trouble> {
        within(deadline, self.client.windows()).await?.map(drop).map_err(|error| trouble(&error))
    }

    /// The handle of the tab that commands go to.
    pub(crate) async fn window(&self, deadline: Instant) -> Result<String, Trouble> {
        within(deadline, self.client.window()).await?.map(String::from).map_err(|error| trouble(&error))
    }

    async fn post(&self, path: &str, body: Value, deadline: Instant) -> Result<Value, Trouble> {
        let command = Raw { method: http::Method::POST, path: format!("/{path}"), body: Some(body) };
        within(deadline, self.client.issue_cmd(command)).await?.map_err(|error| trouble(&error))
    }
}

/// The error for a browser that the driver could not start, in its words: what failed, and why. A
/// stack of addresses follows, which says nothing.
fn did_not_start(message: &str) -> Error {
    let words: Vec<&str> = message.lines().take(2).map(str::trim).collect();
    let words = words.join(" ");
    let error = BROWSER_FAILED.error(format!("the browser did not start: {words}"));
    if words.contains("temp dir") {
        return error.remedy("Make the folder for temporary files writable, or name one that is with TMPDIR.");
    }
    error
}

async fn within<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, Trouble> {
    tokio::time::timeout_at(deadline.into(), work).await.map_err(|_| Trouble::Late)
}

fn trouble(error: &CmdError) -> Trouble {
    let words = format!("{error:?}");
    if words.contains("tab crashed") {
        Trouble::Crashed
    } else if matches!(error, CmdError::FailedC(_) | CmdError::Failed(_) | CmdError::Lost(_))
        || [
            "invalid session id",
            "InvalidSessionId",
            "no such window",
            "NoSuchWindow",
            "disconnected",
            "not reachable",
            "target window already closed",
        ]
        .iter()
        .any(|sign| words.contains(sign))
    {
        Trouble::Gone
    } else {
        Trouble::Failed(words)
    }
}

impl Trouble {
    /// The error for a command that concerned no page.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Failed(words) => BROWSER_LOST
                .error(format!("the browser refused a command: {}", words.chars().take(300).collect::<String>())),
            _ => BROWSER_LOST.error("the browser went away during the call"),
        }
    }
}

/// A WebDriver command that fantoccini has no name for.
#[derive(Debug)]
struct Raw {
    method: http::Method,
    path: String,
    body: Option<Value>,
}

impl WebDriverCompatibleCommand for Raw {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (self.method.clone(), self.body.as_ref().map(Value::to_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_says_of_a_start_is_passed_on() {
        let error = did_not_start("session not created\nfrom unknown error: cannot parse x: EOF\n#0 0x5\n#1 0x6");
        assert!(error.message().ends_with("session not created from unknown error: cannot parse x: EOF"), "{error}");
        let remedy =
            |message: &str| serde_json::to_value(did_not_start(message)).unwrap()["remediation_suggestion"].to_string();
        assert!(remedy("unknown error: cannot create temp dir for unpacking extensions").contains("TMPDIR"));
        assert!(remedy("session not created: it supports version 1").contains("version"));
    }
}
