//! From each block's chance to be content to the blocks that are chosen.

use super::{
    blocks::{Block, Blocks},
    features::features,
    model::{Table, forests},
};
use crate::tree::Tree;

/// A block with a smaller chance is never chosen.
const FLOOR: f32 = 0.12;

/// The chance of every block to be content.
pub(super) fn chances(tree: &Tree, blocks: &Blocks) -> Vec<f32> {
    let features = features(tree, blocks);
    let mut table = Table::from_rows(&features.values, features.width);
    let (first, second) = forests();
    let opinion = first.chances(&table);
    context(&mut table, &blocks.list, &opinion);
    second.chances(&table)
}

/// What the second forest sees beside the features; `training/train.py` has the same.
fn context(table: &mut Table, blocks: &[Block], opinion: &[f32]) {
    let count = opinion.len();
    let at = |index: Option<usize>| index.and_then(|index| opinion.get(index)).copied().unwrap_or(-1.0);
    table.push(opinion.iter().copied());
    for step in 1..=3 {
        table.push((0..count).map(|index| at(index.checked_sub(step))));
        table.push((0..count).map(|index| at(index.checked_add(step))));
    }
    let sizes = blocks.iter().map(|block| (block.counts.words + 0.5).sqrt());
    let (mut mass, mut size) = (vec![0.0], vec![0.0]);
    for (opinion, weight) in opinion.iter().zip(sizes) {
        mass.push(mass[mass.len() - 1] + opinion * weight);
        size.push(size[size.len() - 1] + weight);
    }
    let mean =
        |from: usize, to: usize| if to > from { (mass[to] - mass[from]) / (size[to] - size[from]) } else { -1.0 };
    for reach in [4, 10, 25] {
        table.push((0..count).map(|index| mean(index.saturating_sub(reach), index)));
        table.push((0..count).map(|index| mean(index + 1, (index + reach + 1).min(count))));
    }
    let total = mean(0, count).max(0.0);
    table.push(std::iter::repeat_n(total, count));
    let highest = opinion.iter().copied().fold(0.0, f32::max);
    table.push(std::iter::repeat_n(highest, count));
    let most = count.checked_sub(1).map_or(0.0, |last| mass[last]) + 1e-6;
    table.push((0..count).map(|index| mass[index] / most));
}

/// The blocks whose choice has the highest expected F1: by falling chance, as many as pay (Ye et
/// al., "Optimizing F-measure: a tale of two approaches", 2012).
pub(super) fn choose(blocks: &[Block], chances: &[f32]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
    let expected: f32 = blocks.iter().zip(chances).map(|(block, chance)| block.counts.words * chance).sum();
    let (mut mass, mut size) = (0.0, 0.0);
    let mut best = (0.0, 0);
    for (rank, &at) in order.iter().enumerate() {
        mass += blocks[at].counts.words * chances[at];
        size += blocks[at].counts.words;
        let value = 2.0 * mass / (size + expected + 1e-9);
        if value > best.0 {
            best = (value, rank + 1);
        }
    }
    let mut chosen = vec![false; blocks.len()];
    for &at in &order[..best.1] {
        chosen[at] = chances[at] >= FLOOR;
    }
    chosen
}
