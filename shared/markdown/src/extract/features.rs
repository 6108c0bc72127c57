//! Features of a block: numbers about its text, its neighbours, its ancestors and the page.
//!
//! The order of the features is the order of the columns with which `weights.bin` was trained.

use foldhash::HashMap;
use url::Url;

use super::{
    blocks::{Block, Blocks},
    names::{self, HINTS, Hints, PHRASE_KINDS},
    page::{Page, ratio},
    places::Places,
    tokens::{hashes, paired},
};
use crate::{
    tag::Tag,
    tree::{Id, ROOT, Tree},
};

/// The number of ancestors of a block that are examined.
pub(super) const ANCESTORS: usize = 6;

/// The features of a page's blocks, each row made when it is asked for: all of them would take far
/// more memory than the page.
pub(super) struct Features<'p> {
    tree: &'p Tree,
    blocks: &'p Blocks,
    page: Page,
    /// For every element with blocks in it, its own hints.
    own: Vec<Hints>,
    /// For every element with blocks in it, its own hints and those of all elements around it.
    all: Vec<Hints>,
    /// The kinds of phrase in each block, and in the heading before it.
    phrases: Vec<[u16; 2]>,
    /// The last heading before each block.
    headings: Vec<Option<u32>>,
    /// The elements around each block, from inside out.
    around: Vec<[u32; ANCESTORS]>,
    /// Where each block stands among headings, copies and repeated items.
    places: Places,
}

impl<'p> Features<'p> {
    pub(super) fn new(tree: &'p Tree, blocks: &'p Blocks, address: Option<&Url>) -> Self {
        let (mut own, mut all) = hints(tree, blocks);
        reveal(blocks, &mut own, &mut all);
        let page = Page::new(tree, blocks, &all, address);
        let mut phrases = Vec::with_capacity(blocks.list.len());
        let mut headings = Vec::with_capacity(blocks.list.len());
        let mut around: Vec<[u32; ANCESTORS]> = Vec::with_capacity(blocks.list.len());
        let (mut heading, mut last) = (0, None);
        for (at, block) in blocks.list.iter().enumerate() {
            let kinds = if block.counts.words < 16.0 { names::of_text(&blocks.text(tree, at)) } else { 0 };
            headings.push(last);
            if tree.tag(block.container).heading_level().is_some() {
                (heading, last) = (kinds, Some(at as u32));
            }
            phrases.push([kinds, heading]);
            let before = at.checked_sub(1).filter(|&before| blocks.list[before].container == block.container);
            around.push(match before {
                Some(before) => around[before],
                None => surroundings(tree, blocks, block.container, page.total.words).map(|id| id as u32),
            });
        }
        let places = Places::new(tree, blocks, &all, page.heading);
        Self { tree, blocks, page, own, all, phrases, headings, around, places }
    }

    /// The features of the page itself, which end every row.
    pub(super) fn of_page(&self) -> &[f32] {
        &self.page.own
    }

    /// The elements around a block, from inside out.
    pub(super) fn around(&self, at: usize) -> impl Iterator<Item = Id> + '_ {
        self.around[at].iter().map(|&id| id as Id)
    }

    /// Appends the features of one block.
    pub(super) fn row(&self, at: usize, put: &mut Vec<f32>) {
        let (tree, blocks, page) = (self.tree, self.blocks, &self.page);
        let container = blocks.list[at].container;
        own(tree, blocks, at, page, self.headings[at], put);
        for step in [-2_isize, -1, 1, 2] {
            neighbour(tree, blocks, at, step, put);
        }
        for id in self.around(at) {
            element(tree, blocks, id, page, put);
        }
        self.places.row(tree, blocks, at, page, put);
        let parent = tree.parent(container);
        let near = self.own[container] | self.own[parent] | self.own[tree.parent(parent)];
        for hints in [self.all[container], near] {
            put.extend((0..HINTS).map(|kind| f32::from(u8::from(hints >> kind & 1 == 1))));
        }
        for bits in self.phrases[at] {
            put.extend((0..PHRASE_KINDS).map(|kind| f32::from(u8::from(bits >> kind & 1 == 1))));
        }
        put.extend_from_slice(&page.own);
    }
}

