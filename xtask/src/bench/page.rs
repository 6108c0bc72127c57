//! The page of a knowledge base in Chromium: its size, how long it takes to open, and how long from a key in its
//! search until what it finds is painted.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::ensure;
use ragmaker_packages::Browser;

use super::{
    baseline::Baseline,
    harness::{median, percentile, verdict},
    release_build,
    search::{self, SearchSet},
};
use crate::{
    process::{quiet, root},
    setup,
};

/// The maximum number of milliseconds from the order to load the page until its list is drawn and its texts are
/// prepared.
const OPEN: f64 = 1_000.0;
/// The maximum number of milliseconds of a key.
const KEY: f64 = 50.0;
/// The most that the page has of the documents.
const SIZE: f64 = 3.0;
/// How often each page is opened.
const ROUNDS: usize = 3;
/// The least documents.
const DOCUMENTS: usize = 2_000;

/// Waits until the page has prepared its texts for the search and is drawn: nobody types into a page before seeing it.
/// The callback of the second frame comes when the first is finished.
const READY: &str = "new Promise((done) => {
  const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
  const look = () => (document.documentElement.dataset.ready ? drawn() : setTimeout(look, 5));
  look();
})";

/// Notes for each key how long it takes until its search has ended and the frame with its result was painted.
const WATCH: &str = "(() => {
  window.keys = [];
  const list = document.getElementById('list');
  document.getElementById('query').addEventListener('input', ({ timeStamp }) => {
    const painted = new MessageChannel();
    painted.port1.onmessage = () => window.keys.push(performance.now() - timeStamp);
    const wait = () => {
      if (list.hasAttribute('aria-busy')) setTimeout(wait, 0);
      else requestAnimationFrame(() => painted.port2.postMessage(null));
    };
    wait();
  });
})()";

pub(super) fn run(sets: &[PathBuf]) -> anyhow::Result<()> {
    let programs = &setup::programs()?;
    let tool = release_build(&["show-knowledge-base"])?.join("ragmaker-show-knowledge-base");
    let folder = root().join("target/bench/page");
    fs::create_dir_all(&folder)?;
    for set in search::sets(sets)? {
        one(programs, &tool, &set, &folder)?;
    }
    Ok(())
}

fn one(programs: &Browser, tool: &Path, set: &SearchSet, folder: &Path) -> anyhow::Result<()> {
    let copies = DOCUMENTS.div_ceil(set.documents.len());
    let base = folder.join(&set.name);
    let bytes = search::write(set, &base, copies)?;
    let file = base.join("page.html");
    let mut show = Command::new(tool);
    show.arg("--kb-root").arg(&base).arg("--output").arg(&file).env("RAGMAKER_PROJECT_ROOT", &base);
    quiet("making the page", &mut show)?;
    let url = format!("file://{}", file.display());
    let (mut opened, mut keys, mut first, mut busy) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        // A browser of its own: what it compiled and kept would make the next one faster.
        let baseline = Baseline::start(programs, &folder.join("profile"))?;
        // It is open when it is drawn and a key in its search finds all texts prepared.
        let (loaded, preparing) = (baseline.load(&url)?, Instant::now());
        baseline.value(READY)?;
        opened.push((loaded + preparing.elapsed()).as_secs_f64() * 1e3);
        baseline.watch()?;
        baseline.value(WATCH)?;
        baseline.value("document.getElementById('query').focus()")?;
        for (number, question) in set.questions.iter().step_by((set.questions.len() / 5).max(1)).take(5).enumerate() {
            let before = baseline.busy()?;
            for key in question.text.chars().take(20) {
                baseline.insert(&key.to_string())?;
                // A fast typist's pace.
                std::thread::sleep(Duration::from_millis(70));
            }
            let wait = "new Promise(done => setTimeout(() => done(window.keys.splice(0)), 300))";
            let times = baseline.value(wait)?;
            let times: Vec<f64> =
                times.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
            ensure!(!times.is_empty(), "no key was noted");
            busy.push((baseline.busy()? - before) * 1e3 / times.len() as f64);
            first.extend((number == 0).then_some(times[0]));
            keys.extend(times);
            baseline.value("document.getElementById('query').select()")?;
        }
        fs::remove_dir_all(folder.join("profile"))?;
    }
    let (documents, size) = (set.documents.len() * copies, fs::metadata(&file)?.len() as f64 / bytes as f64);
    println!(
        "\n| the page of {}: {documents} documents, {:.1} MB | | goal |\n|---|---:|---|",
        set.name,
        bytes as f64 / 1e6
    );
    let row = |what: &str, value: f64, goal: f64| {
        println!("| {what} | {value:.2} | {goal}: {} |", verdict(value <= goal));
    };
    row("size, of the documents", size, SIZE);
    row("opened, median ms", median(opened.iter().copied()), OPEN);
    row("first key, the slowest, ms", first.iter().copied().fold(0.0, f64::max), KEY);
    row("a key, processor time of the page, mean ms", busy.iter().sum::<f64>() / busy.len() as f64, KEY);
    row("a key, median ms", median(keys.iter().copied()), KEY);
    row("a key, 95th percentile, ms", percentile(&keys, 95), KEY);
    Ok(())
}
