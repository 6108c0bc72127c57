//! The model: boosted forests of oblivious trees, trained by `training/train.py`.
//!
//! An oblivious tree asks the same question at every node of a level, so its leaf is the number
//! that its answers spell (the trees of `CatBoost`: Prokhorenkova et al., "Unbiased boosting with
//! categorical features", 2018). Every value is first replaced by how many of its column's borders it exceeds,
//! a byte; then all blocks are asked the same question, without a branch, sixteen at a time by the processor.
//!
//! A forest is the mean of several that saw other blocks, labels and weights of the same pages
//! (Breiman, "Bagging predictors", 1996): there are few pages to learn from, and what one forest
//! imagines the others do not.
//!
//! What words say is no forest's to learn, there are too many: they have a weight each, found by hash.

use std::sync::OnceLock;

use super::words::mixed;
use crate::metadata::PageType;

/// See `training/train.py` for the layout.
static WEIGHTS: &[u8] = include_bytes!("weights.bin");

/// A table of numbers, one column after the other.
pub(super) struct Table {
    rows: usize,
    columns: Vec<f32>,
}

impl Table {
    /// A table with no column yet.
    pub(super) fn empty(rows: usize) -> Self {
        Self { rows, columns: vec![] }
    }

    pub(super) fn push(&mut self, column: impl IntoIterator<Item = f32>) {
        self.columns.extend(column);
    }

    /// Appends one row.
    pub(super) fn row(&self, at: usize, put: &mut Vec<f32>) {
        put.extend(self.columns.chunks_exact(self.rows).map(|column| column[at]));
    }
}

/// The columns that a forest asks about, and the borders that it knows in each.
pub(super) struct Grid {
    /// Each column, and where its borders end.
    columns: Vec<(u16, u32)>,
    borders: Vec<f32>,
}

/// How many rows are judged at once.
const ABREAST: usize = 32;

/// How many borders each value exceeds, one column of the grid after the other.
pub(super) struct Bins {
    /// How many rows there are, and how many there is room for.
    rows: usize,
    room: usize,
    counts: Vec<u8>,
}

impl Bins {
    /// Bins the columns that the grid knows of so many rows, each of which is put where it is asked for.
    pub(super) fn new(grid: &Grid, rows: usize, mut put: impl FnMut(usize, &mut Vec<f32>)) -> Self {
        let room = rows.next_multiple_of(ABREAST);
        let mut counts = vec![0; grid.columns.len() * room];
        let mut some = vec![];
        for start in (0..rows).step_by(ABREAST) {
            some.clear();
            let end = rows.min(start + ABREAST);
            for at in start..end {
                put(at, &mut some);
            }
            let width = some.len() / (end - start);
            let mut first = 0;
            for (&(column, end), counts) in grid.columns.iter().zip(counts.chunks_exact_mut(room)) {
                // What is no number exceeds nothing.
                let mut values = [f32::NAN; ABREAST];
                for (value, row) in values.iter_mut().zip(some.chunks_exact(width)) {
                    *value = row[usize::from(column)];
                }
                let borders = &grid.borders[first..end as usize];
                counts[start..][..ABREAST].copy_from_slice(&exceeded(&values, borders));
                first = end as usize;
            }
        }
        Self { rows, room, counts }
    }

    fn column(&self, at: u16) -> &[u8] {
        &self.counts[usize::from(at) * self.room..][..self.room]
    }
}

/// How many of the borders each value exceeds: asked one by one, which all values are at once.
fn exceeded(values: &[f32; ABREAST], borders: &[f32]) -> [u8; ABREAST] {
    // What stands in a row is like what stands in the next more often than not.
    let first = values[0].to_bits();
    if values.iter().fold(0, |differs, value| differs | (value.to_bits() ^ first)) == 0 {
        return [borders.partition_point(|&border| values[0] > border) as u8; ABREAST];
    }
    let mut counts = [0; ABREAST];
    for &border in borders {
        count(values, border, &mut counts);
    }
    counts
}

