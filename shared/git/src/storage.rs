//! The files that Git reads for a local repository, wherever they are.

use std::{
    collections::HashSet,
    fs::{self, FileType},
    path::{Path, PathBuf},
};

use ragmaker_tool::Error;

use crate::GIT_FAILED;

/// The folders of a Git directory that are read for a commit.
const READ: [&str; 4] = ["objects", "refs", "reftable", "info"];

/// The maximum number of folders and files of configuration that are looked into.
const MAX: usize = 64;

/// The maximum size in bytes of a file that names other places.
const MAX_BYTES: u64 = 1 << 20;

/// The places that Git reads for a local repository.
#[derive(Debug, Default)]
pub struct Storage {
    /// The Git directory, those that it refers to, and whatever a symbolic link or the configuration names.
    places: Vec<PathBuf>,
    /// A FIFO or a device, which would block Git.
    special: Option<PathBuf>,
    seen: HashSet<PathBuf>,
}

impl Storage {
    /// The places of the repository at `path`. Nothing but regular files is opened.
    pub fn of(path: &Path) -> Self {
        let inner = path.join(".git");
        let git = match text(&inner) {
            Some(text) => text.strip_prefix("gitdir:").map(|folder| path.join(folder.trim())).unwrap_or_default(),
            None if inner.exists() => inner,
            None => path.to_owned(),
        };
        let mut storage = Self::default();
        let common = text(&git.join("commondir")).map(|folder| git.join(folder.trim()));
        let folders: Vec<PathBuf> = [Some(git), common].into_iter().flatten().collect();
        for folder in &folders {
            storage.add(folder);
            storage.entries(folder, |name| READ.contains(&name));
            storage.included(&[folder.join("config"), folder.join("config.worktree")]);
        }
        storage.borrowed(folders);
        storage
    }

    /// The places, each of which exists.
    pub fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// Refuses a repository with a FIFO or a device among its files: Git would wait for it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.special {
            None => Ok(()),
            Some(path) => Err(GIT_FAILED
                .error(format!("the repository refers to {}, which is not a regular file", path.display()))
                .remedy("Remove it, or give a clone of the repository.")
                .detail("path", path.to_string_lossy())),
        }
    }

    /// Adds a place that is not below another one.
    fn add(&mut self, path: &Path) {
        if let Ok(found) = fs::metadata(path) {
            self.places.push(path.to_owned());
            self.check_kind(path, found.file_type());
        }
    }

    fn check_kind(&mut self, path: &Path, kind: FileType) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            if (kind.is_fifo() || kind.is_char_device() || kind.is_block_device()) && self.special.is_none() {
                self.special = Some(path.to_owned());
            }
        }
        #[cfg(not(unix))]
        let _ = (path, kind);
    }

    /// Looks at the entries of `folder`, and of the folders below it; at its top, only those that are `read`.
    fn entries(&mut self, folder: &Path, read: impl Fn(&str) -> bool) {
        let mut left = vec![(folder.to_owned(), true)];
        while let Some((folder, is_top)) = left.pop() {
            if !folder.canonicalize().is_ok_and(|real| self.seen.insert(real)) {
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
                let is_folder = kind.is_dir() || (kind.is_symlink() && path.is_dir());
                if is_folder && is_top && !entry.file_name().to_str().is_some_and(&read) {
                    continue;
                }
                if kind.is_symlink() {
                    self.add(&path);
                } else {
                    self.check_kind(&path, kind);
                }
                if is_folder {
                    left.push((path, false));
                }
            }
        }
    }

    /// Adds the folders that `folders` borrow objects from, which may borrow in turn.
    fn borrowed(&mut self, mut folders: Vec<PathBuf>) {
        let mut at = 0;
        while at < folders.len() && folders.len() < MAX {
            let objects = folders[at].join("objects");
            let objects = if objects.is_dir() { objects } else { folders[at].clone() };
            let borrowed = text(&objects.join("info/alternates")).unwrap_or_default();
            let borrowed: Vec<PathBuf> = borrowed.lines().map(|folder| objects.join(folder)).collect();
            for folder in borrowed.into_iter().chain([objects]) {
                if !folders.contains(&folder) {
                    self.add(&folder);
                    self.entries(&folder, |_| true);
                    folders.push(folder);
                }
            }
            at += 1;
        }
    }

    /// Adds the files of configuration that those of `files` include, which may include in turn.
    fn included(&mut self, files: &[PathBuf]) {
        let mut files = files.to_vec();
        let mut at = 0;
        while at < files.len() && files.len() < MAX {
            for path in text(&files[at]).iter().flat_map(|text| included(text)) {
                let home = std::env::var_os("HOME").map(PathBuf::from);
                let path = match (path.strip_prefix("~/"), home) {
                    (Some(rest), Some(home)) => home.join(rest),
                    _ => files[at].parent().unwrap_or(&files[at]).join(&path),
                };
                if !files.contains(&path) {
                    self.add(&path);
                    files.push(path);
                }
            }
            at += 1;
        }
    }
}

/// The text of a regular file.
fn text(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    let bytes = (found.is_file() && found.len() <= MAX_BYTES).then(|| fs::read(file).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The paths that the configuration `text` includes, on any condition.
fn included(text: &str) -> Vec<String> {
    let mut is_include = false;
    let mut paths = vec![];
    for line in text.lines() {
        let mut line = line.trim();
        if line.starts_with('[') {
            let header = line.to_ascii_lowercase();
            is_include = header.starts_with("[include");
            // A setting may follow on the line of the header.
            line = line.rsplit_once(']').map_or("", |(_, rest)| rest.trim());
        }
        let setting = line.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("path"));
        if let Some((_, value)) = setting.filter(|_| is_include) {
            paths.push(value.trim().trim_matches('"').to_owned());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_found() {
        let text =
            "[core]\n\tpath = no\n[include]\n\tpath = \"a b\"\n[includeIf \"gitdir:/x\"] PATH=~/c\n[x]\npath = no\n";
        assert_eq!(included(text), ["a b", "~/c"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_special_files_are_found() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (git, outside) = (top.join("work/.git"), top.join("outside"));
        for folder in [git.join("objects/ab"), git.join("hooks"), outside.join("pack")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(git.join("config"), "[include]\n\tpath = more\n").unwrap();
        fs::write(git.join("more"), "[include]\n\tpath = more\n\tpath = ../../pipe\n").unwrap();
        symlink(outside.join("pack"), git.join("objects/pack")).unwrap();
        symlink(&outside, git.join("hooks/unused")).unwrap();
        let storage = Storage::of(&top.join("work"));
        storage.check().unwrap();
        assert!(storage.places().contains(&git.join("objects/pack")), "{storage:?}");
        assert!(!storage.places().iter().any(|place| place.ends_with("unused")));
        std::process::Command::new("mkfifo").arg(top.join("pipe")).status().unwrap();
        assert!(Storage::of(&top.join("work")).check().unwrap_err().message().contains("pipe"));
        fs::write(git.join("config"), "").unwrap();
        Storage::of(&top.join("work")).check().unwrap();
        std::process::Command::new("mkfifo").arg(outside.join("pack/x.idx")).status().unwrap();
        assert!(Storage::of(&top.join("work")).check().is_err());
    }
}
