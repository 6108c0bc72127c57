//! Selection: the model's prediction for every block, and the selection of blocks with the highest expected F1.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use url::Url;

use super::{
    blocks::{Block, Blocks, sibling_groups},
    features::{ANCESTORS, Features},
    model::{Bins, Table, model, sigmoid},
    words::{self, PLACES},
};
use crate::{
    metadata::PageType,
    tag::Tag,
    tree::{Id, Tree},
};

/// If the best selection has a smaller expected F1, nothing is selected, because the page is probably a
/// template without its content.
const MIN_EXPECTED_F1: f32 = 0.25;

/// A page with fewer words is not assumed to be a template.
const TEMPLATE_WORDS: f32 = 40.0;

/// The number of blocks that are predicted together.
const CHUNK: usize = 512;

/// The model's prediction for a page.
pub(super) struct Prediction {
    /// For each block, the probability that it is content.
    pub(super) probabilities: Vec<f32>,
    pub(super) kind: PageType,
}

/// The kind of the page.
pub(super) fn kind(tree: &Tree, blocks: &Blocks, address: Option<&Url>) -> PageType {
    kinds(&Features::new(tree, blocks, address)).0
}

/// The most probable kind of page, and the probability of each.
fn kinds(features: &Features<'_>) -> (PageType, Vec<f32>) {
    let model = model();
    let of_page = Bins::new(&model.of_page, 1, |_, row| row.extend_from_slice(features.of_page()));
    let probabilities: Vec<f32> = model.kinds.iter().map(|forest| sigmoid(forest.logits(&of_page)[0])).collect();
    let most_probable = (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    (most_probable.map_or(PageType::default(), |at| PageType::ALL[at]), probabilities)
}

/// Runs the model on a page.
pub(super) fn predict(tree: &Tree, blocks: &Blocks, address: Option<&Url>) -> Prediction {
    let features = Features::new(tree, blocks, address);
    let (kind, kinds) = kinds(&features);
    let model = model().of_blocks(kind);
    let count = blocks.list.len();
    let scores = words::text_scores(tree, blocks, &model.words, kind as usize);
    let by_words: Vec<f32> = scores.iter().map(|scores| sigmoid(scores[PLACES])).collect();
    let mut columns = context(&blocks.list, &by_words);
    let groups = sibling_groups(tree, blocks);
    around(&mut columns, tree, blocks, &features, &by_words);
    grouped(&mut columns, blocks, &groups, &by_words);
    // A block without words, such as an image or a rule, goes with the blocks around it.
    let worded: Vec<usize> = (0..count).filter(|&at| blocks.list[at].counts.words > 0.0).collect();
    let mut probabilities = vec![0.0; count];
    for chunk in worded.chunks(CHUNK) {
        let bins = Bins::new(&model.grid, chunk.len(), |at, row| {
            let block = chunk[at];
            features.row(block, row);
            row.extend_from_slice(&kinds);
            row.extend_from_slice(&scores[block]);
            columns.row(block, row);
        });
        for (&block, logit) in chunk.iter().zip(model.forest.logits(&bins)) {
            probabilities[block] = sigmoid(logit);
        }
    }
    Prediction { probabilities: smoothed(&probabilities, &worded, &groups), kind }
}

/// Columns of the probabilities by words of the blocks before and after; as in `training/train.py`.
fn context(blocks: &[Block], probability: &[f32]) -> Table {
    let count = probability.len();
    let mut table = Table::empty(count);
    let at = |index: Option<usize>| index.and_then(|index| probability.get(index)).copied().unwrap_or(-1.0);
    table.push(probability.iter().copied());
    for step in 1..=3 {
        table.push((0..count).map(|index| at(index.checked_sub(step))));
        table.push((0..count).map(|index| at(index.checked_add(step))));
    }
    let sizes = blocks.iter().map(weight);
    let (mut mass, mut size) = (vec![0.0], vec![0.0]);
    for (probability, weight) in probability.iter().zip(sizes) {
        mass.push(mass[mass.len() - 1] + probability * weight);
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
    let highest = probability.iter().copied().fold(0.0, f32::max);
    table.push(std::iter::repeat_n(highest, count));
    let most = count.checked_sub(1).map_or(0.0, |last| mass[last]) + 1e-6;
    table.push((0..count).map(|index| mass[index] / most));
    table
}

/// The weight of a block in a mean.
fn weight(block: &Block) -> f32 {
    (block.counts.words + 0.5).sqrt()
}

/// Columns of the mean probabilities by words in the elements around a block.
fn around(table: &mut Table, tree: &Tree, blocks: &Blocks, features: &Features<'_>, probability: &[f32]) {
    let mut sums = vec![(0.0_f32, 0.0_f32); tree.len()];
    for (block, probability) in blocks.list.iter().zip(probability) {
        let sum = &mut sums[block.container];
        *sum = (sum.0 + probability * weight(block), sum.1 + weight(block));
    }
    for id in (1..tree.len()).rev() {
        let inner = sums[id];
        let sum = &mut sums[tree.parent(id)];
        *sum = (sum.0 + inner.0, sum.1 + inner.1);
    }
    for level in 0..ANCESTORS {
        table.push((0..probability.len()).map(|at| {
            let (mass, size) = features.around(at).nth(level).map_or((0.0, 0.0), |id| sums[id]);
            mass / size.max(1e-6)
        }));
    }
}

/// Columns of the mean probability by words in a block's sibling group, and of its size.
fn grouped(table: &mut Table, blocks: &Blocks, group_of: &[u32], probability: &[f32]) {
    let mut groups = vec![(0.0_f32, 0.0_f32, 0.0_f32); group_of.len()];
    for ((block, &group), probability) in blocks.list.iter().zip(group_of).zip(probability) {
        let sum = &mut groups[group as usize];
        *sum = (sum.0 + probability * weight(block), sum.1 + weight(block), sum.2 + 1.0);
    }
    table.push(group_of.iter().map(|&group| groups[group as usize].0 / groups[group as usize].1));
    table.push(group_of.iter().map(|&group| groups[group as usize].2));
}

/// The probabilities of the blocks with words, each moved half-way to the mean of its sibling group: blocks that
/// are built alike are content together more often than each by itself.
fn smoothed(probabilities: &[f32], worded: &[usize], group_of: &[u32]) -> Vec<f32> {
    let mut groups = vec![(0.0_f32, 0.0_f32); group_of.len()];
    for &block in worded {
        let sum = &mut groups[group_of[block] as usize];
        *sum = (sum.0 + probabilities[block], sum.1 + 1.0);
    }
    let mut smoothed = vec![0.0; probabilities.len()];
    for &block in worded {
        let (sum, count) = groups[group_of[block] as usize];
        smoothed[block] = f32::midpoint(probabilities[block], sum / count);
    }
    smoothed
}

/// The blocks whose choice has the highest expected F1: by falling probability, as many as raise it (Ye et al.,
/// "Optimizing F-measure: a tale of two approaches", 2012), with the expected F1. None where that is below
/// [`MIN_EXPECTED_F1`], unless the page is no template: it has few words, or only one text, however unusual.
pub(super) fn choose(tree: &Tree, blocks: &[Block], mut probabilities: Vec<f32>) -> (Vec<bool>, f32) {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    // A text that the page has several times, for screens of several sizes, is chosen once. Visible texts beside each
    // other, such as the refrains of a song, are all content.
    let mut seen = HashMap::default();
    for &at in &order {
        let block = &blocks[at];
        if block.counts.words < 6.0 || tree.tag(block.container) == Tag::Pre {
            continue;
        }
        let parent = tree.parent(block.container);
        match seen.entry(block.hash) {
            Entry::Vacant(first) => _ = first.insert(parent),
            Entry::Occupied(first) if *first.get() == parent && !tree.node(block.container).hidden => {}
            Entry::Occupied(_) => probabilities[at] = 0.0,
        }
    }
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let expected: f32 =
        blocks.iter().zip(&probabilities).map(|(block, probability)| block.counts.words * probability).sum();
    let (mut mass, mut size) = (0.0, 0.0);
    let mut best = (0.0, 0);
    for (rank, &at) in order.iter().enumerate() {
        mass += blocks[at].counts.words * probabilities[at];
        size += blocks[at].counts.words;
        let value = 2.0 * mass / (size + expected + 1e-9);
        if value > best.0 {
            best = (value, rank + 1);
        }
    }
    let mut chosen = vec![false; blocks.len()];
    if best.0 >= MIN_EXPECTED_F1 || size < TEMPLATE_WORDS || has_one_text(tree, blocks) {
        for &at in &order[..best.1] {
            chosen[at] = true;
        }
    }
    (chosen, best.0)
}

/// Whether a page has only one block that is neither a heading nor hidden.
fn has_one_text(tree: &Tree, blocks: &[Block]) -> bool {
    let is_text = |block: &&Block| block.counts.words > 0.0 && tree.tag(block.container).heading_level().is_none();
    let is_hidden = |id: Id| std::iter::once(id).chain(tree.ancestors(id)).any(|id| tree.node(id).hidden);
    let mut texts = blocks.iter().filter(is_text);
    texts.next().is_some_and(|text| !is_hidden(text.container)) && texts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(page: &str, probabilities: &[f32]) -> Vec<bool> {
        let tree = Tree::parse(page, None);
        choose(&tree, &Blocks::new(&tree).list, probabilities.to_vec()).0
    }

    #[test]
    fn as_many_blocks_are_chosen_as_raise_the_expected_f1() {
        let page = "<p>high water twice a day<p>low water as often<p>all rights are reserved";
        assert_eq!(chosen(page, &[0.9, 0.8, 0.2]), [true, true, false]);
        assert_eq!(chosen(page, &[0.4, 0.4, 0.4]), [true, true, true]);
        assert!(chosen("", &[]).is_empty());
    }

    #[test]
    fn a_template_has_no_content() {
        let page = format!("<p>high water twice a day<p>{}", "all rights are reserved ".repeat(10));
        assert_eq!(chosen(&page, &[0.5, 0.05]), [true, false]);
        assert_eq!(chosen(&page, &[0.1, 0.1]), [false, false]);
        // Of a page with few words the best is chosen.
        assert_eq!(chosen("<p>high water<p>all rights are reserved", &[0.1, 0.01]), [true, false]);
    }

    #[test]
    fn a_page_with_one_text_is_no_template() {
        let text = "water ".repeat(50);
        assert_eq!(chosen(&format!("<p>{text}"), &[0.05]), [true]);
        assert_eq!(chosen(&format!("<h1>Water</h1><p>{text}"), &[0.01, 0.05]), [false, true]);
        assert_eq!(chosen(&format!("<div hidden><p>{text}</div>"), &[0.05]), [false]);
    }

    #[test]
    fn a_repeated_text_is_chosen_once() {
        let page = "<div><p>high water twice a day at the pier</div><p>low water<p>high water twice a day at the pier";
        assert_eq!(chosen(page, &[0.8, 0.7, 0.9]), [false, true, true]);
    }

    #[test]
    fn a_refrain_is_chosen_each_time() {
        let page = "<p>high water twice a day at the pier<p>low water<p>high water twice a day at the pier";
        assert_eq!(chosen(page, &[0.8, 0.7, 0.9]), [true, true, true]);
        let page = page.replacen("<p>", "<p hidden>", 1);
        assert_eq!(chosen(&page, &[0.8, 0.7, 0.9]), [false, true, true]);
    }

    #[test]
    fn sibling_groups_share_half_of_their_probability() {
        assert_eq!(smoothed(&[0.75, 0.5, 0.0, 0.25], &[0, 1, 3], &[0, 1, 0, 0]), [0.625, 0.5, 0.0, 0.375]);
    }
}
