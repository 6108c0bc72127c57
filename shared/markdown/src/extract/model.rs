//! The model: boosted forests of oblivious trees, trained by `training/train.py`.
//!
//! An oblivious tree asks the same question at every node of a level, so its leaf is the number
//! that its answers spell: all blocks of a page are answered at once, column by column, without a
//! branch. The weights are read where they lie in the executable.

use std::{ops::Range, sync::OnceLock};

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

    fn column(&self, at: usize) -> &[f32] {
        self.columns.get(at * self.rows..(at + 1) * self.rows).unwrap_or_default()
    }
}

struct Tree {
    splits: Vec<(u16, f32)>,
    leaves: Vec<f32>,
}

/// A boosted forest.
pub(super) struct Forest {
    bias: f32,
    trees: Vec<Tree>,
}

impl Forest {
    /// The chance of each row to be content.
    pub(super) fn chances(&self, table: &Table) -> Vec<f32> {
        let mut sums = vec![self.bias; table.rows];
        let mut leaf = vec![0_u16; table.rows];
        for tree in &self.trees {
            leaf.fill(0);
            for (level, &(feature, border)) in tree.splits.iter().enumerate() {
                for (leaf, value) in leaf.iter_mut().zip(table.column(usize::from(feature))) {
                    *leaf |= u16::from(*value > border) << level;
                }
            }
            for (sum, leaf) in sums.iter_mut().zip(&leaf) {
                *sum += tree.leaves[usize::from(*leaf)];
            }
        }
        for sum in &mut sums {
            *sum = 1.0 / (1.0 + (-*sum).exp());
        }
        sums
    }
}

/// Everything that was learned.
pub(super) struct Model {
    /// For each kind of page, what tells it from the others.
    pub(super) kinds: Vec<Forest>,
    /// Sees a block.
    pub(super) first: Forest,
    /// Sees also what the first thinks of the blocks around.
    pub(super) second: Forest,
}

/// The model, read once.
pub(super) fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut bytes = Bytes(WEIGHTS);
        let kinds = PageType::ALL.iter().map(|_| bytes.forest()).collect();
        Model { kinds, first: bytes.forest(), second: bytes.forest() }
    })
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

    fn forest(&mut self) -> Forest {
        let (trees, depth) = (u32::from_le_bytes(self.take()), u32::from_le_bytes(self.take()));
        let bias = self.number();
        let tree = |bytes: &mut Self| Tree {
            splits: (0..depth).map(|_| (u16::from_le_bytes(bytes.take()), bytes.number())).collect(),
            leaves: (0..1 << depth).map(|_| bytes.number()).collect(),
        };
        Forest { bias, trees: (0..trees).map(|_| tree(self)).collect() }
    }
}
