//! The model: boosted forests of oblivious trees, trained by `training/train.py`.
//!
//! An oblivious tree asks the same question at every node of a level, so its leaf is the number
//! that its answers spell (the trees of `CatBoost`: Prokhorenkova et al., "Unbiased boosting with
//! categorical features", 2018). Every value is first replaced by how many of its column's borders it exceeds,
//! a byte; then eight blocks at a time are asked, in the bytes of one word, without a branch.
//!
//! A forest is the mean of several that saw other blocks, labels and weights of the same pages
//! (Breiman, "Bagging predictors", 1996): there are few pages to learn from, and what one forest
//! imagines the others do not.
//!
//! What words say is no forest's to learn, there are too many: they have a weight each, found by hash.

use std::{ops::Range, sync::OnceLock};

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
    /// A table of one row.
    pub(super) fn of_row(row: &[f32]) -> Self {
        Self { rows: 1, columns: row.to_vec() }
    }

    /// Sets the next of `rows` rows, the first of which has `at` 0.
    pub(super) fn set_row(&mut self, at: usize, row: &[f32]) {
        if self.columns.is_empty() {
            self.columns = vec![0.0; row.len() * self.rows];
        }
        for (value, cell) in row.iter().zip(self.columns[at..].iter_mut().step_by(self.rows)) {
            *cell = *value;
        }
    }

    /// A table with no column yet.
    pub(super) fn empty(rows: usize) -> Self {
        Self { rows, columns: vec![] }
    }

    /// Adds the columns of another table, of which it has the rows in `range`.
    pub(super) fn append(&mut self, other: &Self, range: Range<usize>) {
        for column in other.columns.chunks_exact(other.rows.max(1)) {
            self.columns.extend_from_slice(&column[range.clone()]);
        }
    }

    pub(super) fn push(&mut self, column: impl IntoIterator<Item = f32>) {
        self.columns.extend(column);
    }

    /// A column, empty if there is none.
    fn column(&self, at: usize) -> &[f32] {
        self.columns.get(at * self.rows..(at + 1) * self.rows).unwrap_or_default()
    }
}

/// The columns that a forest asks about, and the borders that it knows in each.
pub(super) struct Grid(Vec<(u16, Vec<f32>)>);

/// How many borders each value exceeds, eight rows to a word, one column of the grid after the other.
pub(super) struct Bins {
    rows: usize,
    words: Vec<u64>,
}

/// How many rows one word holds.
const LANES: usize = 8;
/// A one for every row.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit for every row. Fewer borders than it leaves room for: adding to a byte never
/// carries into the next.
const HIGH: u64 = 0x80 * ONES;

impl Bins {
    /// Bins the columns of `table` that the grid knows.
    pub(super) fn new(table: &Table, grid: &Grid) -> Self {
        let mut words = vec![];
        for (column, borders) in &grid.0 {
            // What stands in a row is like what stood in the last one more often than not.
            let (mut last, mut bin) = (None, 0);
            for eight in table.column(usize::from(*column)).chunks(LANES) {
                let mut lanes = [0; LANES];
                for (lane, &value) in lanes.iter_mut().zip(eight) {
                    if last != Some(value.to_bits()) {
                        (last, bin) = (Some(value.to_bits()), borders.partition_point(|&border| value > border) as u8);
                    }
                    *lane = bin;
                }
                words.push(u64::from_le_bytes(lanes));
            }
        }
        Self { rows: table.rows, words }
    }

    fn column(&self, at: u16) -> &[u64] {
        let words = self.rows.div_ceil(LANES);
        &self.words[usize::from(at) * words..][..words]
    }
}

struct Tree {
    /// Which column of the grid must exceed how many borders more than this, level by level.
    splits: Vec<(u16, u8)>,
    leaves: Vec<f32>,
}

/// A boosted forest.
pub(super) struct Forest {
    bias: f32,
    trees: Vec<Tree>,
}

impl Forest {
    /// The logarithmic odds of each row.
    pub(super) fn odds(&self, bins: &Bins) -> Vec<f32> {
        let words = bins.rows.div_ceil(LANES);
        let mut sums = vec![self.bias; words * LANES];
        let mut leaf = vec![0_u64; words];
        for tree in &self.trees {
            leaf.fill(0);
            for (level, &(column, border)) in tree.splits.iter().enumerate() {
                let short_of = u64::from(127 - border) * ONES;
                for (leaf, bins) in leaf.iter_mut().zip(bins.column(column)) {
                    *leaf |= ((bins + short_of) & HIGH) >> (7 - level);
                }
            }
            for (sums, leaf) in sums.chunks_exact_mut(LANES).zip(&leaf) {
                for (sum, leaf) in sums.iter_mut().zip(leaf.to_le_bytes()) {
                    *sum += tree.leaves[usize::from(leaf)];
                }
            }
        }
        sums.truncate(bins.rows);
        sums
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
        let columns = u32::from_le_bytes(self.take());
        let column = |bytes: &mut Self| {
            let (column, [borders]) = (u16::from_le_bytes(bytes.take()), bytes.take());
            (column, (0..borders).map(|_| bytes.number()).collect())
        };
        Grid((0..columns).map(|_| column(self)).collect())
    }

    fn words(&mut self) -> Words {
        let (bias, scale) = (self.number(), self.number());
        let count = u32::from_le_bytes(self.take()) as usize;
        let (groups, rest) = self.0.split_at(count * 8);
        self.0 = rest;
        Words { bias, scale, groups: groups.as_chunks().0 }
    }

    fn forest(&mut self) -> Forest {
        let (trees, depth) = (u32::from_le_bytes(self.take()), u32::from_le_bytes(self.take()));
        let bias = self.number();
        let tree = |bytes: &mut Self| {
            let splits = (0..depth).map(|_| (u16::from_le_bytes(bytes.take()), bytes.take::<1>()[0])).collect();
            let scale = bytes.number();
            let leaves = (0..1 << depth).map(|_| f32::from(i8::from_le_bytes(bytes.take())) * scale).collect();
            Tree { splits, leaves }
        };
        Forest { bias, trees: (0..trees).map(|_| tree(self)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_rows_at_a_time_are_as_one_by_one() {
        let grid = Grid(vec![(0, vec![-1.0, 0.5, 2.0]), (2, vec![0.0])]);
        let tree = Tree { splits: vec![(0, 1), (1, 0), (0, 126)], leaves: (0..8).map(|leaf| leaf as f32).collect() };
        let forest = Forest { bias: 10.0, trees: vec![tree] };
        let rows: Vec<[f32; 3]> =
            (0..21).map(|row| [(row % 5) as f32 - 1.5, f32::NAN, f32::from(u8::from(row % 3 == 0))]).collect();
        let mut table = Table::empty(rows.len());
        for (at, row) in rows.iter().enumerate() {
            table.set_row(at, row);
        }
        let bins = Bins::new(&table, &grid);
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
        assert!(model.forest.trees.iter().all(|tree| tree.leaves.len() == 1 << tree.splits.len()));
        let mut splits = model.forest.trees.iter().flat_map(|tree| &tree.splits);
        assert!(splits.all(|&(column, _)| usize::from(column) < model.of_block.0.len()));
    }
}
