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

#[cfg(test)]
mod tests {
    use ragmaker_text::{ByteSource, Unicode, UnicodeDecoder};

    use super::*;

    fn budget() -> Budget {
        Budget::for_frame(&serde_json::Map::new())
    }

    /// The first page of `text` for an answer with `left` free characters.
    fn page(text: &str, left: usize) -> TextPage {
        let source = ByteSource::Memory(text.as_bytes().to_vec());
        let mut chunks = Chunks::new(&source, 0, text.len() as u64, 0, UnicodeDecoder::new(Unicode::Utf8));
        let mut budget = budget();
        budget.take_text(&"x".repeat(budget.left() - left));
        TextPage::fill(&mut chunks, budget).unwrap()
    }

    #[test]
    fn a_page_ends_after_a_line_where_one_fits() {
        let TextPage { text, cut } = page("one\ntwo\nthree\n", 12);
        assert!(cut && text == "one\ntwo\n", "{text:?}");
        let TextPage { text, cut } = page("one\ntwo\n", 100);
        assert!(!cut && text == "one\ntwo\n");
        assert!(!page("", 10).cut);
    }

    #[test]
    fn a_line_that_does_not_fit_is_cut_between_characters() {
        for text in ["\u{1f30a}".repeat(100_000), "\"".repeat(100_000), "\u{1}".repeat(100_000)] {
            let page = page(&text, 1_000);
            assert!(page.cut && !page.text.is_empty() && text.starts_with(&page.text));
            assert!(printed(&page.text, budget().charset()) <= 1_000);
        }
    }
}
