//! PDFs, office documents and books as text: PDF, DOCX, PPTX, XLSX and EPUB.
//!
//! A PDF is converted by the program `pdftotext`, everything else in this process, to Markdown. What a
//! file is, its first bytes decide and not its name.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = ragmaker_text::Source::file(std::fs::File::open("report.docx")?)?;
//! if let Some(document) = ragmaker_office::Document::open(&source)? {
//!     let text = document.convert(&source, None).map_err(|error| error.at("report.docx"))?;
//!     println!("{} bytes of text", text.size());
//! }
//! # Ok(())
//! # }
//! ```

mod book;
mod document;
mod error;
mod html;
mod markdown;
mod package;
mod pdf;
mod sheets;
mod slides;
mod word;

pub use document::{Document, Format};
pub use error::{DOCUMENT_UNREADABLE, Damage, Failure, PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE};
pub use pdf::Pages;
