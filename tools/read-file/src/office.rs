//! Office documents and books: archives of XML, of which a page is made that is converted to Markdown.

mod book;
mod html;
mod package;
mod sheets;
mod slides;
mod word;

use std::io;

use ragmaker_markdown::{Options, Scope};
use ragmaker_text::Source;
use ragmaker_tool::{Code, Error};

use crate::decoded::Decoded;
use package::Package;

/// The document is damaged, or unpacks to more than is taken.
pub const DOCUMENT_UNREADABLE: Code =
    Code::new("DOCUMENT_UNREADABLE", "The file may be damaged; add --as base64 to get its bytes.");

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Docx,
    Pptx,
    Xlsx,
    Epub,
}

impl Format {
    /// Its MIME type, as IANA registers it.
    pub(crate) const fn mime_type(self) -> &'static str {
        match self {
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Epub => "application/epub+zip",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Docx => "DOCX",
            Self::Pptx => "PPTX",
            Self::Xlsx => "XLSX",
            Self::Epub => "EPUB",
        }
    }

    /// The part without which it would be none.
    const fn part(self) -> &'static str {
        match self {
            Self::Docx => "word/document.xml",
            Self::Pptx => "ppt/presentation.xml",
            Self::Xlsx => "xl/workbook.xml",
            Self::Epub => "META-INF/container.xml",
        }
    }
}

/// A document and its parts.
pub(crate) struct Document {
    pub(crate) format: Format,
    package: Package,
}

impl Document {
    /// The document that `source` is; `None` if it is something else.
    pub(crate) fn open(source: &Source) -> io::Result<Option<Self>> {
        let Some(package) = Package::open(source)? else { return Ok(None) };
        let formats = [Format::Docx, Format::Pptx, Format::Xlsx, Format::Epub];
        let format = formats.into_iter().find(|format| package.has(format.part()));
        Ok(format.map(|format| Self { format, package }))
    }

    /// What it says, as Markdown; `path` is what it is called.
    pub(crate) fn decode(mut self, path: &str) -> Result<Decoded, Error> {
        let text = match self.format {
            Format::Docx => word::html(&mut self.package).and_then(|html| markdown(&html)),
            Format::Pptx => slides::html(&mut self.package).and_then(|html| markdown(&html)),
            Format::Xlsx => sheets::markdown(self.package),
            Format::Epub => book::markdown(&mut self.package),
        };
        let text =
            text.map_err(|reason| DOCUMENT_UNREADABLE.error(format!("{path}: {reason}")).detail("path", path))?;
        let encoding = self.format.name().to_owned();
        Ok(Decoded { source: Source::Memory(text.into_bytes()), encoding, lossy: false })
    }
}

/// A page as Markdown; an empty one is an empty text.
fn markdown(html: &str) -> Result<String, String> {
    match ragmaker_markdown::convert(html, &Options { base_url: None, scope: Scope::Whole }) {
        Ok(page) => Ok(page.markdown),
        Err(ragmaker_markdown::Error::EmptyContent) => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    }
}
