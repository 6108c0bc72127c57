//! The file tools compared with `cat`, `tail`, `ls` and ripgrep: time, memory, and equality of the results.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::release_build;
use crate::process::needed;

/// A comparison and its goals.
struct Row {
    what: &'static str,
    ours: Command,
    theirs: Command,
    runs: usize,
    /// The maximum ratio of our time to theirs.
    goal: f64,
    /// The maximum memory, in megabytes.
    memory: Option<f64>,
}

/// Builds the tools, makes the files, runs each comparison side by side and prints the table.
pub(super) fn run() -> Result<()> {
    // Before a build of minutes and 3 GB of files.
    for (program, provider) in [("cat", "coreutils"), ("tail", "coreutils"), ("ls", "coreutils"), ("rg", "ripgrep")] {
        needed(program, provider)?;
    }
    let tools = release_build(&["read-file", "search-file-content", "list-directory"])?;
    let data = Data::make(tools)?;
    println!("{:<42} {:>10} {:>10} {:>7} {:>6}  memory", "what", "ours ms", "theirs ms", "ratio", "goal");
    for row in data.rows()? {
        row.measure()?;
    }
    data.compare_matches()
}

/// The files that are measured with; made once and kept in the directory for temporary files.
struct Data {
    root: PathBuf,
    tools: PathBuf,
}

impl Data {
    fn make(tools: PathBuf) -> Result<Self> {
        let root = env::temp_dir().join("ragmaker-bench-files");
        let data = Self { root, tools };
        if data.root.join("made").exists() {
            return Ok(data);
        }
        fs::create_dir_all(&data.root)?;
        fs::write(data.root.join("small.md"), "A line of a small file.\n".repeat(40))?;
        data.lines("100mb.txt", 100)?;
        data.lines("2gb.txt", 2000)?;
        fs::create_dir_all(data.root.join("many"))?;
        for number in 0..100_000 {
            fs::write(data.root.join(format!("many/entry-{number:06}.txt")), "")?;
        }
        data.tree()?;
        fs::write(data.root.join("made"), "")?;
        Ok(data)
    }

    fn lines(&self, name: &str, megabytes: usize) -> Result<()> {
        let mut out = BufWriter::new(fs::File::create(self.root.join(name))?);
        let mut written = 0;
        for number in 0.. {
            let line = format!("{number:09} a line of a large file, as a log has them, with some text in it\n");
            written += line.len();
            out.write_all(line.as_bytes())?;
            if written >= megabytes * 1_000_000 {
                break;
            }
        }
        Ok(out.flush()?)
    }

    /// 50,000 files of about 1 GB in 500 directories; one in a hundred has the word that is searched for.
    fn tree(&self) -> Result<()> {
        let line = "The quick brown fox jumps over the lazy dog, again and again and again.\n";
        for number in 0..50_000 {
            let directory = self.root.join(format!("tree/{:03}", number % 500));
            fs::create_dir_all(&directory)?;
            let word = if number % 100 == 0 { "a needle in it\n" } else { "no such thing\n" };
            fs::write(directory.join(format!("{number}.txt")), line.repeat(280) + word)?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let tool = |name: &str, arguments: &[&str]| {
            let mut command = Command::new(self.tools.join(name));
            command.args(arguments).current_dir(&self.root);
            command
        };
        let theirs = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&self.root);
            command
        };
        let search = "ragmaker-search-file-content";
        let mut rows = vec![
            Row {
                what: "read-file, small file : cat",
                ours: tool("ragmaker-read-file", &["--path", "small.md"]),
                theirs: theirs("cat", &["small.md"]),
                runs: 300,
                goal: 1.5,
                memory: None,
            },
            Row {
                what: "read-file, last 100 lines of 2 GB : tail",
                ours: tool("ragmaker-read-file", &["--path", "2gb.txt", "--tail", "100"]),
                theirs: theirs("tail", &["-n", "100", "2gb.txt"]),
                runs: 100,
                goal: 2.0,
                memory: Some(8.0),
            },
            Row {
                what: "read-file, 100 MB whole : cat",
                ours: tool("ragmaker-read-file", &["--path", "100mb.txt", "--limit", "1000000000"]),
                theirs: theirs("cat", &["100mb.txt"]),
                runs: 7,
                goal: f64::INFINITY,
                memory: Some(16.0),
            },
            Row {
                what: "list-directory, 100,000 entries : ls -la",
                ours: tool("ragmaker-list-directory", &["--path", "many", "--limit", "100000"]),
                theirs: theirs("ls", &["-la", "many"]),
                runs: 9,
                goal: 1.2,
                memory: None,
            },
            Row {
                what: "search, 50,000 files, 1 GB : rg --json",
                ours: tool(search, &["--path", "tree", "--pattern", "needle", "--limit", "1000000"]),
                theirs: theirs("rg", &["--json", "needle", "tree"]),
                runs: 5,
                goal: 1.2,
                memory: None,
            },
        ];
        if let Some(cache) = crates_cache() {
            let cache = cache.to_str().context("the path of the crates cache is not UTF-8")?.to_owned();
            rows.push(Row {
                what: "search, the crates cache : rg --json",
                ours: tool(
                    search,
                    &["--path", &cache, "--allow-root", &cache, "--pattern", "Ordering::Acq", "--limit", "1000000"],
                ),
                // An allowed root is searched with what its ignore files list.
                theirs: theirs("rg", &["--json", "--no-ignore", "Ordering::Acq", &cache]),
                runs: 5,
                goal: 1.2,
                memory: None,
            });
        }
        Ok(rows)
    }

    /// Whether ripgrep's matches and ours are the same lines of the same files.
    fn compare_matches(&self) -> Result<()> {
        let Some(cache) = crates_cache() else { return Ok(()) };
        let cache = cache.to_str().context("the path of the crates cache is not UTF-8")?;
        for pattern in ["Ordering::Acq", "unsafe \\w+"] {
            let ours = Command::new(self.tools.join("ragmaker-search-file-content"))
                .args(["--path", cache, "--allow-root", cache, "--pattern", pattern, "--limit", "100000000"])
                .output()?;
            let ours: Value = serde_json::from_slice(&ours.stdout)?;
            let mut lines = BTreeMap::<(String, u64), i8>::new();
            for found in ours["matches"].as_array().context("matches")? {
                let path = found["path"].as_str().unwrap_or_default().to_owned();
                lines.insert((path, found["line"].as_u64().unwrap_or_default()), 1);
            }
            let theirs = Command::new("rg").args(["--json", "--no-ignore", pattern, cache]).output()?;
            for line in theirs.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let message: Value = serde_json::from_slice(line)?;
                if message["type"] == "match" {
                    let data = &message["data"];
                    let path = data["path"]["text"].as_str().unwrap_or_default().to_owned();
                    *lines.entry((path, data["line_number"].as_u64().unwrap_or_default())).or_default() += 2;
                }
            }
            let count = |side: i8| lines.values().filter(|&&sides| sides == side).count();
            println!("{pattern}: {} lines by both, {} by us alone, {} by rg alone", count(3), count(1), count(2));
            for ((path, line), _) in lines.iter().filter(|(_, sides)| **sides == 2).take(5) {
                println!("  rg alone: {path}:{line}");
            }
        }
        Ok(())
    }
}

