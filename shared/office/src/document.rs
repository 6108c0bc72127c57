//! The kinds of documents, and their conversion.

use std::io;

use ragmaker_text::Source;

use crate::{
    Failure, book,
    markdown::of_html,
    odf,
    package::Package,
    pdf::{self, Pages},
    sheets, slides, word,
};

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The Portable Document Format.
    Pdf,
    /// A Word document.
    Docx,
    /// A presentation.
    Pptx,
    /// A workbook.
    Xlsx,
    /// A book.
    Epub,
    /// A text of OpenDocument.
    Odt,
    /// A presentation of OpenDocument.
    Odp,
    /// A spreadsheet of OpenDocument.
    Ods,
}

impl Format {
    /// Its MIME type, as IANA registers it.
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

    /// Its name.
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

/// The kinds of archives, each with the part that makes it one.
const ARCHIVES: [(Format, &str); 4] = [
    (Format::Docx, "word/document.xml"),
    (Format::Pptx, "ppt/presentation.xml"),
    (Format::Xlsx, "xl/workbook.xml"),
    (Format::Epub, "META-INF/container.xml"),
];

/// The kind of OpenDocument that an archive is, by its part `mimetype`; templates are documents, too.
fn open_document(package: &mut Package) -> Option<Format> {
    let named = package.text("mimetype").ok()??;
    let named = named.trim();
    let named = named.strip_suffix("-template").unwrap_or(named);
    [Format::Odt, Format::Odp, Format::Ods].into_iter().find(|format| format.mime_type() == named)
}

/// A document that can be converted.
pub struct Document {
    format: Format,
    /// The parts of it; none of a PDF.
    package: Option<Package>,
}

impl Document {
    /// Whether a file that starts with `head` can be a document at all: so that a caller which has the
    /// start of each file of a tree opens no other.
    pub fn may_start_with(head: &[u8]) -> bool {
        head.starts_with(pdf::SIGNATURE) || head.starts_with(Package::SIGNATURE)
    }

    /// The document that `source` is; `None` if it is something else.
    ///
    /// # Errors
    /// What the system says where `source` cannot be read.
    pub fn open(source: &Source) -> io::Result<Option<Self>> {
        if pdf::is_pdf(source)? {
            return Ok(Some(Self { format: Format::Pdf, package: None }));
        }
        let Some(mut package) = Package::open(source)? else { return Ok(None) };
        let found = ARCHIVES.into_iter().find(|(_, part)| package.has(part)).map(|(format, _)| format);
        let format = found.or_else(|| open_document(&mut package));
        Ok(format.map(|format| Self { format, package: Some(package) }))
    }

    /// Its kind.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the document says, as UTF-8: Markdown, or the plain text of a PDF with a form feed at the end
    /// of each page. `source` is what it was opened from; `pages` are those of a PDF that are wanted.
    ///
    /// # Errors
    /// Why it cannot be converted; see [`Failure::at`].
    pub fn convert(self, source: &Source, pages: Option<Pages>) -> Result<Source, Failure> {
        let Some(mut package) = self.package else { return pdf::text(source, pages) };
        let markdown = match self.format {
            Format::Docx => word::html(&mut package).and_then(|html| of_html(&html)),
            Format::Pptx => slides::html(&mut package).and_then(|html| of_html(&html)),
            Format::Xlsx => sheets::markdown(package),
            Format::Odt | Format::Odp => odf::html(&mut package).and_then(|html| of_html(&html)),
            Format::Ods => odf::sheets(&mut package),
            Format::Epub | Format::Pdf => book::markdown(&mut package),
        };
        Ok(Source::Memory(markdown?.into_bytes()))
    }
}
