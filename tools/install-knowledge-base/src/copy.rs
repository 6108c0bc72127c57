//! Copying a tree of files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Every entry beneath `folder`, which is not a directory, by its path beneath it; no link is followed.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::InvalidInput`] for what is neither a file, a link nor a directory.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut left) = (vec![], vec![PathBuf::new()]);
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(folder.join(&path))? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, path.join(entry.file_name()));
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file() || kind.is_symlink() {
                files.push(path);
            } else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{} is not a regular file", folder.join(path).display()),
                ));
            }
        }
    }
    Ok(files)
}

/// Makes `to`, which is not there, the same entry as `from`: the same file under a second name, a copy where the
/// file system has no second names, or a link to the same place.
///
/// # Errors
/// What the system says.
pub(crate) fn again(from: &Path, to: &Path) -> io::Result<()> {
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
