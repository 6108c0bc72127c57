//! Blocks: the runs of inline content that a reader sees as lines or paragraphs, with counts for each block and for its
//! ancestors.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::{
    chars::is_ideograph,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// The counts of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Words, an ideograph counting half.
    pub(super) words: f32,
    /// Words inside links.
    pub(super) linked: f32,
    /// Words, if the block is running text: long, with few links.
    pub(super) prose: f32,
    /// Sentence ends and commas, in any script.
    pub(super) stops: f32,
    /// Digits.
    pub(super) digits: f32,
    /// Characters that are not white space.
    pub(super) chars: f32,
    /// Upper-case letters.
    pub(super) capitals: f32,
    pub(super) links: f32,
    pub(super) images: f32,
    pub(super) headings: f32,
    /// Currency signs.
    pub(super) money: f32,
}

/// The counts of all blocks in a node. Every node of a page has them, so they are small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) blocks: f32,
    pub(super) words: f32,
    pub(super) linked: f32,
    pub(super) prose: f32,
    pub(super) images: f32,
    pub(super) headings: f32,
    pub(super) money: f32,
}

impl Sums {
    fn of_block(counts: &Counts) -> Self {
        let &Counts { words, linked, prose, images, headings, money, .. } = counts;
        Self { blocks: 1.0, words, linked, prose, images, headings, money }
    }

    fn add(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.words += other.words;
        self.linked += other.linked;
        self.prose += other.prose;
        self.images += other.images;
        self.headings += other.headings;
        self.money += other.money;
    }
}

