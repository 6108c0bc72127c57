//! What the model learns from: for every page named on standard input, its blocks and their features.
//!
//! A line in is the path of an HTML file. Out, for every page: the number of blocks and the number
//! of features, then the text of each block with its length, then the features; all numbers 32-bit little-endian.

use std::io::{BufRead, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stdout().lock());
    for path in stdin().lock().lines() {
        let bytes = std::fs::read(path?)?;
        let (html, _) = ragmaker_markdown::decode(&bytes, None);
        let (texts, features) = ragmaker_markdown::training_examples(&html);
        let width = features.len() / texts.len().max(1);
        for number in [texts.len(), width] {
            out.write_all(&(number as u32).to_le_bytes())?;
        }
        for text in &texts {
            out.write_all(&(text.len() as u32).to_le_bytes())?;
            out.write_all(text.as_bytes())?;
        }
        for value in &features {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    out.flush()
}
