//! Real pages with third parties that do not answer: the toolchain's documentation, and saved pages of the web.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use flate2::read::MultiGzDecoder;
use ragmaker_tests::site::{FIXTURES, Mirror, Site, toolchain_documentation};
use serde_json::Value;

use super::{AgentBrowser, Bench, LINKS, PAUSE, done};
use crate::{
    bench::{
        baseline::Baseline,
        harness::{median, order, percentile, timed, verdict},
    },
    process::ticking,
};

/// The maximum median ratio of a call to the page's own time to its load event.
const BOOK_RATIO: f64 = 1.6;
/// The maximum time of the slowest of a hundred calls for a page of the book, in milliseconds.
const BOOK_P99: f64 = 1000.0;
/// The goals for saved pages: the median, and p90.
const SAVED_MEDIAN: f64 = 1000.0;
const SAVED_P90: f64 = 2500.0;
/// The maximum additional time for a page with endless activity, in milliseconds.
const NOISE: f64 = 500.0;
/// The maximum share of words that may be missing.
const WORDS_LOST: f64 = 0.01;

/// The time that the browser has for all activity of a page whose load event does not come.
const EVERYTHING: Duration = Duration::from_secs(12);

/// The number of pages that are loaded at the same time for this.
const AT_ONCE: usize = 4;

/// The script with which agent-browser reads a page's text.
const TEXT: &str = "document.body ? document.body.innerText : ''";

/// Pages with immediate content and endless noise, compared with the same page without noise.
pub(super) fn noise(bench: &Bench) -> anyhow::Result<()> {
    let site = Site::start();
    let fixtures: Vec<_> = FIXTURES.iter().filter(|fixture| !fixture.is_late() && !fixture.thin).collect();
    let mut took: Vec<(f64, &str)> = vec![];
    ticking(&format!("{} pages with noise", fixtures.len()), || {
        for fixture in &fixtures {
            let url = site.url(&format!("/ready/{}", fixture.name));
            let mut times = vec![];
            for _ in 0..3 {
                thread::sleep(PAUSE);
                times.push(timed(&mut bench.tool("navigate", &["--url", &url]), 0)?.as_secs_f64() * 1e3);
            }
            // The first call: a tab remembers silent hosts, and does not wait for them again.
            took.push((if fixture.name == "quiet" { median(times.into_iter()) } else { times[0] }, fixture.name));
        }
        anyhow::Ok(())
    })?;
    let quiet = took.iter().find(|(_, name)| *name == "quiet").map_or(0.0, |(time, _)| *time);
    let over: Vec<_> = took.iter().filter(|(time, _)| time - quiet > NOISE).collect();
    let all: Vec<f64> = took.iter().map(|(time, _)| time - quiet).collect();
    println!("\nnoise costs {} ms (median, p90, p99)", times(&all).replace('|', ","));
    println!("at most {NOISE} ms: {} {over:.0?}", verdict(over.is_empty()));
    Ok(())
}

/// One call for each page of each manual in the toolchain's documentation, warm.
pub(super) fn documentation(bench: &Bench, baseline: &Baseline, peer: Option<&AgentBrowser>) -> anyhow::Result<()> {
    let manuals = toolchain_documentation();
    if manuals.is_empty() {
        println!("the toolchain's documentation is left out: it is not installed (rustup component add rust-docs)");
    }
    for manual in manuals {
        let mirror = Mirror::of_folder(manual.folder)?;
        let mut rows: Vec<(&str, Vec<f64>)> =
            vec![("Chromium: navigation to load", vec![]), ("browser-navigate", vec![])];
        rows.extend(peer.map(|peer| (peer.version.as_str(), vec![])));
        ticking(&format!("{}: {} pages", manual.name, manual.pages.len()), || {
            for (round, page) in manual.pages.iter().enumerate() {
                let url = mirror.url(page);
                for at in order(round, rows.len()) {
                    thread::sleep(PAUSE);
                    let took = match (at, peer) {
                        (0, _) => baseline.load(&url)?,
                        (1, _) => timed(&mut bench.tool("navigate", &["--url", &url]), 0)?,
                        (_, Some(peer)) => peer.links(&url)?,
                        (_, None) => continue,
                    };
                    rows[at].1.push(took.as_secs_f64() * 1e3);
                }
            }
            anyhow::Ok(())
        })?;
        println!("\n| {}, {} pages | median ms | p90 | p99 | ratio |", manual.name, manual.pages.len());
        println!("|---|---:|---:|---:|---:|");
        let base = rows[0].1.clone();
        for (name, own) in &rows {
            let ratio = median(own.iter().zip(&base).map(|(own, base)| own / base));
            println!("| {name} | {} | {ratio:.2}x |", times(own));
        }
        if manual.name == "book" {
            let ratio = median(rows[1].1.iter().zip(&base).map(|(own, base)| own / base));
            let p99 = percentile(&rows[1].1, 99);
            println!("\nmedian at most {BOOK_RATIO}x: {}", verdict(ratio <= BOOK_RATIO));
            println!("p99 at most {BOOK_P99} ms: {}", verdict(p99 <= BOOK_P99));
        }
    }
    Ok(())
}

