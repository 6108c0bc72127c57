//! Which part of a text is wanted.

/// Which part of a text is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The first line, counted from 0.
    pub(crate) offset: u64,
    /// How many lines; without it, as many as a page takes.
    pub(crate) limit: Option<u64>,
    /// Characters of the first line to leave out.
    pub(crate) column: u64,
}
