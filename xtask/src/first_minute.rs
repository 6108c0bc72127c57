//! `first-minute`: the first minute of somebody who has only the archive of `dist`: it is unpacked in an empty home folder,
//! the machine is checked, and the steps of the quick start are taken, without a model. Each step is timed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use argh::FromArgs;
use ragmaker_tests::site::Site;

use crate::process::{root, run_visibly};

/// Unpack the archive of `dist` in an empty home folder, and take the steps of the quick start, with times.
#[derive(FromArgs)]
#[argh(subcommand, name = "first-minute", help_triggers("-h", "--help"))]
pub(crate) struct Arguments {
    /// the archive (default: the one in target/dist)
    #[argh(positional)]
    archive: Option<PathBuf>,
}

/// The times that are shown, and the limit of each in seconds.
const GOALS: [(&str, u64); 3] =
    [("unpack to first answer of read-file", 5), ("unpack to first answer of browser-navigate", 10), ("all steps", 60)];

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let archive = match &arguments.archive {
        Some(archive) => archive.clone(),
        None => in_dist()?,
    };
    let home = env::temp_dir().join(format!("ragmaker-first-minute-{}", std::process::id()));
    fs::create_dir(&home).with_context(|| format!("cannot make {}", home.display()))?;
    let newcomer = Newcomer { home: home.clone() };
    let times = newcomer.take_steps(&archive);
    // The browser writes in the home folder until it is closed.
    let _ = newcomer.output(&["browser-close"]);
    fs::remove_dir_all(&home).with_context(|| format!("cannot remove {}", home.display()))?;
    let times = times?;
    println!("\n| archive, browser present | seconds | goal |\n|---|---:|---:|");
    for ((what, goal), time) in GOALS.iter().zip(times) {
        println!("| {what} | {:.1} | {goal} |", time.as_secs_f64());
    }
    Ok(())
}

/// The archive that `dist` built.
fn in_dist() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/dist");
    let entries = fs::read_dir(&folder).with_context(|| format!("{} is missing: run dist first", folder.display()))?;
    let mut archives = entries.filter_map(Result::ok).map(|entry| entry.path());
    let archive = archives.find(|path| path.to_string_lossy().ends_with(".tar.gz"));
    archive.with_context(|| format!("{} has no archive: run dist first", folder.display()))
}

/// A user whose home folder is empty.
struct Newcomer {
    home: PathBuf,
}

impl Newcomer {
    /// Takes all steps, and returns the times of [`GOALS`].
    fn take_steps(&self, archive: &Path) -> anyhow::Result<[Duration; 3]> {
        let site = Site::start();
        let begun = Instant::now();
        self.unpack(archive)?;
        fs::write(self.home.join("notes.md"), "High water at noon.\n")?;
        let unpacked = begun.elapsed();
        let read = self.timed(&["read-file", "--path", "notes.md"], "High water")?;
        let setup = self.timed(&["setup", "--yes"], "ChromeDriver")?;
        let doctor = self.timed(&["doctor"], "opens a page")?;
        let page = site.url("/book/");
        let navigate = self.timed(&["browser-navigate", "--url", &page], "\"links\"")?;
        let gather = ["http-fetch", "--url", &page, "--section", "--max-pages", "20", "--kb-root", "kb/book"];
        let gathered = self.timed(&gather, "\"counts\"")?;
        let search = ["search-knowledge-base", "--query", "When does a closure need move?"];
        let found = self.timed(&search, "closures")?;
        let show = ["show-knowledge-base", "--kb-root", "kb/book", "--output", "book.html"];
        let shown = self.timed(&show, "book.html")?;
        // Without a key, the workflow says what to set, and what works without one.
        let refused = self.output(&["rag", &page])?;
        let said = String::from_utf8_lossy(&refused.stderr);
        ensure!(refused.status.code() == Some(1) && said.contains("RAGMAKER_MODEL"), "rag without a key: {said}");
        let all = [unpacked, read, setup, doctor, navigate, gathered, found, shown].iter().sum();
        Ok([unpacked + read, unpacked + navigate, all])
    }

    /// Unpacks the archive as docs/install.md says.
    fn unpack(&self, archive: &Path) -> anyhow::Result<()> {
        let prefix = self.home.join(".local");
        fs::create_dir_all(&prefix)?;
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).args(["--strip-components", "1", "-C"]).arg(&prefix);
        run_visibly(&mut tar)
    }

    /// Runs a command, whose output has to contain `expected`, and returns its time.
    fn timed(&self, words: &[&str], expected: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let output = self.output(words)?;
        let time = begun.elapsed();
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success() && said.contains(expected),
            "ragmaker {}: {said}{}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{:5.1} s  ragmaker {}", time.as_secs_f64(), words.join(" "));
        Ok(time)
    }

    /// What a command prints for this user, whose environment has nothing else.
    fn output(&self, words: &[&str]) -> anyhow::Result<Output> {
        let program = self.home.join(".local/bin/ragmaker");
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.home.join(".local/bin")].into_iter().chain(env::split_paths(&path));
        let mut command = Command::new(&program);
        command.args(words).current_dir(&self.home).env_clear().env("HOME", &self.home);
        command.env("PATH", env::join_paths(folders)?);
        command.output().with_context(|| format!("cannot run {}", program.display()))
    }
}
