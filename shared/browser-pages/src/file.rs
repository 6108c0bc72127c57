//! Files that a URL leads to in place of a page, as documents.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use ragmaker_browser::{PageFile, codes::NOT_A_PAGE, name_in_url};
use ragmaker_convert::{DocumentKind, archive, convert, is_archive};
use ragmaker_knowledge::file_hash;
use ragmaker_markdown::Document;
use ragmaker_office::OfficeDocument as Packed;
use ragmaker_text::{ByteSource, NOT_TEXT};
use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;
use url::Url;

/// A file that was converted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileFacts {
    /// The media type that the server named.
    pub content_type: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
}

/// The size above which files are converted one at a time (1 MiB).
const LARGE: u64 = 1 << 20;

/// Held while a large file is converted. Its text needs several times its size in memory, and each tab of a list may
/// have received one.
static CONVERTS_LARGE: Mutex<()> = Mutex::new(());

/// Converts the `file` at `url`: a PDF, an office document, a book, a text, or a zip archive of such files.
///
/// # Errors
///
/// `NOT_A_PAGE` for a file of another kind; [`ragmaker_convert::ERRORS`].
pub(crate) fn document(url: &Url, file: &PageFile) -> Result<(Document, FileFacts), Error> {
    converted(url, file).map_err(|error| error.detail("url", url.as_str()))
}

fn converted(url: &Url, file: &PageFile) -> Result<(Document, FileFacts), Error> {
    let broken = |error: io::Error| NOT_TEXT.error(format!("the file that was received cannot be read: {error}"));
    let source = file.content.try_clone().and_then(ByteSource::file).map_err(broken)?;
    let sha256 = file_hash(&source).map_err(broken)?;
    let facts = FileFacts { content_type: file.media_type.clone(), bytes: source.size(), sha256 };
    let name = name_of(url, file);
    // A conversion that panicked has left nothing half done behind this lock.
    let _alone = (source.size() > LARGE).then(|| CONVERTS_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    let is_packed = Packed::open(&source).ok().flatten().is_some();
    let document = if is_packed {
        convert(&name, DocumentKind::Packed, &source, Some(url))
    } else if is_archive(&source).map_err(broken)? {
        archive(&name, &source)
    } else if let Some(kind) =
        DocumentKind::of_web(&name, &file.media_type).filter(|kind| *kind != DocumentKind::Packed)
    {
        convert(&name, kind, &source, Some(url))
    } else {
        Err(NOT_A_PAGE
            .error(format!("the URL leads to a file of type {}, which has no text that can be read", file.media_type))
            .detail("content_type", file.media_type.as_str()))
    };
    Ok((document?, facts))
}

/// The name that the server gives the file, else the end of its address.
fn name_of(url: &Url, file: &PageFile) -> String {
    let name = file.name.clone().unwrap_or_else(|| name_in_url(url));
    if name.is_empty() { url.to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Cursor, Write},
        sync::Arc,
    };

    use ragmaker_office::DOCUMENT_UNREADABLE;
    use ragmaker_testkit::LETTER;
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn file(media_type: &str, name: Option<&str>, bytes: &[u8]) -> PageFile {
        let mut content = tempfile::tempfile().unwrap();
        content.write_all(bytes).unwrap();
        PageFile { content: Arc::new(content), media_type: media_type.into(), name: name.map(str::to_owned) }
    }

    fn document_at(url: &str, file: &PageFile) -> Result<(Document, FileFacts), Error> {
        document(&Url::parse(url).unwrap(), file)
    }

    fn packed(name: &str, text: &str) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn a_file_has_the_name_of_its_server_or_of_its_address() {
        let name = |url: &str, given: Option<&str>| name_of(&Url::parse(url).unwrap(), &file("", given, b""));
        assert_eq!(name("http://a.test/tables/tide%20%E6%BD%AE.csv?x=y.md", None), "tide \u{6f6e}.csv");
        assert_eq!(name("http://a.test/download?id=7", Some("tides.csv")), "tides.csv");
        assert_eq!(name("http://a.test/tables/", None), "http://a.test/tables/");
        assert_eq!(name("http://a.test/tables/", Some("")), "http://a.test/tables/");
    }

    #[test]
    fn the_content_decides_before_the_name_and_the_name_before_the_media_type() {
        let table = b"place,height\nBrest,7.2\n";
        for (media_type, name, bytes, part) in [
            ("text/plain", "a.txt", LETTER.to_vec(), "Spring tide at Brest"),
            ("text/plain", "a.txt", packed("tides.md", "# Two a day\n"), "# tides.md\n\n# Two a day"),
            ("text/plain", "a.csv", table.to_vec(), "| Brest |"),
            ("text/csv", "download", table.to_vec(), "| Brest |"),
            ("text/plain", "download", table.to_vec(), "```text\nplace,height"),
        ] {
            let (document, facts) = document_at("http://a.test/x", &file(media_type, Some(name), &bytes)).unwrap();
            assert!(document.markdown.contains(part), "{media_type} {name}: {}", document.markdown);
            assert_eq!((facts.content_type.as_str(), facts.bytes), (media_type, bytes.len() as u64));
        }
    }

    #[test]
    fn links_start_at_the_address_of_the_file() {
        let html = file("text/html", None, b"<title>Tides</title><p>Two a day: <a href='b.html'>the next page</a>.");
        let (document, _) = document_at("http://a.test/tables/a.html", &html).unwrap();
        assert!(document.markdown.contains("(http://a.test/tables/b.html)"), "{}", document.markdown);
    }

    #[test]
    fn a_file_without_text_is_no_page_and_its_address_is_named() {
        let url = "http://a.test/a.bin";
        let error = document_at(url, &file("application/octet-stream", None, b"\0\x01")).unwrap_err();
        assert!(error.is(NOT_A_PAGE), "{error}");
        assert_eq!(error.details()["content_type"], "application/octet-stream");
        assert_eq!(error.details()["url"], url);
        // The name of an office document is not enough.
        let error = document_at(url, &file("", Some("a.docx"), b"no document")).unwrap_err();
        assert!(error.is(NOT_A_PAGE), "{error}");
        let damaged = document_at(url, &file("", Some("a.md"), b"PK\x03\x04 and no more")).unwrap_err();
        assert!(damaged.is(DOCUMENT_UNREADABLE) && damaged.details()["url"] == url, "{damaged}");
    }
}
