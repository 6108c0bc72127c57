//! Eight writers, killed at random, and a reader: nothing acknowledged is lost, nothing is torn.
//!
//! `cargo test --test crash -- --nocapture` shows the numbers; `RAGMAKER_CRASH_FOLDER` names a
//! folder on the file system to try.

#[path = "../examples/append.rs"]
#[allow(dead_code, reason = "its main function; the writer below is its loop")]
mod append;

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use ragmaker_catalog::Catalog;
use serde_json::Value;

const WRITERS: usize = 8;
const APPENDS: usize = 200;

/// Names the catalog to the writer, which is this very executable.
const CATALOG: &str = "RAGMAKER_CRASH_CATALOG";

#[test]
fn killed_writers_lose_nothing_and_readers_see_no_torn_file() {
    // The writers are this very test, run again.
    if let Some(catalog) = std::env::var_os(CATALOG) {
        return append::append(&Catalog::at(catalog).unwrap(), |url, _| url.to_owned()).unwrap();
    }
    // Memory where there is any: what a kill does to a file does not depend on the disk.
    let place = std::env::var_os("RAGMAKER_CRASH_FOLDER").map(PathBuf::from);
    let place = place.or_else(|| Some(PathBuf::from("/dev/shm")).filter(|shm| shm.is_dir()));
    let folder = tempfile::tempdir_in(place.unwrap_or_else(std::env::temp_dir)).unwrap();
    let file = folder.path().join("catalog.json");
    let acknowledged = Mutex::new(vec![]);
    let done = AtomicBool::new(false);
    let started = Instant::now();
    let (kills, reads) = thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&done, &file, &acknowledged));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (file, acknowledged) = (&file, &acknowledged);
                scope.spawn(move || write(writer, file, acknowledged))
            })
            .collect();
        let kills: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        done.store(true, Relaxed);
        (kills, reader.join().unwrap())
    });
    let catalog = fs::read(&file).unwrap();
    let urls = urls(&catalog);
    let expected: BTreeSet<String> = (0..WRITERS).flat_map(|w| (0..APPENDS).map(move |n| url(w, n))).collect();
    assert_eq!(urls.len(), expected.len(), "no entry is doubled");
    assert_eq!(urls.into_iter().collect::<BTreeSet<_>>(), expected);
    assert!(kills > WRITERS && reads > WRITERS, "{kills} kills, {reads} reads");
    println!(
        "{WRITERS} writers x {APPENDS} appends, {kills} killed, {reads} reads, {:.1} s: nothing lost, nothing torn",
        started.elapsed().as_secs_f64()
    );
    // What the last kill left is no more than one draft, which the next writer takes away.
    Catalog::at(&file).unwrap().describe(&ragmaker_catalog::Header::default()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the catalog and its lock");
}

fn url(writer: usize, n: usize) -> String {
    format!("https://example.org/{writer}/page-{writer}-{n}")
}

/// Appends until all is acknowledged, in processes of which most are killed; says how many were.
fn write(writer: usize, file: &Path, acknowledged: &Mutex<Vec<String>>) -> usize {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(writer as u64 + 1);
    let mut next = || {
        // Xorshift: George Marsaglia, "Xorshift RNGs" (2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let (mut first, mut kills) = (0, 0);
    while first < APPENDS {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed_writers_lose_nothing_and_readers_see_no_torn_file", "--nocapture"])
            .env(CATALOG, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        let urls: String = (first..APPENDS).map(|n| url(writer, n) + "\n").collect();
        input.write_all(urls.as_bytes()).unwrap();
        drop(input);

        // It dies after so many acknowledgements, somewhere within the next append.
        let (appends, within) = (1 + next() % 8, Duration::from_micros(next() % 4000));
        let mut seen = 0;
        for line in BufReader::new(process.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            // The test harness writes here as well, also before the first URL.
            let Some(at) = line.find("https://") else { continue };
            assert_eq!(line[at..], url(writer, first), "acknowledged in order");
            acknowledged.lock().unwrap().push(line[at..].to_owned());
            first += 1;
            seen += 1;
            if seen == appends {
                let deadline = Instant::now() + within;
                while Instant::now() < deadline {
                    thread::yield_now();
                }
                process.kill().unwrap();
            }
        }
        let status = process.wait().unwrap();
        assert!(status.success() || seen >= appends, "the writer failed by itself");
        kills += usize::from(!status.success());
    }
    kills
}

/// Reads all the while; says how often.
fn read_until(done: &AtomicBool, file: &Path, acknowledged: &Mutex<Vec<String>>) -> usize {
    let mut reads = 0;
    while !done.load(Relaxed) {
        let before = acknowledged.lock().unwrap().clone();
        match fs::read(file) {
            Ok(catalog) => {
                let there: HashSet<String> = urls(&catalog).into_iter().collect();
                let lost = before.iter().find(|url| !there.contains(*url));
                assert_eq!(lost, None, "an acknowledged entry is there");
                reads += 1;
            }
            Err(error) => assert!(before.is_empty(), "{error}"),
        }
    }
    reads
}

fn urls(catalog: &[u8]) -> Vec<String> {
    let catalog: Value = serde_json::from_slice(catalog)
        .unwrap_or_else(|error| panic!("torn: {error}: {}", String::from_utf8_lossy(catalog)));
    let documents = catalog["documents"].as_array().unwrap();
    documents.iter().map(|document| document["url"].as_str().unwrap().to_owned()).collect()
}