impl Counts {
    fn count(&mut self, text: &str, linked: bool) {
        // Integers first, because float additions depend on each other and cannot run in parallel.
        let (mut words, mut ideographs, mut stops, mut digits, mut chars, mut capitals, mut money) =
            (0_u32, 0_u32, 0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
        let mut in_word = false;
        let mut at = 0;
        while let Some(&b) = text.as_bytes().get(at) {
            at += 1;
            if b.is_ascii_lowercase() {
                words += u32::from(!in_word);
                in_word = true;
                chars += 1;
                continue;
            }
            if b.is_ascii_whitespace() {
                in_word = false;
                continue;
            }
            if b.is_ascii_alphanumeric() {
                words += u32::from(!in_word);
                in_word = true;
                chars += 1;
                digits += u32::from(b.is_ascii_digit());
                capitals += u32::from(b.is_ascii_uppercase());
                continue;
            }
            if b.is_ascii() {
                chars += 1;
                stops += u32::from(matches!(b, b'.' | b',' | b';' | b'!' | b'?'));
                money += u32::from(b == b'$');
                in_word &= matches!(b, b'\'' | b'-' | b'.' | b',');
                continue;
            }
            let Some(c) = text[at - 1..].chars().next() else { break };
            at += c.len_utf8() - 1;
            if is_ideograph(c) {
                in_word = false;
                chars += 1;
                match c {
                    '。' | '、' | '，' | '．' | '！' | '？' | '；' => stops += 1,
                    '￥' => money += 1,
                    _ => ideographs += 1,
                }
            } else if c.is_alphanumeric() {
                words += u32::from(!in_word);
                in_word = true;
                chars += 1;
            } else if c.is_whitespace() {
                in_word = false;
            } else {
                chars += 1;
                match c {
                    '€' | '£' | '¥' | '₹' | '₽' | '₩' => money += 1,
                    '؟' | '،' | '।' | '…' => stops += 1,
                    _ => {}
                }
            }
        }
        let words = words as f32 + 0.5 * ideographs as f32;
        self.words += words;
        self.linked += if linked { words } else { 0.0 };
        self.stops += stops as f32;
        self.digits += digits as f32;
        self.chars += chars as f32;
        self.capitals += capitals as f32;
        self.money += money as f32;
    }
}

/// A run of inline content.
#[derive(Debug)]
pub(super) struct Block {
    /// The block element around it.
    pub(super) container: Id,
    /// The first node of the run.
    pub(super) first: Id,
    pub(super) counts: Counts,
    /// How many blocks of the page have the same text.
    pub(super) copies: u32,
    /// Of its text without white space.
    pub(super) hash: u64,
    /// Bold words.
    pub(super) strong: f32,
    pub(super) in_code: bool,
    /// The last character that is not white space.
    pub(super) last_char: char,
    pub(super) first_char: char,
}

/// A page cut into blocks.
pub(super) struct Blocks {
    pub(super) list: Vec<Block>,
    /// The block that each node belongs to, if it is in one.
    pub(super) of_node: Vec<u32>,
    /// For every node, the sums over its subtree.
    pub(super) sums: Vec<Sums>,
    /// For every node, how many of its siblings have the same tag and first class.
    pub(super) alike: Vec<u16>,
}

/// The node is in no block.
pub(super) const NO_BLOCK: u32 = u32::MAX;

/// `text` without white space at its start.
fn trim_start(text: &str) -> &str {
    // Most white space is indentation, told apart fast.
    let trimmed = text.trim_ascii_start();
    if trimmed.starts_with(|c: char| c.is_ascii_graphic()) { trimmed } else { trimmed.trim_start() }
}

/// Elements that are one block, whatever they contain.
fn is_atomic(tag: Tag) -> bool {
    tag.heading_level().is_some() || matches!(tag, Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext)
}

impl Blocks {
    /// Cuts a page into blocks. Silent elements, and inline ones that are hidden from screen
    /// readers, are in none.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut blocks = Self {
            list: vec![],
            of_node: vec![NO_BLOCK; tree.len()],
            sums: vec![Sums::default(); tree.len()],
            alike: alike(tree),
        };
        // The open block elements and links, by their ends.
        let mut open: Vec<(Id, Id)> = vec![];
        let (mut link_end, mut strong_end, mut atomic_end, mut code_end) = (0, 0, 0, 0);
        let mut current = NO_BLOCK;
        let mut id = 1;
        while id < tree.len() {
            while open.last().is_some_and(|&(_, end)| id >= end) {
                open.pop();
                current = NO_BLOCK;
            }
            let tag = tree.tag(id);
            let end = tree.subtree(id).end;
            if tag.is_silent() {
                id = end;
                continue;
            }
            match tag {
                Tag::Text => {
                    let text = tree.text(id);
                    let trimmed = trim_start(text);
                    if trimmed.is_empty() && current == NO_BLOCK {
                        id += 1;
                        continue;
                    }
                    let container = open.last().map_or(ROOT, |&(id, _)| id);
                    let block = blocks.at(&mut current, container, id);
                    let strong = block.counts.words;
                    block.counts.count(text, id < link_end);
                    if id < strong_end {
                        block.strong += block.counts.words - strong;
                    }
                    block.in_code |= id < code_end;
                    if let Some(last) = text.trim_end().chars().next_back() {
                        block.last_char = last;
                    }
                    if block.first_char == '\0' {
                        block.first_char = trimmed.chars().next().unwrap_or('\0');
                    }
                    block.hash = text
                        .bytes()
                        .filter(|b| !b.is_ascii_whitespace())
                        .fold(block.hash, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
                }
                Tag::Img | Tag::Math => {
                    let container = open.last().map_or(ROOT, |&(id, _)| id);
                    blocks.at(&mut current, container, id).counts.images += 1.0;
                }
                _ if tag.is_block() && id >= atomic_end => {
                    current = NO_BLOCK;
                    open.push((id, end));
                    if is_atomic(tag) {
                        atomic_end = end;
                    }
                    if matches!(tag, Tag::Pre | Tag::Listing | Tag::Xmp) {
                        code_end = end;
                    }
                }
                Tag::A if tree.attr(id, Attr::Href).is_some() => {
                    link_end = end;
                    // An element at the start of a block is not counted, because the block does not exist yet.
                    if let Some(block) = blocks.list.get_mut(current as usize) {
                        block.counts.links += 1.0;
                    }
                }
                Tag::B | Tag::Strong => strong_end = end,
                Tag::Code => code_end = code_end.max(end),
                _ => {}
            }
            blocks.of_node[id] = current;
            id += 1;
        }
        blocks.total(tree);
        blocks
    }

    /// Whether there are blocks in a node.
    pub(super) fn are_in(&self, id: Id) -> bool {
        self.sums[id].blocks > 0.0
    }

    /// The text of a block.
    pub(super) fn text<'t>(&self, tree: &'t Tree, at: usize) -> Cow<'t, str> {
        let first = self.list[at].first;
        let end = tree.subtree(self.list[at].container).end;
        let mut text = Cow::Borrowed("");
        for id in first..end {
            match self.of_node[id] {
                // Most blocks are one run of text.
                block if block as usize == at && text.is_empty() => text = Cow::Borrowed(tree.text(id)),
                block if block as usize == at => text.to_mut().push_str(tree.text(id)),
                NO_BLOCK => {}
                _ => break,
            }
        }
        text
    }

    fn at(&mut self, current: &mut u32, container: Id, first: Id) -> &mut Block {
        if *current == NO_BLOCK {
            *current = self.list.len() as u32;
            self.list.push(Block {
                container,
                first,
                counts: Counts::default(),
                copies: 0,
                hash: 0xCBF2_9CE4_8422_2325,
                strong: 0.0,
                in_code: false,
                last_char: '\0',
                first_char: '\0',
            });
        }
        &mut self.list[*current as usize]
    }

    fn total(&mut self, tree: &Tree) {
        let mut copies: HashMap<u64, u32> = HashMap::default();
        for block in &mut self.list {
            let counts = &mut block.counts;
            counts.headings = f32::from(u8::from(tree.tag(block.container).heading_level().is_some()));
            if counts.words >= 12.0 && counts.linked < counts.words * 0.5 && counts.stops > 0.0 {
                counts.prose = counts.words;
            }
            if counts.words > 0.0 {
                *copies.entry(block.hash).or_default() += 1;
            }
            self.sums[block.container].add(&Sums::of_block(&block.counts));
        }
        for block in &mut self.list {
            block.copies = copies.get(&block.hash).copied().unwrap_or(1);
        }
        for id in (1..tree.len()).rev() {
            let inner = self.sums[id];
            self.sums[tree.parent(id)].add(&inner);
        }
    }
}

