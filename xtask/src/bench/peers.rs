//! The peers of the browser tools: programs that keep a browser open for calls from the command line.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use ragmaker_packages::is_root;
use serde_json::json;

use crate::{
    node::{node, npm},
    process::{line, quiet},
};

/// The name of the peers' sessions.
const SESSION: &str = "ragmaker-bench";

/// Installs the newest version of `package` from npm below `folder`, or updates an earlier installation.
fn install(package: &str, prefix: &Path) -> anyhow::Result<()> {
    let mut install = npm()?;
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(prefix).arg(format!("{package}@latest"));
    quiet(&format!("installing {package} from npm"), &mut install)
}

/// agent-browser, a peer that keeps a browser open in a daemon.
pub(super) struct AgentBrowser {
    program: PathBuf,
    chromium: PathBuf,
    pub(super) version: String,
}

impl AgentBrowser {
    /// Installs the newest version from npm beside `folder`, or updates an earlier installation.
    pub(super) fn find(folder: &Path, chromium: &Path) -> anyhow::Result<Self> {
        let prefix = folder.with_file_name("agent-browser");
        install("agent-browser", &prefix)?;
        // The program itself: the script that npm links would add the start of Node.
        let os = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
        let arch = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        let program = prefix.join(format!("node_modules/agent-browser/bin/agent-browser-{os}-{arch}"));
        let version = Command::new(&program).arg("--version").output();
        let version = version.with_context(|| format!("cannot run {}", program.display()))?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        let peer = Self { program, chromium: chromium.to_owned(), version };
        done(&mut peer.command(&["open", "about:blank"]))?;
        Ok(peer)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--session", SESSION]).args(arguments);
        command.env("AGENT_BROWSER_EXECUTABLE_PATH", &self.chromium);
        if is_root() {
            command.env("AGENT_BROWSER_ARGS", "--no-sandbox");
        }
        command
    }
}

impl Drop for AgentBrowser {
    fn drop(&mut self) {
        // The measurement is over; a daemon that does not end by itself ends after an idle hour.
        let _ = done(&mut self.command(&["close"]));
    }
}

/// `@playwright/cli`, which does the same.
pub(super) struct PlaywrightCli {
    node: PathBuf,
    /// Where it is installed, has its settings, and writes what it reports.
    folder: PathBuf,
    pub(super) version: String,
}

impl PlaywrightCli {
    /// Installs the newest version from npm beside `folder`, and opens its browser.
    pub(super) fn find(folder: &Path, chromium: &Path) -> anyhow::Result<Self> {
        let node = node()?.get_program().into();
        let folder = folder.with_file_name("playwright-cli");
        install("@playwright/cli", &folder)?;
        let args: &[&str] = if is_root() { &["--no-sandbox"] } else { &[] };
        let launch = json!({"executablePath": chromium, "headless": true, "args": args});
        let settings = json!({"browser": {"browserName": "chromium", "launchOptions": launch}});
        fs::write(folder.join("settings.json"), settings.to_string())?;
        let mut peer = Self { node, folder, version: String::new() };
        let version = peer.command(&["--version"]).output().context("cannot run @playwright/cli")?;
        peer.version = format!("@playwright/cli {}", String::from_utf8_lossy(&version.stdout).trim());
        done(&mut peer.command(&["open", "about:blank", "--config=settings.json"]))?;
        Ok(peer)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg("node_modules/@playwright/cli/playwright-cli.js").arg(format!("-s={SESSION}")).args(arguments);
        command.current_dir(&self.folder);
        command
    }
}

impl Drop for PlaywrightCli {
    fn drop(&mut self) {
        // The measurement is over; its browser ends with its daemon.
        let _ = done(&mut self.command(&["close"]));
    }
}

/// Runs `command` quietly and fails unless it succeeds.
pub(super) fn done(command: &mut Command) -> anyhow::Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {}", line(command)))?;
    ensure!(output.status.success(), "{}: {}", line(command), String::from_utf8_lossy(&output.stderr));
    Ok(())
}
