//! The reasons why an index cannot be used.

use std::io;

/// Why an index does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It is not what was written.
    Damaged,
    /// A document is not what it was.
    Changed,
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Damaged
    }
}
