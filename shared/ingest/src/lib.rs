//! A run over many pages: a verdict for each page, a report, and resumption after an interruption.
//!
//! All tools that save more than one document use this crate. [`Store`] compares a document with the knowledge base and
//! writes it only if it is new or has changed. [`Run`] records each page when it is done, so a killed run can be
//! resumed, and makes the answer.
//!
//! ```
//! use ragmaker_catalog::{Catalog, DocumentSource};
//! use ragmaker_ingest::{PageResult, Run, Store, PageVerdict};
//! use ragmaker_markdown::{Options, convert};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let catalog = Catalog::at(folder.path().join("cache/catalog.json"))?;
//! let mut store = Store::open(&catalog, folder.path().join("cache/documents"))?;
//! let mut run = Run::start(&catalog, "example", "https://example.com/", false)?;
//! let document = convert("<title>Tides</title><p>Two high waters a day.", &Options::default())?;
//! let source = DocumentSource::Http { section: None, from: None, etag: None, last_modified: None };
//! let stored = store.save(document, "https://example.com/tides", &source)?;
//! run.end(PageResult::stored("https://example.com/tides", &stored), ())?;
//! store.finish()?;
//! let summary = run.finish()?;
//! assert_eq!((summary.counts.added, summary.pages[0].verdict), (1, PageVerdict::Added));
//! # Ok(())
//! # }
//! ```

mod document_key;
mod progress;
mod run;
mod skipped;
mod store;
mod verdict;

pub use document_key::DocumentKey;
pub use run::{REPORT_NOT_WRITABLE, RUN_IN_PROGRESS, Report, Run, Summary};
pub use skipped::{Skipped, Skips};
pub use store::{Store, Stored};
pub use verdict::{Counts, PageResult, PageVerdict};

use ragmaker_tool::Code;

/// The codes of a tool that makes a run, beside those of saving: [`ragmaker_knowledge::ERRORS`] and
/// [`ragmaker_catalog::ERRORS`].
pub const ERRORS: &[Code] = &[RUN_IN_PROGRESS, REPORT_NOT_WRITABLE];
