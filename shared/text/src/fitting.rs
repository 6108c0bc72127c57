//! How much of a text an answer takes.

use ragmaker_tool::json::{self, Charset};

/// The longest start of `text` that takes at most `budget` characters within a JSON string, cut
/// after a line where it has one.
pub fn fitting(text: &str, budget: usize, charset: Charset) -> &str {
    let fits = longest(text, budget, charset);
    if fits == text.len() {
        return text;
    }
    &text[..text[..fits].rfind('\n').map_or(fits, |end| end + 1)]
}

/// The number of characters that `text` takes within a JSON string.
pub fn printed(text: &str, charset: Charset) -> usize {
    /// The two quotes and the newline at the end.
    const AROUND: usize = 3;
    json::cost(&text, charset) - AROUND
}

/// The length of the longest start of `text` that takes at most `budget` characters.
fn longest(text: &str, budget: usize, charset: Charset) -> usize {
    let most = text.char_indices().nth(budget).map_or(text.len(), |(at, _)| at);
    let (mut fits, mut exceeds) = (0, most + 1);
    loop {
        let middle = text.floor_char_boundary(usize::midpoint(fits, exceeds));
        let middle = if middle > fits { middle } else { text.ceil_char_boundary(fits + 1) };
        if middle >= exceeds || middle == fits {
            return fits;
        }
        if printed(&text[..middle], charset) <= budget { fits = middle } else { exceeds = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_start_that_fits(text in "(?s).{0,60}", budget in 0_usize..80, ascii: bool) {
            let charset = if ascii { Charset::Ascii } else { Charset::Utf8 };
            let fits = longest(&text, budget, charset);
            prop_assert!(printed(&text[..fits], charset) <= budget);
            if fits < text.len() {
                let more = text.ceil_char_boundary(fits + 1);
                prop_assert!(printed(&text[..more], charset) > budget);
            }
        }
    }
}
