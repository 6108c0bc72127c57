//! The MCP server: start-up, overhead of a call, memory, and 1,000 calls of all kinds, 16 at a time. No call may fail,
//! and no process may be left afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::ensure;
use ragmaker_tests::{mcp::Client, run::processes, site::Site, tabs::tabs, visitor::at_once};
use serde_json::{Value, json};

use super::{
    harness::{median, verdict},
    memory::resident,
    release_build,
};
use crate::process::{root, ticking};

/// From before the process is started until the list of tools is there, in milliseconds.
const START: f64 = 10.0;
/// The goal for the overhead of a call through the server, in milliseconds.
const CALL: f64 = 2.0;
/// The maximum memory that the server may hold, in bytes.
const MEMORY: u64 = 15_000_000;

/// The tabs that a browser keeps for later calls, and the one that it was launched with.
const TABS: usize = 9;

const STARTS: usize = 50;
const CALLS: usize = 300;
const LOAD: usize = 1000;
const AT_ONCE: usize = 16;

pub(crate) fn run() -> anyhow::Result<()> {
    let program = release_build(&["mcp"])?.join("ragmaker-mcp");
    let bench = Bench { program, folder: root().join("target/bench/mcp") };
    fs::create_dir_all(&bench.folder)?;
    fs::write(bench.folder.join("small.txt"), "A small file, read through the server.\n".repeat(20))?;
    bench.start()?;
    bench.calls()?;
    bench.load()
}

struct Bench {
    program: PathBuf,
    /// The project that the server works in.
    folder: PathBuf,
}

impl Bench {
    fn server(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("RAGMAKER_PROJECT_ROOT", &self.folder);
        command
    }

    fn start(&self) -> anyhow::Result<()> {
        let mut times = vec![];
        let mut memory = None;
        for _ in 0..STARTS {
            let begun = Instant::now();
            let client = Client::open(self.server());
            let list = client.request("tools/list", json!({}));
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            ensure!(list["result"]["tools"].is_array(), "no list: {list}");
            memory = memory.max(resident(client.pid()));
            client.close();
        }
        println!("| the server | | goal |\n|---|---:|---|");
        row("start to tools/list, median ms", median(times.into_iter()), START);
        memory_row("resident after tools/list", memory);
        Ok(())
    }

    /// Measures the whole time of a call, which includes the work of the library.
    fn calls(&self) -> anyhow::Result<()> {
        let client = Client::open(self.server());
        for (what, tool, arguments, goal) in [
            ("read_file, in the server's process, median ms", "read_file", json!({"path": "small.txt"}), Some(CALL)),
            ("find_files, in a process of its own, median ms", "find_files", json!({"glob": "*.txt"}), None),
        ] {
            let mut times = vec![];
            for _ in 0..CALLS {
                let begun = Instant::now();
                let result = client.call(tool, arguments.clone());
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                ensure!(result["isError"] == false, "{tool}: {result}");
            }
            let took = median(times.into_iter());
            match goal {
                Some(goal) => row(what, took, goal),
                None => println!("| {what} | {took:.2} | |"),
            }
        }
        Ok(())
    }

    fn load(&self) -> anyhow::Result<()> {
        let site = Site::start();
        let client = Client::open(self.server());
        client.answer("browser_open", json!({}));
        // Allocated once, before memory is compared.
        let turns: Vec<usize> = (0..2 * LOAD).collect();
        let (warm, loaded) = turns.split_at(AT_ONCE * 4);
        at_once(AT_ONCE, warm, |turn| self.call(&client, &site, *turn));
        let before = resident(client.pid());
        let begun = Instant::now();
        let failed: Vec<Value> = ticking(&format!("load: {LOAD} calls, {AT_ONCE} at once"), || {
            at_once(AT_ONCE, &loaded[..LOAD], |turn| self.call(&client, &site, *turn)).into_iter().flatten().collect()
        });
        let took = begun.elapsed().as_secs_f64();
        let after = resident(client.pid());
        let open = tabs(&self.folder).len();
        client.answer("browser_close", json!({}));
        client.close();
        let left = left(&self.folder);
        println!("| {LOAD} calls, {AT_ONCE} at once, s | {took:.1} | |");
        println!("| calls that failed | {} | none: {} |", failed.len(), verdict(failed.is_empty()));
        println!("| tabs open | {open} | at most {TABS}: {} |", verdict(open <= TABS));
        println!("| processes left | {} | none: {} |", left.len(), verdict(left.is_empty()));
        if let (Some(before), Some(after)) = (before, after) {
            let grown = after.saturating_sub(before) / 1024;
            println!("| memory grown by the load, KB | {grown} | at most 1024: {} |", verdict(grown <= 1024));
        }
        memory_row("resident after the load", after);
        println!();
        ensure!(failed.is_empty(), "the first that failed: {}", failed[0]);
        ensure!(left.is_empty(), "left: {left:?}");
        Ok(())
    }

    /// One call of the load test; the result if it failed. Half of the calls need the browser.
    fn call(&self, client: &Client, site: &Site, turn: usize) -> Option<Value> {
        let page = site.url(&format!("/page/{turn}"));
        let (tool, arguments) = match turn % 4 {
            0 => ("browser_navigate", json!({"url": page, "timeout": 120})),
            1 => ("browser_extract", json!({"url": page, "timeout": 120, "output-dir": "out", "kb-root": "kb"})),
            2 => ("read_file", json!({"path": self.folder.join("small.txt")})),
            _ => ("find_files", json!({"glob": "*.txt"})),
        };
        let result = client.call(tool, arguments);
        (result["isError"] != false).then_some(result)
    }
}

fn row(what: &str, value: f64, goal: f64) {
    println!("| {what} | {value:.2} | at most {goal}: {} |", verdict(value <= goal));
}

fn memory_row(what: &str, memory: Option<u64>) {
    if let Some(memory) = memory {
        println!(
            "| {what}, MB | {:.1} | under {}: {} |",
            memory as f64 / 1e6,
            MEMORY / 1_000_000,
            verdict(memory < MEMORY)
        );
    }
}

/// The command lines of what still runs for the project after a while.
fn left(folder: &Path) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left: Vec<_> = processes(folder).into_iter().map(|process| process.command).collect();
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
