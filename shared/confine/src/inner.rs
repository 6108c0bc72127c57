//! The first process in the namespaces: drops its own rights, starts the program, and waits for it.
//!
//! It has process id 1 in the PID namespace, so the kernel ends all other processes there when it ends.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Seek, Write},
    os::unix::process::ExitStatusExt,
    process::{Command, ExitCode},
};

use rustix::{
    mount::MountFlags,
    process::{Pid, Resource, Rlimit, Signal, WaitOptions, set_parent_process_death_signal, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities, set_no_new_privs,
    },
};

use crate::{
    Layers, files, filter,
    plan::{LAYERS, Plan, Report},
};

/// The largest file that may be written, 16 GiB.
const MAX_FILE: u64 = 16 << 30;

/// The maximum number of processes of the user, as a limit for fork bombs.
const MAX_PROCESSES: u64 = 4096;

pub(crate) fn run(plan: &Plan, command: &[OsString]) -> ExitCode {
    let Some((namespaces, mounts, mut report)) = handed() else { return ExitCode::FAILURE };
    let mut layers = Layers { namespaces, mounts, landlock: None, seccomp: false };
    let outcome = confine(plan, &mut layers).and_then(|()| {
        write(&mut report, &Report { layers: layers.clone(), ..Report::default() })?;
        start(plan, &layers, command)
    });
    let ended = Report { layers, has_ended: true, ..Report::default() };
    let says = match outcome {
        Ok(status) => Report { exit_code: status.code(), signal: status.signal(), ..ended },
        Err(error) => Report { failed: Some(error.to_string()), ..ended },
    };
    if write(&mut report, &says).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write(file: &mut File, report: &Report) -> io::Result<()> {
    let text = serde_json::to_string(report)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// The layers that the launcher found, and the report file, which the program must not inherit.
fn handed() -> Option<(bool, bool, File)> {
    let text = env::var(LAYERS).ok()?;
    let mut parts = text.split(',');
    let namespaces = parts.next()? == "true";
    let mounts = parts.next()? == "true";
    let number: i32 = parts.next()?.parse().ok()?;
    let report = File::options().read(true).write(true).open(format!("/proc/self/fd/{number}")).ok()?;
    nix::unistd::close(number).ok()?;
    Some((namespaces, mounts, report))
}

fn confine(plan: &Plan, layers: &mut Layers) -> io::Result<()> {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if layers.mounts {
        // If a container covers parts of /proc, this mount is refused. The old /proc then shows process ids
        // that are invalid here.
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
        let _ = rustix::mount::mount("proc", "/proc", "proc", flags, None);
    }
    let limit = |resource, most: u64| {
        let old = rustix::process::getrlimit(resource);
        let most = old.maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, MAX_FILE)?;
    if layers.namespaces {
        // Outside a user namespace, all processes of the user count.
        limit(Resource::Nproc, MAX_PROCESSES)?;
    }
    drop_capabilities()?;
    let uses = |layer: &str| !plan.policy.without.iter().any(|name| name == layer);
    if uses("landlock") {
        layers.landlock = files::restrict(plan, layers.mounts);
    }
    if uses("seccomp") {
        layers.seccomp = filter::apply(plan.policy.network, layers.mounts).is_ok();
    }
    if plan.policy.strict && !(layers.keep_files() && (layers.seccomp || layers.namespaces)) {
        return Err(io::Error::other(layers.missing().join("; ")));
    }
    if plan.policy.must_hide && !layers.mounts {
        return Err(io::Error::other("files with keys in the project cannot be hidden from it here"));
    }
    Ok(())
}

fn drop_capabilities() -> io::Result<()> {
    set_no_new_privs(true)?;
    for number in 0..64 {
        // The kernel refuses numbers that it does not know. It refuses all if this process may not drop any;
        // then there is none to gain either.
        let _ = remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number));
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Starts the program, and reaps every orphaned process.
fn start(plan: &Plan, layers: &Layers, command: &[OsString]) -> io::Result<std::process::ExitStatus> {
    let Some((program, arguments)) = command.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(LAYERS);
    command.env("TMPDIR", if layers.mounts { std::path::Path::new("/tmp") } else { &plan.temporary });
    let child = command
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{} cannot be started: {error}", program.display())))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if Some(ended) == pid => {
                return Ok(std::process::ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_report_replaces_the_longer_one_before_it() {
        let mut file = tempfile::tempfile().unwrap();
        write(&mut file, &Report { failed: Some("a reason".repeat(50)), ..Report::default() }).unwrap();
        write(&mut file, &Report { exit_code: Some(3), has_ended: true, ..Report::default() }).unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let report: Report = serde_json::from_str(&text).unwrap();
        assert_eq!((report.failed, report.exit_code, report.has_ended), (None, Some(3), true));
    }
}
