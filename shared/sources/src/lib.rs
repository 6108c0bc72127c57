//! Folders and Git repositories as sources of documents.
//!
//! Both have two operations. One lists the files that are documents, saves those that are new or changed, and reports
//! those that no longer exist. The other compares the documents of a knowledge base with their sources. Each document
//! has a verdict in a run of [`ragmaker_ingest`].

mod folder;
mod repository;
#[cfg(test)]
mod test_base;
mod tree;

pub use folder::{Folder, place};
pub use repository::address;
pub use tree::{Tree, unchanged};
