//! `examples`: the training examples of the pages named on standard input, for `training/train.py`.
//!
//! A line of input is the path of an HTML file, a tab, and the URL of the page or nothing. The output for each
//! page: the numbers of blocks, of features per block, of ancestors per block and of page features; the text of
//! each block with its length; the hashes of words; the features; the extent of the ancestors; the sibling
//! groups; the probabilities. All numbers are 32 bits wide, little-endian.

use std::io::{BufRead, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stdout().lock());
    for line in stdin().lock().lines() {
        let line = line?;
        let (path, address) = line.split_once('\t').unwrap_or((&line, ""));
        let bytes = std::fs::read(path)?;
        let (html, _) = ragmaker_markdown::decode(&bytes, None);
        let page = ragmaker_markdown::training_examples(&html, url::Url::parse(address).ok().as_ref());
        let count = page.texts.len();
        let per_block = |length: usize| length / count.max(1);
        for number in [count, per_block(page.features.len()), per_block(page.reach.len() / 2), page.of_page] {
            out.write_all(&(number as u32).to_le_bytes())?;
        }
        for text in &page.texts {
            out.write_all(&(text.len() as u32).to_le_bytes())?;
            out.write_all(text.as_bytes())?;
        }
        for words in page.words.iter().flatten() {
            out.write_all(&(words.len() as u32).to_le_bytes())?;
            for word in words {
                out.write_all(&word.to_le_bytes())?;
            }
        }
        for value in &page.features {
            out.write_all(&value.to_le_bytes())?;
        }
        for value in page.reach.iter().chain(&page.sibling_groups) {
            out.write_all(&value.to_le_bytes())?;
        }
        for value in &page.probabilities {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    out.flush()
}
