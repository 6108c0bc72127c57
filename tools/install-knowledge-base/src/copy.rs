//! Copying a tree of files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The entries beneath a folder, by their paths in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The folders, each after the one that it is in.
    pub(crate) folders: Vec<PathBuf>,
    /// The files and symbolic links.
    pub(crate) files: Vec<PathBuf>,
}

/// Every entry beneath `folder`; no link is followed.
///
/// # Errors
/// The system's error, and [`io::ErrorKind::InvalidInput`] for what is neither a file, a link nor a directory.
pub(crate) fn entries(folder: &Path) -> io::Result<Entries> {
    let mut found = Entries::default();
    let mut left = vec![PathBuf::new()];
    while let Some(path) = left.pop() {
        let listed = match fs::read_dir(folder.join(&path)) {
            // It was removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.as_os_str().is_empty() => continue,
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, path.join(entry.file_name()));
            if kind.is_dir() {
                found.folders.push(path.clone());
                left.push(path);
            } else if kind.is_file() || kind.is_symlink() {
                found.files.push(path);
            } else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{} is not a regular file", folder.join(path).display()),
                ));
            }
        }
    }
    Ok(found)
}

/// Adds to the folder `to` the entries of the folder `from` whose names it does not have; folders may be empty.
///
/// # Errors
/// The system's error, and [`io::ErrorKind::InvalidInput`] as for [`entries`].
pub(crate) fn add_missing(from: &Path, to: &Path) -> io::Result<()> {
    let Entries { folders, files } = entries(from)?;
    for path in folders.into_iter().map(|path| to.join(path)) {
        if path.symlink_metadata().is_err() {
            fs::create_dir(path)?;
        }
    }
    for path in files {
        let there = to.join(&path);
        if there.symlink_metadata().is_err() {
            again(&from.join(path), &there)?;
        }
    }
    Ok(())
}

/// Gives the folder `to` and the folders in it the permissions that they have in `from`. Folders that one of the two no
/// longer has, or does not have yet, are passed over.
///
/// # Errors
/// The system's error.
pub(crate) fn set_permissions(from: &Path, to: &Path) -> io::Result<()> {
    // The deepest first: a folder that may not be entered would hide those in it.
    for path in entries(from)?.folders.iter().rev().map(PathBuf::as_path).chain([Path::new("")]) {
        let set = fs::metadata(from.join(path)).and_then(|data| fs::set_permissions(to.join(path), data.permissions()));
        match set {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Makes `to`, which is not there, the same entry as `from`: the same file under a second name, a copy where the
/// file system has no second names, or a link to the same place.
///
/// # Errors
/// The system's error.
fn again(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    #[cfg(unix)]
    if from.symlink_metadata()?.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => fs::copy(from, to).map(|_| ()),
        result => result,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use ragmaker_testkit::{folder, write};

    use super::*;

    #[test]
    fn entries_that_are_missing_are_added_and_others_stay() {
        let (_holder, root) = folder("kb");
        let (from, to) = (root.join("from"), root.join("to"));
        write(&from, "a/b/new.md", "new");
        write(&from, "both.md", "theirs");
        write(&to, "both.md", "ours");
        fs::create_dir(from.join("empty")).unwrap();
        symlink("../outside", from.join("link")).unwrap();
        add_missing(&from, &to).unwrap();
        add_missing(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a/b/new.md")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.join("both.md")).unwrap(), "ours");
        assert!(to.join("empty").is_dir());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("../outside"));
        let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(from.join("a/b/new.md")), inode(to.join("a/b/new.md")));
    }

    #[test]
    fn what_is_no_file_is_an_error_that_names_it() {
        let (_holder, root) = folder("kb");
        write(&root, "a.md", "");
        assert!(std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
        let error = entries(&root).unwrap_err();
        assert!(error.kind() == io::ErrorKind::InvalidInput && error.to_string().contains("pipe"), "{error}");
        assert_eq!(entries(&root.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn folders_get_the_permissions_that_they_had() {
        let (_holder, root) = folder("kb");
        let (from, to) = (root.join("from"), root.join("to"));
        for folder in [from.join("a/b"), to.join("a/b"), from.join("only-here")] {
            fs::create_dir_all(folder).unwrap();
        }
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(from.join("a/b"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::set_permissions(from.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
        set_permissions(&from, &to).unwrap();
        assert_eq!((mode(to.join("a")), mode(to.join("a/b"))), (0o700, 0o750));
    }
}
