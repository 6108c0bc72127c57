//! Fetching a whole section, compared with trafilatura's crawler, wget and the browser tools, on the test site of 300
//! pages; then a refresh with nothing changed, and a killed run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use ragmaker_tests::site::{PAGES, Section};
use serde_json::Value;

use super::super::{harness::verdict, markdown};
use ragmaker_project::programs::on_path;

use crate::process::{quiet, root, ticking};

/// The number of times that each program fetches the site; medians are shown.
const ROUNDS: usize = 3;
/// The number of pages that the browser loads.
const BROWSED: usize = 20;

/// The pages that a program fetched.
struct Fetched {
    seconds: f64,
    /// The processor time of the program, where the system reports it.
    processor: Option<f64>,
    /// The pages of the section among what it requested.
    pages: usize,
    /// Requests for what is outside of the section or disallowed.
    forbidden: usize,
}

pub(super) fn run(built: &Path, folder: &Path) -> Result<()> {
    let bench = Bench { built: built.to_owned(), folder: folder.join("crawl") };
    fs::create_dir_all(&bench.folder)?;
    let python = markdown::python();
    if let Err(error) = &python {
        println!("trafilatura is left out: {error:#}");
    }
    println!(
        "\n| {PAGES} pages on loopback | seconds | of a processor | pages/s | pages | forbidden |\n|---|---:|---:|---:|---:|---:|"
    );
    let ours = bench.rounds("ragmaker-http-fetch --section", |site, folder| bench.fetch(site, folder))?;
    let mut faster = None;
    if let Ok(python) = python {
        let peer = bench.rounds("trafilatura: its crawler, then its extraction", |site, folder| {
            let mut command = Command::new(&python);
            command.arg(root().join("xtask/src/bench/ingest_crawl.py")).arg(site.url("/docs/")).arg(folder);
            command
        })?;
        faster = Some(ours.seconds / ours.pages as f64 <= peer.seconds / peer.pages.max(1) as f64);
    }
    if let Some(wget) = on_path("wget") {
        bench.rounds("wget -r --no-parent, files as they are", |site, folder| {
            let mut command = Command::new(&wget);
            command.args(["--recursive", "--level=inf", "--no-parent", "--quiet", "--directory-prefix"]);
            command.arg(folder).arg(site.url("/docs/"));
            command
        })?;
    }
    let browser = bench.browser()?;
    let rate = ours.pages as f64 / ours.seconds;
    println!("\n| goal | measured | |\n|---|---:|---|");
    let goal = |what: &str, measured: String, met: bool| println!("| {what} | {measured} | {} |", verdict(met));
    goal("pages of the section, 100 %", format!("{} of {PAGES}", ours.pages), ours.pages == PAGES);
    goal("out of scope or disallowed requests, 0", ours.forbidden.to_string(), ours.forbidden == 0);
    // Other programs take a share of the processors, but not of this time.
    let of_core = ours.processor.map_or(rate, |processor| ours.pages as f64 / processor);
    goal("at least 150 pages/s a core", format!("{of_core:.0}"), of_core >= 150.0);
    goal("at least 20x the browser path", format!("{:.0}x", rate / browser), rate >= browser * 20.0);
    if let Some(faster) = faster {
        goal("faster a page than trafilatura's crawler", String::new(), faster);
    }
    bench.refresh(goal)?;
    bench.killed(goal)
}

struct Bench {
    built: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn fetch(&self, site: &Section, folder: &Path) -> Command {
        let mut command = Command::new(self.built.join("ragmaker-http-fetch"));
        command.args(["--section", "--browser", "never", "--url"]).arg(site.url("/docs/"));
        command.arg("--kb-root").arg(folder).arg("--project-root").arg(&self.folder);
        command
    }

