//! The elements of a page: by role and accessible name, by what they show, or by CSS.

mod find;
mod frames;
mod list;
mod locator;
mod tree;

use ragmaker_tool::JsonSchema;
use serde::Serialize;

pub use self::list::Listed;
pub(crate) use self::{
    find::{NotFound, find},
    frames::{Frame, Frames, Place},
    locator::Locator,
    tree::{Node, nodes_of as nodes},
};

/// The part of a page that elements are listed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// What a selector matches.
    Selector,
    /// The main content, and dialogs.
    Main,
    /// All of it.
    Page,
}

/// The elements of `nodes` that can be acted on: those that a selector chose, else those of the main content, else all;
/// where they are, or nothing where a selector chose none; and how many others there are.
pub(crate) fn listed(nodes: &[Node], selector: Option<&str>) -> (Vec<Listed>, Option<Within>, usize) {
    let all = list::list(nodes);
    let total = all.len();
    let keep = |within: Within, keeps: &dyn Fn(&Node) -> bool| {
        let kept: Vec<Listed> =
            all.iter().filter(|(index, _)| keeps(&nodes[*index])).map(|(_, listed)| listed.clone()).collect();
        let elsewhere = total - kept.len();
        (kept, Some(within), elsewhere)
    };
    if selector.is_some() {
        if !nodes.iter().any(|node| node.is_chosen) {
            return (vec![], None, total);
        }
        return keep(Within::Selector, &|node| node.is_chosen);
    }
    if all.iter().any(|(index, _)| nodes[*index].is_main) {
        return keep(Within::Main, &|node| node.is_main);
    }
    keep(Within::Page, &|_| true)
}
