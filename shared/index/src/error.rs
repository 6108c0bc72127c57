//! The reasons why an index cannot be used.

use std::io;

/// The reason why an index cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexError {
    /// The files are damaged.
    Damaged,
    /// A document changed since it was indexed.
    Changed,
}

impl From<io::Error> for IndexError {
    fn from(_: io::Error) -> Self {
        Self::Damaged
    }
}
