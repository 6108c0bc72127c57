//! The stamp of a file, which detects changes: size and modification time.

use std::time::SystemTime;

/// The size and modification time of a file, which detect changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) modified: u64,
}

impl Stamp {
    /// The stamp of a file that cannot be read.
    pub(crate) const NONE: Self = Self { size: u64::MAX, modified: 0 };

    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self { size: metadata.len(), modified: since.map_or(0, |since| since.as_nanos() as u64) }
    }
}
