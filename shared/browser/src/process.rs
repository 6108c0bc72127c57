//! The processes of a profile, identified by an environment variable.
//!
//! The supervisor, the driver and the browser have the path of the profile in an environment variable. So they can be
//! found even if their record is lost or one of them was killed, and another process that reuses a process id is not
//! mistaken for them.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Instant,
};

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use crate::limits;

/// The environment variable that marks a process of ours; its value is the profile's folder.
pub(crate) const MARK: &str = "RAGMAKER_BROWSER_PROFILE";

/// The processes of a profile.
struct ProfileProcesses {
    /// The processes with the environment variable [`MARK`].
    marked: Vec<u32>,
    /// Helper processes of its browser. They overwrite their environment with their title, and are
    /// identified by that title.
    helpers: Vec<u32>,
}

/// The processes of the profile in `folder`, without the helpers of a browser that another program has
/// started on the profile.
fn of_profile(folder: &Path) -> ProfileProcesses {
    let mut mark = OsString::from(MARK);
    mark.push("=");
    mark.push(folder);
    let option = format!("--user-data-dir={}", folder.display());
    let mut system = System::new();
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always).with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, what.without_tasks());
    let mut found = ProfileProcesses { marked: vec![], helpers: vec![] };
    let mut is_foreign = false;
    for process in system.processes().values().filter(|process| process.pid().as_u32() != std::process::id()) {
        let pid = process.pid().as_u32();
        if process.environ().contains(&mark) {
            found.marked.push(pid);
            continue;
        }
        let line = process.cmd().join(OsStr::new(" "));
        let line = line.to_string_lossy();
        let is_on_it = line.split_once(&option).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        if is_on_it && line.contains(" --type=") {
            found.helpers.push(pid);
        }
        is_foreign |= is_on_it && !line.contains(" --type=");
    }
    if is_foreign {
        found.helpers.clear();
    }
    found
}

/// Ends every process of the profile in `folder` except `except`, and waits until they are gone. Returns
/// whether there were any.
pub(crate) fn end_all(folder: &Path, except: Option<u32>) -> bool {
    let begun = Instant::now();
    let (mut any, mut looks) = (false, 0);
    loop {
        let ProfileProcesses { mut marked, helpers } = of_profile(folder);
        marked.retain(|&pid| Some(pid) != except);
        any |= !marked.is_empty();
        // During exec, a process has no environment: an empty result is checked twice.
        looks = if marked.is_empty() && helpers.is_empty() { looks + 1 } else { 0 };
        if looks > usize::from(any) || begun.elapsed() > limits::PROCESSES_END_TIMEOUT {
            return any;
        }
        marked.into_iter().for_each(end);
        if begun.elapsed() > limits::HELPER_GRACE {
            helpers.into_iter().for_each(end);
        }
        std::thread::sleep(limits::PROCESS_END_POLL);
    }
}

/// Whether the process `pid` runs. A zombie does not run, nor does a process that is releasing its memory,
/// which takes a browser some time; its command line is empty then.
pub(crate) fn runs(pid: u32) -> bool {
    let lives = |process: &Process| {
        let is_ending = cfg!(target_os = "linux") && process.cmd().is_empty();
        !is_ending && !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead)
    };
    with(pid, ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always), lives).unwrap_or_default()
}

/// The folder of the profile for which the process `pid` was started, if it is one of ours.
pub(crate) fn profile_of(pid: u32) -> Option<PathBuf> {
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    let mark = |process: &Process| {
        let value = |entry: &OsString| {
            let (name, value) = entry.to_str()?.split_once('=')?;
            (name == MARK).then(|| PathBuf::from(value))
        };
        process.environ().iter().find_map(value)
    };
    with(pid, what, mark).flatten()
}

pub(crate) fn end(pid: u32) {
    with(pid, ProcessRefreshKind::nothing(), Process::kill);
}

/// The result of `ask` for the process `pid`; `None` if it does not exist.
fn with<T>(pid: u32, what: ProcessRefreshKind, ask: impl FnOnce(&Process) -> T) -> Option<T> {
    let pid = Pid::from_u32(pid);
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what.without_tasks());
    system.process(pid).map(ask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[cfg(unix)]
    #[test]
    fn only_marked_processes_are_found_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut ours = Command::new("sleep").arg("60").env(MARK, folder.path()).spawn().unwrap();
        let mut other = Command::new("sleep").arg("60").env(MARK, folder.path().join("x")).spawn().unwrap();
        assert_eq!(of_profile(folder.path()).marked, [ours.id()]);
        std::thread::scope(|scope| {
            scope.spawn(|| end_all(folder.path(), None));
            assert!(!ours.wait().unwrap().success());
        });
        assert!(!runs(ours.id()) && runs(other.id()));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
