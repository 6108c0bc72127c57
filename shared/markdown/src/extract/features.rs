//! What the model sees of a block: numbers about it, its neighbours, the elements around it, the page.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use url::Url;

use super::{
    blocks::{Block, Blocks, Counts, Sums},
    names::{self, Hints, KINDS, PHRASES},
    words::words,
};
use crate::{
    tag::Tag,
    tree::{Id, ROOT, Tree},
};

/// How many elements around a block are looked at.
pub(super) const AROUND: usize = 6;

/// What every block of a page shares.
struct Page {
    total: Sums,
    words_before: Vec<f32>,
    /// For every node, the words before it.
    before_node: Vec<f32>,
    heading: usize,
    title: Vec<u64>,
    /// The pairs of words in the page's description, and in its JSON-LD.
    described: [HashSet<u64>; 2],
    own: Vec<f32>,
}

/// The features of a page's blocks, each row made when it is asked for: all of them would take far
/// more room than the page.
pub(super) struct Features<'p> {
    tree: &'p Tree,
    blocks: &'p Blocks,
    page: Page,
    /// For every element with blocks in it, its own hints, and those of all elements around it as well.
    own: Vec<Hints>,
    all: Vec<Hints>,
    /// What each block says, and the heading before it.
    said: Vec<[u16; 2]>,
    /// The last heading before each block.
    headings: Vec<Option<u32>>,
    /// The elements around each block, from inside out.
    around: Vec<[u32; AROUND]>,
    /// Where each block stands among headings, copies and repeated items.
    places: Places,
}

impl<'p> Features<'p> {
    pub(super) fn new(tree: &'p Tree, blocks: &'p Blocks, address: Option<&Url>) -> Self {
        let (mut own, mut all) = hints(tree, blocks);
        reveal(blocks, &mut own, &mut all);
        let page = page(tree, blocks, &all, address);
        let mut said = Vec::with_capacity(blocks.list.len());
        let mut headings = Vec::with_capacity(blocks.list.len());
        let mut around: Vec<[u32; AROUND]> = Vec::with_capacity(blocks.list.len());
        let (mut heading, mut last) = (0, None);
        for (at, block) in blocks.list.iter().enumerate() {
            let words = if block.counts.words < 16.0 { names::said(&block_text(tree, blocks, at)) } else { 0 };
            headings.push(last);
            if tree.tag(block.container).heading_level().is_some() {
                (heading, last) = (words, Some(at as u32));
            }
            said.push([words, heading]);
            let before = at.checked_sub(1).filter(|&before| blocks.list[before].container == block.container);
            around.push(match before {
                Some(before) => around[before],
                None => surroundings(tree, blocks, block.container, page.total.words).map(|id| id as u32),
            });
        }
        let places = Places::new(tree, blocks, &all, page.heading);
        Self { tree, blocks, page, own, all, said, headings, around, places }
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
            put.extend((0..KINDS).map(|kind| f32::from(u8::from(hints >> kind & 1 == 1))));
        }
        for bits in self.said[at] {
            put.extend((0..PHRASES).map(|kind| f32::from(u8::from(bits >> kind & 1 == 1))));
        }
        put.extend_from_slice(&page.own);
    }
}

/// Where the blocks of a page stand: how near to its heading and its longest text, in which of its
/// repeated items, in which section.
struct Places {
    /// For every block, the innermost element that it shares with the heading, and with the longest text.
    shared: Vec<[Id; 2]>,
    /// For every block, the innermost and the outermost element around it that stands in a row of like ones.
    items: Vec<[Id; 2]>,
    /// For every block, the words from the last heading to it, and to the next one.
    section: Vec<[f32; 2]>,
    /// For every block, how many before it say the same.
    said_before: Vec<u16>,
    /// For every block inside of what names call by each of `AFTER`, the running text outside of it
    /// that comes before.
    after: Vec<[f32; AFTER.len()]>,
}

/// The hints at what follows a text without being of it: related pages, comments, reviews.
const AFTER: [usize; 3] = [6, 7, 27];

impl Places {
    fn new(tree: &Tree, blocks: &Blocks, all: &[Hints], heading: usize) -> Self {
        let prose = |block: &Block| block.counts.prose - block.counts.linked;
        let longest = (0..blocks.list.len()).max_by(|&a, &b| prose(&blocks.list[a]).total_cmp(&prose(&blocks.list[b])));
        let marks =
            [heading, longest.unwrap_or_default()].map(|at| blocks.list.get(at).map_or(ROOT, |at| at.container));
        let around = |block: &Block| std::iter::once(block.container).chain(tree.ancestors(block.container));
        let shared = blocks
            .list
            .iter()
            .map(|block| marks.map(|mark| around(block).find(|&id| tree.subtree(id).contains(&mark)).unwrap_or(ROOT)));
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
        let mut said: HashMap<u64, u16> = HashMap::default();
        let said_before = blocks.list.iter().map(|block| {
            let times = said.entry(block.hash).or_default();
            *times = times.saturating_add(1);
            *times - 1
        });
        let said_before = said_before.collect();
        let mut prose = [0.0; AFTER.len()];
        let after = blocks.list.iter().map(|block| {
            let mut after = [-1.0; AFTER.len()];
            for ((hint, prose), after) in AFTER.iter().zip(&mut prose).zip(&mut after) {
                if all[block.container] >> hint & 1 == 1 {
                    *after = *prose;
                } else {
                    *prose += block.counts.prose;
                }
            }
            after
        });
        let after = after.collect();
        Self { shared, items, section, said_before, after }
    }

