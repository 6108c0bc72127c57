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
        None => archive_in(&root().join("target/dist"))?,
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

/// The archive that `dist` built last in `folder`.
fn archive_in(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} is missing: run dist first", folder.display()))?;
    let archives = entries.filter_map(Result::ok).map(|entry| entry.path());
    // Those of other targets and of earlier versions stay.
    let archive = archives
        .filter(|path| path.to_string_lossy().ends_with(".tar.gz"))
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn the_archive_that_was_built_last_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let found = || archive_in(folder.path());
        assert!(archive_in(&folder.path().join("none")).unwrap_err().to_string().ends_with("run dist first"));
        fs::write(folder.path().join("a.tar.gz.sha256"), "").unwrap();
        assert!(found().unwrap_err().to_string().ends_with("run dist first"));
        for (name, seconds) in [("a.tar.gz", 1), ("c.tar.gz", 3), ("b.tar.gz", 2), ("d.tar", 4)] {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(found().unwrap(), folder.path().join("c.tar.gz"));
    }
}
