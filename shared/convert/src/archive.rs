//! Zip archives: the documents in them, as one document.

use std::io::{self, BufReader, Read};

use ragmaker_knowledge::EMPTY_CONTENT;
use ragmaker_markdown::{Document, Metadata};
use ragmaker_office::{DOCUMENT_UNREADABLE, input_of};
use ragmaker_text::{ByteSource, FILE_TOO_LARGE};
use ragmaker_tool::Error;
use zip::ZipArchive;

use crate::{DocumentKind, convert, title};

/// The maximum number of files of an archive.
const MAX_FILES: usize = 2_000;

/// The maximum size in bytes of all documents of an archive together, unpacked (64 MiB).
const MAX_BYTES: u64 = 64 << 20;

/// Whether `source` begins like a zip archive.
///
/// # Errors
///
/// An I/O error if it cannot be read.
pub fn is_archive(source: &ByteSource) -> io::Result<bool> {
    let mut head = [0; 4];
    Ok(source.read_at(0, &mut head)? == head.len() && head == *b"PK\x03\x04")
}

/// The documents in the zip archive called `name`, as one document: each has its path as a heading. Files of other
/// kinds, and documents that cannot be read, are left out.
///
/// # Errors
///
/// `DOCUMENT_UNREADABLE` for a damaged archive, `FILE_TOO_LARGE` for one with too many files or bytes, `EMPTY_CONTENT`
/// for one without documents.
pub fn archive(name: &str, source: &ByteSource) -> Result<Document, Error> {
    let damaged = |error: &dyn std::fmt::Display| {
        DOCUMENT_UNREADABLE.error(format!("{name} is a damaged archive: {error}")).detail("path", name)
    };
    let too_large = |what: String| FILE_TOO_LARGE.error(format!("{name} has {what}")).detail("path", name);
    let input = input_of(source).map_err(|error| damaged(&error))?;
    let mut archive = ZipArchive::new(BufReader::new(input)).map_err(|error| damaged(&error))?;
    if archive.len() > MAX_FILES {
        return Err(too_large(format!("more than {MAX_FILES} files")));
    }
    let (mut markdown, mut words, mut left) = (String::new(), 0, MAX_BYTES);
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|error| damaged(&error))?;
        let Ok(path) = file.name().map(|name| name.replace('\\', "/")) else { continue };
        let is_hidden = path.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
        let Some(kind) = DocumentKind::of(&path).filter(|_| file.is_file() && !is_hidden) else { continue };
        let mut bytes = vec![];
        // What the archive says of the size is not relied on.
        let read = file.by_ref().take(left + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        left = left.checked_sub(read as u64).ok_or_else(|| too_large(format!("more than {MAX_BYTES} bytes")))?;
        let Ok(document) = convert(&path, kind, &ByteSource::Memory(bytes), None) else { continue };
        words += document.words;
        markdown.extend(["# ", &path, "\n\n", &document.markdown, "\n"]);
    }
    if words == 0 {
        return Err(EMPTY_CONTENT.error(format!("{name} has no document with text")).detail("path", name));
    }
    let metadata = Metadata { title: title::of_name(name), ..Metadata::default() };
    Ok(Document { metadata, markdown: markdown.trim_end().to_owned() + "\n", words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::{ZipWriter, write::SimpleFileOptions};

    fn packed(files: &[(&str, &str)]) -> ByteSource {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        for (name, text) in files {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        ByteSource::Memory(zip.finish().unwrap().into_inner())
    }

    #[test]
    fn the_documents_of_an_archive_are_one_document() {
        let source = packed(&[
            ("docs/tides.md", "# Tides\n\nTwo a day.\n"),
            ("docs/logo.png", "no text"),
            ("__MACOSX/docs/._tides.md", "not for people"),
            ("broken.docx", "no document"),
            ("heights.csv", "place,height\nBrest,7.2\n"),
        ]);
        assert!(is_archive(&source).unwrap());
        let document = archive("tidemark.zip", &source).unwrap();
        assert_eq!(document.metadata.title, "tidemark");
        assert!(
            document.markdown.starts_with("# docs/tides.md\n\n# Tides\n\nTwo a day.\n\n# heights.csv\n"),
            "{document:?}"
        );
        assert!(document.markdown.contains("Brest") && !document.markdown.contains("people"));
    }

    #[test]
    fn an_archive_without_documents_is_refused() {
        assert!(archive("a.zip", &packed(&[("a.png", "x")])).unwrap_err().is(EMPTY_CONTENT));
        assert!(
            archive("a.zip", &ByteSource::Memory(b"PK\x03\x04 and no more".to_vec()))
                .unwrap_err()
                .is(DOCUMENT_UNREADABLE)
        );
        let many: Vec<_> = (0..=MAX_FILES).map(|number| (format!("{number}.md"), "x")).collect();
        let many: Vec<_> = many.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        assert!(archive("a.zip", &packed(&many)).unwrap_err().is(FILE_TOO_LARGE));
        let long = "0".repeat(MAX_BYTES as usize + 1);
        assert!(archive("a.zip", &packed(&[("a.txt", &long)])).unwrap_err().is(FILE_TOO_LARGE));
    }
}
