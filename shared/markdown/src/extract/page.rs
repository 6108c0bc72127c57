//! Features of the whole page: its size, its title and descriptions, and its declared kind.

use foldhash::HashSet;
use url::Url;

use super::{
    blocks::{Block, Blocks, Counts, Sums},
    names::{self, Hints, bit},
    tokens::{pairs, words_of},
};
use crate::{
    tag::Tag,
    tree::{ROOT, Tree},
};

/// The features that all blocks of a page share.
pub(super) struct Page {
    /// The sums over all blocks.
    pub(super) total: Sums,
    /// The words before each block.
    pub(super) words_before: Vec<f32>,
    /// For every node, the words before it.
    pub(super) before_node: Vec<f32>,
    /// The block that is the page's heading.
    pub(super) heading: usize,
    /// The hashes of the words of the title.
    pub(super) title: Vec<u64>,
    /// The pairs of words in the page's description, and in its JSON-LD.
    pub(super) described: [HashSet<u64>; 2],
    /// The features of the page itself.
    pub(super) own: Vec<f32>,
}

impl Page {
    /// `hints` are those of every element and the elements around it.
    pub(super) fn new(tree: &Tree, blocks: &Blocks, hints: &[Hints], address: Option<&Url>) -> Self {
        let total = blocks.sums[ROOT];
        let mut words_before = Vec::with_capacity(blocks.list.len());
        let mut words = 0.0;
        for block in &blocks.list {
            words_before.push(words);
            words += block.counts.words;
        }
        let mut before_node = vec![total.words; tree.len()];
        let mut at = blocks.list.len();
        let mut before = total.words;
        for id in (0..tree.len()).rev() {
            while at > 0 && blocks.list[at - 1].first >= id {
                at -= 1;
                before = words_before[at];
            }
            before_node[id] = before;
        }
        let title =
            tree.head.metas.iter().find(|(name, _)| name == "og:title").map_or(&tree.head.title, |(_, title)| title);
        let title = words_of(title);
        let descriptions = tree.head.metas.iter().filter(|(name, _)| name.ends_with("description"));
        let described = [
            descriptions.flat_map(|(_, text)| pairs(text, 200)).collect(),
            tree.head.json_ld.iter().flat_map(|json| pairs(json, 20_000)).collect(),
        ];
        // The heading that says what the title says, else the first of the first level.
        let heading_at = |block: &Block| tree.tag(block.container).heading_level();
        let mut heading = (0.0, 0);
        for (at, block) in blocks.list.iter().enumerate() {
            let Some(level) = heading_at(block) else { continue };
            let text = words_of(&tree.text_content(block.container));
            let common = text.iter().filter(|word| title.contains(word)).count() as f32;
            let score =
                2.0 * ratio(common, text.len() as f32 + title.len() as f32) + if level == 1 { 0.3 } else { 0.0 };
            if score > heading.0 + 0.001 {
                heading = (score, at);
            }
        }
        let kind = tree.head.metas.iter().find(|(name, _)| name == "og:type").map_or("", |(_, kind)| kind.as_str());
        let json = |word: &str| f32::from(u8::from(tree.head.json_ld.iter().any(|json| json.contains(word))));
        let body = names::of_names(&tree.head.body_names);
        let count = |tag: Tag| (1..tree.len()).filter(|&id| tree.tag(id) == tag).count() as f32;
        let sum = |of: fn(&Counts) -> f32| blocks.list.iter().map(|block| of(&block.counts)).sum::<f32>();
        let repeated = blocks.alike.iter().copied().max().unwrap_or(0);
        // The share of the words that is in elements with a hint.
        let share = |bit: usize| {
            let words: f32 = blocks
                .list
                .iter()
                .filter(|block| hints[block.container] >> bit & 1 == 1)
                .map(|block| block.counts.words)
                .sum();
            ratio(words, total.words)
        };
        let mut own = vec![
            (1.0 + total.words).ln(),
            (1.0 + total.blocks).ln(),
            ratio(total.linked, total.words),
            ratio(total.prose, total.words),
            ratio(total.money, total.blocks),
            ratio(total.headings, total.blocks),
            ratio(total.images, total.blocks),
            ratio(sum(|counts| counts.digits), sum(|counts| counts.chars)),
            f32::from(u8::from(kind.contains("article"))),
            f32::from(u8::from(kind.contains("product"))),
            f32::from(u8::from(kind.contains("website"))),
            json("Article\"") + json("Posting\""),
            json("\"Product\""),
            json("QAPage") + json("DiscussionForum"),
            json("ItemList") + json("CollectionPage"),
            json("LocalBusiness") + json("Service\"") + json("FAQPage"),
            (1.0 + count(Tag::Article)).ln(),
            (1.0 + count(Tag::Time)).ln(),
            (1.0 + count(Tag::Table)).ln(),
            (1.0 + count(Tag::Pre)).ln(),
            count(Tag::Main),
            (1.0 + f32::from(repeated)).ln(),
            heading.1 as f32 / (1.0 + blocks.list.len() as f32),
            share(bit::MAIN),
            share(bit::ARTICLE),
            share(bit::PRODUCT),
            share(bit::MESSAGE),
            share(bit::LISTING),
            share(bit::SECTION),
        ];
        own.extend(names::of_address(address));
        own.extend(
            [bit::PRODUCT, bit::MESSAGE, bit::LISTING, bit::ARTICLE_NAME]
                .map(|bit| f32::from(u8::from(body >> bit & 1 == 1))),
        );
        Self { total, words_before, before_node, heading: heading.1, title, described, own }
    }
}

/// The share of a part in a whole; 0 of nothing.
pub(super) fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_is_the_one_that_says_the_title() {
        let page = |html: &str| {
            let tree = Tree::parse(html, None);
            let page = Page::new(&tree, &Blocks::new(&tree), &vec![0; tree.len()], None);
            (page.heading, page.words_before)
        };
        let html = "<title>Spring tides - Sea</title><h1>Log in</h1><h2>Spring tides</h2><p>Twice a month.";
        assert_eq!(page(html), (1, vec![0.0, 2.0, 4.0]));
        assert_eq!(page("<p>a<h2>b</h2><h1>c</h1>").0, 2);
    }

    #[test]
    fn every_page_has_as_many_features() {
        let count = |html: &str| {
            let tree = Tree::parse(html, None);
            Page::new(&tree, &Blocks::new(&tree), &vec![0; tree.len()], None).own.len()
        };
        assert_eq!(count(""), count("<title>a</title><article><p>b<time>c</time></article>"));
    }
}
