//! From each block's chance to be content to the blocks that are chosen.

use foldhash::HashSet;
use url::Url;

use super::{
    blocks::{Block, Blocks, kin},
    features::{AROUND, Features},
    model::{Bins, Table, chance, model},
    words::{self, PLACES},
};
use crate::{metadata::PageType, tag::Tag, tree::Tree};

/// Of a page whose best choice can be expected to have a smaller F1, nothing is chosen: it is the frame of
/// content that is not there more often than not.
const LEAST: f32 = 0.25;

/// A page of fewer words is no frame.
const FRAME: f32 = 40.0;

/// How many blocks are looked at together.
const CHUNK: usize = 512;

/// What the model makes of a page.
pub(super) struct Opinion {
    /// The chance of every block to be content.
    pub(super) chances: Vec<f32>,
    pub(super) kind: PageType,
}

/// What kind of page it is.
pub(super) fn kind(tree: &Tree, blocks: &Blocks, address: Option<&Url>) -> PageType {
    kinds(&Features::new(tree, blocks, address)).0
}

/// The likeliest kind of page, and the chance of each.
fn kinds(features: &Features<'_>) -> (PageType, Vec<f32>) {
    let model = model();
    let of_page = Bins::new(&model.of_page, 1, |_, row| row.extend_from_slice(features.of_page()));
    let chances: Vec<f32> = model.kinds.iter().map(|forest| chance(forest.odds(&of_page)[0])).collect();
    let likeliest = (0..chances.len()).max_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    (likeliest.map_or(PageType::default(), |at| PageType::ALL[at]), chances)
}

/// Asks the model about a page.
pub(super) fn opinion(tree: &Tree, blocks: &Blocks, address: Option<&Url>) -> Opinion {
    let features = Features::new(tree, blocks, address);
    let model = model();
    let (kind, kinds) = kinds(&features);
    let count = blocks.list.len();
    let said = words::said(tree, blocks, kind as usize);
    let told: Vec<f32> = said.iter().map(|said| chance(said[PLACES])).collect();
    let mut seen = context(&blocks.list, &told);
    let kin = kin(tree, blocks);
    around(&mut seen, tree, blocks, &features, &told);
    families(&mut seen, blocks, &kin, &told);
    // What has no words, a picture or a rule, goes with what is around it whatever its chance.
    let asked: Vec<usize> = (0..count).filter(|&at| blocks.list[at].counts.words > 0.0).collect();
    let mut chances = vec![0.0; count];
    for asked in asked.chunks(CHUNK) {
        let bins = Bins::new(&model.of_block, asked.len(), |at, row| {
            let block = asked[at];
            features.row(block, row);
            row.extend_from_slice(&kinds);
            row.extend_from_slice(&said[block]);
            seen.row(block, row);
        });
        for (&block, odds) in asked.iter().zip(model.forest.odds(&bins)) {
            chances[block] = chance(odds);
        }
    }
    Opinion { chances: agreed(&chances, &asked, &kin), kind }
}

/// What the forest sees beside the features: what the words of the blocks before and after say;
/// `training/train.py` has the same.
fn context(blocks: &[Block], opinion: &[f32]) -> Table {
    let count = opinion.len();
    let mut table = Table::empty(count);
    let at = |index: Option<usize>| index.and_then(|index| opinion.get(index)).copied().unwrap_or(-1.0);
    table.push(opinion.iter().copied());
    for step in 1..=3 {
        table.push((0..count).map(|index| at(index.checked_sub(step))));
        table.push((0..count).map(|index| at(index.checked_add(step))));
    }
    let sizes = blocks.iter().map(weight);
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
    table
}

/// How much a block counts when several are asked.
fn weight(block: &Block) -> f32 {
    (block.counts.words + 0.5).sqrt()
}

/// What the words say of the elements around a block.
fn around(table: &mut Table, tree: &Tree, blocks: &Blocks, features: &Features<'_>, opinion: &[f32]) {
    let mut sums = vec![(0.0_f32, 0.0_f32); tree.len()];
    for (block, opinion) in blocks.list.iter().zip(opinion) {
        let sum = &mut sums[block.container];
        *sum = (sum.0 + opinion * weight(block), sum.1 + weight(block));
    }
    for id in (1..tree.len()).rev() {
        let inner = sums[id];
        let sum = &mut sums[tree.parent(id)];
        *sum = (sum.0 + inner.0, sum.1 + inner.1);
    }
    for level in 0..AROUND {
        table.push((0..opinion.len()).map(|at| {
            let (mass, size) = features.around(at).nth(level).map_or((0.0, 0.0), |id| sums[id]);
            mass / size.max(1e-6)
        }));
    }
}

