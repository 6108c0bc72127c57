//! Text scores: a linear model of the words in and around a block.
//!
//! The model uses the words of the block, singly and in pairs, the words of the heading before it, and the words in the
//! names of its ancestors. Each word has a general weight and a weight for each kind of page: a comment is content in a
//! forum, but not in an article. Words are identified by their hashes (Weinberger et al., "Feature hashing for large
//! scale multitask learning", 2009). A word of fewer than five domains has no weight.

use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::{
    blocks::Blocks,
    model::Words,
    names,
    tokens::{START, hashed, mixed, words},
};
use crate::{
    tag::Attr,
    tree::{Id, Tree},
};

/// The position of a word.
#[derive(Clone, Copy)]
enum Place {
    Text,
    Pair,
    Heading,
    Near,
    Far,
}

/// How many places there are.
pub(super) const PLACES: usize = 5;

/// How many words of a block are read, and of how many of them the pairs.
const READ: usize = 24;
const PAIRED: usize = 12;

/// Where the marks of short texts begin; no word has a hash that small but by chance.
const SHORT: u32 = 0x1000;

/// The maximum number of words in one element's names, as a limit for elements with very long names around everything.
const NAMED: usize = 64;

/// How many elements around a block are near to it.
const NEAR: usize = 3;

/// The hash of a word at a place.
fn placed(word: u32, place: Place) -> u32 {
    mixed(word ^ (place as u32 + 1).wrapping_mul(0x9E37_79B9))
}

/// The hashes of the first words of a text: single words with marks for their position, and pairs.
fn of_text(text: &str) -> (Vec<u32>, Vec<u32>) {
    let mut hashes = Vec::with_capacity(READ + 2);
    hashes.extend(words(text, START, |hash, c| hashed(hash, u32::from(c))).take(READ));
    let mut words = hashes;
    let mut pairs = Vec::with_capacity(PAIRED);
    pairs.extend(words.windows(2).take(PAIRED - 1).map(|pair| pair[0].rotate_left(7) ^ pair[1]));
    let first = words.first().map(|word| word.rotate_left(3));
    words.push(SHORT + words.len().min(6) as u32);
    words.extend(first);
    (once(words), once(pairs))
}

/// Each hash once, in order.
fn once(mut hashes: Vec<u32>) -> Vec<u32> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The hashes of the words that the tag and the names of each element with blocks in it are made of, and of
/// their pairs.
struct Names {
    words: Vec<u32>,
    /// Where the words of each node end.
    ends: Vec<u32>,
}

impl Names {
    fn new(tree: &Tree, blocks: &Blocks) -> Self {
        let mut names = Self { words: vec![], ends: Vec::with_capacity(tree.len()) };
        let mut seen = HashMap::default();
        for id in 0..tree.len() {
            if blocks.are_in(id) {
                names.add(tree, id, &mut seen);
            }
            names.ends.push(names.words.len() as u32);
        }
        names
    }

    /// Adds the words of an element; those of names that were seen before are copied.
    fn add<'t>(&mut self, tree: &'t Tree, id: Id, seen: &mut HashMap<&'t str, Range<usize>>) {
        let most = self.words.len() + NAMED;
        self.words.push(tree.tag(id) as u32);
        for name in [Attr::Class, Attr::Id, Attr::Itemprop, Attr::DataTestid, Attr::Role] {
            let Some(value) = tree.attr(id, name) else { continue };
            if let Some(known) = seen.get(value) {
                self.words.extend_from_within(known.clone());
                continue;
            }
            let start = self.words.len();
            for name in value.split_ascii_whitespace().take(8) {
                let mut before = None;
                names::each_word(name, |word| {
                    let word = word.iter().fold(START, |hash, &b| hashed(hash, u32::from(b)));
                    self.words.push(word);
                    self.words.extend(before.map(|before: u32| before.rotate_left(7) ^ word));
                    before = Some(word);
                });
            }
            seen.insert(value, start..self.words.len());
        }
        if self.words.len() > most {
            self.words.truncate(most);
            seen.clear();
        }
    }

    fn of(&self, id: Id) -> &[u32] {
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[id] as usize]
    }

    /// The words near a block, in this container.
    fn near(&self, tree: &Tree, container: Id) -> Vec<u32> {
        let mut words = Vec::with_capacity(NEAR * NAMED);
        for id in within(tree, container).take(NEAR) {
            words.extend_from_slice(self.of(id));
        }
        once(words)
    }
}

/// An element and its ancestors, from inside out.
fn within(tree: &Tree, id: Id) -> impl Iterator<Item = Id> + '_ {
    std::iter::once(id).chain(tree.ancestors(id))
}

/// The words of every block at the first three places.
fn each(tree: &Tree, blocks: &Blocks, mut put: impl FnMut(usize, [&[u32]; 3])) {
    let mut heading = vec![];
    for (at, block) in blocks.list.iter().enumerate() {
        let (words, pairs) = of_text(&blocks.text(tree, at));
        put(at, [&words, &pairs, &heading]);
        if tree.tag(block.container).heading_level().is_some() {
            heading = words;
        }
    }
}

