//! The model: boosted forests of oblivious trees, trained by `training/train.py`.
//!
//! An oblivious tree has the same split at every node of a level, so the results of its splits are the bits of the
//! leaf's index (the trees of `CatBoost`: Prokhorenkova et al., "Unbiased boosting with categorical features", 2018).
//! Values are first binned: a value is replaced by a byte, the number of its column's borders that it exceeds. A split
//! then compares the bins of all rows without branches, sixteen rows at a time.
//!
//! A forest is the mean of several forests, trained on different blocks, labels and weights of the same pages (Breiman,
//! "Bagging predictors", 1996). There are few pages to train on, and the mean overfits less.
//!
//! There are too many words for splits: a linear model has a weight for each word, looked up by hash.

use std::sync::OnceLock;

use super::tokens::mixed;
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

/// The columns that a forest splits on, and the borders of each.
pub(super) struct Grid {
    /// Each column, and where its borders end.
    columns: Vec<(u16, u32)>,
    borders: Vec<f32>,
}

/// The number of rows that are binned together.
const LANES: usize = 32;

/// How many borders each value exceeds, one column of the grid after the other.
pub(super) struct Bins {
    rows: usize,
    /// The length of a column: the rows and padding up to whole lanes.
    padded: usize,
    counts: Vec<u8>,
}

impl Bins {
    /// Bins the columns of the grid for so many rows; `put` appends the values of a row.
    pub(super) fn new(grid: &Grid, rows: usize, mut put: impl FnMut(usize, &mut Vec<f32>)) -> Self {
        let padded = rows.next_multiple_of(LANES);
        let mut counts = vec![0; grid.columns.len() * padded];
        let mut some = vec![];
        for start in (0..rows).step_by(LANES) {
            some.clear();
            let end = rows.min(start + LANES);
            for at in start..end {
                put(at, &mut some);
            }
            let width = some.len() / (end - start);
            let mut first = 0;
            for (&(column, end), counts) in grid.columns.iter().zip(counts.chunks_exact_mut(padded)) {
                // NaN exceeds no border.
                let mut values = [f32::NAN; LANES];
                for (value, row) in values.iter_mut().zip(some.chunks_exact(width)) {
                    *value = row[usize::from(column)];
                }
                let borders = &grid.borders[first..end as usize];
                counts[start..][..LANES].copy_from_slice(&exceeded(&values, borders));
                first = end as usize;
            }
        }
        Self { rows, padded, counts }
    }

    fn column(&self, at: u16) -> &[u8] {
        &self.counts[usize::from(at) * self.padded..][..self.padded]
    }
}

/// How many of the borders each value exceeds: border by border, so that all values are compared together.
fn exceeded(values: &[f32; LANES], borders: &[f32]) -> [u8; LANES] {
    // The values of neighbouring rows are equal more often than not.
    let first = values[0].to_bits();
    if values.iter().fold(0, |differs, value| differs | (value.to_bits() ^ first)) == 0 {
        return [borders.partition_point(|&border| values[0] > border) as u8; LANES];
    }
    let mut counts = [0; LANES];
    for &border in borders {
        count(values, border, &mut counts);
    }
    counts
}

/// Counts one border for each value that exceeds it. Inlined into the loop over the borders, the compiler would
/// vectorize over the borders, of which there are few.
#[inline(never)]
fn count(values: &[f32; LANES], border: f32, counts: &mut [u8; LANES]) {
    for (count, value) in counts.iter_mut().zip(values) {
        *count += u8::from(*value > border);
    }
}

/// A boosted forest, as the weights contain it. A tree is its splits, level by level: a column of the grid, and the
/// bin that is to be exceeded; then the scale of its leaves, and these.
pub(super) struct Forest {
    bias: f32,
    depth: usize,
    trees: &'static [u8],
}

/// The bytes of a split, and of a scale.
const SPLIT: usize = 3;
const SCALE: usize = 4;

impl Forest {
    /// The logit of each row.
    pub(super) fn logits(&self, bins: &Bins) -> Vec<f32> {
        let mut sums = vec![self.bias; bins.padded];
        let mut indices = vec![0_u8; bins.padded];
        // As many as a byte can index, so that no look-up needs a bounds check.
        let mut leaves = [0.0; 256];
        for tree in self.trees.chunks_exact(Self::tree_size(self.depth)) {
            let (splits, tree) = tree.split_at(SPLIT * self.depth);
            indices.fill(0);
            for (level, [low, high, border]) in splits.as_chunks().0.iter().enumerate() {
                for (index, bin) in indices.iter_mut().zip(bins.column(u16::from_le_bytes([*low, *high]))) {
                    *index |= if bin > border { 1 << level } else { 0 };
                }
            }
            let (scale, values) = tree.split_first_chunk().expect("a tree is whole");
            let scale = f32::from_le_bytes(*scale);
            for (leaf, value) in leaves.iter_mut().zip(values) {
                *leaf = f32::from(value.cast_signed()) * scale;
            }
            for (sums, indices) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(indices.as_chunks::<LANES>().0) {
                for (sum, index) in sums.iter_mut().zip(indices) {
                    *sum += leaves[usize::from(*index)];
                }
            }
        }
        sums.truncate(bins.rows);
        sums
    }

