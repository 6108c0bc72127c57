//! The launcher: creates the namespaces and starts the first process in them.
//!
//! It ends everything when the caller ends or requests it.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Seek, Write},
    os::fd::{AsRawFd, OwnedFd},
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use nix::sched::CloneFlags;
use rustix::{
    fs::{Mode, OFlags},
    io::FdFlags,
    process::{Pid, Signal, kill_process, set_child_subreaper},
    thread::{CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set, set_capabilities},
};

use crate::{
    mounts,
    plan::{INNER, LAYERS, Plan, Report},
    wait::ends_within,
};

/// The interval at which the lock is checked.
const PAUSE: Duration = Duration::from_millis(30);

pub(crate) fn run(plan: &Plan, command: &[OsString]) -> ExitCode {
    let folder = Folder::of(plan);
    let exit = match launch(plan, command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let report = Report { failed: Some(error.to_string()), has_ended: true, ..Report::default() };
            if let Ok(mut file) = File::options().write(true).truncate(true).open(&plan.report) {
                let _ = serde_json::to_writer(&mut file, &report);
            }
            ExitCode::FAILURE
        }
    };
    if let Some(folder) = folder {
        folder.remove();
    }
    exit
}

/// The folder of the report and of the command's temporary files. The caller removes it, unless the caller was
/// killed.
struct Folder {
    /// The parent folder, opened before the new mounts: later its path leads elsewhere.
    around: OwnedFd,
    name: OsString,
}

impl Folder {
    fn of(plan: &Plan) -> Option<Self> {
        let path = plan.report.parent()?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let around = rustix::fs::open(path.parent()?, flags, Mode::empty()).ok()?;
        Some(Self { around, name: path.file_name()?.to_owned() })
    }

    /// Removes it. The caller reads the report through its open file.
    fn remove(self) {
        if rustix::process::fchdir(&self.around).is_ok() {
            let _ = fs::remove_dir_all(&self.name);
        }
    }
}

fn launch(plan: &Plan, command: &[OsString]) -> io::Result<()> {
    // The file is opened twice: once to wait for its lock, once for the report, because its path is not
    // reachable later.
    let lease = File::open(&plan.report)?;
    let mut report = File::options().read(true).write(true).open(&plan.report)?;
    // Processes that call setsid and are orphaned become children of this process, which can then find them.
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let uses = |layer: &str| !plan.policy.without.iter().any(|name| name == layer);
    let namespaces = uses("namespaces") && enter(plan.policy.network);
    let mounts = namespaces && mounts::set_up(plan).is_ok();
    rustix::io::fcntl_setfd(&report, FdFlags::empty())?;
    let mut inner = Command::new("/proc/self/exe");
    inner.arg(INNER).arg(serde_json::to_string(plan)?).args(command);
    inner.env(LAYERS, format!("{namespaces},{mounts},{}", report.as_raw_fd()));
    let mut child = inner.spawn().map_err(|error| io::Error::other(format!("cannot start a process: {error}")))?;
    // A process with children in another PID namespace cannot have threads, so it polls the lock. The caller
    // holds the lock until it requests the end or exits.
    while !ends_within(&mut child, Some(PAUSE))? {
        if lease.try_lock_shared().is_ok() {
            child.kill()?;
        }
    }
    let status = child.wait()?;
    // In a PID namespace, the kernel has ended all processes. There, /proc already shows the process ids of
    // that namespace, which denote other processes here.
    if !namespaces {
        end_descendants();
    }
    if !status.success() {
        let mut text = String::new();
        report.rewind()?;
        report.read_to_string(&mut text)?;
        if !serde_json::from_str::<Report>(&text).is_ok_and(|report| report.has_ended) {
            return Err(io::Error::other(format!("the confined process ended with {status}")));
        }
    }
    Ok(())
}

/// Enters new namespaces as the current user; false if that is not allowed.
fn enter(network: bool) -> bool {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut flags =
        CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !network {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    if nix::sched::unshare(flags).is_err() {
        return false;
    }
    let write = |file: &str, text: &str| File::options().write(true).open(file)?.write_all(text.as_bytes());
    // Required before an ordinary user may map its group.
    let _ = write("/proc/self/setgroups", "deny");
    let mapped = write("/proc/self/uid_map", &format!("{uid} {uid} 1"))
        .and_then(|()| write("/proc/self/gid_map", &format!("{gid} {gid} 1")));
    // Without this, the next program loses its rights in the namespaces, unless the user is root.
    let _ = keep(CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP);
    mapped.is_ok()
}

/// Passes capabilities on to the next program.
fn keep(kept: CapabilitySet) -> rustix::io::Result<()> {
    let sets = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: kept, ..sets })?;
    kept.iter().try_for_each(|one| configure_capability_in_ambient_set(one, true))
}

/// Kills every descendant of this process until none is left.
fn end_descendants() {
    for _ in 0..100 {
        let found = descendants();
        if found.is_empty() {
            return;
        }
        for pid in found.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
        thread::sleep(Duration::from_millis(2));
    }
}

fn descendants() -> Vec<i32> {
    let parent = |pid: i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The program name in parentheses may contain any characters.
        let mut rest = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let is_dead = rest.next()? == "Z";
        let parent: i32 = rest.next()?.parse().ok()?;
        Some((parent, is_dead))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let parents: std::collections::BTreeMap<i32, (i32, bool)> =
        pids.iter().filter_map(|pid| Some((*pid, parent(*pid)?))).collect();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let descends = |pid: i32| {
        let mut at = pid;
        for _ in 0..64 {
            match parents.get(&at) {
                Some((parent, _)) if *parent == own => return true,
                Some((parent, _)) if *parent > 1 => at = *parent,
                _ => return false,
            }
        }
        false
    };
    pids.into_iter()
        .filter(|pid| *pid != own && parents.get(pid).is_some_and(|(_, dead)| !dead) && descends(*pid))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{
        io::BufRead,
        os::unix::{fs::symlink, process::CommandExt},
        process::Stdio,
    };

    use super::*;

    #[test]
    fn all_running_descendants_are_found_whatever_their_programs_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a) Z 1 (b");
        symlink("/bin/sh", &program).unwrap();
        let mut shell = Command::new(&program);
        shell.arg0("sh").args(["-c", "sleep 30 & echo $!; wait"]).stdout(Stdio::piped()).process_group(0);
        let mut child = shell.spawn().unwrap();
        let mut line = String::new();
        io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (outer, inner) = (i32::try_from(child.id()).unwrap(), line.trim().parse::<i32>().unwrap());
        let found = descendants();
        assert!(found.contains(&outer) && found.contains(&inner), "{found:?} {outer} {inner}");
        assert!(!found.contains(&i32::try_from(std::process::id()).unwrap()) && !found.contains(&1));
        rustix::process::kill_process_group(Pid::from_raw(outer).unwrap(), Signal::KILL).unwrap();
        // One that has ended and was not waited for is none.
        let is_none = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            !descendants().contains(&outer)
        });
        assert!(is_none);
        child.wait().unwrap();
    }
}
