//! Moving the entries of a directory into another directory that is not empty.
//!
//! All moves are planned before the first is made, so a name that exists in both directories is an error that changes
//! nothing. Each move is one rename. If a call is killed between two renames, a part is moved, and the same call moves
//! the rest.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use ragmaker_project::knowledge_base::CATALOG;
use ragmaker_tool::{ARGUMENT_ERROR, Error};

use crate::{ALREADY_EXISTS, DIRECTORY_NOT_EMPTY, NOT_A_DIRECTORY, ResolvedPath, secrets};

/// The maximum number of names in an error.
const LISTED: usize = 20;

/// The result of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The number of moved entries; a directory that was moved as a whole counts once.
    pub moved: usize,
    /// The number of replaced files.
    pub replaced: usize,
}

/// The moves that merge one directory into another.
#[derive(Default)]
struct Plan {
    /// The relative path of each entry in both directories, and whether it replaces something.
    moves: Vec<(PathBuf, bool)>,
    /// The directories that are in both, the deepest last.
    shared: Vec<PathBuf>,
    clashes: Vec<PathBuf>,
}

impl ResolvedPath {
    /// Moves what is in this directory into the directory `destination`, and removes this one. Directories
    /// that are in both are merged in turn.
    ///
    /// # Errors
    ///
    /// [`ALREADY_EXISTS`] where a name is taken in both, with nothing moved; with `overwrite` files replace files, and
    /// only a file and a directory of one name clash.
    pub fn merge_into(&self, destination: &Self, overwrite: bool) -> Result<Merged, Error> {
        let (from, to) = (self.path(), destination.path());
        for (place, path) in [(self, &from), (destination, &to)] {
            if !place.is_directory()? {
                return Err(NOT_A_DIRECTORY
                    .error(format!("{} is not a directory: only directories are merged", path.display()))
                    .detail("path", path.to_string_lossy()));
            }
        }
        if to.starts_with(&from) || from.starts_with(&to) {
            return Err(ARGUMENT_ERROR
                .error(format!("one of {} and {} is inside the other", from.display(), to.display()))
                .remedy("Choose two directories neither of which is inside the other.")
                .detail("path", from.to_string_lossy()));
        }
        let mut plan = Plan::default();
        self.plan(destination, Path::new(""), overwrite, &mut plan)?;
        if let Some(first) = plan.clashes.first() {
            let listed: Vec<_> =
                plan.clashes.iter().take(LISTED).map(|path| path.to_string_lossy().into_owned()).collect();
            return Err(ALREADY_EXISTS
                .error(match plan.clashes.len() {
                    1 => format!("{} is in both directories", first.display()),
                    count => format!("{count} names are in both directories, {} first", first.display()),
                })
                .remedy(if plan.clashes.iter().any(|path| path.ends_with(CATALOG)) {
                    "Merge knowledge bases with ragmaker-install-knowledge-base --merge --force: of two catalogs, one would be lost here."
                } else if overwrite {
                    "A file and a directory have one name there: rename one of them."
                } else {
                    "Rename one of each, or allow files to be replaced with --overwrite."
                })
                .detail("path", to.join(first).to_string_lossy())
                .detail("clashes", listed)
                .detail("total", plan.clashes.len()));
        }
        let mut merged = Merged { moved: 0, replaced: 0 };
        for (path, replaces) in &plan.moves {
            self.beneath(path)
                .move_to(&destination.beneath(path), overwrite)
                .map_err(|error| error.detail("moved", merged.moved))?;
            merged.moved += 1;
            merged.replaced += usize::from(*replaces);
        }
        for path in plan.shared.iter().rev() {
            let place = self.beneath(path);
            let entry = place.entry(false)?;
            entry.parent.remove_directory(entry.name).map_err(|error| match error.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => DIRECTORY_NOT_EMPTY
                    .error(format!("something was added to {} during the merge", place.path().display()))
                    .remedy("Call again to move that as well.")
                    .detail("path", place.path().to_string_lossy()),
                _ => place.failure(&error),
            })?;
        }
        Ok(merged)
    }

    /// Finds the moves for the directory `path` beneath both.
    fn plan(&self, destination: &Self, path: &Path, overwrite: bool, plan: &mut Plan) -> Result<(), Error> {
        plan.shared.push(path.to_owned());
        for name in self.beneath(path).names()? {
            let path = path.join(name);
            let (source, target) = (self.beneath(&path), destination.beneath(&path));
            secrets::check_entry(&source.path())?;
            secrets::check_entry(&target.path())?;
            let Ok(there) = target.path().symlink_metadata() else {
                plan.moves.push((path, false));
                continue;
            };
            match (source.is_directory()?, there.is_dir()) {
                (true, true) => self.plan(destination, &path, overwrite, plan)?,
                (false, false) if overwrite => plan.moves.push((path, true)),
                _ => plan.clashes.push(path),
            }
        }
        Ok(())
    }

    /// The names in this directory, in order.
    fn names(&self) -> Result<Vec<OsString>, Error> {
        let entry = self.entry(false)?;
        let names = entry.parent.child(entry.name).and_then(|directory| directory.names());
        let mut names = names.map_err(|error| self.failure(&error))?;
        names.sort();
        Ok(names)
    }

    /// The place `path` beneath this one.
    fn beneath(&self, path: &Path) -> Self {
        let relative = if path.as_os_str().is_empty() { self.relative.clone() } else { self.relative.join(path) };
        Self { root: self.root.clone(), relative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roots;
    use ragmaker_tool::HostOptions;
    use std::{collections::BTreeMap, fs};

    /// The files below `folder`, with what is in them.
    fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() && !entry.is_symlink() {
                files.extend(tree(&entry));
                files.insert(entry, "/".to_owned());
            } else {
                files.insert(entry.clone(), fs::read_to_string(&entry).unwrap_or_default());
            }
        }
        files
    }

    fn merge(top: &Path, overwrite: bool) -> Result<Merged, Error> {
        let host = HostOptions { project_root: top.to_str().map(str::to_owned), ..HostOptions::default() };
        let roots = Roots::discover(&host).unwrap();
        let place = |name: &str| roots.entry_to_write(name).unwrap();
        place("from").merge_into(&place("to"), overwrite)
    }

    fn filled(files: &[&str]) -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        for file in files {
            let path = temp.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        temp
    }

    #[test]
    fn directories_become_one() {
        let temp = filled(&["from/a", "from/both/b", "from/new/deep/c", "to/d", "to/both/e"]);
        assert_eq!(merge(temp.path(), false).unwrap(), Merged { moved: 3, replaced: 0 });
        let mut expected = ["a", "d", "both", "both/b", "both/e", "new", "new/deep", "new/deep/c"];
        expected.sort_unstable();
        let found: Vec<_> = tree(&temp.path().join("to")).into_keys().collect();
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(temp.path().join("to")).unwrap()).collect();
        assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
        assert!(!temp.path().join("from").exists());
    }

    #[test]
    fn a_clash_changes_nothing() {
        let temp = filled(&["from/a", "from/both/b", "from/z", "to/both/b", "to/z/x"]);
        let before = tree(temp.path());
        let error = merge(temp.path(), false).unwrap_err();
        assert!(error.is(ALREADY_EXISTS), "{error}");
        assert_eq!(error.details()["clashes"], serde_json::json!([Path::new("both").join("b"), "z"]));
        assert_eq!(tree(temp.path()), before);
        // A directory is not replaced by a file.
        let error = merge(temp.path(), true).unwrap_err();
        assert_eq!(error.details()["clashes"], serde_json::json!(["z"]));
        assert_eq!(tree(temp.path()), before);
        fs::remove_dir_all(temp.path().join("to/z")).unwrap();
        assert_eq!(merge(temp.path(), true).unwrap(), Merged { moved: 3, replaced: 1 });
        assert_eq!(fs::read_to_string(temp.path().join("to/both/b")).unwrap(), "from/both/b");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_moved_itself() {
        let temp = filled(&["from/a", "to/b", "elsewhere/c"]);
        std::os::unix::fs::symlink("../elsewhere", temp.path().join("from/both")).unwrap();
        fs::create_dir(temp.path().join("to/both")).unwrap();
        assert!(merge(temp.path(), true).unwrap_err().is(ALREADY_EXISTS));
        fs::remove_dir(temp.path().join("to/both")).unwrap();
        merge(temp.path(), false).unwrap();
        assert!(temp.path().join("to/both").is_symlink() && temp.path().join("elsewhere/c").exists());
    }

    #[test]
    fn merging_needs_two_separate_directories() {
        let temp = filled(&["from", "to/b"]);
        assert!(merge(temp.path(), false).unwrap_err().is(NOT_A_DIRECTORY));
        let temp = filled(&["a/b/c"]);
        let host = HostOptions { project_root: temp.path().to_str().map(str::to_owned), ..HostOptions::default() };
        let roots = Roots::discover(&host).unwrap();
        let place = |name: &str| roots.entry_to_write(name).unwrap();
        for (from, to) in [("a", "a/b"), ("a/b", "a"), ("a", "a")] {
            assert!(place(from).merge_into(&place(to), true).unwrap_err().is(ARGUMENT_ERROR), "{from} {to}");
        }
    }
}
