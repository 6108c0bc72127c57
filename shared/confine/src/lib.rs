//! Confinement of a process to the files and networks of a [`Policy`], with the layers that the kernel supports. What
//! each of them prevents:
//!
//! - user, mount, PID, IPC and network namespaces: writing and changing modes outside, reading hidden files, seeing
//!   other processes, network access
//! - Landlock: the same writes and reads, independently; TCP; signalling and tracing other processes
//! - seccomp: sockets, `ptrace`, mounts, `io_uring`, other processes' memory, kernel modules
//! - capabilities, no new privileges: operations that need root
//! - resource limits: unlimited numbers of processes and sizes of files
//!
//! No layer prevents everything, and each is missing on some systems: containers forbid namespaces, and old kernels
//! have no Landlock. [`Layers`] lists the available layers. A process sets up the layers for itself before it runs the
//! program. So the caller's executable is started a second time, and its `main` function must first call
//! [`run_if_asked`].
//!
//! ```no_run
//! use std::{process::Stdio, time::Duration};
//! use ragmaker_confine::Policy;
//!
//! let project = std::env::current_dir()?;
//! let policy = Policy { roots: vec![project.clone()], writable: vec![project], ..Policy::default() };
//! let mut confined = policy.command("make".as_ref(), &["test".into()])?;
//! confined.command.stdout(Stdio::piped()).stdin(Stdio::null());
//! let mut running = confined.spawn()?;
//! let output = running.child.stdout.take();
//! let ended = running.wait(Some(Duration::from_secs(60)))?;
//! assert!(ended.layers.landlock.is_some(), "{:?}", ended.layers.missing());
//! # Ok::<(), std::io::Error>(())
//! ```

mod environment;
mod secrets;

#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod inner;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod wait;

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
use unsupported as run;

use std::{io, path::PathBuf, process::ExitCode, time::Duration};

use serde::{Deserialize, Serialize};

pub use environment::{is_secret, without_secrets};
pub use run::{Confined, Running};
pub use secrets::{logins, secret_files, secret_files_at_top};

/// The files and networks that a process may access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The working directories. They stay readable, also below `/tmp`, which is otherwise replaced by a private
    /// one.
    pub roots: Vec<PathBuf>,
    /// The directories that the process may write.
    pub writable: Vec<PathBuf>,
    /// Files and directories that are hidden, in addition to the keys and logins in the home directory, which
    /// are always hidden.
    pub hidden: Vec<PathBuf>,
    /// Whether the network is accessible.
    pub network: bool,
    /// Whether the start fails if `hidden` cannot be hidden.
    pub must_hide: bool,
    /// Whether the start fails if writes outside `writable` cannot be prevented.
    pub strict: bool,
    /// Layers that are not used, as if the kernel lacked them: `namespaces`, `landlock`, `seccomp`.
    pub without: Vec<String>,
}

/// The layers in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Own namespaces: processes, network.
    pub namespaces: bool,
    /// Own mounts: only the writable directories can be written, secrets are covered.
    pub mounts: bool,
    /// The version of Landlock in effect.
    pub landlock: Option<u8>,
    /// System calls are filtered.
    pub seccomp: bool,
}

impl Layers {
    /// Whether writes outside the writable directories are prevented.
    pub fn keep_files(&self) -> bool {
        self.mounts || self.landlock.is_some()
    }

    /// The gaps of the confinement, as messages for a person; empty if all layers are in effect.
    pub fn missing(&self) -> Vec<&'static str> {
        let mut missing = vec![];
        if !self.keep_files() {
            missing.push("files outside the project can be changed and secrets read: the kernel has neither Landlock nor namespaces here");
        } else if !self.mounts {
            missing
                .push("no mounts of its own: chmod is refused everywhere, and secrets inside the project can be read");
        } else if self.landlock.is_none() {
            missing.push("no Landlock: the mounts alone protect files");
        }
        if !self.namespaces && !self.seccomp {
            missing.push("the network can be used");
        }
        if !self.namespaces {
            // Landlock confines signals since version 6.
            let keeps_signals = self.landlock.is_some_and(|version| version >= 6);
            let seen = "other processes of the same user are visible";
            missing.push(if keeps_signals {
                seen
            } else {
                "other processes of the same user are visible and can be ended"
            });
        }
        if !self.seccomp {
            missing.push("no filter of system calls");
        }
        missing
    }
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit status.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was killed after the timeout.
    pub timed_out: bool,
    /// The layers in effect.
    pub layers: Layers,
    /// Why it was not started.
    pub failed: Option<String>,
}

/// Sets up the confinement and runs the program, if this process was started as a launcher. Returns `None`
/// otherwise.
pub fn run_if_asked() -> Option<ExitCode> {
    run::run_if_asked()
}

/// The layers available here for `policy`. A process is started to find out.
///
/// # Errors
///
/// A process cannot be started under this policy, for example because a path in it is not UTF-8.
pub fn probe(policy: &Policy) -> io::Result<Layers> {
    let mut confined = policy.command("true".as_ref(), &[])?;
    // The working directory may be below /tmp, which is replaced in the confinement.
    confined.command.current_dir("/");
    confined.command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    Ok(confined.spawn()?.wait(Some(Duration::from_secs(5)))?.layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_that_is_missing_has_its_gaps_in_words() {
        let whole = Layers { namespaces: true, mounts: true, landlock: Some(6), seccomp: true };
        assert!(whole.missing().is_empty() && whole.keep_files());
        let said = |layers: Layers| layers.missing().join("; ");
        let nothing = said(Layers::default());
        for part in ["files outside the project", "network", "visible and can be ended", "no filter"] {
            assert!(nothing.contains(part), "{nothing}");
        }
        assert!(!Layers::default().keep_files());
        assert_eq!(said(Layers { landlock: None, ..whole.clone() }), "no Landlock: the mounts alone protect files");
        assert!(said(Layers { mounts: false, ..whole.clone() }).contains("secrets inside the project can be read"));
        // Without namespaces, the filter refuses sockets, and Landlock confines signals.
        assert_eq!(said(Layers { namespaces: false, ..whole.clone() }), "other processes of the same user are visible");
        assert!(said(Layers { namespaces: false, landlock: Some(5), ..whole }).ends_with("can be ended"));
    }
}
