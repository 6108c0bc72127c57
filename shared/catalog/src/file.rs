//! The catalog as a file: found through links, opened without waiting, read at any place.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_tool::{Code, Error};

use crate::{draft::not_writable, scan::Failure};

/// The file is not a catalog; it was left as it is.
pub const CATALOG_CORRUPT: Code = Code::new(
    "CATALOG_CORRUPT",
    "The file was left as it is: repair it at that line, or move it away and a new one is made.",
);
/// There is something in the catalog's place that can not be read as a file.
pub const CATALOG_NOT_READABLE: Code =
    Code::new("CATALOG_NOT_READABLE", "Give the path of a catalog.json that is a regular file, or of none yet.");

/// The size in bytes up to which a catalog is held in memory. A longer one is copied and sent to the
/// disk by a thread of its own while it is checked, which takes as long.
const MOST_HELD: u64 = 256 << 10;

/// The bytes at its end by which it is guessed where the next document goes.
const END: u64 = 16 << 10;

fn not_readable(file: &Path, reason: &dyn std::fmt::Display) -> Error {
    CATALOG_NOT_READABLE
        .error(format!("the catalog {} can not be read: {reason}", file.display()))
        .detail("path", file.to_string_lossy())
}

/// The absolute path of the catalog itself, links followed, in a folder that now exists.
pub(crate) fn resolve(file: &Path) -> Result<PathBuf, Error> {
    match fs::canonicalize(file) {
        // Said before anything is locked, which would leave a file beside whatever this is.
        Ok(found) => return regular(&found).map(|_| found),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_readable(file, &error)),
        Err(_) => {}
    }
    let folder = file.parent().unwrap_or(file);
    // A link to a catalog that is yet to be made.
    if let Ok(target) = fs::read_link(file) {
        return resolve(&folder.join(target));
    }
    let refuse = |error: io::Error| not_writable(file, &format_args!("its folder: {error}"));
    fs::create_dir_all(folder).map_err(refuse)?;
    Ok(fs::canonicalize(folder).map_err(refuse)?.join(file.file_name().unwrap_or_default()))
}

/// Whether there is a file; that there is something else is an error.
///
/// It is asked before the file is opened: opening a pipe could wait for ever, and a device could
/// have no end.
fn regular(file: &Path) -> Result<bool, Error> {
    match fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) if found.is_dir() => Err(not_readable(file, &"it is a folder")),
        Ok(_) => Err(not_readable(file, &"it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(not_readable(file, &error)),
    }
}

/// What a new catalog starts from: every field that readers know, still to be filled in.
fn new_catalog() -> String {
    let now = crate::now();
    format!(
        "{{\n  \"title\": \"\",\n  \"summary\": \"\",\n  \"source_url\": \"\",\n  \"src_type\": \"web\",\n  \"fetched_at\": \"{now}\",\n  \"documents\": []\n}}\n"
    )
}

/// A catalog as it is before a change, read by several at once: each from a place of its own.
pub(crate) struct Source {
    /// The open file; `None` where all of it is in `text`.
    file: Option<File>,
    /// What stands for the file where it is short, or where there is none yet.
    text: Vec<u8>,
    length: u64,
    modified: Option<SystemTime>,
}

impl Source {
    /// The catalog in `file`, or an empty one where there is no file.
    pub(crate) fn open(file: &Path) -> Result<Self, Error> {
        if !regular(file)? {
            let text = new_catalog().into_bytes();
            return Ok(Self { file: None, length: text.len() as u64, text, modified: None });
        }
        Self::of(file).map_err(|error| not_readable(file, &error))
    }

    fn of(file: &Path) -> io::Result<Self> {
        let mut opened = File::open(file)?;
        let found = opened.metadata()?;
        if found.len() > MOST_HELD {
            let modified = found.modified().ok();
            return Ok(Self { file: Some(opened), text: vec![], length: found.len(), modified });
        }
        let mut text = Vec::with_capacity(found.len() as usize);
        (&mut opened).take(found.len()).read_to_end(&mut text)?;
        Ok(Self { file: None, length: text.len() as u64, text, modified: None })
    }

    /// Whether all of it is held in memory.
    pub(crate) fn is_held(&self) -> bool {
        self.file.is_none()
    }

    /// Fails where the file was written while it was read, by a program that knows no lock: what was
    /// checked is then not what was copied.
    pub(crate) fn check_unchanged(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let now = file.metadata()?;
        if now.len() == self.length && now.modified().ok() == self.modified {
            return Ok(());
        }
        Err(io::Error::other("another program wrote it meanwhile"))
    }

    /// The number of bytes; what is added later does not belong to it.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes from `start` to `end`.
    pub(crate) fn range(&self, start: u64, end: u64) -> impl Read + '_ {
        At { file: self.file.as_ref(), text: &self.text, offset: start }.take(end.saturating_sub(start))
    }

    /// The last bytes, enough of them to hold a document, and where they begin.
    pub(crate) fn end(&self) -> io::Result<(Vec<u8>, u64)> {
        let start = self.length.saturating_sub(END);
        let mut bytes = vec![];
        self.range(start, self.length).read_to_end(&mut bytes)?;
        Ok((bytes, start))
    }

    /// All bytes.
    pub(crate) fn all(&self) -> impl Read + '_ {
        self.range(0, self.length)
    }

    /// The error for a scan of this source, the catalog in `file`, that failed.
    pub(crate) fn error(&self, failure: Failure, file: &Path) -> Error {
        let (reason, at) = match failure {
            Failure::Corrupt(reason, at) => (reason, at),
            Failure::Unreadable(error) => return not_readable(file, &error),
        };
        let (line, column) = self.line_and_column(at).unwrap_or_default();
        CATALOG_CORRUPT
            .error(format!("{} is not a catalog: {reason} (line {line}, column {column})", file.display()))
            .detail("path", file.to_string_lossy())
            .detail("line", line)
            .detail("column", column)
    }

    /// Where byte `at` is for people: both count from 1, columns in bytes.
    fn line_and_column(&self, at: u64) -> io::Result<(u64, u64)> {
        let (mut line, mut column) = (1, 1);
        for byte in io::BufReader::new(self.range(0, at)).bytes() {
            (line, column) = if byte? == b'\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        Ok((line, column))
    }
}

/// A reader with a place of its own in a file that others read as well.
struct At<'a> {
    file: Option<&'a File>,
    text: &'a [u8],
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.file {
            #[cfg(unix)]
            Some(file) => std::os::unix::fs::FileExt::read_at(file, buffer, self.offset)?,
            #[cfg(windows)]
            Some(file) => std::os::windows::fs::FileExt::seek_read(file, buffer, self.offset)?,
            None => self.text.get(self.offset as usize..).unwrap_or_default().read(buffer)?,
        };
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_that_is_written_while_it_is_read_is_noticed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("catalog.json");
        for length in [MOST_HELD, MOST_HELD + 1] {
            fs::write(&path, vec![b' '; length as usize]).unwrap();
            let source = Source::open(&path).unwrap();
            source.check_unchanged().unwrap();
            File::options().append(true).open(&path).unwrap().write_all(b"{}").unwrap();
            // What is held in memory stays what it was.
            assert_eq!(source.check_unchanged().is_ok(), source.is_held());
            assert_eq!(io::copy(&mut source.all(), &mut io::sink()).unwrap(), length);
        }
    }
}
