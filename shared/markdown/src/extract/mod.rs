//! Main-content extraction: which blocks of a page are content and which are boilerplate.
//!
//! 1. [`blocks`] splits the page into blocks, which are runs of inline content, and counts the content of each block
//!    and of each of its ancestors.
//! 2. [`features`] describes each block by numbers: its text, its neighbours, its ancestors, the hints of names and
//!    short texts ([`names`]), its position ([`places`]), and the page ([`page`]).
//! 3. [`words`] scores the words in and around each block with a linear model, for the predicted kind of page.
//! 4. [`model`] predicts the probability that a block is content, from its features, its text score, and the text
//!    scores of neighbouring blocks and of its sibling group (stacking: Wolpert, "Stacked generalization", 1992).
//! 5. [`choose`] moves the probabilities within a sibling group towards each other and selects the blocks with the
//!    highest expected F1, so no fixed threshold is used. If that F1 is low, nothing is selected: then the page is a
//!    template whose content is loaded by a script.
//! 6. [`rules`] corrects the selection where the structure decides: hidden messages, the rest of an item or a row,
//!    images between content, code after content, heads of tables, marked navigation, headings.
//!
//! 7. [`leads`] adds the lead of an article, and [`extras`] drops links to other articles and the like, if names or
//!    words make them certain. [`diagrams`] adds the texts of diagrams, if there is no other text.
//! 8. [`tabs`] puts the label of a tab before its panel, whatever part of the page is converted.
//!
//! For the pages of documentation generators, [`generators`] names the main element, and no model is needed.
//!
//! `training/train.py` trains the model and evaluates it on pages of unseen domains.

mod blocks;
mod choose;
mod diagrams;
mod extras;
mod features;
mod generators;
mod hidden;
mod leads;
mod lexicon;
mod model;
mod names;
mod page;
mod pager;
mod places;
mod rules;
mod tabs;
mod tokens;
#[cfg(feature = "training")]
mod training;
mod visible;
mod words;

use url::Url;

use self::{
    blocks::{Blocks, NO_BLOCK},
    choose::Prediction,
};
use crate::{metadata::PageType, tag::Tag, tree::Tree};

pub(crate) use self::tabs::{Labels, Tabs};
#[cfg(feature = "training")]
pub use self::training::Examples;
#[cfg(feature = "training")]
pub(crate) use self::training::examples;
pub(crate) use self::visible::{selected, visible, words_shown};

/// From a page with more than one node in so many bytes nothing is extracted: features take 150 bytes a node.
const BYTES_A_NODE: usize = 32;

/// The confidence in the main element of a generator. The lowest mean F1 of a generator is 0.986 (docs/benchmarks.md).
const GENERATED: f32 = 0.98;

/// The kind of the page.
pub(crate) fn kind(tree: &Tree, address: Option<&Url>) -> PageType {
    if tree.is_dense(BYTES_A_NODE) {
        return PageType::default();
    }
    if generators::is_documentation(tree) {
        return PageType::Documentation;
    }
    choose::kind(tree, &Blocks::new(tree), address)
}

/// The main content of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct MainContent {
    /// Which nodes belong to it.
    pub(crate) keep: Vec<bool>,
    /// The kind of the page.
    pub(crate) kind: PageType,
    /// The probability that its words are right, by an F1 over 0.9; see `calibrate` in `training/train.py`.
    pub(crate) confidence: f32,
}

/// Chooses the main content of a page.
pub(crate) fn main_content(tree: &Tree, tabs: &Tabs, address: Option<&Url>) -> MainContent {
    if tree.is_dense(BYTES_A_NODE) {
        return MainContent { keep: visible(tree), kind: PageType::default(), confidence: 0.0 };
    }
    if let Some(keep) = generators::content(tree, tabs) {
        return MainContent { keep, kind: PageType::Documentation, confidence: GENERATED };
    }
    let blocks = Blocks::new(tree);
    let Prediction { probabilities, kind } = choose::predict(tree, &blocks, address);
    let (mut chosen, expected_f1) = choose::choose(tree, &blocks.list, probabilities);
    rules::drop_messages(tree, &blocks, tabs, &mut chosen);
    let expected_f1 = rules::choose_listing(tree, &blocks, &mut chosen).max(expected_f1);
    rules::complete(tree, &blocks, &mut chosen, rules::is_item);
    rules::complete(tree, &blocks, &mut chosen, |tag| matches!(tag, Tag::Ul | Tag::Ol));
    rules::choose_images(&blocks, &mut chosen);
    rules::choose_code(tree, &blocks, &mut chosen);
    tabs.choose_code(tree, &blocks, &mut chosen);
    rules::choose_headings(tree, &blocks, &mut chosen);
    if matches!(kind, PageType::Article | PageType::Documentation | PageType::Forum) {
        rules::drop_last_heading(tree, &blocks, &mut chosen);
    }
    leads::choose_leads(tree, &blocks, kind, &mut chosen);
    extras::drop_extras(tree, &blocks, kind, &mut chosen);
    let mut keep = vec![false; tree.len()];
    for id in (1..tree.len()).rev() {
        let block = blocks.of_node[id];
        if block != NO_BLOCK && chosen[block as usize] && !visible::is_invisible(tree, id) {
            keep[id] = true;
        }
        if keep[id] {
            keep[tree.parent(id)] = true;
        }
    }
    hidden::drop_hidden(tree, &mut keep);
    rules::keep_table_heads(tree, &mut keep);
    rules::keep_summaries(tree, &mut keep);
    rules::remove_boilerplate(tree, &mut keep);
    diagrams::choose_diagrams(tree, &mut keep);
    rules::keep_page_heading(tree, &mut keep);
    // Line breaks and rules in kept elements are kept, and code and formulas as a whole.
    for id in 1..tree.len() {
        if matches!(tree.tag(id), Tag::Br | Tag::Hr | Tag::Input | Tag::Wbr) && keep[tree.parent(id)] {
            keep[id] = true;
        }
        if matches!(tree.tag(id), Tag::Pre | Tag::Math) && keep[id] {
            keep[tree.subtree(id)].fill(true);
        }
    }
    MainContent { keep, kind, confidence: model::model().confidence(expected_f1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_page_is_kept_as_a_whole() {
        let tree = Tree::parse(&"<p>a".repeat(30_000), None);
        assert_eq!(main_content(&tree, &Tabs::new(&tree), None).keep, vec![true; tree.len()]);
    }

    #[test]
    fn breaks_are_kept_with_the_text_around_them() {
        let text = "High water comes twice a day, and so does low water, at the pier and in the harbour.";
        let tree = Tree::parse(&format!("<article><p>{text}<br>{text}</p></article>"), None);
        let MainContent { keep, .. } = main_content(&tree, &Tabs::new(&tree), None);
        assert!((1..tree.len()).filter(|&id| tree.tag(id) == Tag::Br).all(|id| keep[id]));
    }
}
