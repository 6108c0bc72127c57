//! The blocks of a page as the model sees them, for `training/train.py`.

use url::Url;

use super::{
    blocks::{Blocks, sibling_groups},
    choose,
    features::Features,
    words,
};
use crate::tree::Tree;

/// The blocks of a page as the model that chooses the main content sees them.
#[derive(Debug, Default)]
pub struct Examples {
    /// The text of each.
    pub texts: Vec<String>,
    /// The hashes of the words in and around each, place by place.
    pub words: Vec<[Vec<u32>; 5]>,
    /// The features of all, row by row.
    pub features: Vec<f32>,
    /// How many features at the end of every row are those of the page.
    pub of_page: usize,
    /// The first block inside and the first after each of the elements around each block.
    pub reach: Vec<u32>,
    /// The sibling group of each.
    pub sibling_groups: Vec<u32>,
    /// The probability of each to be content, by the model as it is.
    pub probabilities: Vec<f32>,
}

/// The examples of a page.
pub(crate) fn examples(tree: &Tree, address: Option<&Url>) -> Examples {
    let blocks = Blocks::new(tree);
    let features = Features::new(tree, &blocks, address);
    let mut examples = Examples {
        of_page: features.of_page().len(),
        sibling_groups: sibling_groups(tree, &blocks),
        ..Default::default()
    };
    examples.words = words::hashes(tree, &blocks);
    examples.probabilities = choose::predict(tree, &blocks, address).probabilities;
    for at in 0..blocks.list.len() {
        examples.texts.push(blocks.text(tree, at).into_owned());
        features.row(at, &mut examples.features);
        for id in features.around(at) {
            let inside = tree.subtree(id);
            for end in [inside.start, inside.end] {
                examples.reach.push(blocks.list.partition_point(|block| block.first < end) as u32);
            }
        }
    }
    examples
}
