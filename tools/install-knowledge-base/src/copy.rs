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
