//! Rows of links to the previous and the next page, which many generators of manuals write at both ends of a page.

use crate::{
    tag::Tag,
    tree::{Id, Tree},
};

/// Whether a block contains only links to the previous page, the next page, the contents or the index.
pub(super) fn is_pager(tree: &Tree, id: Id) -> bool {
    const MAX_NODES: usize = 32;
    const NAMES: [&str; 13] = [
        "next", "previous", "prev", "up", "top", "home", "index", "contents", "table", "of", "chapter", "section",
        "page",
    ];
    let within = tree.subtree(id);
    if !matches!(tree.tag(id), Tag::P | Tag::Div | Tag::Center | Tag::Table | Tag::Ul) || within.len() > MAX_NODES {
        return false;
    }
    if within.clone().filter(|&id| tree.tag(id) == Tag::A).count() < 2 {
        return false;
    }
    let mut is_marked = false;
    for word in within.flat_map(|id| tree.text(id).split(|c: char| !c.is_alphanumeric())) {
        let name = word.to_lowercase();
        if !word.is_empty() && !NAMES.contains(&name.as_str()) {
            return false;
        }
        // In small letters, it may be the name of a function.
        is_marked |= word.starts_with(char::is_uppercase) && NAMES[..3].contains(&name.as_str());
    }
    is_marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_links_to_other_pages_is_no_content() {
        let is_row = |block: &str| is_pager(&Tree::parse(block, None), 1);
        assert!(is_row("<p><a href=a>Previous</a> | <a href=b>Contents</a> | <a href=c>Index</a> | Next</p>"));
        assert!(is_row("<div>[<a href=a> &lt; Prev </a>][<a href=b> Up </a>]</div>"));
        assert!(is_row("<ul><li><a href=a>Previous Chapter</a><li><a href=b>Next Chapter</a></ul>"));
        assert!(!is_row("<p><a href=a>Next</a></p>") && !is_row("<p>The next of the previous</p>"));
        assert!(!is_row("<p><a href=a>Previous</a> | <a href=b>Chapter 2</a></p>"));
        assert!(!is_row("<ul><li><a href=a>next</a><li><a href=b>index</a></ul>"));
        assert!(!is_row("<p><a href=a>Contents</a> | <a href=b>Index</a></p>"));
    }
}
