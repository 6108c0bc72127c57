//! A page's text as blocks: the runs of inline content that a reader sees as lines or paragraphs,
//! and what can be counted about them and about the elements around them.

use foldhash::HashMap;

use crate::{
    render::is_ideograph,
    tag::{Attr, Tag},
    tree::{Id, ROOT, Tree},
};

/// What can be counted about text; sums over blocks are sums of these.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Words, an ideograph counting half.
    pub(super) words: f32,
    /// Words inside links.
    pub(super) linked: f32,
    /// Words in blocks of running text: long, hardly linked.
    pub(super) prose: f32,
    /// Sentence ends and commas, in any script.
    pub(super) stops: f32,
    /// Digits.
    pub(super) digits: f32,
    /// Characters that are not white space.
    pub(super) chars: f32,
    /// Upper-case letters.
    pub(super) capitals: f32,
    pub(super) blocks: f32,
    pub(super) links: f32,
    pub(super) images: f32,
    pub(super) headings: f32,
    /// Signs of money.
    pub(super) money: f32,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.linked += other.linked;
        self.prose += other.prose;
        self.stops += other.stops;
        self.digits += other.digits;
        self.chars += other.chars;
        self.capitals += other.capitals;
        self.blocks += other.blocks;
        self.links += other.links;
        self.images += other.images;
        self.headings += other.headings;
        self.money += other.money;
    }

    fn count(&mut self, text: &str, linked: bool) {
        let mut in_word = false;
        let before = self.words;
        for c in text.chars() {
            if c.is_ascii() {
                let b = c as u8;
                if b.is_ascii_alphanumeric() {
                    self.words += f32::from(u8::from(!in_word));
                    in_word = true;
                    self.chars += 1.0;
                    self.digits += f32::from(u8::from(b.is_ascii_digit()));
                    self.capitals += f32::from(u8::from(b.is_ascii_uppercase()));
                    continue;
                }
                if b.is_ascii_whitespace() {
                    in_word = false;
                    continue;
                }
                self.chars += 1.0;
                match b {
                    b'.' | b',' | b';' | b'!' | b'?' => self.stops += 1.0,
                    b'$' => self.money += 1.0,
                    _ => {}
                }
                in_word &= matches!(b, b'\'' | b'-' | b'.' | b',');
            } else if is_ideograph(c) {
                in_word = false;
                self.chars += 1.0;
                match c {
                    '。' | '、' | '，' | '．' | '！' | '？' | '；' => self.stops += 1.0,
                    '￥' => self.money += 1.0,
                    _ => self.words += 0.5,
                }
            } else if c.is_alphanumeric() {
                self.words += f32::from(u8::from(!in_word));
                in_word = true;
                self.chars += 1.0;
            } else if c.is_whitespace() {
                in_word = false;
            } else {
                self.chars += 1.0;
                match c {
                    '€' | '£' | '¥' | '₹' | '₽' | '₩' => self.money += 1.0,
                    '؟' | '،' | '।' | '…' => self.stops += 1.0,
                    _ => {}
                }
            }
        }
        if linked {
            self.linked += self.words - before;
        }
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
    pub(super) sums: Vec<Counts>,
    /// For every node, how many of its siblings have the same tag and first class.
    pub(super) alike: Vec<u16>,
}

/// The node is in no block.
pub(super) const NO_BLOCK: u32 = u32::MAX;

/// Elements that are one block whatever is inside.
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
            sums: vec![Counts::default(); tree.len()],
            alike: alike(tree),
        };
        // The block elements and links that are open, by where they end.
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
                    let trimmed = text.trim_start();
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
                    if current == NO_BLOCK {
                        // Counted with what is around it: the block inside has not begun.
                        let container = open.last().map_or(ROOT, |&(id, _)| id);
                        blocks.sums[container].links += 1.0;
                    } else {
                        blocks.list[current as usize].counts.links += 1.0;
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

    fn at(&mut self, current: &mut u32, container: Id, first: Id) -> &mut Block {
        if *current == NO_BLOCK {
            *current = self.list.len() as u32;
            self.list.push(Block {
                container,
                first,
                counts: Counts { blocks: 1.0, ..Counts::default() },
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
            self.sums[block.container].add(&block.counts);
        }
        for block in &mut self.list {
            block.copies = copies.get(&block.hash).copied().unwrap_or(1);
        }
        for id in (1..tree.len()).rev() {
            let counts = self.sums[id];
            self.sums[tree.parent(id)].add(&counts);
        }
    }
}

/// For every block, a number that it shares with the blocks that stand in elements of the same tags
/// and first classes, four levels up: the titles of a grid's cards, the prices, the cells of a column.
pub(super) fn kin(tree: &Tree, blocks: &Blocks) -> Vec<u32> {
    let mut numbers: HashMap<u64, u32> = HashMap::default();
    let mut kin = Vec::with_capacity(blocks.list.len());
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
        kin.push(*numbers.entry(hash).or_insert(next));
    }
    kin
}

/// For every element, how many of its siblings have the same tag and first class.
fn alike(tree: &Tree) -> Vec<u16> {
    let mut counts: Vec<u16> = vec![0];
    // Which count is each element's; the first is nobody's.
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
