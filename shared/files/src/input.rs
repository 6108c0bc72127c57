//! Inputs of bounded size: the text of a regular file or of standard input.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use ragmaker_tool::{Error, Invocation};

use crate::{NOT_A_REGULAR_FILE, caller_paths::session_file, input_file, io_error};

/// The reason why an input cannot be read. Its `Display` is the reason without the path.
#[derive(Debug)]
pub enum InputError {
    /// The caller may not read the path; the error has one of [`PATH_ERRORS`](crate::PATH_ERRORS).
    Refused(Error),
    /// The path is not a regular file but, for example, a directory or a named pipe.
    NotRegular,
    /// The input cannot be opened or read.
    Io(io::Error),
    /// The input has more bytes than this limit.
    TooLarge(u64),
    /// The input is not UTF-8.
    NotUtf8,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => f.write_str(error.message()),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::Io(error) => error.fmt(f),
            Self::TooLarge(limit) => write!(f, "it has more than {limit} bytes"),
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
        }
    }
}

impl InputError {
    /// The tool's error for the input at `path`: one of [`PATH_ERRORS`](crate::PATH_ERRORS) or
    /// [`FILE_ERRORS`](crate::FILE_ERRORS).
    pub fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Refused(error) => error,
            Self::NotRegular => NOT_A_REGULAR_FILE
                .error(format!("{} is not a regular file", path.display()))
                .detail("path", path.to_string_lossy()),
            Self::Io(error) => io_error(&error, path),
            reason => io_error(&io::Error::new(io::ErrorKind::InvalidData, reason.to_string()), path),
        }
    }
}

/// Reads the text of the file at `path`, of at most `max_bytes` bytes. A model may only read files in the project and
/// the allowed roots.
///
/// # Errors
///
/// Every kind of [`InputError`].
pub fn read_text_file(path: &Path, invocation: &Invocation, max_bytes: u64) -> Result<String, InputError> {
    read_regular(&input_file(path, invocation).map_err(InputError::Refused)?, max_bytes)
}

/// Like [`read_text_file`], for a file of sign-ins, which no tool shows: the caller takes them over into a browser
/// session.
///
/// # Errors
///
/// Every kind of [`InputError`].
pub fn read_session_file(path: &Path, invocation: &Invocation, max_bytes: u64) -> Result<String, InputError> {
    read_regular(&session_file(path, invocation).map_err(InputError::Refused)?, max_bytes)
}

fn read_regular(path: &Path, max_bytes: u64) -> Result<String, InputError> {
    // Opening a named pipe would block, so the type of the file is checked first.
    if !path.metadata().map_err(InputError::Io)?.is_file() {
        return Err(InputError::NotRegular);
    }
    text_of(File::open(path).map_err(InputError::Io)?, max_bytes)
}

/// Reads the text of standard input, of at most `max_bytes` bytes. The caller must make sure that standard input
/// belongs to the call: that of a server contains the messages of its client.
///
/// # Errors
///
/// [`InputError::Io`], [`InputError::TooLarge`] and [`InputError::NotUtf8`].
pub fn read_standard_input(max_bytes: u64) -> Result<String, InputError> {
    text_of(io::stdin().lock(), max_bytes)
}

fn text_of(input: impl Read, max_bytes: u64) -> Result<String, InputError> {
    let mut bytes = vec![];
    input.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(InputError::Io)?;
    if bytes.len() as u64 > max_bytes {
        return Err(InputError::TooLarge(max_bytes));
    }
    String::from_utf8(bytes).map_err(|_| InputError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{FILE_NOT_FOUND, IO_ERROR};

    #[test]
    fn each_reason_has_its_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let read = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            read_text_file(&file, &Invocation::default(), 4)
        };
        assert_eq!(read("é12".as_bytes()).unwrap(), "é12");
        assert_eq!(read(b"12345").unwrap_err().to_string(), "it has more than 4 bytes");
        assert!(read(b"\xFF").unwrap_err().into_error(&file).is(IO_ERROR));

        let failed = |path: &Path| read_text_file(path, &Invocation::default(), 4).unwrap_err().into_error(path);
        assert!(failed(folder.path()).is(NOT_A_REGULAR_FILE));
        assert!(failed(&folder.path().join("b")).is(FILE_NOT_FOUND));
    }
}
