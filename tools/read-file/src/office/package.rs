//! The archive that a document is, and how much of it is unpacked.

use std::{
    fs::File,
    io::{self, BufReader, Read},
};

use ragmaker_text::{Source, legacy::Text};
use zip::{ZipArchive, result::ZipError};

use crate::decoded::input_of;

/// The largest archive that is looked into (64 MiB).
const MAX_SIZE: u64 = 64 << 20;

/// The most bytes that are unpacked of one document (64 MiB); an archive of a few kilobytes may hold
/// terabytes.
const MAX_UNPACKED: u64 = 64 << 20;

/// An archive of parts.
pub(super) struct Package {
    archive: ZipArchive<BufReader<File>>,
    left: u64,
}

impl Package {
    /// The archive that `source` is; `None` if it is none, or too large.
    pub(super) fn open(source: &Source) -> io::Result<Option<Self>> {
        let mut head = [0; 4];
        if source.size() > MAX_SIZE || source.read_at(0, &mut head)? < 4 || &head != b"PK\x03\x04" {
            return Ok(None);
        }
        if !has_few_entries(source)? {
            return Ok(None);
        }
        let archive = ZipArchive::new(BufReader::new(input_of(source)?));
        Ok(archive.ok().map(|archive| Self { archive, left: MAX_UNPACKED }))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// The bytes of a part; `None` if there is none of that name.
    pub(super) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let part = match self.archive.by_name(name) {
            Err(ZipError::FileNotFound) => return Ok(None),
            part => part.map_err(|error| format!("{name}: {error}"))?,
        };
        let mut bytes = vec![];
        part.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) => self.left = left,
            None => return Err(format!("it unpacks to more than {MAX_UNPACKED} bytes")),
        }
        Ok(Some(bytes))
    }

    /// The text of a part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        Text::decode(bytes).map(|text| Some(text.text)).map_err(|_| format!("{name} is no text"))
    }

    /// The text of a part that has to be there.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, String> {
        self.text(name)?.ok_or_else(|| format!("{name} is missing"))
    }

    /// The whole archive, unpacked once to see that it is not more than is taken.
    pub(super) fn checked(mut self) -> Result<BufReader<File>, String> {
        for index in 0..self.archive.len() {
            let Some(Ok(name)) = self.archive.name_for_index(index) else { continue };
            let name = name.into_owned();
            // Pictures are not looked at.
            if name.rsplit('.').next().is_some_and(|kind| matches!(kind, "xml" | "rels")) {
                self.bytes(&name)?;
            }
        }
        Ok(self.archive.into_inner())
    }
}

/// Whether the archive says that it has fewer entries than take more than a few megabytes to list; a
/// document has hundreds.
fn has_few_entries(source: &Source) -> io::Result<bool> {
    const LAST: usize = 22;
    let mut tail = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX).min(LAST + 0xFFFF)];
    let read = source.read_at(source.size() - tail.len() as u64, &mut tail)?;
    let record = tail[..read].windows(LAST).rev().find(|bytes| bytes.starts_with(b"PK\x05\x06"));
    Ok(record.is_some_and(|bytes| u16::from_le_bytes([bytes[10], bytes[11]]) < 20_000))
}
