//! Office documents of known structure: the preserved structure, time and memory, compared with markitdown.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{
    bench::{
        harness::{median, verdict},
        memory::peak,
    },
    process::{quiet, root},
    python::environment,
};

/// The goals: the minimum F1, and the maximum milliseconds and bytes for a file.
const GOALS: (f64, f64, u64) = (0.95, 15.0, 15_000_000);

pub(super) fn run(programs: &Path, folder: &Path) -> anyhow::Result<()> {
    // With markitdown, and what writes office documents.
    let python = environment(&folder.join("python"), "xtask/src/bench/ingest_requirements.txt", &[])?;
    let script = root().join("xtask/src/bench/ingest_office.py");
    let fresh = |name: &str| -> anyhow::Result<PathBuf> {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(path)
    };
    let (documents, own, peers) = (fresh("documents")?, fresh("own")?, fresh("peer")?);
    let call = |arguments: &[&Path], command: &str| {
        let mut call = Command::new(&python);
        call.arg(&script).arg(command).args(arguments).stderr(Stdio::null());
        call
    };
    quiet("writing office documents", &mut call(&[&documents], "make"))?;
    quiet("converting them with markitdown", &mut call(&[&documents, &peers], "peer"))?;
    convert(programs, &documents, &fresh("kb")?, &own)?;
    let score = |output: &Path| -> anyhow::Result<BTreeMap<String, Vec<f64>>> {
        let scored = call(&[&documents, output], "score").output()?;
        ensure!(scored.status.success(), "the score failed");
        let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for line in String::from_utf8(scored.stdout)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            let name = line["name"].as_str().context("a score without a name")?;
            let kind = name.split('-').next().unwrap_or_default().to_owned();
            kinds.entry(kind).or_default().push(line["f1"].as_f64().unwrap_or_default());
        }
        Ok(kinds)
    };
    let (own, peers) = (score(&own)?, score(&peers)?);
    println!("\n| structure F1 | documents | ours | markitdown | goal |\n|---|---:|---:|---:|---|");
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let row = |name: &str, own: &[f64], peers: &[f64]| {
        let (ours, theirs) = (mean(own), mean(peers));
        // Where theirs is complete, nothing can be above it.
        let is_complete = ours > 1.0 - 1e-9;
        let met = verdict(ours >= GOALS.0 && (ours > theirs || is_complete));
        let goal = if is_complete && ours <= theirs {
            "1, as theirs".to_owned()
        } else {
            format!("at least {} and above theirs", GOALS.0)
        };
        println!("| {name} | {} | {ours:.3} | {theirs:.3} | {goal}: {met} |", own.len());
    };
    for (kind, own) in &own {
        row(kind, own, &peers[kind]);
    }
    let read = |kinds: &BTreeMap<String, Vec<f64>>| -> Vec<f64> {
        let kinds = kinds.iter().filter(|(kind, _)| peers[*kind].iter().any(|f1| *f1 > 0.0));
        kinds.flat_map(|(_, values)| values.clone()).collect()
    };
    row("all that both read", &read(&own), &read(&peers));
    costs(programs, folder, &documents, &python, &script)
}

/// Saves the documents with our tool, and writes what it saved without its front matter to `output`.
fn convert(programs: &Path, documents: &Path, kb: &Path, output: &Path) -> anyhow::Result<()> {
    let mut sync = Command::new(programs.join("ragmaker-file-sync"));
    sync.arg("--source-dir").arg(documents).arg("--kb-root").arg(kb).args([
        "--jsonl",
        "--no-ignore",
        "--exclude",
        "truth.json",
    ]);
    let synced = sync.output()?;
    ensure!(synced.status.success(), "file-sync: {}", String::from_utf8_lossy(&synced.stderr));
    for line in String::from_utf8(synced.stdout)?.lines() {
        let page: Value = serde_json::from_str(line)?;
        let Some(file) = page["file_path"].as_str() else {
            println!("note: {page}");
            continue;
        };
        let text = fs::read_to_string(file)?;
        let name = page["url"].as_str().and_then(|url| url.rsplit('/').next()).context("a page without an address")?;
        fs::write(output.join(format!("{name}.md")), body(&text))?;
    }
    Ok(())
}

/// A saved document without its front matter.
fn body(text: &str) -> &str {
    text.splitn(3, "---\n").nth(2).unwrap_or_default()
}

/// Prints the time and the memory for one file, each in a separate process.
fn costs(programs: &Path, folder: &Path, documents: &Path, python: &Path, script: &Path) -> anyhow::Result<()> {
    println!(
        "\n| one file, a process | ms, median of 5 | MB, peak | markitdown ms | MB | goal |\n|---|---:|---:|---:|---:|---|"
    );
    for kind in ["docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "ipynb"] {
        let name = format!("{kind}-0.{kind}");
        // As theirs: read, converted and printed. What saving takes is the disk's time.
        let ours = || -> anyhow::Result<Command> {
            let mut read = Command::new(programs.join("ragmaker-read-file"));
            read.arg("--path").arg(documents.join(&name)).args(["--no-ignore", "--project-root"]).arg(folder);
            Ok(read)
        };
        let theirs = || -> anyhow::Result<Command> {
            let mut call = Command::new(python);
            call.arg(script).arg("markitdown").arg(documents.join(&name));
            Ok(call)
        };
        let time = |make: &dyn Fn() -> anyhow::Result<Command>, rounds: usize| -> anyhow::Result<f64> {
            let mut times = vec![];
            for _ in 0..rounds {
                let mut command = make()?;
                command.stdout(Stdio::null()).stderr(Stdio::null());
                let started = Instant::now();
                let _ = command.status()?;
                times.push(started.elapsed().as_secs_f64() * 1e3);
            }
            Ok(median(times.into_iter()))
        };
        let (ms, peer_ms) = (time(&ours, 5)?, time(&theirs, 2)?);
        let bytes = peak(&mut ours()?)?.unwrap_or_default();
        // It fails on kinds that it does not read.
        let peer_bytes = peak(&mut theirs()?).ok().flatten().unwrap_or_default();
        let met = verdict(ms <= GOALS.1 && bytes <= GOALS.2);
        println!(
            "| {kind} | {ms:.1} | {:.1} | {peer_ms:.0} | {:.0} | at most {} ms and {} MB: {met} |",
            bytes as f64 / 1e6,
            peer_bytes as f64 / 1e6,
            GOALS.1,
            GOALS.2 / 1_000_000
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_is_not_scored() {
        assert_eq!(body("---\ntitle: \"a\"\n---\n\n# A\n\n---\n\nb\n"), "\n# A\n\n---\n\nb\n");
        assert_eq!(body("# no front matter\n"), "");
    }
}
