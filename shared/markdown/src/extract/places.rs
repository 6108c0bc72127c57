//! Features of a block's position: its distance from the page's heading and from the longest text, the repeated item
//! and the section that contain it.

use foldhash::HashMap;

use super::{
    blocks::{Block, Blocks},
    names::{Hints, bit},
    page::{Page, ratio},
};
use crate::tree::{Id, ROOT, Tree};

/// The places of all blocks of a page.
pub(super) struct Places {
    /// For every block, the innermost element that it shares with the heading, and with the longest text.
    shared: Vec<[Id; 2]>,
    /// For every block, the innermost and the outermost element around it that has similar siblings.
    items: Vec<[Id; 2]>,
    /// For every block, the words from the last heading to it, and to the next one.
    section: Vec<[f32; 2]>,
    /// For every block, how many blocks before it have the same text.
    copies_before: Vec<u16>,
    /// For every block in an element with one of the hints [`TRAILING`], the running text before and outside of
    /// such elements; -1 for the others.
    prose_before: Vec<[f32; TRAILING.len()]>,
}

/// The hints of sections that follow a text and are not part of it.
const TRAILING: [usize; 3] = [bit::RELATED, bit::COMMENTS, bit::REVIEW];

impl Places {
    pub(super) fn new(tree: &Tree, blocks: &Blocks, hints: &[Hints], heading: usize) -> Self {
        let prose = |block: &Block| block.counts.prose - block.counts.linked;
        let longest = (0..blocks.list.len()).max_by(|&a, &b| prose(&blocks.list[a]).total_cmp(&prose(&blocks.list[b])));
        let landmarks =
            [heading, longest.unwrap_or_default()].map(|at| blocks.list.get(at).map_or(ROOT, |at| at.container));
        let around = |block: &Block| std::iter::once(block.container).chain(tree.ancestors(block.container));
        let shared = blocks.list.iter().map(|block| {
            landmarks.map(|landmark| around(block).find(|&id| tree.subtree(id).contains(&landmark)).unwrap_or(ROOT))
        });
        let shared = shared.collect();
        let is_item = |&id: &Id| id != ROOT && blocks.alike[id] >= 3 && blocks.sums[id].blocks >= 2.0;
        let items = blocks.list.iter().map(|block| {
            let mut items = around(block).filter(is_item);
            let innermost = items.next().unwrap_or(ROOT);
            [innermost, items.last().unwrap_or(innermost)]
        });
        let items = items.collect();
        let mut section = Vec::with_capacity(blocks.list.len());
        let mut words = 0.0;
        for block in &blocks.list {
            if block.counts.headings > 0.0 {
                words = 0.0;
            }
            section.push([words, 0.0]);
            words += block.counts.words;
        }
        let mut words = 0.0;
        for (block, section) in blocks.list.iter().zip(&mut section).rev() {
            words += block.counts.words;
            section[1] = words;
            if block.counts.headings > 0.0 {
                words = 0.0;
            }
        }
        let mut copies: HashMap<u64, u16> = HashMap::default();
        let copies_before = blocks.list.iter().map(|block| {
            let times = copies.entry(block.hash).or_default();
            *times = times.saturating_add(1);
            *times - 1
        });
        let copies_before = copies_before.collect();
        let mut prose = [0.0; TRAILING.len()];
        let prose_before = blocks.list.iter().map(|block| {
            let mut before = [-1.0; TRAILING.len()];
            for ((hint, prose), before) in TRAILING.iter().zip(&mut prose).zip(&mut before) {
                if hints[block.container] >> hint & 1 == 1 {
                    *before = *prose;
                } else {
                    *prose += block.counts.prose;
                }
            }
            before
        });
        let prose_before = prose_before.collect();
        Self { shared, items, section, copies_before, prose_before }
    }

    pub(super) fn row(&self, tree: &Tree, blocks: &Blocks, at: usize, page: &Page, put: &mut Vec<f32>) {
        let container = blocks.list[at].container;
        let depth = f32::from(tree.node(container).depth);
        for id in self.shared[at] {
            put.extend([ratio(blocks.sums[id].words, page.total.words), depth - f32::from(tree.node(id).depth)]);
        }
        for id in self.items[at] {
            if id == ROOT {
                put.extend([0.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
                continue;
            }
            let (sum, row) = (&blocks.sums[id], &blocks.sums[tree.parent(id)]);
            put.extend([
                f32::from(blocks.alike[id]),
                sum.words,
                ratio(sum.linked, sum.words),
                sum.images,
                sum.headings,
                sum.money,
                ratio(row.words, page.total.words),
                ratio(row.prose, row.words),
            ]);
        }
        put.extend(self.section[at]);
        put.push(f32::from(self.copies_before[at]));
        put.extend(self.prose_before[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(html: &str, hint: impl Fn(&Tree, Id) -> Hints) -> Places {
        let tree = Tree::parse(html, None);
        let hints: Vec<Hints> = (0..tree.len()).map(|id| hint(&tree, id)).collect();
        Places::new(&tree, &Blocks::new(&tree), &hints, 0)
    }

    #[test]
    fn copies_and_sections_are_counted() {
        let places = places("<h2>a</h2><p>b c<p>a<h2>d</h2><p>b c", |_, _| 0);
        assert_eq!(places.copies_before, [0, 0, 1, 0, 1]);
        assert_eq!(places.section, [[0.0, 4.0], [1.0, 3.0], [3.0, 1.0], [0.0, 3.0], [1.0, 2.0]]);
    }

    #[test]
    fn an_item_has_siblings_like_it() {
        let item = "<div class=card><p>a<p>b</div>";
        let places = places(&item.repeat(3), |_, _| 0);
        assert!(places.items.iter().all(|[innermost, outermost]| innermost == outermost && *innermost != ROOT));
    }

    #[test]
    fn comments_come_after_the_text() {
        let text = format!("<p>{}.</p>", "word ".repeat(20));
        let places = places(&format!("{text}<aside><p>a</aside>"), |tree, id| {
            let in_comments =
                std::iter::once(id).chain(tree.ancestors(id)).any(|id| tree.tag(id) == crate::tag::Tag::Aside);
            u64::from(in_comments) << bit::COMMENTS
        });
        assert_eq!(places.prose_before, [[-1.0, -1.0, -1.0], [-1.0, 20.0, -1.0]]);
    }
}
