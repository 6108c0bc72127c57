//! Files and folders that tools derive and keep beside the user's files.
//!
//! Whoever made a folder may have put symbolic links in it. A link in the place of a derived file would lead its writer
//! to a file elsewhere. So links are refused here, as is everything else that is not a regular file or a folder.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

use crate::system;

/// Opens the regular file `path` with `options`.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] for a symbolic link and anything else that is not a regular
/// file.
pub fn open_derived_file(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if let Ok(found) = fs::symlink_metadata(path)
        && !found.is_file()
    {
        return Err(refused(found.is_symlink(), "it is not a regular file"));
    }
    let mut options = options.clone();
    // In case it has become a link or a FIFO since.
    system::follow_no_link(&mut options);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused(false, "it is not a regular file")) }
}

/// Creates the folder `path` and the folders above it, unless they exist.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] for a symbolic link and anything else that is not a folder.
pub fn create_derived_folder(path: &Path) -> io::Result<()> {
    let check = || match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => Err(refused(found.is_symlink(), "it is not a folder")),
        found => Ok(found.is_ok()),
    };
    if check()? {
        return Ok(());
    }
    fs::create_dir_all(path)?;
    check().map(drop)
}

fn refused(is_link: bool, otherwise: &str) -> io::Error {
    let reason = if is_link { "it is a symbolic link, which is not followed" } else { otherwise };
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::{io::Write, os::unix::fs::symlink};

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut append = OpenOptions::new();
        append.append(true).create(true);
        open_derived_file(&at("own"), &append).unwrap().write_all(b"a").unwrap();
        open_derived_file(&at("own"), &append).unwrap().write_all(b"b").unwrap();
        assert_eq!(fs::read(at("own")).unwrap(), b"ab");
        create_derived_folder(&at("a/b")).unwrap();
        create_derived_folder(&at("a/b")).unwrap();
        symlink(at("own"), at("link")).unwrap();
        symlink(at("none"), at("dangling")).unwrap();
        symlink(at("a"), at("folder")).unwrap();
        for name in ["link", "dangling", "folder", "a"] {
            let error = open_derived_file(&at(name), &append).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        for name in ["link", "dangling", "folder", "own"] {
            assert_eq!(create_derived_folder(&at(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert!(!at("none").exists());
    }
}
