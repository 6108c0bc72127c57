//! Many pages in one call of `browser-extract`: a thousand pages with hostile ones among them, and the speed of eight
//! tabs beside that of one.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    str::FromStr,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use ragmaker_tests::site::Site;
use serde_json::Value;

use super::{
    harness::{median, verdict},
    memory,
    peers::{AgentBrowser, PlaywrightCli, done},
    release_build,
};
use crate::{
    process::{root, ticking},
    setup,
};

/// The number of pages in one batch.
const PAGES: usize = 1_000;

/// Every how many pages a hostile one comes.
const HOSTILE_EVERY: usize = 25;

/// The pages that hang, crash or break off.
const HOSTILE: [&str; 13] = [
    "/slow/first-byte",
    "/content/crash",
    "/slow/loop/0",
    "/hostile/closing",
    "/content/download",
    "/broken/reset",
    "/redirect/loop",
    "/hostile/farewell",
    "/status/500",
    "/content/huge",
    "/content/endless/page",
    "/hostile/talkative",
    "/busy/1/tides",
];

/// The maximum memory that the tool may hold, in bytes.
const MEMORY: u64 = 40_000_000;

/// The number of pages in a run of the comparison of tabs, each of which the server answers after 300 ms.
const SLOW_PAGES: usize = 64;

/// The number of these pages that the peers open.
const PEER_PAGES: usize = 16;

/// How many runs with each number of tabs.
const ROUNDS: usize = 3;

/// How many times faster eight tabs are than one.
const SPEEDUP: f64 = 4.0;

/// How long the browser's processes may take to end.
const ENDING: Duration = Duration::from_secs(15);

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A thousand pages, hostile ones among them.
    Pages,
    /// Eight tabs beside one.
    Tabs,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "pages" => Ok(Self::Pages),
            "tabs" => Ok(Self::Tabs),
            _ => Err("it is pages or tabs".to_owned()),
        }
    }
}

/// Measures `parts`, or all parts if none is named.
pub(crate) fn run(parts: &[Part]) -> anyhow::Result<()> {
    let built = release_build(&["browser-open", "browser-extract", "browser-close"])?;
    let folder = root().join("target/bench/batch");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let bench = Batch { built, folder, site: Site::start() };
    let wants = |part| parts.is_empty() || parts.contains(&part);
    println!("\n| many pages in one call | | goal |\n|---|---:|---|");
    if wants(Part::Pages) {
        bench.pages()?;
    }
    if wants(Part::Tabs) {
        bench.tabs()?;
    }
    Ok(())
}

struct Batch {
    /// The folder with the executables.
    built: PathBuf,
    /// The project.
    folder: PathBuf,
    site: Site,
}

/// A call that has ended.
struct Ended {
    took: Duration,
    records: Vec<Value>,
    /// The maximum memory that it held; `None` where the system does not report it.
    peak: Option<u64>,
}

impl Batch {
    fn tool(&self, name: &str) -> Command {
        let mut tool = Command::new(self.built.join(format!("ragmaker-browser-{name}")));
        tool.current_dir(&self.folder).env("RAGMAKER_PROJECT_ROOT", &self.folder).stdin(Stdio::null());
        tool
    }

    /// Extracts `urls` into the knowledge base `name`.
    fn extract(&self, name: &str, urls: &[String], arguments: &[&str]) -> anyhow::Result<Ended> {
        let (list, lines) = (self.folder.join(format!("{name}.txt")), self.folder.join(format!("{name}.jsonl")));
        fs::write(&list, urls.join("\n"))?;
        let mut tool = self.tool("extract");
        tool.arg("--urls-file").arg(&list).arg("--kb-root").arg(self.folder.join(name)).arg("--jsonl");
        tool.args(arguments).stdout(fs::File::create(&lines)?).stderr(Stdio::null());
        let begun = Instant::now();
        let peak = memory::peak_of(&mut tool)?;
        let time = begun.elapsed();
        let records: Result<Vec<Value>, _> = fs::read_to_string(&lines)?.lines().map(serde_json::from_str).collect();
        Ok(Ended { took: time, records: records.context("a line is not JSON")?, peak })
    }

    /// A thousand pages, without a session: the call starts its browser and closes it.
    fn pages(&self) -> anyhow::Result<()> {
        let urls: Vec<String> = (0..PAGES).map(|index| self.site.url(&path(index))).collect();
        let arguments = ["--tabs", "8", "--per-host", "8", "--timeout", "6"];
        let ended = ticking("1,000 pages", || self.extract("pages", &urls, &arguments))?;
        let answered: HashSet<_> = ended.records.iter().filter_map(|record| record["requested_url"].as_str()).collect();
        let answered = urls.iter().filter(|url| answered.contains(url.as_str())).count();
        let met = answered == PAGES && ended.records.len() == PAGES;
        println!(
            "| pages answered, of {PAGES} with {} hostile ones | {answered} | all: {} |",
            PAGES.div_ceil(HOSTILE_EVERY),
            verdict(met)
        );
        let mut codes = BTreeMap::<&str, usize>::new();
        for record in &ended.records {
            *codes.entry(record["error_code"].as_str().unwrap_or("saved")).or_default() += 1;
        }
        let codes: Vec<_> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        println!("| their answers | {} | |", codes.join(", "));
        println!("| seconds | {:.0} | |", ended.took.as_secs_f64());
        match ended.peak {
            Some(peak) => println!(
                "| memory of browser-extract, MB | {:.1} | at most {}: {} |",
                peak as f64 / 1e6,
                MEMORY / 1_000_000,
                verdict(peak <= MEMORY)
            ),
            None => println!("| memory of browser-extract | not measured: no /proc | |"),
        }
        let left = left_over(&self.folder)?;
        println!("| processes of the browser, and so tabs, left | {left} | 0: {} |", verdict(left == 0));
        Ok(())
    }

