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
    let took = line.trim_end().strip_prefix(&url).and_then(|rest| rest.trim_start().parse().ok());
    Ok(Duration::from_nanos(took.with_context(|| format!("{url:?} was not acknowledged: {line:?}"))?))
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
