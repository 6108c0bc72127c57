//! The reasons why a document cannot be converted.

use std::{fmt, io, path::Path};

use ragmaker_tool::{Code, Error, OFFSET_BEYOND_END};

/// `pdftotext` is not installed.
pub const PDF_READER_MISSING: Code = Code::new(
    "PDF_READER_MISSING",
    "Install pdftotext (package poppler-utils or poppler), or let ragmaker-read-file give the bytes as base64.",
);
/// The PDF is encrypted with a password.
pub const PDF_ENCRYPTED: Code = Code::new("PDF_ENCRYPTED", "Ask the user for a copy without a password.");
/// The PDF is damaged or invalid.
pub const PDF_UNREADABLE: Code =
    Code::new("PDF_UNREADABLE", "Check whether the file is damaged; ragmaker-read-file can give its bytes as base64.");
/// The document is damaged, or exceeds the limit on its unpacked size.
pub const DOCUMENT_UNREADABLE: Code = Code::new(
    "DOCUMENT_UNREADABLE",
    "Check whether the file is damaged; ragmaker-read-file can give its bytes as base64.",
);

/// Why a document was not converted.
#[derive(Debug)]
pub enum ConversionFailure {
    /// `pdftotext` cannot be started.
    PdfReaderMissing(io::Error),
    /// The PDF is encrypted with a password.
    PdfEncrypted,
    /// `pdftotext` failed; the last line of its error output.
    PdfDamaged(String),
    /// The conversion exceeded the time limit.
    PdfTooSlow,
    /// The text of the PDF exceeds the size limit.
    PdfTooLarge,
    /// The first requested page is after the last one.
    PageBeyondEnd {
        /// The requested page, counted from 1.
        page: u32,
        /// The number of pages of the PDF.
        total: u32,
    },
    /// The archive or the XML of an office document or a book is invalid.
    Damaged(Damage),
    /// An I/O error.
    Io(io::Error),
}

impl ConversionFailure {
    /// The tool's error for the document called `path`.
    pub fn at(self, path: &str) -> Error {
        let unreadable = |what: &str| PDF_UNREADABLE.error(format!("{path}: {what}"));
        let error = match self {
            Self::PdfReaderMissing(error) => {
                PDF_READER_MISSING.error(format!("{path} is a PDF, and pdftotext does not start: {error}"))
            }
            Self::PdfEncrypted => PDF_ENCRYPTED.error(format!("{path}: the PDF is encrypted")),
            Self::PdfDamaged(reason) => unreadable(&reason),
            Self::PdfTooSlow => unreadable("pdftotext took more than a minute"),
            Self::PdfTooLarge => unreadable("it contains more than 256 MiB of text"),
            Self::PageBeyondEnd { page, total } => OFFSET_BEYOND_END
                .error(format!("page {page} of {path} does not exist"))
                .remedy(format!("The last page is {total}."))
                .detail("total_pages", total),
            Self::Damaged(damage) => {
                let error = DOCUMENT_UNREADABLE.error(format!("{path}: {damage}"));
                // It is not damaged, but against the rules.
                if damage.is_refusal() { error.detail("refused", true) } else { error }
            }
            Self::Io(error) => return ragmaker_files::io_error(&error, Path::new(path)),
        };
        error.detail("path", path)
    }
}

impl From<Damage> for ConversionFailure {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<io::Error> for ConversionFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The damage of an office document or a book.
#[derive(Debug)]
pub enum Damage {
    /// A required part is missing.
    Missing {
        /// The name of the part.
        part: String,
    },
    /// A part cannot be unpacked.
    Packed {
        /// The name of the part.
        part: String,
        /// The error of the archive.
        error: zip::result::ZipError,
    },
    /// A part with text is not valid UTF-8.
    NotText {
        /// The name of the part.
        part: String,
    },
    /// The unpacked size exceeds the limit.
    TooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// A part is not well-formed XML.
    Xml {
        /// The position in bytes.
        position: u64,
        /// The error of the parser.
        error: quick_xml::Error,
    },
    /// It declares its own entities, which may refer to other files.
    Entities,
    /// The book does not name its contents.
    NoBook,
    /// The workbook cannot be read.
    Workbook(Box<calamine::XlsxError>),
    /// A sheet exceeds the limit on its table.
    TooManyCells {
        /// The name of the sheet.
        sheet: String,
    },
    /// The intermediate HTML cannot be converted.
    Markdown(ragmaker_markdown::Error),
}

impl Damage {
    /// Whether a limit or a rule forbids to read the document.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Entities | Self::TooManyCells { .. })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { part } => write!(f, "{part} is missing"),
            Self::Packed { part, error } => write!(f, "{part}: {error}"),
            Self::NotText { part } => write!(f, "{part} is not text"),
            Self::TooLarge { most } => write!(f, "it unpacks to more than {most} bytes"),
            Self::Xml { position, error } => write!(f, "at byte {position}: {error}"),
            Self::Entities => f.write_str("it declares XML entities, which are refused"),
            Self::NoBook => f.write_str("META-INF/container.xml names no book"),
            Self::Workbook(error) => error.fmt(f),
            Self::TooManyCells { sheet } => write!(f, "{sheet}: it has more cells than the limit"),
            Self::Markdown(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_code_and_names_the_file() {
        let io = || io::Error::from(io::ErrorKind::NotFound);
        for (failure, code, says) in [
            (ConversionFailure::PdfReaderMissing(io()), "PDF_READER_MISSING", "pdftotext does not start"),
            (ConversionFailure::PdfEncrypted, "PDF_ENCRYPTED", "is encrypted"),
            (ConversionFailure::PdfDamaged("no xref".to_owned()), "PDF_UNREADABLE", "no xref"),
            (ConversionFailure::PdfTooSlow, "PDF_UNREADABLE", "more than a minute"),
            (ConversionFailure::PdfTooLarge, "PDF_UNREADABLE", "256 MiB"),
            (
                ConversionFailure::PageBeyondEnd { page: 9, total: 3 },
                "OFFSET_BEYOND_END",
                "page 9 of a \u{6f6e}.pdf does not exist",
            ),
            (Damage::NoBook.into(), "DOCUMENT_UNREADABLE", "names no book"),
        ] {
            let error = failure.at("a \u{6f6e}.pdf");
            assert_eq!((error.code(), error.details()["path"].as_str()), (code, Some("a \u{6f6e}.pdf")));
            let message = error.message();
            assert!(message.contains("a \u{6f6e}.pdf") && message.contains(says), "{message}");
        }
    }

    #[test]
    fn a_document_against_the_rules_is_refused_and_not_called_damaged() {
        for (damage, is_refused) in [
            (Damage::Entities, true),
            (Damage::TooLarge { most: 1 }, true),
            (Damage::TooManyCells { sheet: "S".to_owned() }, true),
            (Damage::Missing { part: "a.xml".to_owned() }, false),
        ] {
            let error = ConversionFailure::from(damage).at("a.ods");
            assert_eq!(error.details().contains_key("refused"), is_refused, "{}", error.message());
        }
    }
}