/// The hints of each element with blocks in it, and of all elements around it, itself included.
fn hints(tree: &Tree, blocks: &Blocks) -> (Vec<Hints>, Vec<Hints>) {
    let mut own = vec![0; tree.len()];
    let mut all = own.clone();
    let mut cache = HashMap::default();
    for id in 1..tree.len() {
        if !blocks.are_in(id) {
            continue;
        }
        own[id] = names::of_element(tree, id, &mut cache);
        all[id] = all[tree.parent(id)] | own[id];
    }
    (own, all)
}

/// Drops the hint of hiding on a page that hides most of itself until a script shows it.
fn reveal(blocks: &Blocks, own: &mut [Hints], all: &mut [Hints]) {
    let hidden = blocks.list.iter().filter(|block| all[block.container] & names::HIDDEN != 0);
    if hidden.map(|block| block.counts.words).sum::<f32>() * 2.0 > blocks.sums[ROOT].words {
        for hints in all.iter_mut().chain(own) {
            *hints &= !names::HIDDEN;
        }
    }
}

/// The elements around a block that differ in what they hold: the nearest four from inside out,
/// and the outermost two that do not hold nearly the whole page.
fn surroundings(tree: &Tree, blocks: &Blocks, container: Id, total: f32) -> [Id; ANCESTORS] {
    let mut chain = vec![container];
    for id in tree.ancestors(container) {
        let inner = chain[chain.len() - 1];
        if blocks.sums[id].blocks > blocks.sums[inner].blocks {
            chain.push(id);
        } else {
            // A wrapper has the same blocks as what it wraps; the outer one is taken.
            let last = chain.len() - 1;
            if last > 0 {
                chain[last] = id;
            }
        }
    }
    let mut around = [ROOT; ANCESTORS];
    for (slot, id) in around[..4].iter_mut().zip(&chain) {
        *slot = *id;
    }
    let mut outer = chain.iter().rev().filter(|&&id| blocks.sums[id].words < total * 0.97);
    around[4] = outer.next().copied().unwrap_or(container);
    around[5] = outer.next().copied().unwrap_or(around[4]);
    around
}

fn shape(tree: &Tree, block: &Block) -> f32 {
    f32::from(match tree.tag(block.container) {
        Tag::H1 => 14_u8,
        Tag::H2 => 13,
        Tag::H3 => 12,
        Tag::H4 | Tag::H5 | Tag::H6 => 11,
        Tag::P => 10,
        Tag::Pre => 9,
        Tag::Blockquote => 8,
        Tag::Dd | Tag::Dt => 7,
        Tag::Td | Tag::Th => 6,
        Tag::Li => 5,
        Tag::Summary | Tag::Figcaption | Tag::Caption => 4,
        Tag::Div | Tag::Section | Tag::Article => 3,
        Tag::Button | Tag::Legend => 1,
        _ => 2,
    })
}