/// Counts one border for each value that exceeds it. Within the loop over the borders, these and not the values would
/// be taken at once, of which there are few.
#[inline(never)]
fn count(values: &[f32; ABREAST], border: f32, counts: &mut [u8; ABREAST]) {
    for (count, value) in counts.iter_mut().zip(values) {
        *count += u8::from(*value > border);
    }
}

/// A boosted forest, as the weights hold it. A tree is what it asks, level by level: which column of the grid must
/// exceed how many borders more than this; then the scale of its leaves, and these.
pub(super) struct Forest {
    bias: f32,
    depth: usize,
    trees: &'static [u8],
}

/// The bytes of a question, and of a scale.
const QUESTION: usize = 3;
const SCALE: usize = 4;

impl Forest {
    /// The logarithmic odds of each row.
    pub(super) fn odds(&self, bins: &Bins) -> Vec<f32> {
        let mut sums = vec![self.bias; bins.room];
        let mut spelled = vec![0_u8; bins.room];
        // As many as a byte can name, so that no look-up can miss.
        let mut leaves = [0.0; 256];
        for tree in self.trees.chunks_exact(Self::tree_size(self.depth)) {
            let (questions, tree) = tree.split_at(QUESTION * self.depth);
            spelled.fill(0);
            for (level, [low, high, border]) in questions.as_chunks().0.iter().enumerate() {
                for (leaf, bin) in spelled.iter_mut().zip(bins.column(u16::from_le_bytes([*low, *high]))) {
                    *leaf |= if bin > border { 1 << level } else { 0 };
                }
            }
            let (scale, values) = tree.split_first_chunk().expect("a tree is whole");
            let scale = f32::from_le_bytes(*scale);
            for (leaf, value) in leaves.iter_mut().zip(values) {
                *leaf = f32::from(value.cast_signed()) * scale;
            }
            for (sums, spelled) in sums.as_chunks_mut::<ABREAST>().0.iter_mut().zip(spelled.as_chunks::<ABREAST>().0) {
                for (sum, leaf) in sums.iter_mut().zip(spelled) {
                    *sum += leaves[usize::from(*leaf)];
                }
            }
        }
        sums.truncate(bins.rows);
        sums
    }

    fn tree_size(depth: usize) -> usize {
        QUESTION * depth + SCALE + (1 << depth)
    }
}

/// The chance that odds stand for.
pub(super) fn chance(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// A linear model of hashed words: groups of four, each with a part of their hashes and their weights.
pub(super) struct Words {
    pub(super) bias: f32,
    scale: f32,
    groups: &'static [[u8; 8]],
}

impl Words {
    /// What a word says for what it stands in or near: by itself, and on a page of this kind.
    pub(super) fn weight(&self, word: u32, kind: usize) -> f32 {
        let of_kind = mixed(word ^ (kind as u32 + 1).wrapping_mul(0x85EB_CA77));
        f32::from(self.at(word) + self.at(of_kind)) * self.scale
    }

    fn at(&self, hash: u32) -> i16 {
        // There are 2^n groups.
        let group = &self.groups[hash as usize & (self.groups.len() - 1)];
        let part = (hash >> 24) as u8;
        let place = group[..4].iter().position(|&known| known == part);
        place.map_or(0, |place| i16::from(group[4 + place].cast_signed()))
    }
}

/// Everything that was learned.
pub(super) struct Model {
    /// For each kind of page, what tells it from the others.
    pub(super) kinds: Vec<Forest>,
    pub(super) of_page: Grid,
    /// What words say of the block that they stand in or near.
    pub(super) words: Words,
    /// What tells content by that and all else.
    pub(super) forest: Forest,
    pub(super) of_block: Grid,
}

/// The model, read once.
pub(super) fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut bytes = Bytes(weights());
        let of_page = bytes.grid();
        let kinds = PageType::ALL.iter().map(|_| bytes.forest()).collect();
        let words = bytes.words();
        let of_block = bytes.grid();
        Model { kinds, of_page, words, forest: bytes.forest(), of_block }
    })
}