    fn tree_size(depth: usize) -> usize {
        SPLIT * depth + SCALE + (1 << depth)
    }
}

/// The probability of a logit.
pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// A linear model of hashed words: groups of four, each with a part of their hashes and their weights.
pub(super) struct Words {
    pub(super) bias: f32,
    scale: f32,
    groups: &'static [[u8; 8]],
}

impl Words {
    /// The weight of a word, plus its weight on a page of this kind.
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

/// Whether blocks are content or boilerplate.
pub(super) struct BlockModel {
    /// Text scores of blocks.
    pub(super) words: Words,
    /// Content or boilerplate, by text scores and features.
    pub(super) forest: Forest,
    pub(super) grid: Grid,
}

/// All weights.
pub(super) struct Model {
    /// For each kind of page, a classifier against the others.
    pub(super) kinds: Vec<Forest>,
    pub(super) of_page: Grid,
    /// The model of articles, and that of all other kinds. Two of the three collections of training pages consist of
    /// articles. What is learned from them makes articles better and other kinds worse (docs/benchmarks.md).
    articles: BlockModel,
    others: BlockModel,
    /// How probable it is that a choice with this expected F1 has an F1 over 0.9: points, with rising expected F1.
    calibration: Vec<(f32, f32)>,
}

impl Model {
    /// The model for the blocks of pages of this kind.
    pub(super) fn of_blocks(&self, kind: PageType) -> &BlockModel {
        if kind == PageType::Article { &self.articles } else { &self.others }
    }

    /// The probability that a choice with this expected F1 has an F1 over 0.9.
    pub(super) fn confidence(&self, expected_f1: f32) -> f32 {
        let points = &self.calibration;
        let after = points.partition_point(|&(point, _)| point <= expected_f1);
        match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
            (Some((from, low)), Some(&(to, high))) => low + (high - low) * (expected_f1 - from) / (to - from),
            (Some((_, last)), None) => last,
            (None, first) => first.map_or(0.0, |&(_, probability)| probability),
        }
    }
}

/// The model, read once.
pub(super) fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut bytes = Bytes(weights());
        let of_page = bytes.grid();
        let kinds = PageType::ALL.iter().map(|_| bytes.forest()).collect();
        let [articles, others] = [(); 2].map(|()| bytes.block_model());
        let points = u32::from_le_bytes(bytes.take());
        let calibration = (0..points).map(|_| (bytes.number(), bytes.number())).collect();
        Model { kinds, of_page, articles, others, calibration }
    })
}

#[cfg(not(feature = "training"))]
fn weights() -> &'static [u8] {
    WEIGHTS
}

/// Training evaluates weights that were not trained on a page by the conversion of that page.
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

    fn block_model(&mut self) -> BlockModel {
        let (words, grid) = (self.words(), self.grid());
        BlockModel { words, grid, forest: self.forest() }
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
        let splits = [0, 0, 1, 1, 0, 0, 0, 0, 126];
        let trees: Vec<u8> =
            splits.into_iter().chain(0.5_f32.to_le_bytes()).chain((0..8).map(|leaf| 2 * leaf)).collect();
        let forest = Forest { bias: 10.0, depth: 3, trees: trees.leak() };
        let rows: Vec<[f32; 3]> =
            (0..21).map(|row| [(row % 5) as f32 - 1.5, f32::NAN, f32::from(u8::from(row % 3 == 0))]).collect();
        let bins = Bins::new(&grid, rows.len(), |at, row| row.extend(rows[at]));
        let expected: Vec<f32> = rows
            .iter()
            .map(|row| 10.0 + f32::from(u8::from(row[0] > 0.5)) + 2.0 * f32::from(u8::from(row[2] > 0.0)))
            .collect();
        assert_eq!(forest.logits(&bins), expected);
    }

    #[test]
    fn the_weights_are_read_to_their_end() {
        let model = model();
        assert_eq!(model.kinds.len(), PageType::ALL.len());
        for BlockModel { words, forest, grid } in [&model.articles, &model.others] {
            assert!(words.groups.len().is_power_of_two());
            let mut trees = forest.trees.chunks_exact(Forest::tree_size(forest.depth));
            let splits_on_the_grid = |tree: &[u8]| {
                let (splits, _) = tree.split_at(SPLIT * forest.depth);
                let mut columns = splits.as_chunks().0.iter().map(|[low, high, _]| u16::from_le_bytes([*low, *high]));
                columns.all(|column| usize::from(column) < grid.columns.len())
            };
            assert!(forest.depth < 8 && trees.len() > 0 && trees.all(splits_on_the_grid));
        }
    }
}
