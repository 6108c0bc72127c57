//! Pages with overlapping tags, parsed by html5ever.
//!
//! html5ever is used through `html2text`, which the workspace links for another purpose anyway. It takes 200 bytes per
//! node and halves the speed. So it is used only for pages that need it, and not for pages that are made to be slow.

use super::{node::Tree, source::renames};

/// A page with more than one node in so many bytes is not repaired.
const BYTES_A_NODE: usize = 48;

/// The largest page that is repaired, in bytes.
pub(super) const MAX_PAGE: usize = 4 << 20;

/// The maximum number of formatting elements without an end tag in a page that is repaired: the standard reopens all of
/// them in every block that follows.
pub(super) const MAX_LOST_FORMATTING: usize = 48;

/// Whether html5ever's tree of this page fits in the memory that a conversion may take.
pub(super) fn is_affordable(tree: &Tree) -> bool {
    !tree.is_dense(BYTES_A_NODE)
}

/// The page as the standard's tree construction nests it, serialized.
pub(super) fn repaired(html: &str) -> Option<String> {
    let mut readable = html.to_owned();
    for (at, name) in renames(html) {
        readable.replace_range(at..at + name.len(), name);
    }
    let html = readable;
    let page = html2text::config::plain().parse_html(html.as_bytes()).ok()?;
    let mut out = Vec::with_capacity(html.len() + html.len() / 8);
    page.serialize(&mut out).ok()?;
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_is_reopened_in_the_blocks_that_follow() {
        let repaired = repaired("<b>x<p>y</b>z</p>").unwrap();
        assert!(repaired.contains("<b>x</b><p><b>y</b>z</p>"), "{repaired}");
    }

    #[test]
    fn content_of_noscript_is_markup() {
        let repaired = repaired("<noscript><p>x</p></noscript>").unwrap();
        assert!(repaired.contains("><p>x</p></"), "{repaired}");
    }
}
