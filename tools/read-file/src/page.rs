//! The part of a text that fits one answer.

use std::io;

use ragmaker_text::{Chunks, Decode};
use ragmaker_tool::{
    Budget,
    budget::{longest_prefix, printed},
};

/// The part of a text that fits an answer.
#[derive(Debug)]
pub(crate) struct TextPage {
    pub(crate) text: String,
    /// Whether text is left.
    pub(crate) cut: bool,
}

impl TextPage {
    /// The start of `chunks` that fits the budget. It ends after a line, unless the first line is longer than
    /// that.
    pub(crate) fn fill<D: Decode>(chunks: &mut Chunks<'_, D>, budget: Budget) -> io::Result<Self> {
        let (budget, charset) = (budget.left(), budget.charset());
        let mut text = String::new();
        while let Some(chunk) = chunks.next()? {
            text.push_str(chunk);
            // What is longer than this in bytes is so in characters.
            if text.len() > budget * 4 || printed(&text, charset) > budget {
                let fits = longest_prefix(&text, budget, charset).len();
                text.truncate(fits);
                return Ok(Self { text, cut: true });
            }
        }
        Ok(Self { text, cut: false })
    }
}
