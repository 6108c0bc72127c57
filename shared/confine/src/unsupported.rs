//! Other systems than Linux: the command runs without confinement, and the layers are reported as missing.

use std::{
    ffi::{OsStr, OsString},
    io,
    process::{Child, Command, ExitCode},
    time::{Duration, Instant},
};

use crate::{Ended, Layers, Policy, without_secrets};

/// A command that is ready to start.
#[derive(Debug)]
pub struct Confined {
    /// The command. Its environment contains no secrets.
    pub command: Command,
    strict: bool,
}

/// A running process.
#[derive(Debug)]
pub struct Running {
    /// The process.
    pub child: Child,
}

impl Policy {
    /// A command that runs `program` without confinement.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn command(&self, program: &OsStr, arguments: &[OsString]) -> io::Result<Confined> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(without_secrets());
        Ok(Confined { command, strict: self.strict })
    }
}

impl Confined {
    /// Starts the command.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or [`Policy::strict`] forbids a start without confinement.
    pub fn spawn(mut self) -> io::Result<Running> {
        if self.strict {
            return Err(io::Error::other(Layers::default().missing().join("; ")));
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        Ok(Running { child: self.command.spawn()? })
    }
}

impl Running {
    /// Kills the process.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits until the process ends, and kills it after `timeout`.
    ///
    /// # Errors
    ///
    /// The system cannot wait for the process.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Ended> {
        let (start, mut timed_out) = (Instant::now(), false);
        while self.child.try_wait()?.is_none() {
            if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
                timed_out = true;
                self.kill();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = self.child.wait()?;
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Ok(Ended { exit_code: status.code(), signal, timed_out, ..Ended::default() })
    }
}

pub(crate) fn run_if_asked() -> Option<ExitCode> {
    None
}
