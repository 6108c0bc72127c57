//! Document formats, and the conversion of documents.

use std::io;

use ragmaker_text::Source;

use crate::{
    Failure, book,
    markdown::from_html,
    odf,
    package::Package,
    pdf::{self, Pages},
    sheets, slides, word,
};

/// A document format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
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

impl Format {
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
const ARCHIVES: [(Format, &str); 4] = [
    (Format::Docx, "word/document.xml"),
    (Format::Pptx, "ppt/presentation.xml"),
    (Format::Xlsx, "xl/workbook.xml"),
    (Format::Epub, "META-INF/container.xml"),
];

/// The OpenDocument format of an archive by its part `mimetype`. Templates count as documents.
fn open_document(package: &mut Package) -> Option<Format> {
    let named = package.text("mimetype").ok()??;
    let named = named.trim();
    let named = named.strip_suffix("-template").unwrap_or(named);
    [Format::Odt, Format::Odp, Format::Ods].into_iter().find(|format| format.mime_type() == named)
}

/// A document that can be converted.
pub struct Document {
    format: Format,
    /// The archive; `None` for a PDF.
    package: Option<Package>,
}

impl Document {
    /// Whether a file that starts with `head` can be a document. A caller that has the first bytes of many
    /// files need not open the others.
    pub fn may_start_with(head: &[u8]) -> bool {
        head.starts_with(pdf::SIGNATURE) || head.starts_with(Package::SIGNATURE)
    }

    /// Opens the document in `source`; `None` if it has another format.
    ///
    /// # Errors
    /// An I/O error if `source` cannot be read.
    pub fn open(source: &Source) -> io::Result<Option<Self>> {
        if pdf::is_pdf(source)? {
            return Ok(Some(Self { format: Format::Pdf, package: None }));
        }
        let Some(mut package) = Package::open(source)? else { return Ok(None) };
        let found = ARCHIVES.into_iter().find(|(_, part)| package.has(part)).map(|(format, _)| format);
        let format = found.or_else(|| open_document(&mut package));
        Ok(format.map(|format| Self { format, package: Some(package) }))
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Converts the document to UTF-8: Markdown, or for a PDF plain text with a form feed at the end of each
    /// page. `source` is the source that it was opened from; `pages` selects pages of a PDF.
    ///
    /// # Errors
    /// The reason why it cannot be converted; see [`Failure::at`].
    pub fn convert(self, source: &Source, pages: Option<Pages>) -> Result<Source, Failure> {
        let Some(mut package) = self.package else { return pdf::text(source, pages) };
        let markdown = match self.format {
            Format::Docx => word::html(&mut package).and_then(|html| from_html(&html)),
            Format::Pptx => slides::html(&mut package).and_then(|html| from_html(&html)),
            Format::Xlsx => sheets::markdown(package),
            Format::Odt | Format::Odp => odf::html(&mut package).and_then(|html| from_html(&html)),
            Format::Ods => odf::sheets(&mut package),
            Format::Epub | Format::Pdf => book::markdown(&mut package),
        };
        Ok(Source::Memory(markdown?.into_bytes()))
    }
}
