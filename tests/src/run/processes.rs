//! Running processes, to prove that none is left.

use std::{fs, path::Path};

/// A running process.
pub struct Process {
    /// Its identifier.
    pub pid: u32,
    /// Its command line, with spaces between the arguments.
    pub command: String,
}

/// The processes whose command line, environment or working directory mentions `folder`; this one
/// left out, and those that have ended and only wait for their parent.
///
/// It reads `/proc`, which Linux has; elsewhere the list is empty.
pub fn processes(folder: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return vec![] };
    let own = std::process::id();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(|pid| *pid != own);
    // A process that ended meanwhile is no longer running.
    pids.filter_map(|pid| mentions(pid, folder)).collect()
}

fn mentions(pid: u32, folder: &Path) -> Option<Process> {
    let proc = Path::new("/proc").join(pid.to_string());
    let command = fs::read(proc.join("cmdline")).ok()?;
    if command.is_empty() {
        // A thread of the kernel, or a process that has ended.
        return None;
    }
    // The files of other users' processes cannot be read; those processes are not ours.
    let environment = fs::read(proc.join("environ")).unwrap_or_default();
    let working = fs::read_link(proc.join("cwd")).unwrap_or_default();
    let name = folder.as_os_str().as_encoded_bytes();
    let has = |text: &[u8]| text.windows(name.len()).any(|part| part == name);
    (has(&command) || has(&environment) || working.starts_with(folder)).then(|| {
        let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
        Process { pid, command }
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        process::{Child, Command, Stdio},
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    fn sleeper() -> Command {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_folder_is_found_in_environments_arguments_and_working_directories() {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let found = || processes(folder.path()).iter().map(|process| process.pid).collect::<Vec<_>>();
        let stranger = sleeper().env("HOME", other.path()).spawn().unwrap();
        assert!(found().is_empty());
        let in_environment = sleeper().env("ANY", folder.path().join("below")).spawn().unwrap();
        let in_arguments = sleeper().args(["-", "--"]).arg(folder.path().join("none")).spawn().unwrap();
        let in_directory = sleeper().current_dir(folder.path()).spawn().unwrap();
        let mut expected = [in_environment.id(), in_arguments.id(), in_directory.id()];
        expected.sort_unstable();
        // For a moment after its start, a process has no command line yet.
        let until = Instant::now() + Duration::from_secs(10);
        let seen = loop {
            let mut seen = found();
            seen.sort_unstable();
            if seen.len() >= expected.len() || Instant::now() > until {
                break seen;
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(seen, expected);
        for child in [stranger, in_environment, in_arguments, in_directory] {
            end(child);
        }
        assert!(found().is_empty());
    }
}
