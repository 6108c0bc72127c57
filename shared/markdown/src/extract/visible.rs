//! Visibility: which nodes a reader sees, and which nodes a selector matches.

use super::hidden::{Controls, holds_formula};
use crate::{
    chars::count_words,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// Every node that a reader can see, at once or with a control on the page.
pub(crate) fn visible(tree: &Tree) -> Vec<bool> {
    let controls = Controls::new(tree);
    most_of(tree, shown(tree, |id| controls.show(id)))
}

/// Every node that a reader can see at once.
pub(super) fn visible_at_once(tree: &Tree) -> Vec<bool> {
    most_of(tree, shown(tree, |id| holds_formula(tree, id)))
}

/// The nodes that are shown, or all: if a page hides most of its content, a script will show it.
fn most_of(tree: &Tree, shown: Vec<bool>) -> Vec<bool> {
    let length = |ids: &mut dyn Iterator<Item = Id>| ids.map(|id| tree.text(id).trim().len()).sum::<usize>();
    let everything = length(&mut (0..tree.len()));
    if length(&mut (0..tree.len()).filter(|&id| shown[id])) * 2 < everything { vec![true; tree.len()] } else { shown }
}

/// How many words the page shows at once.
pub(crate) fn words_shown(tree: &Tree) -> usize {
    let shown = shown(tree, |id| holds_formula(tree, id));
    (0..tree.len()).filter(|&id| shown[id]).map(|id| count_words(tree.text(id))).sum()
}

/// Whether each node is shown: neither it nor what it is in is hidden, unless the hidden element `is_shown` all the same.
fn shown(tree: &Tree, is_shown: impl Fn(Id) -> bool) -> Vec<bool> {
    let mut shown = vec![true; tree.len()];
    let mut id = 0;
    while id < tree.len() {
        let is_absent =
            if tree.node(id).hidden { !is_shown(id) } else { is_decoration(tree, id) && !holds_formula(tree, id) };
        if is_absent {
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
    fn hidden_elements_that_a_control_shows_are_shown() {
        assert_eq!(shown_texts("<p>high water<button aria-controls=x>a</button><div id=x hidden>b</div>").len(), 3);
        assert_eq!(shown_texts("<p>high water</p><div role=tabpanel hidden>a</div><dialog>b</dialog>").len(), 2);
        // It may be a form that covers the page.
        assert_eq!(shown_texts("<p>high water</p><button>a</button><div hidden>b</div>").len(), 2);
        // A message that a script shows, and without a control also a long text, is not shown.
        assert_eq!(shown_texts("<p>high water</p><h3>a</h3><div class=content hidden>Sent!</div>").len(), 2);
        let rest = "word ".repeat(20);
        assert_eq!(shown_texts(&format!("<p>{rest}</p><p>{rest}</p><div hidden>{rest}</div>")).len(), 2);
        assert_eq!(words_shown(&Tree::parse("<p>high water</p><div role=tabpanel hidden>a</div>", None)), 2);
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