/// For every block, the number of its sibling group: the blocks in elements with the same tags and first classes
/// four levels up, such as the titles of a grid's cards, the prices, the cells of a column.
pub(super) fn sibling_groups(tree: &Tree, blocks: &Blocks) -> Vec<u32> {
    let mut numbers: HashMap<u64, u32> = HashMap::default();
    let mut groups = Vec::with_capacity(blocks.list.len());
    for block in &blocks.list {
        let around = std::iter::once(block.container).chain(tree.ancestors(block.container)).take(4);
        let hash = around.fold(0xCBF2_9CE4_8422_2325, |hash: u64, id| {
            let class = tree.attr(id, Attr::Class).unwrap_or_default();
            let class = class.split_ascii_whitespace().next().unwrap_or_default();
            class
                .bytes()
                .chain([tree.tag(id) as u8, 0])
                .fold(hash, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3))
        });
        let next = numbers.len() as u32;
        groups.push(*numbers.entry(hash).or_insert(next));
    }
    groups
}

/// For every element, how many of its siblings have the same tag and first class.
fn alike(tree: &Tree) -> Vec<u16> {
    let mut counts: Vec<u16> = vec![0];
    // The index of each element's count; index 0 is unused.
    let mut group = vec![0_u32; tree.len()];
    let mut groups: HashMap<(u32, u8, &str), u32> = HashMap::default();
    for (id, group) in group.iter_mut().enumerate().skip(1) {
        let node = tree.node(id);
        if matches!(node.tag, Tag::Text | Tag::Br | Tag::Span) {
            continue;
        }
        let class = tree.attr(id, Attr::Class).unwrap_or_default();
        let first = class.split_ascii_whitespace().next().unwrap_or_default();
        let next = counts.len() as u32;
        *group = *groups.entry((node.parent, node.tag as u8, first)).or_insert(next);
        if *group == next {
            counts.push(0);
        }
        let count = &mut counts[*group as usize];
        *count = count.saturating_add(1);
    }
    group.into_iter().map(|group| counts[group as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a page's blocks.
    fn texts(html: &str) -> Vec<String> {
        let tree = Tree::parse(html, None);
        let blocks = Blocks::new(&tree);
        (0..blocks.list.len()).map(|at| blocks.text(&tree, at).into_owned()).collect()
    }

    #[test]
    fn blocks_are_runs_of_inline_content() {
        assert_eq!(texts("a <b>b</b> c<p>d<ul><li>e<li>f</ul>g"), ["a b c", "d", "e", "f", "g"]);
        assert_eq!(texts("<pre>a\n<div>b</div></pre><select><option>c</select>"), ["a\nb"]);
        assert!(texts(" <p> </p>").is_empty());
    }

    #[test]
    fn blocks_are_counted() {
        let tree = Tree::parse("<p>The <a href=x>tide</a> rises: 3 m, €5!</p><p>潮汐</p><h2>a</h2>", None);
        let blocks = Blocks::new(&tree);
        let counts = blocks.list[0].counts;
        assert_eq!((counts.words, counts.linked, counts.links), (6.0, 1.0, 1.0));
        assert_eq!((counts.digits, counts.capitals, counts.stops, counts.money), (2.0, 1.0, 2.0, 1.0));
        assert_eq!((blocks.list[1].counts.words, blocks.list[1].counts.chars), (1.0, 2.0));
        assert_eq!((blocks.sums[ROOT].words, blocks.sums[ROOT].headings), (8.0, 1.0));
    }

    #[test]
    fn cells_of_a_column_are_a_sibling_group() {
        let tree = Tree::parse("<table><tr><td class=a>1<td class=b>2<tr><td class=a>3<td class=b>4</table>", None);
        assert_eq!(sibling_groups(&tree, &Blocks::new(&tree)), [0, 1, 0, 1]);
    }
}
