//! Leads: the text between the heading of an article and its first paragraph, which sums the article up.
//!
//! It is often in another element than the article's text, and the model has seen few of them. What an element is
//! called, or what the page says as its description, tells them.

use foldhash::HashSet;

use super::{blocks::Blocks, names::each_word, tokens::pairs, visible::is_unseen};
use crate::{
    metadata::PageType,
    tag::{Attr, Tag},
    tree::{Id, Tree},
};

/// The words of names that leads have.
const NAMES: [&str; 22] = [
    "abstract",
    "bajada",
    "chapeau",
    "chapo",
    "copete",
    "deck",
    "dek",
    "entradilla",
    "excerpt",
    "ingress",
    "intro",
    "lead",
    "lede",
    "perex",
    "preamble",
    "sottotitolo",
    "standfirst",
    "subheadline",
    "subtitle",
    "sumario",
    "summary",
    "vorspann",
];

/// A lead is within so many blocks after the heading, and has so many words.
const REACH: usize = 12;
const WORDS: std::ops::RangeInclusive<f32> = 6.0..=120.0;

/// The share of a lead's pairs of words that the description has.
const DESCRIBED: f32 = 0.6;

/// Chooses the lead of an article.
pub(super) fn choose_leads(tree: &Tree, blocks: &Blocks, kind: PageType, chosen: &mut [bool]) {
    if kind != PageType::Article {
        return;
    }
    let is_heading = |&at: &usize| tree.tag(blocks.list[at].container) == Tag::H1 && blocks.list[at].counts.words > 0.0;
    let Some(heading) = (0..chosen.len()).find(is_heading) else { return };
    let near = heading + 1..chosen.len().min(heading + 1 + REACH);
    let Some(first) = near.clone().find(|&at| chosen[at] && blocks.list[at].counts.prose > 0.0) else { return };
    let descriptions = tree.head.metas.iter().filter(|(name, _)| name.ends_with("description"));
    let described: HashSet<u64> = descriptions.flat_map(|(_, text)| pairs(text, 120)).collect();
    for (at, chosen) in chosen.iter_mut().enumerate().take(first).skip(near.start) {
        let block = &blocks.list[at];
        let is_text = WORDS.contains(&block.counts.words) && block.counts.linked <= block.counts.words * 0.3;
        if !*chosen && is_text && !is_unseen(tree, block.container) {
            *chosen = is_named(tree, block.container) || is_described(&blocks.text(tree, at), &described);
        }
    }
}

fn is_described(text: &str, described: &HashSet<u64>) -> bool {
    let (mut all, mut found) = (0.0, 0.0);
    for pair in pairs(text, 120) {
        all += 1.0;
        found += if described.contains(&pair) { 1.0 } else { 0.0 };
    }
    found > all * DESCRIBED
}

/// Whether an element, or one of the two around it, is called like a lead.
fn is_named(tree: &Tree, id: Id) -> bool {
    let around = std::iter::once(id).chain(tree.ancestors(id)).take(3);
    let mut names = around.flat_map(|id| [tree.attr(id, Attr::Class), tree.attr(id, Attr::Id)]).flatten();
    names.any(|names| {
        let mut found = false;
        each_word(names, |word| found |= NAMES.iter().any(|name| name.as_bytes() == word));
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "<p>High water comes twice a day at the pier, and so does low water, a little later every day.";

    /// The blocks that are added to the last one of a page.
    fn added(page: &str, kind: PageType) -> Vec<String> {
        let tree = Tree::parse(&format!("{page}<div>{PROSE}</div>"), None);
        let blocks = Blocks::new(&tree);
        let last = blocks.list.len() - 1;
        let mut chosen = vec![false; blocks.list.len()];
        chosen[last] = true;
        choose_leads(&tree, &blocks, kind, &mut chosen);
        (0..last).filter(|&at| chosen[at]).map(|at| blocks.text(&tree, at).into_owned()).collect()
    }

    #[test]
    fn a_lead_is_known_by_its_name_or_by_the_description() {
        let lead = "The harbour floods twice a day and nobody minds";
        let named = format!("<h1>Tides</h1><p>12 May<div class=article-lead><p>{lead}</div>");
        assert_eq!(added(&named, PageType::Article), [lead]);
        assert!(added(&named, PageType::Forum).is_empty());
        let described =
            format!("<meta name=description content='{lead} at all.'><h1>Tides</h1><p>{lead}<p>A b c d e f g h");
        assert_eq!(added(&described, PageType::Article), [lead]);
        assert!(added(&format!("<p class=lead>{lead}</p><h1>Tides</h1>"), PageType::Article).is_empty());
    }
}