    /// Runs a program on a fresh site, several times, and prints its row.
    fn rounds(&self, name: &str, command: impl Fn(&Section, &Path) -> Command) -> Result<Fetched> {
        let mut runs = vec![];
        for _ in 0..ROUNDS {
            let (site, folder) = (Section::without_waits(), self.fresh("out")?);
            let (start, before) = (Instant::now(), processor_of_children());
            let mut command = command(&site, &folder);
            let status = ticking(name, || command.stdout(Stdio::null()).stderr(Stdio::null()).status())?;
            let seconds = start.elapsed().as_secs_f64();
            let processor = processor_of_children().zip(before).map(|(after, before)| after - before);
            // wget fails where any page does.
            ensure!(status.code().is_some(), "{name} was ended");
            let requests: BTreeSet<String> = site.requests().iter().map(|path| site.url(path)).collect();
            let pages = site.expected().intersection(&requests).count();
            let forbidden = site.requests().iter().filter(|path| Section::is_forbidden(path)).count();
            runs.push(Fetched { seconds, processor, pages, forbidden });
        }
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let median = runs.swap_remove(ROUNDS / 2);
        let rate = median.pages as f64 / median.seconds;
        let processor = median.processor.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.2}"));
        let Fetched { seconds, pages, forbidden, .. } = &median;
        println!("| {name} | {seconds:.2} | {processor} | {rate:.0} | {pages} | {forbidden} |");
        Ok(median)
    }

    /// The number of pages per second that the browser tools save.
    fn browser(&self) -> Result<f64> {
        let (site, folder) = (Section::without_waits(), self.fresh("browser")?);
        let tool = |name: &str| {
            let mut command = Command::new(self.built.join(format!("ragmaker-browser-{name}")));
            command.arg("--project-root").arg(&self.folder);
            command
        };
        quiet("starting the browser", &mut tool("open"))?;
        let start = Instant::now();
        for number in 3..3 + BROWSED {
            let mut extract = tool("extract");
            extract.arg("--url").arg(site.page(number)).arg("--kb-root").arg(&folder).arg("--output-dir").arg(&folder);
            quiet("saving pages in the browser", &mut extract)?;
        }
        let rate = BROWSED as f64 / start.elapsed().as_secs_f64();
        quiet("closing the browser", &mut tool("close"))?;
        println!("| ragmaker-browser-extract, {BROWSED} pages | | | {rate:.1} | | |");
        Ok(rate)
    }

    fn refresh(&self, goal: impl Fn(&str, String, bool)) -> Result<()> {
        let (site, folder) = (Section::without_waits(), self.fresh("out")?);
        let first = answer(&mut self.fetch(&site, &folder))?;
        let sent = site.sent();
        site.forget();
        let again = answer(&mut self.fetch(&site, &folder))?;
        let fewer = 100.0 * (1.0 - site.sent() as f64 / sent as f64);
        ensure!(first["counts"]["added"] == PAGES, "{first}");
        let written = again["counts"]["added"].as_u64().unwrap_or(1) + again["counts"]["changed"].as_u64().unwrap_or(1);
        goal("refresh with nothing changed: 0 documents written", written.to_string(), written == 0);
        // Three pages of four have validators.
        goal(
            "at least 70 % fewer bytes of bodies where there are validators",
            format!("{fewer:.0} % of all"),
            fewer >= 0.75 * 70.0,
        );
        Ok(())
    }

    fn killed(&self, goal: impl Fn(&str, String, bool)) -> Result<()> {
        let (site, folder) = (Section::without_waits(), self.fresh("out")?);
        let mut child = self.fetch(&site, &folder).stdout(Stdio::null()).spawn()?;
        while site.requests().len() < PAGES / 2 {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill()?;
        child.wait()?;
        let again = answer(&mut self.fetch(&site, &folder))?;
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let expected = site.expected();
        site.requests().into_iter().filter(|path| expected.contains(&site.url(path))).for_each(|path| {
            *times.entry(path).or_default() += 1;
        });
        let twice = times.values().filter(|count| **count > 1).count();
        let met = again["continued"] == true && again["counts"]["added"] == PAGES && twice <= 1;
        goal("kill -9 and again: at most 1 page fetched twice", twice.to_string(), met);
        Ok(())
    }

    fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// The processor time in seconds of all ended processes that this one started, where the system reports it.
fn processor_of_children() -> Option<f64> {
    children_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The same from the status of a process.
fn children_of(stat: &str) -> Option<f64> {
    /// The clock ticks of a second, as Linux shows them to programs.
    const TICKS: f64 = 100.0;
    // The name of the program, in parentheses, may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS);
    Some(seconds()? + seconds()?)
}

fn answer(command: &mut Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the tool failed: {}", output.status);
    serde_json::from_slice(&output.stdout).context("the answer is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_time_of_children_is_in_user_and_system_mode() {
        let status = |name: &str| format!("7 ({name}) S 1 2 3 4 5 6 7 8 9 10 11 12 150 25 20 0 1 0 99");
        for name in ["a", "a b) c (d"] {
            assert!((children_of(&status(name)).unwrap() - 1.75).abs() < 1e-9, "{name}");
        }
        assert!(children_of("7 (a) S 1 2 3").is_none() && children_of("").is_none());
    }
}
