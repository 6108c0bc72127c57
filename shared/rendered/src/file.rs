//! Files that a URL leads to in place of a page, as documents.

use percent_encoding::percent_decode_str;
use ragmaker_browser::{Page, PageFile, codes::NOT_A_PAGE};
use ragmaker_convert::{Kind, archive, convert, is_archive};
use ragmaker_knowledge::file_hash;
use ragmaker_markdown::Document;
use ragmaker_office::Document as Packed;
use ragmaker_text::Source;
use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

/// A file that was converted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileFacts {
    /// The media type that the server named.
    pub content_type: String,
    /// The number of bytes.
    pub bytes: usize,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
}

/// Converts the file of `page`: a PDF, an office document, a book, a text, or a zip archive of such files.
///
/// # Errors
///
/// `NOT_A_PAGE` for a file of another kind; [`ragmaker_convert::ERRORS`].
pub(crate) fn document(page: &Page, file: &PageFile) -> Result<(Document, FileFacts), Error> {
    let facts =
        FileFacts { content_type: file.media_type.clone(), bytes: file.bytes.len(), sha256: file_hash(&file.bytes) };
    let segment = page.url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    let name = file.name.clone().unwrap_or_else(|| percent_decode_str(segment).decode_utf8_lossy().into_owned());
    let name = if name.is_empty() { page.url.to_string() } else { name };
    let source = Source::Memory(file.bytes.clone());
    let is_packed = Packed::open(&source).ok().flatten().is_some();
    let document = if is_packed {
        convert(&name, Kind::Packed, &source, Some(&page.url))
    } else if is_archive(&file.bytes) {
        archive(&name, &file.bytes)
    } else if let Some(kind) = Kind::of_web(&name, &file.media_type).filter(|kind| *kind != Kind::Packed) {
        convert(&name, kind, &source, Some(&page.url))
    } else {
        Err(NOT_A_PAGE
            .error(format!("the URL leads to a file of type {}, which has no text that can be read", file.media_type))
            .detail("content_type", file.media_type.as_str()))
    };
    let document = document.map_err(|error| error.detail("url", page.url.as_str()))?;
    Ok((document, facts))
}
