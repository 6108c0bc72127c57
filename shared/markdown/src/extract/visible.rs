//! Visibility: which nodes a reader sees, and which nodes a selector matches.

use crate::{
    chars::count_words,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// Every node that a reader can see.
pub(crate) fn visible(tree: &Tree) -> Vec<bool> {
    let shown = shown(tree);
    let length = |ids: &mut dyn Iterator<Item = Id>| ids.map(|id| tree.text(id).trim().len()).sum::<usize>();
    let everything = length(&mut (0..tree.len()));
    // If a page hides most of its content, a script will show it.
    if length(&mut (0..tree.len()).filter(|&id| shown[id])) * 2 < everything { vec![true; tree.len()] } else { shown }
}

/// How many words the page shows.
pub(crate) fn words_shown(tree: &Tree) -> usize {
    let shown = shown(tree);
    (0..tree.len()).filter(|&id| shown[id]).map(|id| count_words(tree.text(id))).sum()
}

/// Whether each node is shown: neither it nor what it is in is hidden.
fn shown(tree: &Tree) -> Vec<bool> {
    let mut shown = vec![true; tree.len()];
    let mut id = 0;
    while id < tree.len() {
        if (tree.node(id).hidden || is_decoration(tree, id)) && id != ROOT && !holds_formula(tree, id) {
            shown[tree.subtree(id)].fill(false);
            id = tree.subtree(id).end;
        } else {
            id += 1;
        }
    }
    shown
}

/// Whether an inline element is hidden from screen readers because it is not text: an icon's name, a rendered
/// formula. A link of several words to another page is text: it is hidden as the second one to that page.
fn is_decoration(tree: &Tree, id: Id) -> bool {
    let node = tree.node(id);
    if !node.aria_hidden || node.tag.is_block() {
        return false;
    }
    let leaves = tree.attr(id, Attr::Href).is_some_and(|address| !address.trim_start().starts_with('#'));
    !leaves || is_label(tree, id)
}

/// Whether an element has no more words than the name of an icon or of a button.
pub(super) fn is_label(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).take(LABEL_NODES).map(|id| count_words(tree.text(id))).sum::<usize>() <= LABEL_WORDS
}

/// The maximum number of words of a label, counted in its first nodes.
const LABEL_WORDS: usize = 2;
const LABEL_NODES: usize = 32;

/// Whether an element contains the source of a formula, which is hidden beside the rendered one.
pub(super) fn holds_formula(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).len() < 4096 && tree.subtree(id).any(|id| tree.tag(id) == Tag::Math)
}

/// The nodes that the caller's selector matches; none if there are none.
pub(crate) fn selected(tree: &Tree) -> Option<Vec<bool>> {
    let mut keep = vec![false; tree.len()];
    for &id in &tree.selected {
        if !keep[id] || id == ROOT {
            keep[tree.subtree(id)].fill(true);
            for ancestor in tree.ancestors(id) {
                keep[ancestor] = true;
            }
        }
    }
    (!tree.selected.is_empty()).then_some(keep)
}

/// Whether a node is decoration or in it; see [`is_decoration`].
pub(super) fn is_invisible(tree: &Tree, id: Id) -> bool {
    let hides = |id: Id| is_decoration(tree, id) && !holds_formula(tree, id);
    hides(id) || (tree.tag(id) == Tag::Text && tree.ancestors(id).take(2).any(hides))
}

/// Whether the author hides an element, or hides it from screen readers.
pub(super) fn is_unseen(tree: &Tree, id: Id) -> bool {
    let node = tree.node(id);
    node.hidden || node.aria_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a page that are shown.
    fn shown_texts(html: &str) -> Vec<String> {
        let tree = Tree::parse(html, None);
        let visible = visible(&tree);
        let texts = (1..tree.len()).filter(|&id| visible[id] && tree.tag(id) == Tag::Text);
        texts.map(|id| tree.text(id).to_owned()).collect()
    }

    #[test]
    fn hidden_elements_are_not_shown() {
        assert_eq!(shown_texts("<p>high water<p hidden>a</p><i aria-hidden=true>menu</i>"), ["high water"]);
        assert_eq!(shown_texts("<p>high water<a href=/x aria-hidden=true>of the next month</a>").len(), 2);
    }

    #[test]
    fn a_page_that_hides_most_of_itself_is_shown() {
        assert_eq!(shown_texts("<p>wait<div hidden>high water twice a day</div>").len(), 2);
    }

    #[test]
    fn a_selection_has_its_ancestors() {
        let selector = "b".parse().unwrap();
        let tree = Tree::parse("<div><p>a <b>b</b></p></div>", Some(&selector));
        let keep = selected(&tree).unwrap();
        let kept: Vec<Tag> = (0..tree.len()).filter(|&id| keep[id]).map(|id| tree.tag(id)).collect();
        assert_eq!(kept, [Tag::Root, Tag::Div, Tag::P, Tag::B, Tag::Text]);
        assert!(selected(&Tree::parse("<p>a", Some(&selector))).is_none());
    }
}
