//! The documents of one folder of a repository of 70 MB: the number of fetched bytes, and the time.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{
    bench::harness::{median, verdict},
    process::quiet,
};

/// Bytes of the repository beside its documents, in files of a megabyte.
const SIZE: usize = 70_000_000;

/// The maximum number of seconds from a local path, and the most that is fetched of a remote one.
const GOALS: (f64, f64) = (1.0, 0.05);

pub(super) fn run(programs: &Path, folder: &Path) -> anyhow::Result<()> {
    let source = folder.join("repository");
    if !source.join(".git").exists() {
        make(&source)?;
    }
    let kb = folder.join("kb-repository");
    let fetch = |address: &str, kb: &Path| -> anyhow::Result<(f64, Value)> {
        let mut fetch = Command::new(programs.join("ragmaker-github-fetch"));
        fetch.args(["--repo-url", address, "--path-in-repo", "docs", "--kb-root"]).arg(kb);
        let started = Instant::now();
        let output = fetch.output()?;
        let seconds = started.elapsed().as_secs_f64();
        ensure!(output.status.success(), "github-fetch: {}", String::from_utf8_lossy(&output.stderr));
        Ok((seconds, serde_json::from_slice(&output.stdout)?))
    };
    let anew = |address: &str| -> anyhow::Result<(f64, Value)> {
        if kb.exists() {
            fs::remove_dir_all(&kb)?;
        }
        fetch(address, &kb)
    };
    let path = source.to_str().context("the repository's path is not UTF-8")?;
    let local: Vec<(f64, Value)> = (0..5).map(|_| anew(path)).collect::<Result<_, _>>()?;
    let seconds = median(local.iter().map(|(seconds, _)| *seconds));
    let documents = local[0].1["counts"]["added"].as_u64().unwrap_or_default();
    let (again, _) = fetch(path, &kb)?;
    let server = Server::start(folder)?;
    let address = format!("git://127.0.0.1:{}/repository", server.port);
    let (remote, answer) = anew(&address)?;
    let (unchanged, _) = fetch(&address, &kb)?;
    let whole = size(&source.join(".git"))?;
    let fetched = answer["bytes_fetched"].as_u64().unwrap_or_default();
    let share = fetched as f64 / whole as f64;
    let mut clone = Command::new("git");
    let target = folder.join("clone");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    let started = Instant::now();
    quiet("cloning all of it", clone.args(["clone", "--quiet", &address]).arg(&target))?;
    println!(
        "\n| {documents} documents of a repository of {:.0} MB | s | MB | goal |\n|---|---:|---:|---|",
        whole as f64 / 1e6
    );
    println!(
        "| from a local path, median of 5 | {seconds:.2} | 0 | at most {} s: {} |",
        GOALS.0,
        verdict(seconds <= GOALS.0)
    );
    println!("| again, nothing changed | {again:.2} | 0 | |");
    println!(
        "| from a server on loopback | {remote:.2} | {:.2} | at most {:.0} % fetched: {:.1} %, {} |",
        fetched as f64 / 1e6,
        GOALS.1 * 100.0,
        share * 100.0,
        verdict(share <= GOALS.1)
    );
    println!("| again, nothing changed | {unchanged:.2} | | |");
    println!(
        "| `git clone` of all of it | {:.2} | {:.0} | |\n",
        started.elapsed().as_secs_f64(),
        size(&target.join(".git"))? as f64 / 1e6
    );
    Ok(())
}

/// Makes the repository: documents, and files that cannot be compressed.
fn make(source: &Path) -> anyhow::Result<()> {
    for number in 0..106 {
        let line = |line: usize| format!("Line {line} of document {number} tells of the tide {}.", line * number);
        let text = (0..80).map(line).collect::<Vec<_>>().join("\n\n");
        let path = source.join(format!("docs/part-{}/document-{number}.md", number % 7));
        fs::create_dir_all(path.parent().context("it has a folder")?)?;
        fs::write(path, format!("# Document {number}\n\n{text}"))?;
    }
    fs::create_dir_all(source.join("data"))?;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for number in 0..SIZE / 1_000_000 {
        let noise: Vec<u8> = (0..1_000_000)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        fs::write(source.join(format!("data/{number}.bin")), noise)?;
    }
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=bench", "-c", "user.email=bench@x.example", "-c", "commit.gpgSign=false"]);
        quiet("making a repository", git.args(arguments).current_dir(source))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message", "x"])
}

/// The bytes of the files below `folder`.
fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// A server of the repositories in a folder, over Git's own protocol.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut daemon = Command::new("git");
        daemon.args(["daemon", "--reuseaddr", "--export-all", "--listen=127.0.0.1"]);
        daemon.arg(format!("--port={port}")).arg(format!("--base-path={}", folder.display()));
        daemon
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "uploadpack.allowFilter")
            .env("GIT_CONFIG_VALUE_0", "true");
        let child = daemon.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("git daemon does not start")?;
        let server = Self { child, port };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(started.elapsed() < Duration::from_secs(20), "git daemon does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Killed, the wrapper would leave the program that listens.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_all_folders_are_summed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for (name, size) in [("x", 1), ("a/y", 20), ("a/b/z", 300)] {
            fs::write(folder.path().join(name), vec![0; size]).unwrap();
        }
        assert_eq!(size(folder.path()).unwrap(), 321);
        assert!(size(&folder.path().join("none")).is_err());
    }
}
