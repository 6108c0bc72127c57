//! The caller's side: starts the launcher, and tells it when to end.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read, Seek},
    process::{Child, Command, ExitCode},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    Ended, Policy, inner, launch,
    plan::{INNER, LAUNCH, Plan, Report},
    wait::ends_within,
    without_secrets,
};

/// How long the end of all processes may take.
const GRACE: Duration = Duration::from_secs(3);

/// A command that is ready to start.
#[derive(Debug)]
pub struct Confined {
    /// The launcher's command line. Its streams, working directory and environment are those of the program.
    /// The environment contains no secrets.
    pub command: Command,
    folder: TempDir,
    report: File,
}

/// A running process.
#[derive(Debug)]
pub struct Running {
    /// The launcher. Its streams are those of the program.
    pub child: Child,
    /// Removed on drop.
    _folder: TempDir,
    report: Option<File>,
}

impl Policy {
    /// A command that runs `program` under this policy.
    ///
    /// # Errors
    ///
    /// The temporary folder cannot be created, or a path of the policy is not UTF-8.
    pub fn command(&self, program: &OsStr, arguments: &[OsString]) -> io::Result<Confined> {
        self.check_paths()?;
        let folder = tempfile::Builder::new().prefix("ragmaker-run-").tempdir()?;
        let path = folder.path().canonicalize()?;
        let temporary = path.join("tmp");
        fs::create_dir(&temporary)?;
        let report = path.join("report");
        let file = File::options().read(true).write(true).create_new(true).open(&report)?;
        // The command runs as long as this process holds the lock, which the system also releases when the
        // process ends.
        file.lock()?;
        let mut policy = self.clone();
        policy.without.extend(env::var(WITHOUT).iter().flat_map(|names| names.split(',')).map(str::to_owned));
        let plan = Plan { policy, temporary, report };
        // The executable of this process, even if its file was replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg(LAUNCH).arg(serde_json::to_string(&plan)?).arg(program).args(arguments);
        command.env_clear().envs(without_secrets());
        Ok(Confined { command, folder, report: file })
    }
}

impl Policy {
    /// Refuses paths that the launcher, which receives JSON, cannot be told.
    fn check_paths(&self) -> io::Result<()> {
        let paths = self.roots.iter().chain(&self.writable).chain(&self.hidden);
        match paths.into_iter().find(|path| path.to_str().is_none()) {
            Some(path) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a command cannot be confined to {}: the path is not UTF-8", path.display()),
            )),
            None => Ok(()),
        }
    }
}

/// The variable that names layers to treat as missing.
const WITHOUT: &str = ragmaker_project::variables::CONFINE_WITHOUT;

impl Confined {
    /// Starts the command in its own process group.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub fn spawn(mut self) -> io::Result<Running> {
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        let child = self.command.spawn()?;
        Ok(Running { child, _folder: self.folder, report: Some(self.report) })
    }
}

impl Running {
    /// Requests the end of all processes of the command.
    pub fn kill(&mut self) {
        if let Some(report) = &self.report {
            // The launcher waits for this lock.
            let _ = report.unlock();
        }
    }

    /// Waits until the program and all its processes end, and ends them after `timeout`.
    ///
    /// # Errors
    ///
    /// The system cannot wait for the launcher.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Ended> {
        let in_time = ends_within(&mut self.child, timeout)?;
        if !in_time {
            self.kill();
            if !ends_within(&mut self.child, Some(GRACE))? {
                self.child.kill()?;
            }
        }
        let status = self.child.wait()?;
        let mut text = String::new();
        if let Some(mut report) = self.report.take() {
            report.rewind()?;
            report.read_to_string(&mut text)?;
        }
        let mut report: Report = serde_json::from_str(&text).unwrap_or_default();
        if !report.has_ended {
            report.failed = Some(format!("the confinement ended without a report, {status}"));
        }
        let failed = report.failed.filter(|_| in_time);
        let signal = if in_time { report.signal } else { Some(libc::SIGKILL) };
        let exit_code = report.exit_code.filter(|_| in_time);
        Ok(Ended { exit_code, signal, timed_out: !in_time, layers: report.layers, failed })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// See [`crate::run_if_asked`].
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let role = arguments.next()?;
    if role != LAUNCH && role != INNER {
        return None;
    }
    let plan: Plan = serde_json::from_str(arguments.next()?.to_str()?).ok()?;
    let command: Vec<OsString> = arguments.collect();
    Some(if role == LAUNCH { launch::run(&plan, &command) } else { inner::run(&plan, &command) })
}

#[cfg(test)]
mod tests {
    use std::{os::unix::ffi::OsStrExt, path::PathBuf};

    use super::*;

    #[test]
    fn the_launcher_gets_the_policy_and_the_command_and_no_secrets() {
        let policy = Policy { roots: vec!["/project".into()], without: vec!["seccomp".into()], ..Policy::default() };
        let odd = OsStr::from_bytes(b"a\xff b").to_owned();
        let confined = policy.command("make".as_ref(), &[odd.clone(), "-x".into()]).unwrap();
        let arguments: Vec<_> = confined.command.get_args().collect();
        assert_eq!(
            (arguments[0], &arguments[2..]),
            (OsStr::new(LAUNCH), &[OsStr::new("make"), &odd, OsStr::new("-x")][..])
        );
        let plan: Plan = serde_json::from_str(arguments[1].to_str().unwrap()).unwrap();
        assert!(plan.policy.without.starts_with(&policy.without) && plan.policy.roots == policy.roots);
        // As long as the caller lives, it holds the lock, and the command has a folder of its own.
        assert!(plan.temporary.is_dir() && File::open(&plan.report).unwrap().try_lock_shared().is_err());
        assert!(confined.command.get_envs().all(|(name, value)| !crate::is_secret(name, value.unwrap_or_default())));
        drop(confined);
        assert!(!plan.report.exists() && !plan.temporary.exists());
    }

    #[test]
    fn a_path_that_the_launcher_cannot_be_told_is_refused() {
        let odd = || vec![PathBuf::from(OsStr::from_bytes(b"/a\xff"))];
        for policy in [
            Policy { roots: odd(), ..Policy::default() },
            Policy { writable: odd(), ..Policy::default() },
            Policy { hidden: odd(), ..Policy::default() },
        ] {
            let error = policy.command("true".as_ref(), &[]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
    }
}
