//! Files that a URL leads to in place of a page, as documents.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use percent_encoding::percent_decode_str;
use ragmaker_browser::{LoadedPage, PageFile, codes::NOT_A_PAGE};
use ragmaker_convert::{DocumentKind, archive, convert, is_archive};
use ragmaker_knowledge::file_hash;
use ragmaker_markdown::Document;
use ragmaker_office::OfficeDocument as Packed;
use ragmaker_text::{ByteSource, NOT_TEXT};
use ragmaker_tool::{Error, JsonSchema};
use serde::Serialize;

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

/// Converts the file of `page`: a PDF, an office document, a book, a text, or a zip archive of such files.
///
/// # Errors
///
/// `NOT_A_PAGE` for a file of another kind; [`ragmaker_convert::ERRORS`].
pub(crate) fn document(page: &LoadedPage, file: &PageFile) -> Result<(Document, FileFacts), Error> {
    let document = converted(page, file);
    document.map_err(|error| error.detail("url", page.url.as_str()))
}

fn converted(page: &LoadedPage, file: &PageFile) -> Result<(Document, FileFacts), Error> {
    let broken = |error: io::Error| NOT_TEXT.error(format!("the file that was received cannot be read: {error}"));
    let source = file.content.try_clone().and_then(ByteSource::file).map_err(broken)?;
    let sha256 = file_hash(&source).map_err(broken)?;
    let facts = FileFacts { content_type: file.media_type.clone(), bytes: source.size(), sha256 };
    let segment = page.url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    let name = file.name.clone().unwrap_or_else(|| percent_decode_str(segment).decode_utf8_lossy().into_owned());
    let name = if name.is_empty() { page.url.to_string() } else { name };
    // A conversion that panicked has left nothing half done behind this lock.
    let _alone = (source.size() > LARGE).then(|| CONVERTS_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    let is_packed = Packed::open(&source).ok().flatten().is_some();
    let document = if is_packed {
        convert(&name, DocumentKind::Packed, &source, Some(&page.url))
    } else if is_archive(&source).map_err(broken)? {
        archive(&name, &source)
    } else if let Some(kind) =
        DocumentKind::of_web(&name, &file.media_type).filter(|kind| *kind != DocumentKind::Packed)
    {
        convert(&name, kind, &source, Some(&page.url))
    } else {
        Err(NOT_A_PAGE
            .error(format!("the URL leads to a file of type {}, which has no text that can be read", file.media_type))
            .detail("content_type", file.media_type.as_str()))
    };
    Ok((document?, facts))
}
