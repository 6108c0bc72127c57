//! Paths that must not be lost or changed, such as `/`, home directories and keys.

use std::path::{Path, PathBuf};

use super::words::UNKNOWN;
use crate::{Reason, Scope, paths::normal};

/// What is a disaster to lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// The system, a home, or what is above the project.
    All,
    /// The project, or another root.
    Root,
}

/// Files in a home that a shell or a session runs when it starts, and folders of them.
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

/// The same of the system, with the files that say who may do what.
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

/// Judges paths as they are written in a line.
#[derive(Clone, Debug)]
pub(super) struct Targets<'a> {
    scope: &'a Scope,
    /// Where the line may be: `cd` adds to it.
    cwds: Vec<PathBuf>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self { scope, cwds: vec![scope.cwd().to_path_buf()] }
    }

    /// The line goes to `path`.
    pub(super) fn enter(&mut self, path: &str) {
        let led: Vec<_> = self.cwds.iter().map(|cwd| normal(&cwd.join(path))).collect();
        for path in led {
            if !self.cwds.contains(&path) && self.cwds.len() < 16 {
                self.cwds.push(path);
            }
        }
    }

    /// Why `text` may not be deleted, or moved away.
    pub(super) fn delete(&self, text: &str) -> Option<Reason> {
        let lost = |what: &str| Some(Reason::new("delete-root", format!("it deletes {what}: {text}")));
        match self.loss(text) {
            Some(Loss::All) => lost("the system, a home or what is above the project"),
            Some(Loss::Root) => lost("the project or another root"),
            None => self.guarded(text),
        }
    }

    /// Whether `text` is the system, a home or above the project.
    pub(super) fn is_everything(&self, text: &str) -> bool {
        self.loss(text) == Some(Loss::All)
    }

    /// Why `text` may not be written.
    pub(super) fn write(&self, text: &str) -> Option<Reason> {
        if is_disk(text) {
            return Some(Reason::new("write-disk", format!("it overwrites a disk: {text}")));
        }
        if self.resolved(text).iter().any(|path| path.ends_with("sysrq-trigger")) {
            return Some(Reason::new("stop-machine", "it stops the machine"));
        }
        self.guarded(text)
    }

    fn resolved(&self, text: &str) -> Vec<PathBuf> {
        self.cwds.iter().map(|cwd| normal(&cwd.join(text))).collect()
    }

    fn loss(&self, text: &str) -> Option<Loss> {
        // What a variable leaves out may be nothing, but that is not known.
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
        let mut loss = None;
        for path in self.resolved(path) {
            let depth = path.components().count() - 1;
            let is_user = depth == 2 && (path.starts_with("/home") || path.starts_with("/Users"));
            let is_root = roots.iter().any(|root| root.path == path);
            let above = roots.iter().any(|root| root.path.starts_with(&path)) && !is_root;
            let is_home = home.is_some_and(|home| home.starts_with(&path));
            if (depth <= 1 || is_user || above || is_home) && !(is_root && is_content) {
                return Some(Loss::All);
            }
            if is_root && !is_content {
                loss = Some(Loss::Root);
            }
        }
        loss
    }

    /// Why a file of keys or one that a shell starts with may not be changed.
    fn guarded(&self, text: &str) -> Option<Reason> {
        for path in self.resolved(text) {
            if SYSTEM_START.iter().any(|start| path.starts_with(start)) {
                return Some(Reason::new("start-files", format!("it changes what the system starts with: {text}")));
            }
            let Some(inner) = self.in_home(&path) else { continue };
            if inner.starts_with(".ssh") || inner.starts_with(".gnupg") {
                return Some(Reason::new("keys", format!("it changes keys, or who may sign in: {text}")));
            }
            if START.iter().any(|start| inner.starts_with(start)) {
                return Some(Reason::new("start-files", format!("it changes what a shell starts with: {text}")));
            }
        }
        None
    }

    /// `path` relative to the home that it is in.
    fn in_home<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let own = self.scope.home().and_then(|home| path.strip_prefix(home).ok());
        own.or_else(|| path.strip_prefix("/root").ok()).or_else(|| {
            let users = path.strip_prefix("/home").or_else(|_| path.strip_prefix("/Users")).ok()?;
            let user = users.components().next()?;
            users.strip_prefix(user).ok()
        })
    }
}

/// Whether a path is a disk, or the memory of the machine.
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
