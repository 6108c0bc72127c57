//! An append to a catalog, compared with an atomic and synced write of the same bytes.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::harness::{Subject, compare};

/// Documents in the catalog, how often an append to it is measured, and the most that it may cost, as
/// a ratio to the plain write.
const SIZES: [(usize, usize, f64); 3] = [(100, 101, 1.5), (10_000, 41, 1.5), (100_000, 21, 2.5)];
/// Appends before that.
const WARM_UP: usize = 3;

/// Prints the cost of appends and of plain writes, taken in turn, and the run with kills.
pub(crate) fn run() -> Result<()> {
    let writer = build()?;
    // Beside the executable: a disk, where the system's temporary folder may be memory.
    let folder = writer.with_file_name("bench-catalog");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for (documents, rounds, goal) in SIZES {
        measure(&writer, &folder, documents, rounds, goal)?;
    }
    let kills = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--package", "ragmaker-catalog", "--test", "crash", "--", "--nocapture"])
        .env("RAGMAKER_CRASH_FOLDER", &folder)
        .status()?;
    ensure!(kills.success(), "writers that were killed lost something");
    Ok(fs::remove_dir_all(&folder)?)
}

/// Builds the optimized program that appends entries, and returns its path.
fn build() -> Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "ragmaker-catalog", "--example", "append"])
        .args(["--message-format", "json"])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the writer does not build");
    let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let executable = messages.flatten().find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.context("cargo names no executable")
}

fn measure(writer: &Path, folder: &Path, documents: usize, rounds: usize, goal: f64) -> Result<()> {
    let file = folder.join("catalog.json");
    fs::write(&file, catalog(documents))?;
    let bytes = fs::read(&file)?;
    let mut process = Command::new(writer).arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut urls = process.stdin.take().context("no input")?;
    let mut acknowledged = BufReader::new(process.stdout.take().context("no output")?);

    let mut appended = 0;
    let append = || {
        appended += 1;
        append_one(&mut urls, &mut acknowledged, appended)
    };
    compare(
        &format!("{documents} documents, {:.2} MB", bytes.len() as f64 / 1e6),
        WARM_UP,
        rounds,
        Duration::ZERO,
        vec![
            Subject::new("write, fsync and rename of the same bytes", || timed(|| write(folder, &bytes))),
            Subject::new("append: lock, check, write, fsync, rename", append).at_most(goal),
        ],
    )?;
    drop(urls);
    ensure!(process.wait()?.success(), "the writer failed");
    let result: Value = serde_json::from_slice(&fs::read(&file)?)?;
    ensure!(result["documents"].as_array().map(Vec::len) == Some(documents + WARM_UP + rounds), "an append is missing");
    Ok(())
}

/// A catalog as the tools make it, with documents of the size that real ones have.
fn catalog(documents: usize) -> String {
    let entry = |n: usize| {
        let entry = json!({
            "url": format!("https://docs.example.org/guide/section-{}/page-{n}.html", n % 97),
            "title": format!("Page {n}: how to configure the “frobnicator” \"quickly\""),
            "path": format!("../pages/docs-example-org-guide-section-{}-page-{n}-{n:08x}.md", n % 97),
            "summary": "What an agent wrote about the page, in one or two sentences of the usual length.",
            "fetched_at": "2026-01-02T03:04:05Z",
        });
        format!("    {entry}")
    };
    format!("{{\n  \"documents\": [\n{}\n  ]\n}}\n", (0..documents).map(entry).collect::<Vec<_>>().join(",\n"))
}

/// Lets the writer append an entry, and returns the time it took there, without the pipes between.
fn append_one(urls: &mut ChildStdin, acknowledged: &mut BufReader<ChildStdout>, number: usize) -> Result<Duration> {
    let url = format!("https://docs.example.org/new/{number}");
    writeln!(urls, "{url}")?;
    let mut line = String::new();
    acknowledged.read_line(&mut line)?;
    noted_time(&line, &url).with_context(|| format!("{url:?} was not acknowledged: {line:?}"))
}

/// The time that the writer notes behind `url`, in nanoseconds.
fn noted_time(line: &str, url: &str) -> Option<Duration> {
    let time = line.trim_end().strip_prefix(url)?.strip_prefix(' ')?;
    Some(Duration::from_nanos(time.parse().ok()?))
}

/// Replaces a file atomically and synced, as a catalog is replaced.
fn write(folder: &Path, bytes: &[u8]) -> Result<()> {
    let draft = folder.join("plain.tmp");
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(fs::rename(draft, folder.join("plain"))?)
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_has_as_many_documents_as_were_asked_for() {
        for count in [1, 250] {
            let catalog: Value = serde_json::from_str(&catalog(count)).unwrap();
            let documents = catalog["documents"].as_array().unwrap();
            let distinct = |name: &str| {
                documents.iter().filter_map(|one| one[name].as_str()).collect::<std::collections::BTreeSet<_>>().len()
            };
            assert_eq!((documents.len(), distinct("url"), distinct("path")), (count, count, count));
        }
    }

    #[test]
    fn a_time_belongs_to_the_whole_url() {
        let url = "https://x.example/1";
        assert_eq!(noted_time("https://x.example/1 1500\n", url), Some(Duration::from_nanos(1_500)));
        for line in [
            "https://x.example/12 1500\n",
            "https://x.example/2 1500\n",
            "https://x.example/11500\n",
            "https://x.example/1 late\n",
            "",
        ] {
            assert_eq!(noted_time(line, url), None, "{line:?}");
        }
    }
}