/// The text scores of each block, place by place, and their sum.
pub(super) fn text_scores(tree: &Tree, blocks: &Blocks, known: &Words, kind: usize) -> Vec<[f32; PLACES + 1]> {
    let weight = |word: u32, place: Place| known.weight(placed(word, place), kind);
    let mean = |words: &[u32], place: Place| {
        words.iter().map(|&word| weight(word, place)).sum::<f32>() / (words.len().max(1) as f32).sqrt()
    };
    let names = Names::new(tree, blocks);
    let far = far(tree, blocks, &names, |word| weight(word, Place::Far));
    let mut scores = vec![[0.0; PLACES + 1]; blocks.list.len()];
    each(tree, blocks, |at, [words, pairs, heading]| {
        scores[at][0] = mean(words, Place::Text);
        scores[at][1] = mean(pairs, Place::Pair);
        let is_same = at > 0 && tree.tag(blocks.list[at - 1].container).heading_level().is_none();
        scores[at][2] = if is_same { scores[at - 1][2] } else { mean(heading, Place::Heading) };
    });
    for (at, block) in blocks.list.iter().enumerate() {
        let before = at.checked_sub(1).filter(|&before| blocks.list[before].container == block.container);
        let (near, far) = match before {
            Some(before) => (scores[before][3], scores[before][4]),
            None => (
                mean(&names.near(tree, block.container), Place::Near),
                within(tree, block.container).nth(NEAR).map_or(0.0, |id| far[id]),
            ),
        };
        let scores = &mut scores[at];
        (scores[3], scores[4]) = (near, far);
        scores[PLACES] = scores[..PLACES].iter().sum::<f32>() + known.bias;
    }
    scores
}

/// For every element that is far from a block in it, the score of the words of its names and of the names around
/// it, each word once.
fn far(tree: &Tree, blocks: &Blocks, names: &Names, weight: impl Fn(u32) -> f32) -> Vec<f32> {
    let mut means = vec![0.0; tree.len()];
    let mut is_far = vec![false; tree.len()];
    for block in &blocks.list {
        for id in within(tree, block.container).skip(NEAR) {
            if std::mem::replace(&mut is_far[id], true) {
                break;
            }
        }
    }
    // The elements that are open: where they end, and the sum and the number of words outside of each.
    let mut open: Vec<(Id, f32, usize)> = vec![];
    // The words of the open elements, each where it was seen first.
    let mut words: Vec<u32> = vec![];
    let mut seen: HashSet<u32> = HashSet::default();
    let mut sum = 0.0;
    for (id, mean) in means.iter_mut().enumerate() {
        while let Some((_, before, count)) = open.pop_if(|(end, ..)| *end <= id) {
            for word in words.drain(count..) {
                seen.remove(&word);
            }
            sum = before;
        }
        if !is_far[id] {
            continue;
        }
        open.push((tree.subtree(id).end, sum, words.len()));
        for &word in names.of(id) {
            if seen.insert(word) {
                words.push(word);
                sum += weight(word);
            }
        }
        *mean = sum / (words.len().max(1) as f32).sqrt();
    }
    means
}

/// The words of every block at every place, for training.
#[cfg(any(test, feature = "training"))]
pub(super) fn hashes(tree: &Tree, blocks: &Blocks) -> Vec<[Vec<u32>; PLACES]> {
    let mut all = vec![<[Vec<u32>; PLACES]>::default(); blocks.list.len()];
    let all_placed = |words: &[u32], place: Place| words.iter().map(|&word| placed(word, place)).collect();
    each(tree, blocks, |at, [words, pairs, heading]| {
        all[at][0] = all_placed(words, Place::Text);
        all[at][1] = all_placed(pairs, Place::Pair);
        all[at][2] = all_placed(heading, Place::Heading);
    });
    let names = Names::new(tree, blocks);
    for (hashes, block) in all.iter_mut().zip(&blocks.list) {
        hashes[3] = all_placed(&names.near(tree, block.container), Place::Near);
        let far = within(tree, block.container).skip(NEAR).flat_map(|id| names.of(id)).copied();
        hashes[4] = all_placed(&once(far.collect()), Place::Far);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extract::model::model, metadata::PageType};

    const PAGE: &str = r#"<body class="page siteBody"><div id="main" class="page-content"><h2>Spring tides</h2>
        <ul class="tide-list"><li class="tide item">High water <b>twice</b> a day, high and low.<li class="tide item">Moon
        <p>and sun</p></ul></div><footer class="site-footer page"><p>© Tidemark</p></footer></body>"#;

    #[test]
    fn scores_are_of_the_hashes_that_training_sees() {
        let tree = Tree::parse(PAGE, None);
        let blocks = Blocks::new(&tree);
        for kind in [0, 3] {
            let known = &model().of_blocks(PageType::ALL[kind]).words;
            for (scores, hashes) in text_scores(&tree, &blocks, known, kind).iter().zip(hashes(&tree, &blocks)) {
                for (score, hashes) in scores.iter().zip(&hashes) {
                    let sum: f32 = hashes.iter().map(|&hash| known.weight(hash, kind)).sum();
                    let expected = sum / (hashes.len().max(1) as f32).sqrt();
                    assert!((score - expected).abs() < 1e-4, "{score} is not {expected}");
                }
                let together = scores[..PLACES].iter().sum::<f32>() + known.bias;
                assert!((scores[PLACES] - together).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_word_counts_once_however_often_it_stands_there() {
        let tree = Tree::parse(r#"<div class="tide tide"><div class="tide"><p>tide Tide TIDE</p></div></div>"#, None);
        let blocks = Blocks::new(&tree);
        let [text, pairs, heading, near, _] = &hashes(&tree, &blocks)[0];
        // The word, that it is the first, and that there are three; of the elements two tags and the
        // name, then the name's own pair is none.
        assert_eq!([text.len(), pairs.len(), heading.len()], [3, 1, 0]);
        assert_eq!(near.len(), 3);
    }

    #[test]
    fn the_words_of_a_heading_are_those_of_the_blocks_after_it() {
        let tree = Tree::parse("<p>before</p><h2>Reviews</h2><p>after</p>", None);
        let hashes = hashes(&tree, &Blocks::new(&tree));
        assert!(hashes[0][2].is_empty() && hashes[1][2].is_empty());
        assert_eq!(hashes[2][2].len(), hashes[1][0].len());
    }
}
