//! The ZIP archive of a document, with a limit on the unpacked size.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, Write},
};

use ragmaker_text::{ByteSource, Prior, Text};
use zip::{ZipArchive, result::ZipError};

use crate::Damage;

/// The largest archive that is opened (64 MiB).
const MAX_SIZE: u64 = 64 << 20;

/// The maximum number of bytes that are unpacked of one document (64 MiB). An archive of a few kilobytes can contain
/// terabytes.
const MAX_UNPACKED: u64 = 64 << 20;

/// The archive of a document.
pub(crate) struct Package {
    archive: ZipArchive<BufReader<File>>,
    left: u64,
}

impl Package {
    /// The first bytes of an archive.
    pub(crate) const SIGNATURE: &[u8] = b"PK\x03\x04";

    /// Opens the archive in `source`; `None` if it is not an archive or too large.
    pub(crate) fn open(source: &ByteSource) -> io::Result<Option<Self>> {
        let mut head = [0; 4];
        if source.size() > MAX_SIZE || source.read_at(0, &mut head)? < 4 || head != Self::SIGNATURE {
            return Ok(None);
        }
        if !has_few_entries(source)? {
            return Ok(None);
        }
        let archive = ZipArchive::new(BufReader::new(input_of(source)?));
        Ok(archive.ok().map(|archive| Self { archive, left: MAX_UNPACKED }))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// The bytes of a part; `None` if it does not exist.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, Damage> {
        let part = match self.archive.by_name(name) {
            Err(ZipError::FileNotFound) => return Ok(None),
            part => part.map_err(|error| Damage::Packed { part: name.to_owned(), error })?,
        };
        let mut bytes = vec![];
        part.take(self.left + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Damage::Packed { part: name.to_owned(), error: error.into() })?;
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => self.left = left,
            None => return Err(Damage::TooLarge { most: MAX_UNPACKED }),
        }
        Ok(Some(bytes))
    }

    /// The text of a part.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Damage> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        Text::decode(bytes, &Prior::of_process)
            .map(|text| Some(text.text))
            .map_err(|_| Damage::NotText { part: name.to_owned() })
    }

    /// The text of a required part.
    pub(crate) fn needed(&mut self, name: &str) -> Result<String, Damage> {
        self.text(name)?.ok_or_else(|| Damage::Missing { part: name.to_owned() })
    }

    /// Unpacks the whole archive once to check the limit, and returns the archive.
    pub(crate) fn checked(mut self) -> Result<BufReader<File>, Damage> {
        for index in 0..self.archive.len() {
            let Some(Ok(name)) = self.archive.name_for_index(index) else { continue };
            let name = name.into_owned();
            // Images are not read.
            if name.rsplit('.').next().is_some_and(|kind| matches!(kind, "xml" | "rels")) {
                self.bytes(&name)?;
            }
        }
        Ok(self.archive.into_inner())
    }
}

/// Whether the archive's directory has fewer entries than take megabytes to list. A document has hundreds.
fn has_few_entries(source: &ByteSource) -> io::Result<bool> {
    const LAST: usize = 22;
    let mut tail = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX).min(LAST + 0xFFFF)];
    let read = source.read_at(source.size() - tail.len() as u64, &mut tail)?;
    let record = tail[..read].windows(LAST).rev().find(|bytes| bytes.starts_with(b"PK\x05\x06"));
    Ok(record.is_some_and(|bytes| u16::from_le_bytes([bytes[10], bytes[11]]) < 20_000))
}

/// `source` as a file positioned at its start, for an archive reader or as standard input of a program.
///
/// # Errors
/// An I/O error if `source` cannot be read, or bytes in memory cannot be written to a temporary file.
pub fn input_of(source: &ByteSource) -> io::Result<File> {
    let mut file = match source {
        ByteSource::File(file, _) => file.try_clone()?,
        ByteSource::Memory(bytes) => {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            file
        }
    };
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
pub(crate) mod tests {
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    /// An archive of these parts.
    pub(crate) fn archive(parts: &[(&str, &[u8])]) -> ByteSource {
        let mut zip = ZipWriter::new(io::Cursor::new(vec![]));
        for (name, content) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        ByteSource::Memory(zip.finish().unwrap().into_inner())
    }

    #[test]
    fn parts_are_read_or_named_in_the_error() {
        let source = archive(&[("a.xml", "\u{6f6e}".as_bytes()), ("image.png", b"\x89PNG\0\xff"), ("empty.xml", b"")]);
        let mut package = Package::open(&source).unwrap().unwrap();
        assert!(package.has("a.xml") && !package.has("A.xml"));
        assert_eq!(package.needed("a.xml").unwrap(), "\u{6f6e}");
        assert_eq!(package.text("empty.xml").unwrap().as_deref(), Some(""));
        assert_eq!(package.text("b.xml").unwrap(), None);
        assert_eq!(package.needed("b.xml").unwrap_err().to_string(), "b.xml is missing");
        assert_eq!(package.text("image.png").unwrap_err().to_string(), "image.png is not text");
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_refused() {
        let parts: [(&str, &[u8]); 3] = [("a.xml", &[b' '; 1_000]), ("b.png", &[0; 9_000]), ("c.xml", b"x")];
        let package = |left| Package { left, ..Package::open(&archive(&parts)).unwrap().unwrap() };
        let mut whole = package(1_000);
        assert_eq!(whole.bytes("a.xml").unwrap().map(|bytes| bytes.len()), Some(1_000));
        assert!(matches!(whole.bytes("c.xml"), Err(Damage::TooLarge { .. })));
        assert!(matches!(package(1_000).checked(), Err(Damage::TooLarge { .. })));
        // Images are not read.
        assert!(package(1_001).checked().is_ok());
    }

    #[test]
    fn other_bytes_are_no_archive() {
        let whole = archive(&[("a.xml", b"<a/>")]);
        let ByteSource::Memory(bytes) = &whole else { unreachable!() };
        for bytes in [&b""[..], b"PK", b"PK\x03\x04", b"%PDF-1.7", &bytes[..bytes.len() - 23]] {
            assert!(Package::open(&ByteSource::Memory(bytes.to_vec())).unwrap().is_none(), "{}", bytes.len());
        }
        let mut many = bytes.clone();
        let end = many.len() - 12;
        many[end..end + 2].copy_from_slice(&20_000_u16.to_le_bytes());
        assert!(Package::open(&ByteSource::Memory(many)).unwrap().is_none());
    }
}
