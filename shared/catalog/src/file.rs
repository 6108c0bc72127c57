//! The catalog file: resolves links, opens the file without blocking, and reads it completely.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use ragmaker_tool::Error;

use crate::{
    SourceType,
    error::{CATALOG_CORRUPT, not_readable, not_writable},
    outline::{Corrupt, Outline},
};

/// The maximum size in bytes of a catalog: a million documents are 350 MB.
const MAX_BYTES: u64 = 1 << 30;

/// The absolute path of the catalog itself, links followed, in a folder that now exists.
pub(crate) fn resolve(file: &Path) -> Result<PathBuf, Error> {
    match ragmaker_fs::canonicalize(file) {
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
    Ok(ragmaker_fs::canonicalize(folder).map_err(refuse)?.join(file.file_name().unwrap_or_default()))
}

/// Whether there is a regular file; anything else at this path is an error.
///
/// This is checked before the file is opened, because opening a pipe could block, and a device could be endless.
fn regular(file: &Path) -> Result<bool, Error> {
    match fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) if found.is_dir() => Err(not_readable(file, &"it is a folder")),
        Ok(_) => Err(not_readable(file, &"it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(not_readable(file, &error)),
    }
}

/// The text of a new catalog: all fields that readers know, with empty values.
fn new_catalog(src_type: SourceType) -> String {
    let (kind, now) = (src_type.name(), crate::now());
    format!(
        "{{\n  \"title\": \"\",\n  \"summary\": \"\",\n  \"source_url\": \"\",\n  \"src_type\": \"{kind}\",\n  \"fetched_at\": \"{now}\",\n  \"documents\": []\n}}\n"
    )
}

/// A catalog as it is before a change.
#[derive(Debug)]
pub(crate) struct LoadedCatalog {
    /// Its text, which is not checked yet.
    pub(crate) text: Vec<u8>,
    /// The version of the file, which detects changes; `None` if there is no file yet.
    version: Option<Version>,
}

/// The length of a file and when it was last written.
#[derive(Debug, PartialEq, Eq)]
struct Version(u64, Option<SystemTime>);

impl Version {
    fn of(metadata: &fs::Metadata) -> Self {
        Self(metadata.len(), metadata.modified().ok())
    }
}

impl LoadedCatalog {
    /// The catalog in `file`, or an empty one for sources of type `new` if the file does not exist.
    pub(crate) fn read(file: &Path, new: SourceType) -> Result<Self, Error> {
        if !regular(file)? {
            return Ok(Self { text: new_catalog(new).into_bytes(), version: None });
        }
        let read = || {
            let mut opened = File::open(file)?;
            let found = opened.metadata()?;
            if found.len() > MAX_BYTES {
                return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
            }
            let mut text = Vec::new();
            opened.read_to_end(&mut text)?;
            Ok(Self { text, version: Some(Version::of(&found)) })
        };
        read().map_err(|error| not_readable(file, &error))
    }

    /// Whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.version.is_some()
    }

    /// The outline of its text. An error names `file`.
    pub(crate) fn outline(&self, file: &Path) -> Result<Outline<'_>, Error> {
        Outline::parse(&self.text).map_err(|corrupt| self.error(&corrupt, file))
    }

    /// Fails where `file` was written since it was read, by a program that does not take the lock,
    /// such as an editor: replacing it would undo what was written.
    pub(crate) fn check_unchanged(&self, file: &Path) -> io::Result<()> {
        let version = match fs::metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(Version::of(&found?)),
        };
        if version == self.version {
            return Ok(());
        }
        Err(io::Error::other("another program has changed it"))
    }

    /// The error for text in `file` that is not a catalog.
    pub(crate) fn error(&self, Corrupt { reason, at }: &Corrupt, file: &Path) -> Error {
        let (line, column) = line_and_column(&self.text[..*at]);
        CATALOG_CORRUPT
            .error(format!("{} is not a catalog: {reason} (line {line}, column {column})", file.display()))
            .detail("path", file.to_string_lossy())
            .detail("line", line)
            .detail("column", column)
    }
}

/// The place after `text` as people count it: lines and columns from 1, columns in bytes.
fn line_and_column(text: &[u8]) -> (usize, usize) {
    let line_start = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    (text.split(|byte| *byte == b'\n').count(), text.len() - line_start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_that_is_written_after_it_was_read_is_noticed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("catalog.json");
        let none = LoadedCatalog::read(&path, SourceType::Web).unwrap();
        none.check_unchanged(&path).unwrap();
        for length in [1, 300_000] {
            fs::write(&path, vec![b' '; length]).unwrap();
            assert!(none.check_unchanged(&path).is_err());
            let current = LoadedCatalog::read(&path, SourceType::Web).unwrap();
            current.check_unchanged(&path).unwrap();
            File::options().append(true).open(&path).unwrap().write_all(b"{}").unwrap();
            assert!(current.check_unchanged(&path).is_err());
            // What was read stays what it was.
            assert_eq!(current.text.len(), length);
        }
        fs::remove_file(&path).unwrap();
        assert!(none.check_unchanged(&path).is_ok());
    }

    #[test]
    fn places_are_counted_from_one() {
        for (before, place) in [("", (1, 1)), ("ab", (1, 3)), ("a\n", (2, 1)), ("\n\né", (3, 3))] {
            assert_eq!(line_and_column(before.as_bytes()), place);
        }
    }
}
