//! PDFs, office documents and books as text: PDF, DOCX, PPTX, XLSX, ODT, ODP, ODS and EPUB.
//!
//! Notebooks, delimited rows and mail messages are converted as well.
//!
//! The program `pdftotext` converts PDFs. All other formats are converted to Markdown in this process. The kind of a
//! file is recognised by its first bytes, not by its name.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = ragmaker_text::ByteSource::file(std::fs::File::open("report.docx")?)?;
//! if let Some(document) = ragmaker_office::OfficeDocument::open(&source)? {
//!     let text = document.convert(&source, None).map_err(|error| error.at("report.docx"))?;
//!     println!("{} bytes of text", text.size());
//! }
//! # Ok(())
//! # }
//! ```

mod book;
mod delimited;
mod document;
mod error;
mod grid;
mod html;
mod mail;
mod markdown;
mod notebook;
mod odf;
mod package;
mod pdf;
mod sheets;
mod slides;
mod word;

pub use delimited::delimited;
pub use document::{OfficeDocument, OfficeFormat};
pub use error::{ConversionFailure, DOCUMENT_UNREADABLE, Damage, PDF_ENCRYPTED, PDF_READER_MISSING, PDF_UNREADABLE};
pub use mail::mail;
pub use notebook::{is_notebook_name, notebook, notebook_file};
pub use package::input_of;
pub use pdf::{Pages, pages_as_markdown};
