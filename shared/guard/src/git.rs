//! Whether a repository's own configuration can make Git run programs.
//!
//! `git status`, `log` and `diff` run the programs that `core.fsmonitor`, filters, text converters and pagers name. The
//! user's own configuration is trusted. The configuration of the repository may come from somebody else: it may have
//! only the keys that every clone has.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_git::{REPO_NOT_FOUND, WorkTree};
use ragmaker_project::secrets::is_secret_file;

use crate::Reason;

/// Sections without harmful keys, as Git writes them.
const SECTIONS: [&str; 10] = ["remote", "branch", "user", "color", "push", "pull", "fetch", "init", "advice", "column"];

/// Harmless keys of other sections.
const KEYS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
            "compression",
            "sharedrepository",
            "longpaths",
            "preloadindex",
            "untrackedcache",
            "commitgraph",
        ],
    ),
    ("extensions", &["worktreeconfig", "objectformat", "refstorage"]),
    ("submodule", &["url", "active", "branch", "update", "fetchrecursesubmodules"]),
    ("lfs", &["repositoryformatversion"]),
    ("gc", &["auto", "autodetach"]),
    ("rebase", &["autostash", "autosquash"]),
    ("merge", &["ff", "conflictstyle"]),
    ("diff", &["renames", "algorithm", "colormoved", "mnemonicprefix"]),
    ("log", &["date", "decorate"]),
    ("commit", &["gpgsign"]),
];

/// Harmful keys of these sections.
const NOT: [&str; 4] = ["uploadpack", "receivepack", "vcs", "proxy"];

/// The repository that Git finds from the directory `cwd`: the top directory and Git's own.
fn found(cwd: &Path) -> Result<Option<(&Path, PathBuf)>, Reason> {
    // A folder with these entries is a bare repository.
    let is_bare = |folder: &Path| folder.join("HEAD").exists() && folder.join("objects").is_dir();
    let found = cwd.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok() || is_bare(folder));
    let Some(top) = found else { return Ok(None) };
    let own = if top.join(".git").symlink_metadata().is_ok() { top.join(".git") } else { top.to_path_buf() };
    match fs::read_to_string(&own) {
        // In a work tree or a submodule, `.git` is a file with the path of the folder.
        Ok(text) => match text.strip_prefix("gitdir:") {
            Some(path) => Ok(Some((top, top.join(path.trim())))),
            None => Err(Reason::new("git", format!("{} is not understood", own.display()))),
        },
        Err(_) if ["HEAD", "objects", "refs"].iter().all(|part| own.join(part).exists()) => Ok(Some((top, own))),
        // Git ignores such a folder and looks for a repository further up.
        Err(_) => Err(Reason::new("git", format!("{} is not a complete repository", own.display()))),
    }
}

/// The working tree that Git finds from the directory `cwd`.
pub(crate) fn work_tree(cwd: &Path) -> Result<Option<WorkTree>, Reason> {
    for folder in cwd.ancestors() {
        match WorkTree::of(folder) {
            Ok(tree) => return Ok(Some(tree)),
            Err(error) if error.is(REPO_NOT_FOUND) => {}
            Err(error) => return Err(Reason::new("git", error.message())),
        }
    }
    Ok(None)
}

/// Whether the repository of the directory `cwd` tracks a file with keys. A repository that is not understood does.
pub(crate) fn tracks_secrets(cwd: &Path) -> bool {
    match work_tree(cwd) {
        Ok(Some(tree)) => tree.tracked().map_or(true, |names| names.iter().any(|name| is_secret_path(name))),
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Whether a path in a repository is one of a file with keys.
pub(crate) fn is_secret_path(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    is_secret_file(path.rsplit('/').next().unwrap_or(path))
}

/// Checks the repository that Git finds from the directory `cwd`.
pub(crate) fn runs_nothing(cwd: &Path, ignores_submodules: bool) -> Result<(), Reason> {
    let Some((top, own)) = found(cwd)? else { return Ok(()) };
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(path) => own.join(path.trim()),
        Err(_) => own.clone(),
    };
    for file in [common.join("config"), own.join("config.worktree")] {
        check_file(&file)?;
    }
    if (top.join(".gitmodules").exists() || common.join("modules").exists()) && !ignores_submodules {
        let mut folders = vec![(common.join("modules"), 4)];
        while let Some((folder, depth)) = folders.pop() {
            if folder.join("config").is_file() {
                check_file(&folder.join("config"))?;
            }
            let entries: Vec<PathBuf> = match depth {
                0 => vec![],
                _ => fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect(),
            };
            let inner = entries.into_iter().filter(|path| path.is_dir() && !path.ends_with("objects"));
            folders.extend(inner.map(|path| (path, depth - 1)));
        }
    }
    Ok(())
}

fn check_file(file: &Path) -> Result<(), Reason> {
    let Ok(text) = fs::read_to_string(file) else {
        let unread = || Reason::new("git", format!("{} cannot be read", file.display()));
        return if file.exists() { Err(unread()) } else { Ok(()) };
    };
    match unknown_key(&text) {
        Some(key) => {
            Err(Reason::new("git", format!("{} sets {key}, which may make Git run a program", file.display())))
        }
        None => Ok(()),
    }
}

/// The first key of a configuration file that is not known to be harmless.
fn unknown_key(text: &str) -> Option<String> {
    let mut section = String::new();
    for mut line in text.lines().map(str::trim) {
        // A setting may follow on the line of a header.
        while let Some(inner) = line.strip_prefix('[') {
            let Some((header, rest)) = header(inner) else { return Some(line.to_owned()) };
            section = header.split([' ', '\t', '.', '"']).next().unwrap_or_default().to_ascii_lowercase();
            line = rest.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let name: String = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        let in_section = SECTIONS.contains(&section.as_str()) && !NOT.contains(&name.as_str());
        let listed = KEYS.iter().any(|(known, keys)| *known == section && keys.contains(&name.as_str()));
        // A value that continues on the next line could hide a section.
        if !(in_section || listed) || line.ends_with('\\') {
            return Some(format!("{section}.{name}"));
        }
    }
    None
}

/// Splits the text after a `[` at the first `]` that is not in quotes.
fn header(text: &str) -> Option<(&str, &str)> {
    let (mut is_quoted, mut chars) = (false, text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => drop(chars.next()),
            ']' if !is_quoted => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_a_clone_is_harmless() {
        let clone = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://a/b.git\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert_eq!(unknown_key(clone), None);
        let commented =
            "[core] # a comment]\n\tbare = false\n[branch \"a]b\\\"] c\"] remote = o\n[user]; [diff]\nname = a\n";
        assert_eq!(unknown_key(commented), None);
        for line in [
            "[core]\n fsmonitor = ./x",
            "[core]\npager=x",
            "[CORE]\n FSMonitor = x",
            "[diff \"x\"]\n textconv = x",
            "[diff]\nexternal = x",
            "[filter \"x\"]\nclean = x",
            "[include]\npath = x",
            "[includeIf \"gitdir:x\"]\npath = x",
            "[alias]\nst = !x",
            "[core] pager = x",
            "[remote \"o\"]\nuploadpack = x",
            "[user]\nname = a\\\n[core]\npager = x",
            "[gpg]\nprogram = x",
            "[core]\nhooksPath = x",
            "[diff] external = ./run #]",
            "[core] [diff] external = ./run ;]",
            "[branch \"a\"] [diff] external = \"]\"",
            "[branch \"a]\"] x = y\n[core]\tpager = x # ]",
            "[core",
        ] {
            assert!(unknown_key(line).is_some(), "{line}");
        }
    }
}