#[cfg(not(feature = "training"))]
fn weights() -> &'static [u8] {
    WEIGHTS
}

/// Training judges weights that have not seen a page by what becomes of the page.
#[cfg(feature = "training")]
fn weights() -> &'static [u8] {
    std::env::var_os("RAGMAKER_WEIGHTS")
        .map_or(WEIGHTS, |path| std::fs::read(path).expect("the weights can be read").leak())
}

struct Bytes(&'static [u8]);

impl Bytes {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().expect("the weights are whole");
        self.0 = rest;
        *head
    }

    fn number(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn grid(&mut self) -> Grid {
        let count = u32::from_le_bytes(self.take());
        let (mut columns, mut borders) = (Vec::with_capacity(count as usize), vec![]);
        for _ in 0..count {
            let (column, [more]) = (u16::from_le_bytes(self.take()), self.take());
            borders.extend((0..more).map(|_| self.number()));
            columns.push((column, borders.len() as u32));
        }
        Grid { columns, borders }
    }

    fn words(&mut self) -> Words {
        let (bias, scale) = (self.number(), self.number());
        let count = u32::from_le_bytes(self.take()) as usize;
        let (groups, rest) = self.0.split_at(count * 8);
        self.0 = rest;
        Words { bias, scale, groups: groups.as_chunks().0 }
    }

    fn forest(&mut self) -> Forest {
        let [count, depth] = [(); 2].map(|()| u32::from_le_bytes(self.take()) as usize);
        let bias = self.number();
        let (trees, rest) = self.0.split_at(count * Forest::tree_size(depth));
        self.0 = rest;
        Forest { bias, depth, trees }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_are_as_one_by_one() {
        let grid = Grid { columns: vec![(0, 3), (2, 4)], borders: vec![-1.0, 0.5, 2.0, 0.0] };
        // Whether the first column exceeds a second border, the second one its first, and what never is.
        let questions = [0, 0, 1, 1, 0, 0, 0, 0, 126];
        let trees: Vec<u8> =
            questions.into_iter().chain(0.5_f32.to_le_bytes()).chain((0..8).map(|leaf| 2 * leaf)).collect();
        let forest = Forest { bias: 10.0, depth: 3, trees: trees.leak() };
        let rows: Vec<[f32; 3]> =
            (0..21).map(|row| [(row % 5) as f32 - 1.5, f32::NAN, f32::from(u8::from(row % 3 == 0))]).collect();
        let bins = Bins::new(&grid, rows.len(), |at, row| row.extend(rows[at]));
        let expected: Vec<f32> = rows
            .iter()
            .map(|row| 10.0 + f32::from(u8::from(row[0] > 0.5)) + 2.0 * f32::from(u8::from(row[2] > 0.0)))
            .collect();
        assert_eq!(forest.odds(&bins), expected);
    }

    #[test]
    fn the_weights_are_read_to_their_end() {
        let model = model();
        assert_eq!(model.kinds.len(), PageType::ALL.len());
        assert!(model.words.groups.len().is_power_of_two());
        let mut trees = model.forest.trees.chunks_exact(Forest::tree_size(model.forest.depth));
        let asks_of_the_grid = |tree: &[u8]| {
            let (questions, _) = tree.split_at(QUESTION * model.forest.depth);
            let mut columns = questions.as_chunks().0.iter().map(|[low, high, _]| u16::from_le_bytes([*low, *high]));
            columns.all(|column| usize::from(column) < model.of_block.columns.len())
        };
        assert!(model.forest.depth < 8 && trees.len() > 0 && trees.all(asks_of_the_grid));
    }
}
