//! Streams of pages: pages a second beside libraries of Python, on one core and on two; whether the Markdown is that of
//! single calls; memory over many records.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use argh::FromArgValue;
use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use serde_json::{Value, json};

use super::{
    harness::{median, order, verdict},
    markdown, memory, release_build,
};
use crate::process::{line, root, ticking};

/// The least pages a second on one core.
const RATE: f64 = 280.0;
/// The least times of the libraries' pages a second: trafilatura's, resiliparse's.
const PEERS: [(&str, f64); 2] = [("trafilatura", 12.0), ("resiliparse", 0.85)];
/// The least times of one job's pages a second that two jobs have on two cores.
const SCALING: f64 = 1.8;
/// The maximum memory of a job.
const MEMORY: u64 = 60_000_000;
/// How many records memory is watched over, and every how many.
const RECORDS: (usize, usize) = (100_000, 500);
/// The maximum number of times of the memory over the first tenth of the records that the rest may take.
const GROWTH: f64 = 1.1;
/// The subjects that are compared: by processor time on one core, and by the time that one waits for one job and two.
const LINES: &str = "--jsonl";
const ONE: &str = "--jsonl --jobs 1, elapsed";
const TWO: &str = "--jsonl --jobs 2, elapsed";
/// How often each speed is measured.
const ROUNDS: usize = 3;
/// The pages of a dump of Common Crawl.
const DUMP: f64 = 3e9;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromArgValue)]
pub(super) enum Part {
    Speed,
    Equal,
    Memory,
}

pub(super) fn run(pages: Option<&Path>, parts: &[Part]) -> anyhow::Result<()> {
    let built = release_build(&["html-to-markdown"])?;
    let folder = root().join("target/bench/pipeline");
    fs::create_dir_all(&folder)?;
    let pages = pages.map_or_else(site, saved)?;
    let bench = Bench { tool: built.join("ragmaker-html-to-markdown"), folder, pages };
    let has = |part| parts.is_empty() || parts.contains(&part);
    if has(Part::Equal) {
        bench.equal()?;
    }
    if has(Part::Speed) {
        bench.speed()?;
    }
    if has(Part::Memory) {
        bench.memory()?;
    }
    Ok(())
}

struct Page {
    url: String,
    html: Vec<u8>,
}

/// The pages of a folder in the form that markdown.py describes.
fn saved(folder: &Path) -> anyhow::Result<Vec<Page>> {
    let open = |path: PathBuf| {
        let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
        anyhow::Ok(BufReader::new(MultiGzDecoder::new(file)))
    };
    let mut pages = vec![];
    for page in open(folder.join("truth.jsonl.gz"))?.lines() {
        let page: Value = serde_json::from_str(&page?)?;
        let id = page["id"].as_str().context("a page without id")?;
        let mut html = vec![];
        open(folder.join("pages").join(format!("{id}.html.gz")))?.read_to_end(&mut html)?;
        let url = page["url"].as_str().unwrap_or("https://example.com/").to_owned();
        pages.push(Page { url, html });
    }
    Ok(pages)
}

/// The pages of the site that the tests visit.
fn site() -> anyhow::Result<Vec<Page>> {
    let pages = markdown::site()?.into_iter().map(|path| {
        let html = fs::read(&path)?;
        anyhow::Ok(Page { url: "https://example.com/".to_owned(), html })
    });
    pages.collect()
}

/// One measurement: the time for all pages.
type Run<'a> = Box<dyn Fn() -> anyhow::Result<Duration> + 'a>;

struct Bench {
    tool: PathBuf,
    folder: PathBuf,
    pages: Vec<Page>,
}

