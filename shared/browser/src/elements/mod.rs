//! The elements of a page, found by role and accessible name, by visible text, or by CSS.

pub(crate) mod boxes;
mod closed;
pub(crate) mod find;
mod frames;
mod labels;
mod list;
mod locator;
mod tree;

use ragmaker_tool::JsonSchema;
use serde::Serialize;

pub use self::list::ListedElement;
pub(crate) use self::{
    find::NotFound,
    frames::{CONSENT, ELEMENT, EXPAND, ElementId, Frame, FrameScript, Frames, MAX_FRAMES, PAGE, SCREENSHOT},
    locator::{Locator, Match},
    tree::{Node, PageNodes, ROLES, nodes_of as nodes},
};

/// The part of a page whose elements are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElementScope {
    /// The elements that match a selector.
    Selector,
    /// The main content and dialogs.
    Main,
    /// The whole page.
    Page,
}

/// The elements of `nodes` that can be acted on: within the selector's matches, or else in the main content, or
/// else on the whole page. Also returns that part and the number of other elements. Each element has the index of its
/// node; only those whose nodes are `shown` are listed and counted.
pub(crate) fn listed(
    nodes: &[Node],
    shown: &[bool],
    selector: Option<&str>,
) -> (Vec<(usize, ListedElement)>, ElementScope, usize) {
    let mut all = list::list(nodes);
    all.retain(|(index, _)| shown[*index]);
    let total = all.len();
    let keep = |within: ElementScope, keeps: &dyn Fn(&Node) -> bool| {
        let kept: Vec<_> = all.iter().filter(|(index, _)| keeps(&nodes[*index])).cloned().collect();
        let elsewhere = total - kept.len();
        (kept, within, elsewhere)
    };
    if selector.is_some() {
        return keep(ElementScope::Selector, &|node| node.is_chosen);
    }
    if all.iter().any(|(index, _)| nodes[*index].is_main) {
        return keep(ElementScope::Main, &|node| node.is_main);
    }
    keep(ElementScope::Page, &|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn button(name: &str, is_main: bool, is_chosen: bool) -> Node {
        Node { is_main, is_chosen, ..Node::shown("button", name) }
    }

    /// The indexes of the listed elements, their part of the page, and the number of others.
    fn listed_of(nodes: &[Node], shown: &[bool], selector: Option<&str>) -> (Vec<usize>, ElementScope, usize) {
        let (listed, scope, elsewhere) = listed(nodes, shown, selector);
        (listed.into_iter().map(|(index, _)| index).collect(), scope, elsewhere)
    }

    #[test]
    fn the_main_content_is_listed_unless_it_has_nothing_to_act_on() {
        let text = Node { is_main: true, ..Node::shown("", "text") };
        let nodes = [button("Menu", false, false), text.clone(), button("Save", true, false)];
        assert_eq!(listed_of(&nodes, &[true; 3], None), (vec![2], ElementScope::Main, 1));
        // What is not shown counts nowhere.
        assert_eq!(listed_of(&nodes, &[false, true, true], None), (vec![2], ElementScope::Main, 0));
        assert_eq!(listed_of(&nodes, &[true, true, false], None), (vec![0], ElementScope::Page, 0));
        assert_eq!(
            listed_of(&[button("Menu", false, false), text], &[true; 2], None),
            (vec![0], ElementScope::Page, 0)
        );
    }

    #[test]
    fn a_selector_lists_its_matches_alone_also_outside_of_the_main_content() {
        let nodes = [button("Menu", false, true), button("Save", true, false), button("Hidden", true, true)];
        assert_eq!(listed_of(&nodes, &[true, true, false], Some("nav")), (vec![0], ElementScope::Selector, 1));
        assert_eq!(listed_of(&nodes[1..2], &[true], Some("nav")), (vec![], ElementScope::Selector, 1));
    }
}
