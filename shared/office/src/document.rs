//! Document formats, and the conversion of documents.

use std::io;

use ragmaker_text::ByteSource;

use crate::{
    ConversionFailure, book,
    markdown::from_html,
    odf,
    package::Package,
    pdf::{self, Pages},
    sheets, slides, word,
};

/// A document format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfficeFormat {
    /// The Portable Document Format.
    Pdf,
    /// Word document.
    Docx,
    /// Microsoft presentation.
    Pptx,
    /// Excel workbook.
    Xlsx,
    /// Electronic book.
    Epub,
    /// OpenDocument text.
    Odt,
    /// OpenDocument presentation.
    Odp,
    /// OpenDocument spreadsheet.
    Ods,
}

impl OfficeFormat {
    /// The MIME type registered with IANA.
    pub const fn mime_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Epub => "application/epub+zip",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
        }
    }

    /// The name of the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pdf => "PDF",
            Self::Docx => "DOCX",
            Self::Pptx => "PPTX",
            Self::Xlsx => "XLSX",
            Self::Epub => "EPUB",
            Self::Odt => "ODT",
            Self::Odp => "ODP",
            Self::Ods => "ODS",
        }
    }
}

/// The archive formats, each with the part that identifies it.
const ARCHIVES: [(OfficeFormat, &str); 4] = [
    (OfficeFormat::Docx, "word/document.xml"),
    (OfficeFormat::Pptx, "ppt/presentation.xml"),
    (OfficeFormat::Xlsx, "xl/workbook.xml"),
    (OfficeFormat::Epub, "META-INF/container.xml"),
];

/// The OpenDocument format of an archive by its part `mimetype`. Templates count as documents.
fn open_document(package: &mut Package) -> Option<OfficeFormat> {
    let named = package.text("mimetype").ok()??;
    let named = named.trim();
    let named = named.strip_suffix("-template").unwrap_or(named);
    [OfficeFormat::Odt, OfficeFormat::Odp, OfficeFormat::Ods].into_iter().find(|format| format.mime_type() == named)
}

/// A document that can be converted.
pub struct OfficeDocument {
    format: OfficeFormat,
    /// The archive; `None` for a PDF.
    package: Option<Package>,
}

impl OfficeDocument {
    /// Whether a file that starts with `head` can be a document. A caller that has the first bytes of many
    /// files need not open the others.
    pub fn may_start_with(head: &[u8]) -> bool {
        head.starts_with(pdf::SIGNATURE) || head.starts_with(Package::SIGNATURE)
    }

    /// Opens the document in `source`; `None` if it has another format.
    ///
    /// # Errors
    /// An I/O error if `source` cannot be read.
    pub fn open(source: &ByteSource) -> io::Result<Option<Self>> {
        if pdf::is_pdf(source)? {
            return Ok(Some(Self { format: OfficeFormat::Pdf, package: None }));
        }
        let Some(mut package) = Package::open(source)? else { return Ok(None) };
        let found = ARCHIVES.into_iter().find(|(_, part)| package.has(part)).map(|(format, _)| format);
        let format = found.or_else(|| open_document(&mut package));
        Ok(format.map(|format| Self { format, package: Some(package) }))
    }

    /// The format.
    pub fn format(&self) -> OfficeFormat {
        self.format
    }

    /// Converts the document to UTF-8: Markdown, or for a PDF plain text with a form feed at the end of each
    /// page. `source` is the source that it was opened from; `pages` selects pages of a PDF.
    ///
    /// # Errors
    /// The reason why it cannot be converted; see [`ConversionFailure::at`].
    pub fn convert(self, source: &ByteSource, pages: Option<Pages>) -> Result<ByteSource, ConversionFailure> {
        let Some(mut package) = self.package else { return pdf::text(source, pages) };
        let markdown = match self.format {
            OfficeFormat::Docx => word::html(&mut package).and_then(|html| from_html(&html)),
            OfficeFormat::Pptx => slides::html(&mut package).and_then(|html| from_html(&html)),
            OfficeFormat::Xlsx => sheets::markdown(package),
            OfficeFormat::Odt | OfficeFormat::Odp => odf::html(&mut package).and_then(|html| from_html(&html)),
            OfficeFormat::Ods => odf::sheets(&mut package),
            OfficeFormat::Epub | OfficeFormat::Pdf => book::markdown(&mut package),
        };
        Ok(ByteSource::Memory(markdown?.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_by_their_first_bytes() {
        assert!(OfficeDocument::may_start_with(b"%PDF-1.7") && OfficeDocument::may_start_with(b"PK\x03\x04"));
        assert!(!OfficeDocument::may_start_with(b"<html>") && !OfficeDocument::may_start_with(b""));
        let open = |bytes: &[u8]| OfficeDocument::open(&ByteSource::Memory(bytes.to_vec())).unwrap();
        assert_eq!(open(b"%PDF-1.7\n").map(|document| document.format()), Some(OfficeFormat::Pdf));
        assert!(open(b"PK\x03\x04 and no archive").is_none() && open(b"text").is_none());
        assert_eq!((OfficeFormat::Odt.name(), OfficeFormat::Epub.mime_type()), ("ODT", "application/epub+zip"));
    }
}