impl Bench {
    /// A file with a line for each page.
    fn lines(&self) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("pages.jsonl");
        let mut out = BufWriter::new(File::create(&path)?);
        for (number, page) in self.pages.iter().enumerate() {
            let html = String::from_utf8_lossy(&page.html);
            writeln!(out, "{}", json!({"id": number, "url": page.url, "html": html}))?;
        }
        out.flush()?;
        Ok(path)
    }

    /// An archive with a gzip member for each page, as Common Crawl has them.
    fn archive(&self) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("pages.warc.gz");
        let mut out = BufWriter::new(File::create(&path)?);
        for (number, page) in self.pages.iter().enumerate() {
            let http =
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", page.html.len());
            let mut member = GzEncoder::new(vec![], Compression::default());
            write!(
                member,
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Target-URI: {}\r\n\
                 Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}",
                page.url,
                http.len() + page.html.len()
            )?;
            member.write_all(&page.html)?;
            member.write_all(b"\r\n\r\n")?;
            out.write_all(&member.finish()?)?;
        }
        out.flush()?;
        Ok(path)
    }

    /// Prints pages a second.
    fn speed(&self) -> anyhow::Result<()> {
        let (lines, archive, python) = (self.lines()?, self.archive()?, markdown::python()?);
        let script = root().join("xtask/src/bench/pipeline.py");
        // A library's own time, without its start.
        let library = |name: &str| {
            let mut command = Command::new(&python);
            let output = command.arg(&script).arg(name).arg(&lines).stderr(Stdio::null()).output()?;
            ensure!(output.status.success(), "{}: {}", line(&command), output.status);
            Ok(Duration::from_secs_f64(String::from_utf8(output.stdout)?.trim().parse()?))
        };
        let stream = |arguments: &[&str], input: &Path| processor_time(&self.tool, arguments, File::open(input)?);
        let waited = |jobs: &str| {
            let mut command = Command::new(&self.tool);
            command.args(["--jsonl", "--jobs", jobs]).stdin(File::open(&lines)?).stdout(Stdio::null());
            let started = Instant::now();
            let status = command.status()?;
            ensure!(status.success(), "{}: {status}", line(&command));
            Ok(started.elapsed())
        };
        let subjects: Vec<(&str, Run<'_>)> = vec![
            (LINES, Box::new(|| stream(&["--jsonl"], &lines))),
            ("--warc", Box::new(|| stream(&["--warc"], &archive))),
            ("trafilatura", Box::new(|| library("trafilatura"))),
            ("resiliparse", Box::new(|| library("resiliparse"))),
            (ONE, Box::new(|| waited("1"))),
            (TWO, Box::new(|| waited("2"))),
        ];
        let mut rates: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        ticking(&format!("{ROUNDS} rounds of {} subjects", subjects.len()), || {
            for round in 0..ROUNDS {
                for at in order(round, subjects.len()) {
                    let (name, run) = &subjects[at];
                    rates.entry(*name).or_default().push(self.pages.len() as f64 / run()?.as_secs_f64());
                }
            }
            anyhow::Ok(())
        })?;
        let bytes: usize = self.pages.iter().map(|page| page.html.len()).sum();
        let size = bytes as f64 / self.pages.len() as f64;
        println!(
            "\n| {} pages of {:.0} KB | pages/s | MB/s | core hours for 3 billion |",
            self.pages.len(),
            size / 1e3
        );
        println!("|---|---:|---:|---:|");
        let cores = |name: &str| if name.ends_with("--jobs 2") { 2.0 } else { 1.0 };
        for (name, _) in &subjects {
            let rate = median(rates[name].iter().copied());
            let hours = DUMP / rate * cores(name) / 3600.0;
            // The rows of elapsed time are for the ratio of two jobs to one.
            let hours = if name.contains("elapsed") { "–".to_owned() } else { format!("{hours:.0}") };
            println!("| {name} | {rate:.0} | {:.0} | {hours} |", rate * size / 1e6);
        }
        // Within a round, so that what else the machine does falls out.
        let ratio = |one: &str, other: &str| median(rates[one].iter().zip(&rates[other]).map(|(a, b)| a / b));
        println!("\n| goal | measured | |\n|---|---:|---|");
        let rate = median(rates[LINES].iter().copied());
        println!("| --jsonl on one core: at least {RATE} pages/s | {rate:.0} | {} |", verdict(rate >= RATE));
        for (peer, least) in PEERS {
            let times = ratio(LINES, peer);
            println!("| at least {least}x {peer} | {times:.2}x | {} |", verdict(times >= least));
        }
        let times = ratio(TWO, ONE);
        println!("| --jobs 2: at least {SCALING}x | {times:.2}x | {} |", verdict(times >= SCALING));
        Ok(())
    }

    /// Prints of how many pages the stream's Markdown is that of a call of their own.
    fn equal(&self) -> anyhow::Result<()> {
        let archive = self.archive()?;
        let mut stream = Command::new(&self.tool);
        let output = stream.args(["--warc", "--jobs", "2"]).stdin(File::open(archive)?).output()?;
        ensure!(output.status.success(), "{}: {}", line(&stream), output.status);
        let records: Vec<Value> = output
            .stdout
            .split_inclusive(|&byte| byte == b'\n')
            .map(serde_json::from_slice)
            .collect::<Result<_, _>>()?;
        ensure!(records.len() == self.pages.len(), "{} records of {} pages", records.len(), self.pages.len());
        let path = self.folder.join("page.html");
        let (mut equal, mut empty) = (0, 0);
        ticking("each page by a call of its own", || {
            for (page, record) in self.pages.iter().zip(&records) {
                fs::write(&path, &page.html)?;
                let mut single = Command::new(&self.tool);
                let single = single.args(["--raw", "--base-url", &page.url, "--path"]).arg(&path).output()?;
                let is_same = if single.status.success() {
                    record["text"].as_str().map(str::as_bytes) == Some(&single.stdout)
                } else {
                    let error: Value = serde_json::from_slice(&single.stderr)?;
                    empty += 1;
                    record["error"]["error_code"] == error["error_code"]
                };
                equal += usize::from(is_same);
            }
            anyhow::Ok(())
        })?;
        let all = self.pages.len();
        println!("\n| goal | measured | |\n|---|---:|---|");
        println!(
            "| single call and stream equal: all | {equal} of {all}, {empty} of them refused by both | {} |",
            verdict(equal == all)
        );
        Ok(())
    }

    /// Prints the memory over many records: the pages again and again.
    fn memory(&self) -> anyhow::Result<()> {
        const JOBS: u64 = 2;
        let lines = fs::read(self.lines()?)?;
        let lines: Vec<&[u8]> = lines.split_inclusive(|&byte| byte == b'\n').collect();
        let (records, every) = RECORDS;
        let mut tool = Command::new(&self.tool);
        tool.args(["--jsonl", "--jobs", &JOBS.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = tool.spawn()?;
        let (mut stdin, stdout) = (child.stdin.take().context("no stdin")?, child.stdout.take().context("no stdout")?);
        let mut used = vec![];
        ticking(&format!("{records} records"), || {
            thread::scope(|scope| {
                // The input stays open until the last measurement: the process ends with it.
                let writer = scope.spawn(move || {
                    let written = lines.iter().cycle().take(records).try_for_each(|line| stdin.write_all(line));
                    written.map(|()| stdin)
                });
                let mut out = BufReader::new(stdout);
                let (mut record, mut number) = (vec![], 0);
                while number < records && out.read_until(b'\n', &mut record)? > 0 {
                    record.clear();
                    number += 1;
                    if number % every == 0 {
                        used.extend(memory::resident(child.id()));
                    }
                }
                drop(writer.join().expect("the writer does not panic")?);
                number += out.lines().count();
                ensure!(number == records, "{number} records of {records}");
                anyhow::Ok(())
            })
        })?;
        ensure!(child.wait()?.success(), "{} failed", line(&tool));
        ensure!(used.len() * every == records, "the system does not report the memory of a process");
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or_default();
        let (first, rest) = used.split_at(used.len() / 10);
        let (first, rest) = (most(first), most(rest));
        let [first_mb, rest_mb] = [first, rest].map(|bytes| bytes as f64 / 1e6);
        let growth = rest as f64 / first as f64;
        println!("\n| memory over {records} records, {JOBS} jobs | measured | |\n|---|---:|---|");
        println!("| at most {} MB a job | {rest_mb:.0} MB | {} |", MEMORY / 1_000_000, verdict(rest <= JOBS * MEMORY));
        println!(
            "| flat: at most {GROWTH}x the first tenth's {first_mb:.0} MB | {growth:.2}x | {} |",
            verdict(growth <= GROWTH)
        );
        Ok(())
    }
}

/// The time of the processor that `program` takes, in user and system mode, as a shell's `times` tells it: what else
/// the machine does counts little.
fn processor_time(program: &Path, arguments: &[&str], input: File) -> anyhow::Result<Duration> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" > /dev/null && times", "sh"]).arg(program).args(arguments).stdin(input);
    let output = shell.output()?;
    ensure!(output.status.success(), "{}: {}", line(&shell), output.status);
    let text = String::from_utf8(output.stdout)?;
    let children = text.lines().nth(1).and_then(of_times);
    children.with_context(|| format!("sh does not know the time of its children: {text}"))
}

/// A line such as `0m1.340000s 0m0.020000s`.
fn of_times(line: &str) -> Option<Duration> {
    let parts = line.split_whitespace().map(|part| {
        let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    });
    parts.sum::<Option<f64>>().map(Duration::from_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_shell_are_read() {
        assert_eq!(of_times("1m1.340000s 0m0.160000s"), Some(Duration::from_millis(61_500)));
        assert_eq!(of_times("user 1"), None);
    }
}
