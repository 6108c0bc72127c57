//! The baseline: Chromium's own load time of a page, from the navigation command to the load event, over its debugging
//! socket.

use std::{
    cell::RefCell,
    fs, io,
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use ragmaker_packages::{Browser, is_root};

/// The time after which a silent browser is an error.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The time that a page has after its load event.
const AFTER_LOAD: Duration = Duration::from_secs(1);

/// A Chromium that is controlled directly.
pub(super) struct Baseline {
    browser: Child,
    socket: RefCell<WebSocket<TcpStream>>,
    session: Value,
}

impl Baseline {
    /// Starts the browser, with its profile in `profile`.
    pub(super) fn start(programs: &Browser, profile: &Path) -> anyhow::Result<Self> {
        // That of an earlier browser would be taken for this one's.
        let _ = fs::remove_file(profile.join("DevToolsActivePort"));
        let mut command = Command::new(&programs.chromium);
        command.args(flags(profile)).args(["--remote-debugging-port=0", "about:blank"]);
        let browser = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut browser = browser.context("cannot start Chromium")?;
        let socket = match connect(profile) {
            Ok(socket) => socket,
            Err(error) => {
                let _ = browser.kill();
                return Err(error);
            }
        };
        // From here on, dropping it ends the browser.
        let mut baseline = Self { browser, socket: RefCell::new(socket), session: Value::Null };
        let targets = baseline.command("Target.getTargets", &json!({"filter": [{"type": "page"}]}))?;
        let page = json!({"targetId": targets["targetInfos"][0]["targetId"], "flatten": true});
        baseline.session = baseline.command("Target.attachToTarget", &page)?["sessionId"].take();
        baseline.command("Page.enable", &json!({}))?;
        Ok(baseline)
    }

    /// Loads the page at `url`, and returns the time from the order to the end of its load event.
    pub(super) fn load(&self, url: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.send("Page.navigate", &json!({"url": url}))?;
        while self.receive()?["method"] != "Page.loadEventFired" {}
        Ok(begun.elapsed())
    }

    /// Loads the page at `url` and returns its HTML: a second after its load event, or after `patience`.
    pub(super) fn html(&self, url: &str, patience: Duration) -> anyhow::Result<String> {
        let end = Instant::now() + patience;
        self.send("Page.navigate", &json!({"url": url}))?;
        self.socket.borrow().get_ref().set_read_timeout(Some(Duration::from_millis(100)))?;
        let mut until = end;
        while Instant::now() < until {
            match self.receive() {
                Ok(event) if event["method"] == "Page.loadEventFired" => {
                    until = end.min(Instant::now() + AFTER_LOAD);
                }
                Ok(_) => {}
                Err(error) if is_late(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.socket.borrow().get_ref().set_read_timeout(Some(TIMEOUT))?;
        let html = self.value("document.documentElement.outerHTML")?;
        // A parser that a script blocks would stay blocked on the next page.
        self.command("Page.stopLoading", &json!({}))?;
        Ok(html.as_str().unwrap_or_default().to_owned())
    }

    /// The value of `expression` in the page, when it is settled.
    pub(super) fn value(&self, expression: &str) -> anyhow::Result<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        Ok(self.command("Runtime.evaluate", &params)?["result"]["value"].take())
    }

    /// Begins to count the processor time of the page.
    pub(super) fn watch(&self) -> anyhow::Result<()> {
        self.command("Performance.enable", &json!({"timeDomain": "threadTicks"})).map(drop)
    }

    /// The processor time that the page's thread has had since, in seconds.
    pub(super) fn busy(&self) -> anyhow::Result<f64> {
        let answer = self.command("Performance.getMetrics", &json!({}))?;
        let metrics = answer["metrics"].as_array().context("no metrics")?;
        let duration = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
        duration.and_then(|metric| metric["value"].as_f64()).context("no TaskDuration")
    }

    /// Types `text` where the cursor is, in one key.
    pub(super) fn insert(&self, text: &str) -> anyhow::Result<()> {
        self.command("Input.insertText", &json!({"text": text})).map(drop)
    }

    fn command(&self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.send(method, params)?;
        loop {
            let mut message = self.receive()?;
            if message["id"] == 1 {
                return Ok(message["result"].take());
            }
        }
    }

    fn send(&self, method: &str, params: &Value) -> anyhow::Result<()> {
        let mut command = json!({"id": 1, "method": method, "params": params});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        Ok(self.socket.borrow_mut().send(Message::text(command.to_string()))?)
    }

    fn receive(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(self.socket.borrow_mut().read()?.to_text()?)?)
    }
}

/// Whether the socket's time limit has passed.
fn is_late(error: &anyhow::Error) -> bool {
    let Some(tungstenite::Error::Io(error)) = error.downcast_ref() else { return false };
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Connects to the browser that starts on `profile`.
fn connect(profile: &Path) -> anyhow::Result<WebSocket<TcpStream>> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default();
        if let Some((port, path)) = text.trim_end().split_once('\n') {
            let stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            return Ok(tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream)?.0);
        }
        if Instant::now() > deadline {
            bail!("Chromium does not say where it can be reached");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        let _ = self.send("Browser.close", &json!({}));
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.browser.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.browser.kill();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The flags of a plain headless Chromium with its profile in `profile`.
pub(super) fn flags(profile: &Path) -> Vec<String> {
    let mut flags = vec!["--headless".to_owned(), "--no-first-run".to_owned()];
    flags.push(format!("--user-data-dir={}", profile.display()));
    if is_root() {
        flags.push("--no-sandbox".to_owned());
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_limit_of_the_socket_is_waited_out() {
        let error = |kind: io::ErrorKind| anyhow::Error::new(tungstenite::Error::Io(kind.into()));
        assert!(is_late(&error(io::ErrorKind::WouldBlock)) && is_late(&error(io::ErrorKind::TimedOut)));
        assert!(!is_late(&error(io::ErrorKind::ConnectionReset)));
        assert!(!is_late(&anyhow::Error::new(tungstenite::Error::ConnectionClosed)));
        assert!(!is_late(&anyhow::anyhow!("timed out")));
    }
}
