//! The executable of this process, and which other files are it: links, and copies where there are no links.

use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

/// The path of the executable, without links.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn path() -> io::Result<PathBuf> {
    env::current_exe().and_then(ragmaker_fs::canonicalize)
}

/// Whether the file at `path` is the executable `program`, or a link to it, or has its content.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn is_at(path: &Path, program: &Path) -> io::Result<bool> {
    let path = ragmaker_fs::canonicalize(path)?;
    Ok(path == program || has_same_content(&path, program)?)
}

/// Whether two files have the same content. Hard links are compared by content as well, because the standard
/// library has no numbers of files on Windows.
fn has_same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    let (kind, length) = (one.metadata()?.is_file(), one.metadata()?.len());
    if !kind || length != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::with_capacity(1 << 16, one), BufReader::with_capacity(1 << 16, other));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let count = left.len().min(right.len());
        if left[..count] != right[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
        one.consume(count);
        other.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_hard_link_and_a_copy_are_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| ragmaker_fs::canonicalize(folder.path()).unwrap().join(name);
        let program = place("ragmaker");
        fs::write(&program, "x".repeat(200_000)).unwrap();
        fs::hard_link(&program, place("linked")).unwrap();
        fs::copy(&program, place("copied")).unwrap();
        fs::write(place("shorter"), "x").unwrap();
        fs::write(place("other"), "x".repeat(199_999) + "y").unwrap();
        for (name, is_it) in
            [("ragmaker", true), ("linked", true), ("copied", true), ("shorter", false), ("other", false)]
        {
            assert_eq!(is_at(&place(name), &program).unwrap(), is_it, "{name}");
        }
        assert!(is_at(&place("none"), &program).is_err());
        assert!(!is_at(folder.path(), &program).unwrap_or_default());
    }
}
