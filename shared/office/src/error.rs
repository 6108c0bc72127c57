//! The reasons why a document cannot be converted.

use std::{fmt, io, path::Path};

use ragmaker_tool::{Code, Error, OFFSET_BEYOND_END};

/// `pdftotext` is not installed.
pub const PDF_READER_MISSING: Code = Code::new(
    "PDF_READER_MISSING",
    "Install pdftotext (package poppler-utils or poppler), or let ragmaker-read-file give the bytes as base64.",
);
/// The PDF asks for a password.
pub const PDF_ENCRYPTED: Code = Code::new("PDF_ENCRYPTED", "Ask the user for a copy without a password.");
/// The PDF is damaged, or is none.
pub const PDF_UNREADABLE: Code =
    Code::new("PDF_UNREADABLE", "The file may be damaged; ragmaker-read-file can give its bytes as base64.");
/// The document is damaged, or unpacks to more than is taken.
pub const DOCUMENT_UNREADABLE: Code =
    Code::new("DOCUMENT_UNREADABLE", "The file may be damaged; ragmaker-read-file can give its bytes as base64.");

/// Why a document was not converted.
#[derive(Debug)]
pub enum Failure {
    /// `pdftotext` does not start.
    PdfReaderMissing(io::Error),
    /// The PDF asks for a password.
    PdfEncrypted,
    /// `pdftotext` gave up; the last line that it printed.
    PdfDamaged(String),
    /// `pdftotext` took longer than it may.
    PdfTooSlow,
    /// The PDF gives more text than is taken.
    PdfTooLarge,
    /// The first page that is wanted is after the last one.
    PageBeyondEnd {
        /// The page that is wanted, counted from 1.
        page: u32,
        /// The number of pages of the PDF.
        total: u32,
    },
    /// The archive or the XML of an office document or a book is not what it has to be.
    Damaged(Damage),
    /// The system failed.
    Io(io::Error),
}

impl Failure {
    /// The error of a tool for the document called `path`.
    pub fn at(self, path: &str) -> Error {
        let unreadable = |what: &str| PDF_UNREADABLE.error(format!("{path}: {what}"));
        let error = match self {
            Self::PdfReaderMissing(error) => {
                PDF_READER_MISSING.error(format!("{path} is a PDF, and pdftotext does not start: {error}"))
            }
            Self::PdfEncrypted => PDF_ENCRYPTED.error(format!("{path}: the PDF asks for a password")),
            Self::PdfDamaged(reason) => unreadable(&reason),
            Self::PdfTooSlow => unreadable("pdftotext took more than a minute"),
            Self::PdfTooLarge => unreadable("it gives more than 256 MiB of text"),
            Self::PageBeyondEnd { page, total } => OFFSET_BEYOND_END
                .error(format!("{path} has {total} pages: page {page} is after the last"))
                .remedy(format!("The last page is {total}."))
                .detail("total_pages", total),
            Self::Damaged(damage) => DOCUMENT_UNREADABLE.error(format!("{path}: {damage}")),
            Self::Io(error) => return ragmaker_files::io_error(&error, Path::new(path)),
        };
        error.detail("path", path)
    }
}

impl From<Damage> for Failure {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is wrong with an office document or a book.
#[derive(Debug)]
pub enum Damage {
    /// A part that has to be there is not.
    Missing {
        /// The name of the part.
        part: String,
    },
    /// A part cannot be unpacked.
    Packed {
        /// The name of the part.
        part: String,
        /// What the archive says.
        error: zip::result::ZipError,
    },
    /// A part that has to be text is not.
    NotText {
        /// The name of the part.
        part: String,
    },
    /// The parts unpack to more bytes than are taken.
    TooLarge {
        /// The most that is taken.
        most: u64,
    },
    /// A part is not well-formed XML.
    Xml {
        /// Where, in bytes.
        position: u64,
        /// What is wrong there.
        error: quick_xml::Error,
    },
    /// It declares entities of its own, which may stand for other files.
    Entities,
    /// The book does not name its contents.
    NoBook,
    /// The workbook cannot be read.
    Workbook(Box<calamine::XlsxError>),
    /// A sheet has more cells than are shown.
    TooManyCells {
        /// The name of the sheet.
        sheet: String,
    },
    /// The page that was made of the document cannot be converted.
    Markdown(ragmaker_markdown::Error),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { part } => write!(f, "{part} is missing"),
            Self::Packed { part, error } => write!(f, "{part}: {error}"),
            Self::NotText { part } => write!(f, "{part} is not text"),
            Self::TooLarge { most } => write!(f, "it unpacks to more than {most} bytes"),
            Self::Xml { position, error } => write!(f, "at byte {position}: {error}"),
            Self::Entities => f.write_str("it declares entities, which documents of this kind may not"),
            Self::NoBook => f.write_str("META-INF/container.xml names no book"),
            Self::Workbook(error) => error.fmt(f),
            Self::TooManyCells { sheet } => write!(f, "{sheet}: it has more cells than are shown"),
            Self::Markdown(error) => error.fmt(f),
        }
    }
}