    fn row(&self, tree: &Tree, blocks: &Blocks, at: usize, page: &Page, put: &mut Vec<f32>) {
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
        put.push(f32::from(self.said_before[at]));
        put.extend(self.after[at]);
    }
}

fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The hints of each element with blocks in it, and of all elements around it, itself included.
fn hints(tree: &Tree, blocks: &Blocks) -> (Vec<Hints>, Vec<Hints>) {
    let mut own = vec![0; tree.len()];
    let mut all = own.clone();
    let mut met = HashMap::default();
    for id in 1..tree.len() {
        if !blocks.are_in(id) {
            continue;
        }
        own[id] = names::own(tree, id, &mut met);
        all[id] = all[tree.parent(id)] | own[id];
    }
    (own, all)
}

/// Forgets what is hidden on a page that hides most of itself: it waits for a script to show it.
fn reveal(blocks: &Blocks, own: &mut [Hints], all: &mut [Hints]) {
    let hidden = blocks.list.iter().filter(|block| all[block.container] & names::HIDDEN != 0);
    if hidden.map(|block| block.counts.words).sum::<f32>() * 2.0 > blocks.sums[ROOT].words {
        for hints in all.iter_mut().chain(own) {
            *hints &= !names::HIDDEN;
        }
    }
}

fn page(tree: &Tree, blocks: &Blocks, all: &[Hints], address: Option<&Url>) -> Page {
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
        let score = 2.0 * ratio(common, text.len() as f32 + title.len() as f32) + if level == 1 { 0.3 } else { 0.0 };
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
    let in_main = |bit: usize| {
        let words: f32 = blocks
            .list
            .iter()
            .filter(|block| all[block.container] >> bit & 1 == 1)
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
        in_main(34),
        in_main(35),
        in_main(23),
        in_main(25),
        in_main(26),
        in_main(28),
    ];
    own.extend(names::of_address(address));
    own.extend([23, 25, 26, 22].map(|bit: u32| f32::from(u8::from(body >> bit & 1 == 1))));
    Page { total, words_before, before_node, heading: heading.1, title, described, own }
}

/// The hashes of the pairs of a text's first words.
fn pairs(text: &str, most: usize) -> impl Iterator<Item = u64> {
    let words = hashes(text).take(most);
    words.scan(None, |before, word| Some(before.replace(word).map(|before| paired(before, word)))).flatten()
}

fn paired(first: u64, second: u64) -> u64 {
    first ^ second.rotate_left(21)
}

/// The hashes of a text's words.
fn hashes(text: &str) -> impl Iterator<Item = u64> {
    words(text, 7, |hash: u64, c| (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01B3))
}

/// The hashes of the words that a text begins with.
fn words_of(text: &str) -> Vec<u64> {
    hashes(text).take(64).collect()
}

/// The elements around a block that differ in what they hold: the nearest four from inside out,
/// and the outermost two that do not hold nearly the whole page.
fn surroundings(tree: &Tree, blocks: &Blocks, container: Id, total: f32) -> [Id; AROUND] {
    let mut chain = vec![container];
    for id in tree.ancestors(container) {
        let inner = chain[chain.len() - 1];
        if blocks.sums[id].blocks > blocks.sums[inner].blocks {
            chain.push(id);
        } else {
            // A wrapper says the same as what it wraps, from further out.
            let last = chain.len() - 1;
            if last > 0 {
                chain[last] = id;
            }
        }
    }
    let mut around = [ROOT; AROUND];
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
    let is_told = page.described.iter().any(|known| !known.is_empty());
    let mut words = Vec::with_capacity(80);
    if is_told || counts.words < 40.0 {
        words.extend(hashes(&block_text(tree, blocks, at)).take(if is_told { 80 } else { 64 }));
    }
    let text = if counts.words < 40.0 { &words[..words.len().min(64)] } else { &[] };
    let mut found = [0.0; 2];
    if is_told {
        for pair in words.windows(2).map(|pair| paired(pair[0], pair[1])) {
            for (found, known) in found.iter_mut().zip(&page.described) {
                *found += f32::from(u8::from(known.contains(&pair)));
            }
        }
    }
    let told = found.map(|found| if is_told { ratio(found, words.len().saturating_sub(1) as f32) } else { 0.0 });
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
    put.extend(told);
    // How far the last heading is, and how deep it stands.
    let last = heading.map(|last| last as usize).filter(|last| at - last <= 40);
    let level = last.and_then(|last| tree.tag(blocks.list[last].container).heading_level()).unwrap_or(7);
    put.push(last.map_or(41.0, |last| (at - last) as f32));
    put.push(f32::from(level));
    // What the five blocks before and after are like.
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

pub(super) fn block_text<'t>(tree: &'t Tree, blocks: &Blocks, at: usize) -> Cow<'t, str> {
    let first = blocks.list[at].first;
    let end = tree.subtree(blocks.list[at].container).end;
    let mut text = Cow::Borrowed("");
    for id in first..end {
        match blocks.of_node[id] {
            // Most blocks are one run of text.
            block if block as usize == at && text.is_empty() => text = Cow::Borrowed(tree.text(id)),
            block if block as usize == at => text.to_mut().push_str(tree.text(id)),
            super::blocks::NO_BLOCK => {}
            _ => break,
        }
    }
    text
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
    fn what_most_of_a_page_is_does_not_count_as_hidden() {
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
