//! What of a page is its content.

use crate::{
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// Every node that a reader can see.
pub(crate) fn visible(tree: &Tree) -> Vec<bool> {
    let shown = shown(tree);
    let length =
        |keep: &[bool]| (0..tree.len()).filter(|&id| keep[id]).map(|id| tree.text(id).trim().len()).sum::<usize>();
    let everything = vec![true; tree.len()];
    // A page that hides most of itself waits for a script to show it.
    if length(&shown) * 2 < length(&everything) { everything } else { shown }
}

/// Whether each node is shown: neither it nor what it is in is hidden.
fn shown(tree: &Tree) -> Vec<bool> {
    let mut shown = vec![true; tree.len()];
    let mut id = 0;
    while id < tree.len() {
        let node = tree.node(id);
        let inline_only = node.aria_hidden && !node.tag.is_block();
        if (node.hidden || inline_only) && id != ROOT && !holds_formula(tree, id) {
            shown[tree.subtree(id)].fill(false);
            id = tree.subtree(id).end;
        } else {
            id += 1;
        }
    }
    shown
}

/// Formulas hide their source for screen readers beside the picture of it.
fn holds_formula(tree: &Tree, id: Id) -> bool {
    tree.subtree(id).len() < 4096 && tree.subtree(id).any(|id| tree.tag(id) == Tag::Math)
}

/// The nodes that the caller's selector matches; none if there are none.
pub(crate) fn selected(tree: &Tree) -> Option<Vec<bool>> {
    let mut keep = vec![false; tree.len()];
    let mut any = false;
    let mut id = 0;
    while id < tree.len() {
        if tree.node(id).selected {
            any = true;
            keep[tree.subtree(id)].fill(true);
            for ancestor in tree.ancestors(id) {
                keep[ancestor] = true;
            }
            id = tree.subtree(id).end;
        } else {
            id += 1;
        }
    }
    any.then_some(keep)
}

/// The nodes of the page's main content.
pub(crate) fn main_content(tree: &Tree) -> Vec<bool> {
    let mut keep = visible(tree);
    let main = (1..tree.len()).find(|&id| tree.tag(id) == Tag::Main || tree.attr(id, Attr::Role) == Some("main"));
    let length = |range: std::ops::Range<Id>| range.map(|id| tree.text(id).trim().len()).sum::<usize>();
    if let Some(main) = main.filter(|&main| length(tree.subtree(main)) > 200) {
        let inside = tree.subtree(main);
        let ancestors: Vec<Id> = tree.ancestors(main).collect();
        for (id, keep) in keep.iter_mut().enumerate() {
            *keep &= inside.contains(&id) || ancestors.contains(&id);
        }
    }
    let mut id = 1;
    while id < tree.len() {
        let boilerplate = matches!(tree.tag(id), Tag::Nav | Tag::Footer | Tag::Aside | Tag::Form | Tag::Dialog)
            || matches!(
                tree.attr(id, Attr::Role),
                Some("navigation" | "banner" | "contentinfo" | "search" | "complementary" | "dialog" | "alertdialog")
            );
        if boilerplate && length(tree.subtree(id)) * 2 < length(0..tree.len()) {
            keep[tree.subtree(id)].fill(false);
            id = tree.subtree(id).end;
        } else {
            id += 1;
        }
    }
    keep
}
