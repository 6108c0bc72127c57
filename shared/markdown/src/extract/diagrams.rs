//! Diagrams: SVGs that draw texts. Whoever marked the main content of the pages that the model is trained on left them
//! out, as extractors do: the words of a diagram, without its lines, say little beside a text. They are the content of a
//! page that has no other, such as one that consists of a heading and a syntax diagram.

use super::visible::is_unseen;
use crate::{
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// An SVG with fewer texts is a logo, an icon or a badge.
const MIN_LABELS: usize = 3;

/// Keeps of the SVGs in the content of a page only those that are diagrams.
pub(super) fn keep_diagrams(tree: &Tree, keep: &mut [bool]) {
    for (id, diagram) in tree.diagrams() {
        keep[id] &= diagram.labels >= MIN_LABELS;
    }
}

/// Keeps the diagrams of a page of which no text is kept except in headings; of other pages, none.
pub(super) fn choose_diagrams(tree: &Tree, keep: &mut [bool]) {
    for (id, _) in tree.diagrams() {
        keep[id] = false;
    }
    if tree.diagrams().next().is_none() || has_text(tree, keep) {
        return;
    }
    for (id, diagram) in tree.diagrams() {
        let is_aside = |id: Id| is_unseen(tree, id) || is_around_content(tree, id);
        if diagram.labels >= MIN_LABELS && !is_unseen(tree, id) && !tree.ancestors(id).any(is_aside) {
            keep[id] = true;
            for ancestor in tree.ancestors(id) {
                keep[ancestor] = true;
            }
        }
    }
}

/// Whether there is a word that is kept outside of headings.
fn has_text(tree: &Tree, keep: &[bool]) -> bool {
    (1..tree.len()).any(|id| {
        keep[id]
            && tree.text(id).contains(char::is_alphanumeric)
            && !tree.ancestors(id).any(|id| tree.tag(id).heading_level().is_some())
    })
}

/// Whether an SVG in such an element is not content by itself.
fn is_around_content(tree: &Tree, id: Id) -> bool {
    matches!(tree.tag(id), Tag::A | Tag::Aside | Tag::Button | Tag::Footer | Tag::Header | Tag::Nav)
        || tree.attr(id, Attr::Role) == Some("navigation")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg><text>BEGIN</text><text>IMMEDIATE</text><text>TRANSACTION</text></svg>";

    /// Whether the diagram of a page is kept where everything else is.
    fn kept(page: &str) -> bool {
        let tree = Tree::parse(page, None);
        let mut keep = vec![true; tree.len()];
        choose_diagrams(&tree, &mut keep);
        tree.diagrams().any(|(id, _)| keep[id])
    }

    #[test]
    fn a_diagram_is_the_content_of_a_page_without_text() {
        assert!(kept(&format!("<h1>begin-stmt</h1><div>{SVG}</div>")));
        assert!(kept(SVG));
        assert!(!kept(&format!("<h1>begin-stmt</h1><p>A transaction begins.</p>{SVG}")));
        assert!(!kept("<h1>Sea</h1><svg><text>The</text><text>Sea</text></svg>"));
        for around in ["nav", "a href=/", "header", "div hidden", "div role=navigation"] {
            assert!(!kept(&format!("<h1>begin-stmt</h1><{around}>{SVG}")), "{around}");
        }
    }
}
