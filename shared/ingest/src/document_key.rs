//! The identity of a document in a knowledge base.

/// The identity of a document in the knowledge base.
#[derive(Clone, Copy, Debug)]
pub struct DocumentKey<'s> {
    /// Its address.
    pub url: &'s str,
    /// The address under which the document is known, if it is another one.
    pub was: Option<&'s str>,
    /// The name for a new file, if it is not made from the address.
    pub named_after: Option<&'s str>,
    /// Whether a known document has moved here. Otherwise an address that differs from the known one is only
    /// written where the content differs too.
    pub moved: bool,
}

impl<'s> DocumentKey<'s> {
    /// The identity of the document at `url`.
    pub fn at(url: &'s str) -> Self {
        Self { url, was: None, named_after: None, moved: false }
    }
}
