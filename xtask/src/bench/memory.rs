//! The peak resident set of a process.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::process::line;

/// The peak resident set of `command` in bytes, or `None` where the system does not report it.
///
/// Read from `/proc/PID/status` while it runs: what `wait4` reports would begin with this process's
/// own peak, which a spawned process inherits until it is another program.
pub(super) fn peak(command: &mut Command) -> anyhow::Result<Option<u64>> {
    peak_of(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The same with the input and outputs that `command` has.
pub(super) fn peak_of(command: &mut Command) -> anyhow::Result<Option<u64>> {
    let mut child = command.spawn().with_context(|| format!("cannot run {}", line(command)))?;
    let file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = peak.max(fs::read_to_string(&file).ok().as_deref().and_then(high_water));
        thread::sleep(Duration::from_micros(200));
    };
    ensure!(status.success(), "{}: {status}", line(command));
    Ok(peak)
}

/// The largest sum of the resident sets of `command` and of all processes that it started, in bytes; `None` where the
/// system does not report it. It is ended after `limit`.
pub(super) fn peak_of_tree(command: &mut Command, limit: Duration) -> anyhow::Result<Option<u64>> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn().with_context(|| format!("cannot run {}", line(command)))?;
    let (mut peak, started) = (None, Instant::now());
    let group = format!("-{}", child.id());
    let end_group = || Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    loop {
        if child.try_wait()?.is_some() {
            // What it started would disturb the next measurement. An error says that nothing is left.
            let _ = end_group();
            return Ok(peak);
        }
        if started.elapsed() > limit {
            let _ = end_group();
            child.kill()?;
        }
        peak = peak.max(tree(child.id()));
        thread::sleep(Duration::from_millis(20));
    }
}

/// The sum of the resident sets of a process and of its descendants.
fn tree(pid: u32) -> Option<u64> {
    // Any thread may have started some.
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children: String =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok()).collect();
    let below = children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter_map(tree).sum::<u64>();
    Some(resident(pid)? + below)
}

/// The resident set of a running process in bytes, or `None` where the system does not report it.
pub(super) fn resident(pid: u32) -> Option<u64> {
    field(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:")
}

fn high_water(status: &str) -> Option<u64> {
    field(status, "VmHWM:")
}

/// A line such as `VmHWM:     4096 kB`, in bytes.
fn field(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(high_water("Name:\tcat\nVmHWM:\t    1780 kB\nVmRSS:\t 90 kB\n"), Some(1780 * 1024));
        assert_eq!(high_water("Name:\tcat\n"), None);
    }
}
