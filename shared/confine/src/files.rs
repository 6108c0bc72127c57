//! Landlock: which files may be read and written, and which processes may be signalled or traced.
//!
//! A rule only adds rights, for a directory and everything in it. So where the mounts do not hide secrets, the
//! directories around the secrets are allowed entry by entry. No rule is made for a link, because a link may lead
//! anywhere.

use std::{
    env, fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};

use crate::{plan::Plan, secrets};

/// The newest Landlock version whose rights are used. Later versions add connections to Unix sockets by path.
const VERSION: ABI = ABI::V6;

/// The greatest depth at which directories are allowed entry by entry.
const MAX_DEPTH: usize = 12;

/// Restricts this process. Returns the effective version of Landlock, or `None` if it is not available.
pub(crate) fn restrict(plan: &Plan, mounts: bool) -> Option<u8> {
    let status = rules(plan, mounts).and_then(RulesetCreated::restrict_self).ok()?;
    match status {
        RestrictionStatus { ruleset: RulesetStatus::NotEnforced, .. } => None,
        RestrictionStatus { landlock: LandlockStatus::Available { effective_abi, .. }, .. } => {
            Some(effective_abi as u8)
        }
        RestrictionStatus { .. } => None,
    }
}

fn rules(plan: &Plan, mounts: bool) -> Result<RulesetCreated, RulesetError> {
    let policy = &plan.policy;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?;
    if !policy.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(VERSION))?;
    }
    let mut ruleset = ruleset.create()?;
    let read = AccessFs::from_read(VERSION);
    let all = AccessFs::from_all(VERSION);
    let hidden = if mounts { vec![] } else { secrets::all(env::home_dir().as_deref(), &policy.hidden) };
    if mounts {
        // Names are readable everywhere, so that `/` can be listed. Secrets are covered by mounts.
        ruleset = beneath(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    }
    let own = if mounts { Path::new("/tmp") } else { &plan.temporary };
    for entry in fs::read_dir("/").into_iter().flatten().flatten() {
        let path = entry.path();
        // Devices are named below. Other processes' temporary files are not allowed.
        if path != Path::new("/dev") && path != Path::new("/tmp") {
            ruleset = tree(ruleset, &path, read, &hidden, MAX_DEPTH)?;
        }
    }
    for root in &policy.roots {
        ruleset = tree(ruleset, root, read, &hidden_outside(&hidden, root, &policy.writable), MAX_DEPTH)?;
    }
    for name in ["null", "zero", "full", "random", "urandom", "tty", "shm", "fd"] {
        let path = Path::new("/dev").join(name);
        ruleset = beneath(ruleset, &path, read | AccessFs::WriteFile | AccessFs::Truncate)?;
    }
    if mounts {
        for path in ["/dev/shm", "/var/tmp"] {
            ruleset = beneath(ruleset, Path::new(path), all)?;
        }
    }
    for path in policy.writable.iter().map(PathBuf::as_path).chain([own]) {
        ruleset = beneath(ruleset, path, all)?;
    }
    Ok(ruleset)
}

/// The hidden paths outside the writable roots. A root inside a hidden path is allowed completely.
fn hidden_outside(hidden: &[PathBuf], root: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
    let is_whole = writable.iter().any(|path| path == root);
    hidden.iter().filter(|path| !(is_whole && path.starts_with(root))).cloned().collect()
}

/// Allows `access` to `path` and everything in it, except hidden paths.
fn tree(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    hidden: &[PathBuf],
    depth: usize,
) -> Result<RulesetCreated, RulesetError> {
    if hidden.iter().any(|secret| path.starts_with(secret)) {
        return Ok(ruleset);
    }
    let holds_secret = hidden.iter().any(|secret| secret.starts_with(path));
    if !holds_secret {
        return beneath(ruleset, path, access);
    }
    let mut ruleset = ruleset;
    if depth > 0 && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            ruleset = tree(ruleset, &entry.path(), access, hidden, depth - 1)?;
        }
    }
    Ok(ruleset)
}

/// Allows access to exactly `path` and everything in it. A link or a missing path allows nothing.
fn beneath(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(ruleset) };
    let Ok(descriptor) = open(path) else { return Ok(ruleset) };
    if metadata.is_symlink() {
        return Ok(ruleset);
    }
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    if access.is_empty() {
        return Ok(ruleset);
    }
    ruleset.add_rule(PathBeneath::new(descriptor, access))
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_inside_a_writable_root_is_covered_by_mounts_alone() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        let hidden = paths(&["/home/me/.ssh", "/home/me/project/.env", "/home/me/projects"]);
        let outside = |root: &str, writable: &[&str]| hidden_outside(&hidden, Path::new(root), &paths(writable));
        assert_eq!(outside("/home/me/project", &["/home/me/project"]), paths(&["/home/me/.ssh", "/home/me/projects"]));
        // A root that is only read keeps its own files hidden.
        assert_eq!(outside("/home/me/project", &["/home/me"]), hidden);
        assert_eq!(outside("/home/me/project", &[]), hidden);
    }
}
