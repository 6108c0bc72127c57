//! Folders and Git repositories as sources of documents.
//!
//! Both work alike: list the files that are documents, save those that are new or another text, report those that
//! are gone; or compare the documents that a knowledge base has with what they came from. Each document gets its
//! verdict in a run of [`ragmaker_ingest`].

mod folder;
mod repository;
mod tree;

pub use folder::{Folder, place};
pub use repository::address;
pub use tree::{Tree, unchanged};