/// A saved page.
struct SavedPage {
    name: String,
    html: Vec<u8>,
    /// Its own host.
    host: String,
}

/// One call for each of the saved pages in `folder`; every `every`th of them. What the pages have when everything
/// has had its time is found out afterwards, of several at once: that is not timed.
pub(super) fn saved(bench: &Bench, peer: Option<&AgentBrowser>, folder: &Path, every: usize) -> anyhow::Result<()> {
    let pages = read(folder, every)?;
    let mirrors = pages.iter().map(|page| Mirror::of_page(page.html.clone(), &page.host));
    let mirrors: Vec<_> = mirrors.collect::<Result<_, _>>()?;
    let (mut calls, mut theirs) = (vec![], vec![]);
    ticking(&format!("{} saved pages", pages.len()), || {
        for mirror in &mirrors {
            calls.push(bench.extracted(&mirror.url("/"))?);
            if let Some(peer) = peer {
                theirs.push(peer.text(&mirror.url("/"))?.as_secs_f64() * 1e3);
            }
        }
        anyhow::Ok(())
    })?;
    let own: Vec<f64> = calls.iter().map(|call| call.took.as_secs_f64() * 1e3).collect();
    println!("\n| {} saved pages, dead third parties | median ms | p90 | p99 |", pages.len());
    println!("|---|---:|---:|---:|\n| browser-extract | {} |", times(&own));
    if let Some(peer) = peer {
        println!("| {} open, then text | {} |", peer.version, times(&theirs));
    }
    println!("median at most {SAVED_MEDIAN} ms: {}", verdict(percentile(&own, 50) <= SAVED_MEDIAN));
    println!("p90 at most {SAVED_P90} ms: {}", verdict(percentile(&own, 90) <= SAVED_P90));
    let wholes = ticking("the same with everything", || whole_words(bench, &mirrors))?;
    // Each page's figures, to see which are slow and why.
    let mut table = vec!["page\tms\tready\twords\tof".to_owned()];
    let mut endings = std::collections::BTreeMap::<&str, usize>::new();
    let (mut ours, mut whole) = (0, 0);
    for ((page, call), all) in pages.iter().zip(&calls).zip(&wholes) {
        table.push(format!("{}\t{}\t{}\t{}\t{all}", page.name, call.took.as_millis(), call.ending, call.words));
        *endings.entry(&call.ending).or_default() += 1;
        (ours, whole) = (ours + call.words.min(*all), whole + all);
        if lost(call.words, *all) > WORDS_LOST {
            println!("{}: {} of {all} words", page.name, call.words);
        }
    }
    println!("ended by {endings:?}");
    let met = lost(ours, whole) <= WORDS_LOST;
    println!("words kept: {ours} of {whole}, at least {}: {}", 1.0 - WORDS_LOST, verdict(met));
    let file = bench.folder.join("saved.tsv");
    fs::write(&file, table.join("\n") + "\n")?;
    println!("each page: {}", file.display());
    Ok(())
}

/// The number of words of each page after a long wait.
fn whole_words(bench: &Bench, mirrors: &[Mirror]) -> anyhow::Result<Vec<u64>> {
    let share = mirrors.len().div_ceil(AT_ONCE).max(1);
    thread::scope(|scope| {
        let work = |(part, mirrors): (usize, &[Mirror])| {
            let baseline = Baseline::start(&bench.programs, &bench.folder.join(format!("baseline-{part}")))?;
            let file = bench.folder.join(format!("whole-{part}.html"));
            let words = |mirror: &Mirror| bench.converted(&file, &baseline.html(&mirror.url("/"), EVERYTHING)?);
            mirrors.iter().map(words).collect::<anyhow::Result<Vec<_>>>()
        };
        let shares = mirrors.chunks(share).enumerate();
        let workers: Vec<_> = shares.map(|share| scope.spawn(move || work(share))).collect();
        let shares = workers.into_iter().map(|worker| worker.join().expect("no panic"));
        Ok(shares.collect::<anyhow::Result<Vec<_>>>()?.concat())
    })
}

/// The share of the words `whole` that is missing in `ours`.
fn lost(ours: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 1.0 - ours.min(whole) as f64 / whole as f64 }
}

