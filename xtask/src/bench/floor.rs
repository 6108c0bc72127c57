//! The floor: the time that Chromium itself takes for a page, by its own clock.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{process::is_root, setup::Programs};

/// A Chromium of its own, driven directly.
pub(super) struct Floor {
    driver: Child,
    runtime: Runtime,
    client: Option<Client>,
}

impl Floor {
    /// Starts the browser, with its profile in `profile`.
    pub(super) fn start(programs: &Programs, profile: &Path) -> anyhow::Result<Self> {
        let mut driver = Command::new(&programs.chromedriver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start ChromeDriver")?;
        let port = port(&mut driver);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // From here on, dropping it ends the driver.
        let mut floor = Self { driver, runtime, client: None };
        let capabilities = json!({"goog:chromeOptions": {"binary": programs.chromium, "args": flags(profile)}});
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities.as_object().cloned().unwrap_or_default());
        let client = floor.runtime.block_on(builder.connect(&format!("http://127.0.0.1:{}/", port?)));
        floor.client = Some(client.context("cannot start Chromium")?);
        Ok(floor)
    }

    /// Loads the page at `url`, and returns the time from the start of the navigation to the end of
    /// its load event, as the page's Navigation Timing has it.
    pub(super) fn load(&self, url: &str) -> anyhow::Result<Duration> {
        let client = self.client.as_ref().context("the browser was started")?;
        self.runtime.block_on(async {
            client.goto(url).await?;
            loop {
                let end = "return performance.getEntriesByType('navigation')[0].loadEventEnd";
                let end = client.execute(end, vec![]).await?.as_f64().unwrap_or_default();
                // It is 0 until the event's handlers have run.
                if end > 0.0 {
                    return Ok(Duration::from_secs_f64(end / 1e3));
                }
            }
        })
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // The driver is ended below in any case.
            let _ = self.runtime.block_on(client.close());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
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

/// The port that the driver says it listens on.
fn port(driver: &mut Child) -> anyhow::Result<u16> {
    let lines = BufReader::new(driver.stdout.take().context("ChromeDriver's output is piped")?).lines();
    for line in lines {
        let line = line?;
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return port.trim_end_matches('.').parse().with_context(|| line.clone());
        }
    }
    anyhow::bail!("ChromeDriver ended before it listened")
}