fn own(tree: &Tree, blocks: &Blocks, at: usize, page: &Page, heading: Option<u32>, put: &mut Vec<f32>) {
    let block = &blocks.list[at];
    let counts = &block.counts;
    let count = blocks.list.len() as f32;
    let is_described = page.described.iter().any(|known| !known.is_empty());
    let mut words = Vec::with_capacity(80);
    if is_described || counts.words < 40.0 {
        words.extend(hashes(&blocks.text(tree, at)).take(if is_described { 80 } else { 64 }));
    }
    let text = if counts.words < 40.0 { &words[..words.len().min(64)] } else { &[] };
    let mut found = [0.0; 2];
    if is_described {
        for pair in words.windows(2).map(|pair| paired(pair[0], pair[1])) {
            for (found, known) in found.iter_mut().zip(&page.described) {
                *found += f32::from(u8::from(known.contains(&pair)));
            }
        }
    }
    let described =
        found.map(|found| if is_described { ratio(found, words.len().saturating_sub(1) as f32) } else { 0.0 });
    let titled = text.iter().filter(|word| page.title.contains(word)).count() as f32;
    put.extend([
        counts.words,
        ratio(counts.chars, counts.words),
        ratio(counts.linked, counts.words),
        counts.stops,
        ratio(counts.stops, counts.words),
        ratio(counts.digits, counts.chars),
        ratio(counts.capitals, counts.chars),
        ratio(block.strong, counts.words),
        counts.images,
        counts.links,
        counts.money,
        shape(tree, block),
        f32::from(u8::from(block.in_code)),
        f32::from(u8::from(matches!(block.last_char, '.' | '!' | '?' | '。' | '！' | '？' | '…' | '"' | '”'))),
        f32::from(u8::from(block.last_char == ':')),
        f32::from(u8::from(matches!(block.first_char, '©' | '|' | '»' | '›' | '→' | '/' | '#' | '@' | '+' | '-'))),
        f32::from(u8::from(block.first_char.is_uppercase())),
        f32::from(u8::from(block.first_char.is_ascii_digit())),
        block.copies as f32,
        f32::from(tree.node(block.container).depth),
        at as f32 / count,
        ratio(page.words_before[at], page.total.words),
        page.words_before[at],
        page.total.words - page.words_before[at],
        at as f32 - page.heading as f32,
        (at as f32 - page.heading as f32) / count,
        ratio(titled, text.len() as f32),
    ]);
    put.extend(described);
    // The distance of the last heading, and its level.
    let last = heading.map(|last| last as usize).filter(|last| at - last <= 40);
    let level = last.and_then(|last| tree.tag(blocks.list[last].container).heading_level()).unwrap_or(7);
    put.push(last.map_or(41.0, |last| (at - last) as f32));
    put.push(f32::from(level));
    // The five blocks before and after.
    for window in [at.saturating_sub(5)..at, at + 1..(at + 6).min(blocks.list.len())] {
        let mut sum = [0.0_f32; 3];
        for near in &blocks.list[window] {
            sum[0] += near.counts.words;
            sum[1] += near.counts.linked;
            sum[2] += near.counts.prose;
        }
        put.extend([sum[0], ratio(sum[1], sum[0]), sum[2]]);
    }
}

fn neighbour(tree: &Tree, blocks: &Blocks, at: usize, step: isize, put: &mut Vec<f32>) {
    match at.checked_add_signed(step).and_then(|at| blocks.list.get(at)) {
        Some(block) => put.extend([
            block.counts.words,
            ratio(block.counts.linked, block.counts.words),
            shape(tree, block),
            f32::from(tree.node(block.container).depth) - f32::from(tree.node(blocks.list[at].container).depth),
        ]),
        None => put.extend([-1.0, 0.0, 0.0, -99.0]),
    }
}

fn element(tree: &Tree, blocks: &Blocks, id: Id, page: &Page, put: &mut Vec<f32>) {
    let sum = &blocks.sums[id];
    let kind: u8 = match tree.tag(id) {
        Tag::Article => 9,
        Tag::Main => 8,
        Tag::Section => 7,
        Tag::P | Tag::Td | Tag::Dd | Tag::Blockquote => 6,
        Tag::Div => 5,
        Tag::Table | Tag::Tbody | Tag::Tr => 4,
        Tag::Ol | Tag::Dl => 3,
        Tag::Ul | Tag::Li => 2,
        Tag::Nav | Tag::Footer | Tag::Header | Tag::Aside | Tag::Form => 1,
        _ => 0,
    };
    put.extend([
        ratio(sum.words, page.total.words),
        sum.words,
        ratio(sum.linked, sum.words),
        ratio(sum.prose, sum.words),
        ratio(sum.words, sum.blocks),
        sum.blocks,
        ratio(sum.headings, sum.blocks),
        ratio(sum.images, sum.blocks),
        ratio(sum.prose, page.total.prose),
        f32::from(blocks.alike[id]),
        f32::from(kind),
        ratio(page.before_node[id], page.total.words),
        ratio(page.total.words - page.before_node[id] - sum.words, page.total.words),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiding_most_of_a_page_is_not_a_hint() {
        let hidden = |page: &str| {
            let tree = Tree::parse(page, None);
            let blocks = Blocks::new(&tree);
            let features = Features::new(&tree, &blocks, None);
            blocks.list.iter().map(|block| features.all[block.container] & names::HIDDEN != 0).collect::<Vec<_>>()
        };
        assert_eq!(hidden("<p>high and low water<div hidden>twice a day</div>"), [false, true]);
        assert_eq!(hidden("<p>wait<div hidden>high and low water twice a day</div>"), [false, false]);
    }
}
