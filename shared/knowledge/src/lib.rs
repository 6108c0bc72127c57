//! Saving fetched pages and files in a knowledge base.
//!
//! All sources of knowledge have the same shape: they fetch, and this crate saves. [`save`] converts by media type,
//! names the file after the address, writes it with front matter, and records it in the catalog. This crate uses
//! neither the browser nor HTTP, so a new source only has to fetch.
//!
//! ```
//! use ragmaker_catalog::Catalog;
//! use ragmaker_knowledge::{Body, ContentFormat, Destination, Fetched, now, save};
//! use url::Url;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let catalog = Catalog::at(folder.path().join("cache/catalog.json"))?;
//! let url = Url::parse("https://example.com/tides")?;
//! let fetched = Fetched {
//!     url: url.as_str(),
//!     base_url: Some(&url),
//!     format: ContentFormat::of("text/html; charset=utf-8", &url).ok_or("not a document")?,
//!     body: Body::Text("<title>Tides</title><p>Two high waters a day."),
//!     title: "",
//!     selected: false,
//!     fetched_at: &now(),
//!     source: None,
//! };
//! let saved = save(&fetched, &Destination::of_catalog(&catalog))?;
//! assert_eq!((saved.title.as_str(), saved.words), ("Tides", 5));
//! assert_eq!(catalog.read()?.documents[0].url.as_deref(), Some("https://example.com/tides"));
//! # Ok(())
//! # }
//! ```

mod body;
mod convert;
mod destination;
mod indent;
mod save;

pub use body::{Body, decode};
pub use convert::{ContentFormat, EMPTY_CONTENT, Fetched};
pub use destination::{DestinationArgs, SaveTarget};
pub use ragmaker_catalog::{DocumentSource, now};
pub use save::{
    Destination, ERRORS, Saved, bytes_hash, content_hash, entry, file_hash, new_file, save, save_converted, title_of,
    write,
};