    /// The same pages with one tab and with eight, in turn, in an open browser.
    fn tabs(&self) -> anyhow::Result<()> {
        ensure!(self.tool("open").stdout(Stdio::null()).status()?.success(), "the browser does not open");
        let measured = ticking(&format!("{SLOW_PAGES} slow pages"), || self.tab_rounds());
        ensure!(self.tool("close").stdout(Stdio::null()).status()?.success(), "the browser does not close");
        let (one, eight) = measured?;
        let speed = |seconds: &[f64]| SLOW_PAGES as f64 / median(seconds.iter().copied());
        let speedup = median(one.iter().zip(&eight).map(|(one, eight)| one / eight));
        println!("| pages a second with 300 ms latency, 1 tab | {:.1} | |", speed(&one));
        self.peers()?;
        println!(
            "| pages a second with 300 ms latency, 8 tabs, `--per-host 8` | {:.1} ({speedup:.1}x) | at least {SPEEDUP}x: {} |",
            speed(&eight),
            verdict(speedup >= SPEEDUP)
        );
        Ok(())
    }

    /// The same pages with the peers, which have no list of pages: each page is opened and its text read.
    fn peers(&self) -> anyhow::Result<()> {
        let chromium = setup::programs()?.chromium;
        let page = |round: usize, index: usize| self.site.url(&format!("/slow/answer/300?peer={round}&n={index}"));
        let print = |name: &str, seconds: f64| {
            println!("| {name}, page by page, pages a second | {:.1} | |", PEER_PAGES as f64 / seconds);
        };
        match AgentBrowser::find(&self.folder, &chromium) {
            Ok(peer) => {
                let begun = Instant::now();
                for index in 0..PEER_PAGES {
                    done(&mut peer.command(&["open", &page(0, index)]))?;
                    done(&mut peer.command(&["read"]))?;
                }
                print(&peer.version, begun.elapsed().as_secs_f64());
            }
            Err(error) => println!("agent-browser is left out: {error:#}"),
        }
        match PlaywrightCli::find(&self.folder, &chromium) {
            Ok(cli) => {
                let begun = Instant::now();
                for index in 0..PEER_PAGES {
                    done(&mut cli.command(&["goto", &page(1, index)]))?;
                    done(&mut cli.command(&["eval", "() => document.body.innerText"]))?;
                }
                print(&cli.version, begun.elapsed().as_secs_f64());
            }
            Err(error) => println!("@playwright/cli is left out: {error:#}"),
        }
        Ok(())
    }

    fn tab_rounds(&self) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
        let (mut one, mut eight) = (vec![], vec![]);
        for round in 0..=ROUNDS {
            for tabs in [1, 8] {
                let page = |index| self.site.url(&format!("/slow/answer/300?round={round}&tabs={tabs}&n={index}"));
                let urls: Vec<String> = (0..SLOW_PAGES).map(page).collect();
                let arguments = ["--tabs", &tabs.to_string(), "--per-host", "8"];
                let ended = self.extract(&format!("slow-{round}-{tabs}"), &urls, &arguments)?;
                let saved = ended.records.iter().filter(|record| record["status"] == "success").count();
                ensure!(saved == SLOW_PAGES, "{saved} of {SLOW_PAGES} pages were saved");
                // The first round warms up.
                if round > 0 {
                    if tabs == 1 { &mut one } else { &mut eight }.push(ended.took.as_secs_f64());
                }
            }
        }
        Ok((one, eight))
    }
}

/// The page of the site at this place of the batch.
fn path(index: usize) -> String {
    match (index % HOSTILE_EVERY, index / HOSTILE_EVERY) {
        (0, turn) => format!("{}?n={index}", HOSTILE[turn % HOSTILE.len()]),
        _ => format!("/page/{index}"),
    }
}

/// The number of processes of the browser of the project in `folder`, after they had their time to end.
fn left_over(folder: &Path) -> anyhow::Result<usize> {
    let until = Instant::now() + ENDING;
    let profile = folder.join(".tmp/cache/browser_profile");
    let profile = profile.to_str().context("the path is text")?;
    loop {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let left = lines.filter(|line| String::from_utf8_lossy(line).contains(profile)).count();
        if left == 0 || Instant::now() >= until {
            return Ok(left);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_every_hostile_page_and_none_twice() {
        let paths: Vec<_> = (0..PAGES).map(path).collect();
        assert_eq!(paths.iter().collect::<HashSet<_>>().len(), PAGES);
        for hostile in HOSTILE {
            assert!(paths.iter().any(|path| path.split('?').next() == Some(hostile)), "{hostile}");
        }
        let hostile = paths.iter().filter(|path| !path.starts_with("/page/")).count();
        assert_eq!(hostile, PAGES.div_ceil(HOSTILE_EVERY));
    }
}