fn crates_cache() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    fs::read_dir(home.join("registry/src")).ok()?.next()?.ok().map(|entry| entry.path())
}

impl Row {
    fn measure(mut self) -> Result<()> {
        let (mut ours, mut theirs, mut ratios, mut memory) = (vec![], vec![], vec![], 0.0_f64);
        // Once each before, so that both read from memory.
        timed(&mut self.ours)?;
        timed(&mut self.theirs)?;
        for _ in 0..self.runs {
            let (time, megabytes) = timed(&mut self.ours)?;
            memory = memory.max(megabytes);
            let (other, _) = timed(&mut self.theirs)?;
            // What disturbs the machine disturbs both of a pair.
            ratios.push(time / other);
            ours.push(time);
            theirs.push(other);
        }
        let (ours, theirs, ratio) = (median(ours), median(theirs), median(ratios));
        let goal = if self.goal.is_finite() { format!("{:.1}", self.goal) } else { "-".to_owned() };
        let memory_goal = self.memory.map_or_else(String::new, |most| format!(" (goal {most} MB)"));
        println!("{:<42} {ours:>10.2} {theirs:>10.2} {ratio:>7.2} {goal:>6}  {memory:.1} MB{memory_goal}", self.what);
        Ok(())
    }
}

/// The run time of a process whose output is read through a pipe, in milliseconds, and its peak memory, in megabytes.
fn timed(command: &mut Command) -> Result<(f64, f64)> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut out = child.stdout.take().context("standard output")?;
    let mut block = vec![0; 1 << 16];
    let (mut memory, mut looked) = (0.0_f64, Duration::ZERO);
    while out.read(&mut block)? > 0 {
        let before = Instant::now();
        memory = memory.max(high_water(&status).unwrap_or_default());
        looked += before.elapsed();
    }
    ensure!(child.wait()?.success(), "{command:?} failed");
    Ok((started.elapsed().saturating_sub(looked).as_secs_f64() * 1000.0, memory))
}

fn high_water(status: &Path) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1000.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_the_memory_is_read_in_megabytes() {
        let folder = tempfile::tempdir().unwrap();
        let status = folder.path().join("status");
        assert_eq!(high_water(&status), None);
        for (text, megabytes) in [
            ("Name:\tcat\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n", Some(2.048)),
            ("Name:\tVmHWM: 5 kB\n", None),
            ("VmHWM:\t many kB\n", None),
        ] {
            fs::write(&status, text).unwrap();
            assert_eq!(high_water(&status), megabytes, "{text}");
        }
    }

    #[test]
    fn one_slow_run_does_not_change_the_median() {
        for (times, expected) in [(vec![3.0, 1000.0, 1.0], 3.0_f64), (vec![2.0], 2.0)] {
            assert_eq!(median(times).total_cmp(&expected), std::cmp::Ordering::Equal);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_fails_is_not_measured() {
        assert!(timed(Command::new("sh").args(["-c", "echo a"])).unwrap().0 > 0.0);
        assert!(timed(Command::new("sh").args(["-c", "exit 1"])).is_err());
    }
}