fn times(values: &[f64]) -> String {
    [50, 90, 99].map(|percent| format!("{:.0}", percentile(values, percent))).join(" | ")
}

/// The pages `pages/*.html.gz` of a folder whose `truth.jsonl.gz` says where each is from.
fn read(folder: &Path, every: usize) -> anyhow::Result<Vec<SavedPage>> {
    let truth = String::from_utf8(unpacked(&folder.join("truth.jsonl.gz"))?)?;
    let records = truth.lines().step_by(every).map(|line| {
        let record: Value = serde_json::from_str(line)?;
        let name = record["id"].as_str().context("a page has an id")?.to_owned();
        let url = record["url"].as_str().unwrap_or_default();
        let host = url.split('/').nth(2).unwrap_or_default().to_owned();
        let html = unpacked(&folder.join("pages").join(format!("{name}.html.gz")))?;
        Ok(SavedPage { name, html, host })
    });
    records.collect()
}

fn unpacked(path: &PathBuf) -> anyhow::Result<Vec<u8>> {
    let file = fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut bytes = vec![];
    MultiGzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The result of a call of browser-extract.
struct Call {
    took: Duration,
    words: u64,
    /// The value of `ready`, or the error's code.
    ending: String,
}

impl Bench {
    fn extracted(&self, url: &str) -> anyhow::Result<Call> {
        let base = self.folder.join("saved");
        let mut tool = self.tool("extract", &["--url", url, "--kb-root"]);
        tool.arg(&base).arg("--output-dir").arg(base.join("cache/documents")).stdin(Stdio::null());
        let begun = Instant::now();
        let output = tool.output()?;
        let time = begun.elapsed();
        if output.status.success() {
            let answer: Value = serde_json::from_slice(&output.stdout)?;
            let ending = answer["ready"].as_str().unwrap_or_default().to_owned();
            return Ok(Call { took: time, words: answer["words"].as_u64().unwrap_or_default(), ending });
        }
        let error: Value = serde_json::from_slice(&output.stderr)?;
        Ok(Call { took: time, words: 0, ending: error["error_code"].as_str().unwrap_or_default().to_owned() })
    }

    /// The number of words that html-to-markdown finds in the page's HTML; 0 if it finds no content.
    fn converted(&self, file: &Path, html: &str) -> anyhow::Result<u64> {
        fs::write(file, html)?;
        let mut tool = Command::new(self.built.join("ragmaker-html-to-markdown"));
        let output = tool.arg("--path").arg(file).args(["--limit", "1"]).current_dir(&self.folder).output()?;
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        ensure!(output.status.code() != Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(answer["words"].as_u64().unwrap_or_default())
    }
}

impl AgentBrowser {
    fn links(&self, url: &str) -> anyhow::Result<Duration> {
        self.open_and(url, LINKS)
    }

    fn text(&self, url: &str) -> anyhow::Result<Duration> {
        self.open_and(url, TEXT)
    }

    /// Opens a page and evaluates a script in it. If the page does not load within agent-browser's own time limit, the
    /// command fails, but the script can still read the text.
    fn open_and(&self, url: &str, script: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let _ = self.command(&["open", url]).stdin(Stdio::null()).output()?;
        done(&mut self.command(&["eval", script]))?;
        Ok(begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn words_are_lost_where_there_are_fewer() {
        assert!((lost(75, 100) - 0.25).abs() < 1e-9);
        // More words, or a page without any, are no loss.
        for (ours, whole) in [(100, 100), (101, 100), (0, 0), (5, 0)] {
            assert!(lost(ours, whole).abs() < 1e-9, "{ours} of {whole}");
        }
    }

    #[test]
    fn saved_pages_are_read_with_their_hosts() {
        let folder = tempfile::tempdir().unwrap();
        let pack = |name: &str, text: &str| {
            let mut encoder = GzEncoder::new(vec![], Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, encoder.finish().unwrap()).unwrap();
        };
        let truth = "{\"id\": \"a\", \"url\": \"https://a.example:8080/x\"}\n{\"id\": \"b\"}\n{\"id\": \"c\"}\n";
        pack("truth.jsonl.gz", truth);
        for name in ["a", "b", "c"] {
            pack(&format!("pages/{name}.html.gz"), &format!("<p>{name}"));
        }
        let pages = read(folder.path(), 2).unwrap();
        let shown: Vec<_> =
            pages.iter().map(|page| (&*page.name, &*page.host, str::from_utf8(&page.html).unwrap())).collect();
        assert_eq!(shown, [("a", "a.example:8080", "<p>a"), ("c", "", "<p>c")]);
        fs::remove_file(folder.path().join("pages/c.html.gz")).unwrap();
        assert!(read(folder.path(), 2).is_err());
    }
}
