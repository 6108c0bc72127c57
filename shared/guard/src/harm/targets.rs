//! Paths that must not be lost or changed, such as `/`, home directories and keys.

use std::path::{Path, PathBuf};

use super::words::UNKNOWN;
use crate::{Reason, Scope, paths::normal};

/// A kind of path that must not be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protected {
    /// The system, a home directory, or a directory above the project.
    System,
    /// The project or another root.
    Root,
    /// All that is in the project or another root.
    Content,
}

/// Files and folders of a home directory that a shell or a session runs at start.
const START: [&str; 25] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".config/fish",
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".local/share/systemd",
];

/// Such files of the system, and files that control permissions.
const SYSTEM_START: [&str; 17] = [
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/zsh",
    "/etc/zshrc",
    "/etc/zshenv",
    "/etc/environment",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/pam.d",
    "/etc/ld.so.preload",
    "/etc/ssh",
    "/etc/crontab",
];

/// The paths of a line, resolved in each possible working directory.
#[derive(Clone, Debug)]
pub(super) struct Targets<'a> {
    scope: &'a Scope,
    /// The possible working directories; `cd` adds to them.
    cwds: Vec<PathBuf>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self { scope, cwds: vec![scope.cwd().to_path_buf()] }
    }

    /// The line changes to the directory `path`.
    pub(super) fn enter(&mut self, path: &str) {
        let led: Vec<_> = self.cwds.iter().map(|cwd| normal(&cwd.join(path))).collect();
        for path in led {
            if !self.cwds.contains(&path) && self.cwds.len() < 16 {
                self.cwds.push(path);
            }
        }
    }

    /// The reason why `text` must not be deleted or moved.
    pub(super) fn delete(&self, text: &str) -> Option<Reason> {
        let lost = |what: &str| Some(Reason::new("delete-root", format!("it deletes {what}: {text}")));
        match self.protected(text) {
            Some(Protected::System) => lost("the system, a home folder or a folder above the project"),
            Some(Protected::Root) => lost("the project or another root"),
            Some(Protected::Content) | None => self.guarded(text),
        }
    }

    /// Whether `text` is the project or another root, or all that is in it.
    pub(super) fn is_root(&self, text: &str) -> bool {
        matches!(self.protected(text), Some(Protected::Root | Protected::Content))
    }

    /// Whether `text` is the system, a home directory or above the project.
    pub(super) fn is_everything(&self, text: &str) -> bool {
        self.protected(text) == Some(Protected::System)
    }

    /// The reason why `text` must not be written.
    pub(super) fn write(&self, text: &str) -> Option<Reason> {
        if is_disk(text) {
            return Some(Reason::new("write-disk", format!("it overwrites a disk: {text}")));
        }
        if self.resolved(text).iter().any(|path| path.ends_with("sysrq-trigger")) {
            return Some(Reason::new("stop-machine", "it stops the machine"));
        }
        self.guarded(text)
    }

    /// `text` as a path, in each possible working directory.
    pub(super) fn resolved(&self, text: &str) -> Vec<PathBuf> {
        self.cwds.iter().map(|cwd| normal(&cwd.join(text))).collect()
    }

    fn protected(&self, text: &str) -> Option<Protected> {
        // A variable may be empty, but its value is unknown.
        if text.contains(UNKNOWN) || text.is_empty() {
            return None;
        }
        let bare = text.trim_end_matches('/');
        let content = ["/*", "/.*", "/**"].iter().find_map(|end| bare.strip_suffix(end));
        let all_here = ["*", ".*", "**"].contains(&bare);
        let (path, is_content) = match content {
            Some(folder) => (if folder.is_empty() { "/" } else { folder }, true),
            None if all_here => (".", true),
            None => (text, false),
        };
        let roots = self.scope.roots().all();
        let home = self.scope.home();
        let mut protected = None;
        for path in self.resolved(path) {
            let depth = path.components().count() - 1;
            let is_user = depth == 2 && (path.starts_with("/home") || path.starts_with("/Users"));
            let is_root = roots.iter().any(|root| root.path == path);
            let above = roots.iter().any(|root| root.path.starts_with(&path)) && !is_root;
            let is_home = home.is_some_and(|home| home.starts_with(&path));
            if (depth <= 1 || is_user || above || is_home) && !(is_root && is_content) {
                return Some(Protected::System);
            }
            if is_root {
                protected = Some(if is_content { Protected::Content } else { Protected::Root });
            }
        }
        protected
    }

    /// The reason why a key file or a start-up file must not be changed.
    fn guarded(&self, text: &str) -> Option<Reason> {
        for path in self.resolved(text) {
            if SYSTEM_START.iter().any(|start| path.starts_with(start)) {
                return Some(Reason::new("start-files", format!("it changes startup files of the system: {text}")));
            }
            let Some(inner) = self.in_home(&path) else { continue };
            if inner.starts_with(".ssh") || inner.starts_with(".gnupg") {
                return Some(Reason::new("keys", format!("it changes keys, or which users may log in: {text}")));
            }
            if START.iter().any(|start| inner.starts_with(start)) {
                return Some(Reason::new("start-files", format!("it changes startup files of a shell: {text}")));
            }
        }
        None
    }

    /// `path` relative to the home directory that contains it.
    fn in_home<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let own = self.scope.home().and_then(|home| path.strip_prefix(home).ok());
        own.or_else(|| path.strip_prefix("/root").ok()).or_else(|| {
            let users = path.strip_prefix("/home").or_else(|_| path.strip_prefix("/Users")).ok()?;
            let user = users.components().next()?;
            users.strip_prefix(user).ok()
        })
    }
}

/// Whether a path is a disk or the machine's memory.
pub(super) fn is_disk(text: &str) -> bool {
    let path = normal(Path::new(text));
    let Ok(name) = path.strip_prefix("/dev") else { return false };
    let name = name.to_string_lossy();
    let kinds = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper/", "loop", "mem", "kmem",
        "port",
    ];
    kinds.iter().any(|kind| name.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_and_memory_are_devices_of_these_names() {
        for path in ["/dev/sda", "/dev/../dev/nvme0n1", "/dev/mapper/x", "/dev/mem"] {
            assert!(is_disk(path), "{path}");
        }
        for path in ["/dev/null", "/dev/tty", "sda", "/deva/sda"] {
            assert!(!is_disk(path), "{path}");
        }
    }
}
