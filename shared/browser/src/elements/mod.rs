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
