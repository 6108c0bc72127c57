//! How much of a text one answer takes, and where the next one goes on.

use std::io;

use ragmaker_text::{Chunks, Decode};
use ragmaker_tool::json;

/// As much text as an answer takes.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    /// Whether text is left.
    pub(crate) cut: bool,
}

impl Page {
    /// The start of what `chunks` say that takes at most `budget` characters as JSON. It ends after
    /// a line, unless the first line is longer than that.
    pub(crate) fn fill<D: Decode>(
        chunks: &mut Chunks<'_, D>,
        budget: usize,
        charset: json::Charset,
    ) -> io::Result<Self> {
        let mut text = String::new();
        let mut left = budget;
        while let Some(chunk) = chunks.next()? {
            let fits = fitting(chunk, left, charset);
            text.push_str(&chunk[..fits]);
            if fits < chunk.len() {
                if let Some(end) = text.rfind('\n') {
                    text.truncate(end + 1);
                }
                return Ok(Self { text, cut: true });
            }
            left -= printed(chunk, charset);
        }
        Ok(Self { text, cut: false })
    }
}

/// The number of characters that `text` takes within a JSON string.
fn printed(text: &str, charset: json::Charset) -> usize {
    /// The two quotes and the newline at the end.
    const AROUND: usize = 3;
    json::cost(&text, charset) - AROUND
}

/// The length of the longest start of `text` that takes at most `budget` characters.
fn fitting(text: &str, budget: usize, charset: json::Charset) -> usize {
    let most = text.char_indices().nth(budget).map_or(text.len(), |(at, _)| at);
    let (mut fits, mut exceeds) = (0, most + 1);
    while exceeds - fits > 1 {
        let middle = text.floor_char_boundary(usize::midpoint(fits, exceeds));
        if middle <= fits {
            // No boundary is left between them.
            let next = text.ceil_char_boundary(fits + 1);
            if next >= exceeds {
                break;
            }
            if printed(&text[..next], charset) <= budget { fits = next } else { exceeds = next }
        } else if printed(&text[..middle], charset) <= budget {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_start_that_fits(text in "(?s).{0,60}", budget in 0_usize..80, ascii: bool) {
            let charset = if ascii { json::Charset::Ascii } else { json::Charset::Utf8 };
            let fits = fitting(&text, budget, charset);
            prop_assert!(printed(&text[..fits], charset) <= budget);
            if fits < text.len() {
                let more = text.ceil_char_boundary(fits + 1);
                prop_assert!(printed(&text[..more], charset) > budget);
            }
        }
    }
}
