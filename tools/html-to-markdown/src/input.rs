//! The page's bytes, from a file or standard input.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::Path,
};

use ragmaker_files::{FILE_NOT_FOUND, IS_A_DIRECTORY, NOT_A_REGULAR_FILE, io_error};
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::{ARGUMENT_ERROR, Error};

/// The largest page, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the page at `path`, or standard input without a path.
pub(crate) fn read(path: Option<&Path>) -> Result<Vec<u8>, Error> {
    let bytes = match path {
        Some(path) => all_of(open(path)?).map_err(|error| failed(&error, path))?,
        None if io::stdin().is_terminal() => {
            return Err(ARGUMENT_ERROR
                .error("there is no page: --path is not given and standard input is a terminal")
                .remedy("Give --path FILE, or send the page to standard input.")
                .detail("argument", "--path"));
        }
        None => all_of(io::stdin().lock()).map_err(|error| failed(&error, Path::new("-")))?,
    };
    if bytes.len() as u64 > MAX_BYTES {
        return Err(INPUT_TOO_LARGE
            .error(format!("the page has more than {MAX_BYTES} bytes"))
            .remedy(format!("Split the input: a page has at most {MAX_BYTES} bytes.")));
    }
    Ok(bytes)
}

fn all_of(from: impl Read) -> io::Result<Vec<u8>> {
    // The initial capacity is sufficient for most pages, so the buffer is not reallocated.
    let mut bytes = Vec::with_capacity(256 << 10);
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens the regular file at `path`.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    // Opening a named pipe would block, so the type of the file is checked first.
    let kind = std::fs::metadata(path).map_err(|error| failed(&error, path))?;
    let shown = path.to_string_lossy();
    if kind.is_dir() {
        return Err(IS_A_DIRECTORY.error(format!("{shown} is a directory")).detail("path", shown));
    }
    if !kind.is_file() {
        return Err(NOT_A_REGULAR_FILE
            .error(format!("{shown} is not a regular file"))
            .remedy("Name a regular file, or send the page to standard input.")
            .detail("path", shown));
    }
    File::open(path).map_err(|error| failed(&error, path))
}

fn failed(error: &io::Error, path: &Path) -> Error {
    // Unlike the paths of the file tools, this path is relative to the working directory.
    io_error(error, path).remedy_for(FILE_NOT_FOUND, "Check the spelling of --path.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        std::fs::write(&page, b"<p>\xff").unwrap();
        assert_eq!(read(Some(&page)).unwrap(), b"<p>\xff");
        assert!(read(Some(folder.path())).unwrap_err().is(IS_A_DIRECTORY));
        let error = read(Some(&folder.path().join("none"))).unwrap_err();
        assert!(error.is(FILE_NOT_FOUND) && error.remediation().contains("--path"), "{error:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_named_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read(Some(&pipe)).unwrap_err().is(NOT_A_REGULAR_FILE));
    }
}
