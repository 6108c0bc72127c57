//! The page's bytes, from a file or standard input.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::Path,
};

use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};

/// Nothing has this name.
pub const FILE_NOT_FOUND: Code = Code::new("FILE_NOT_FOUND", "Check the spelling of --path.");
/// It is a folder.
pub const IS_A_DIRECTORY: Code = Code::new("IS_A_DIRECTORY", "Name a file in it.");
/// It is a device, a pipe or a socket.
pub const NOT_A_REGULAR_FILE: Code =
    Code::new("NOT_A_REGULAR_FILE", "Name a regular file, or send the page to standard input.");
/// It may not be read.
pub const PERMISSION_DENIED: Code =
    Code::new("PERMISSION_DENIED", "Ask the user to change the permissions, or choose another file.");
/// It could not be read.
pub const IO_ERROR: Code = Code::new("IO_ERROR", "The message is the system's own: see whether the disk is healthy.");
/// It is larger than any page.
pub const INPUT_TOO_LARGE: Code = Code::new("INPUT_TOO_LARGE", "Give one page; this is larger than any.");
/// It is no page.
pub const NOT_TEXT: Code = Code::new("NOT_TEXT", "Give an HTML page; use a program for files of this kind.");

/// The most bytes of a page.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the page at `path`; from standard input where that is `-` or nothing.
pub(crate) fn read(path: Option<&Path>) -> Result<Vec<u8>, Error> {
    let path = path.filter(|path| path.as_os_str() != "-");
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
        return Err(INPUT_TOO_LARGE.error(format!("the page has more than {MAX_BYTES} bytes")));
    }
    if is_binary(&bytes) {
        return Err(NOT_TEXT.error("this is a binary file, not a page"));
    }
    Ok(bytes)
}

fn all_of(from: impl Read) -> io::Result<Vec<u8>> {
    // Most pages fit: read at once, and never moved.
    let mut bytes = Vec::with_capacity(256 << 10);
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open(path: &Path) -> Result<File, Error> {
    // Opening a pipe would wait for its other end, so the kind of file is asked first.
    let kind = std::fs::metadata(path).map_err(|error| failed(&error, path))?;
    let shown = path.to_string_lossy();
    if kind.is_dir() {
        return Err(IS_A_DIRECTORY.error(format!("{shown} is a directory")).detail("path", shown));
    }
    if !kind.is_file() {
        return Err(NOT_A_REGULAR_FILE.error(format!("{shown} is not a regular file")).detail("path", shown));
    }
    File::open(path).map_err(|error| failed(&error, path))
}

fn failed(error: &io::Error, path: &Path) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FILE_NOT_FOUND,
        io::ErrorKind::PermissionDenied => PERMISSION_DENIED,
        _ => IO_ERROR,
    };
    let shown = path.to_string_lossy();
    code.error(format!("cannot read {shown}: {error}")).detail("path", shown)
}

/// Whether the bytes are those of a file that everybody knows is no page.
fn is_binary(bytes: &[u8]) -> bool {
    const MAGIC: [&[u8]; 10] = [
        b"%PDF-",
        b"PK\x03\x04",
        b"\x89PNG",
        b"GIF8",
        b"\xFF\xD8\xFF",
        b"\x1F\x8B",
        b"\x7FELF",
        b"RIFF",
        b"OggS",
        b"\xFD7zXZ",
    ];
    MAGIC.iter().any(|magic| bytes.starts_with(magic)) && !bytes[..bytes.len().min(4096)].contains(&b'<')
        || MAGIC[..8].iter().any(|magic| bytes.starts_with(magic))
}

/// Whether what was decoded is no text in any charset: a tenth of its start is control characters or errors.
pub(crate) fn is_garbled(text: &str) -> bool {
    let is_bad = |c: &char| (c.is_control() && !c.is_whitespace() && *c != '\x1B') || *c == char::REPLACEMENT_CHARACTER;
    let start = || text.chars().take(4096);
    let bad = start().filter(is_bad).count();
    bad > 32 && bad * 10 > start().count()
}