/// What the words say of the blocks that are built like a block, and how many these are.
fn families(table: &mut Table, blocks: &Blocks, kin: &[u32], opinion: &[f32]) {
    let mut groups = vec![(0.0_f32, 0.0_f32, 0.0_f32); kin.len()];
    for ((block, &group), opinion) in blocks.list.iter().zip(kin).zip(opinion) {
        let sum = &mut groups[group as usize];
        *sum = (sum.0 + opinion * weight(block), sum.1 + weight(block), sum.2 + 1.0);
    }
    table.push(kin.iter().map(|&group| groups[group as usize].0 / groups[group as usize].1));
    table.push(kin.iter().map(|&group| groups[group as usize].2));
}

/// The chances when blocks that are built alike have agreed half-way: they are content together more often
/// than each by itself.
/// Those that were `asked` do, which have words.
fn agreed(chances: &[f32], asked: &[usize], kin: &[u32]) -> Vec<f32> {
    let mut groups = vec![(0.0_f32, 0.0_f32); kin.len()];
    for &block in asked {
        let sum = &mut groups[kin[block] as usize];
        *sum = (sum.0 + chances[block], sum.1 + 1.0);
    }
    let mut agreed = vec![0.0; chances.len()];
    for &block in asked {
        let (sum, count) = groups[kin[block] as usize];
        agreed[block] = f32::midpoint(chances[block], sum / count);
    }
    agreed
}

/// The blocks whose choice has the highest expected F1: by falling chance, as many as pay (Ye et
/// al., "Optimizing F-measure: a tale of two approaches", 2012). None where that is hardly to be expected.
pub(super) fn choose(tree: &Tree, blocks: &[Block], chances: &[f32]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
    // A text that stands on the page several times, for screens of several sizes, is said once.
    let mut said = HashSet::default();
    let mut chances = chances.to_vec();
    for &at in &order {
        let block = &blocks[at];
        if block.counts.words >= 6.0 && tree.tag(block.container) != Tag::Pre && !said.insert(block.hash) {
            chances[at] = 0.0;
        }
    }
    order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
    let expected: f32 = blocks.iter().zip(&chances).map(|(block, chance)| block.counts.words * chance).sum();
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
    if best.0 >= LEAST || size < FRAME {
        for &at in &order[..best.1] {
            chosen[at] = true;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(page: &str, chances: &[f32]) -> Vec<bool> {
        let tree = Tree::parse(page, None);
        choose(&tree, &Blocks::new(&tree).list, chances)
    }

    #[test]
    fn as_many_blocks_are_chosen_as_pay() {
        let page = "<p>high water twice a day<p>low water as often<p>all rights are reserved";
        assert_eq!(chosen(page, &[0.9, 0.8, 0.2]), [true, true, false]);
        assert_eq!(chosen(page, &[0.4, 0.4, 0.4]), [true, true, true]);
        assert!(chosen("", &[]).is_empty());
    }

    #[test]
    fn a_frame_has_no_content() {
        let page = format!("<p>high water twice a day<p>{}", "all rights are reserved ".repeat(10));
        assert_eq!(chosen(&page, &[0.5, 0.05]), [true, false]);
        assert_eq!(chosen(&page, &[0.1, 0.1]), [false, false]);
        // Of a few words, who asks for content wants the best.
        assert_eq!(chosen("<p>high water<p>all rights are reserved", &[0.1, 0.01]), [true, false]);
    }

    #[test]
    fn what_is_said_twice_is_chosen_once() {
        let page = "<p>high water twice a day at the pier<p>and low water<p>high water twice a day at the pier";
        assert_eq!(chosen(page, &[0.8, 0.7, 0.9]), [false, true, true]);
    }

    #[test]
    fn blocks_that_are_built_alike_meet_half_way() {
        assert_eq!(agreed(&[0.75, 0.5, 0.0, 0.25], &[0, 1, 3], &[0, 1, 0, 0]), [0.625, 0.5, 0.0, 0.375]);
    }
}
