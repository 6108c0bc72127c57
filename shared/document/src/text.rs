//! Whether a document has text, by which a page without text is not saved and a document without text is found.

use crate::sections::Headings;

/// What the text of a document consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentText {
    /// There is none: no word, and no line of code.
    Missing,
    /// There are words in headings only.
    Headings,
    /// There are words or code outside of the headings.
    Body,
}

impl DocumentText {
    /// Reads a document's Markdown, without its front matter.
    pub fn of(markdown: &str) -> Self {
        let (mut headings, mut text) = (Headings::default(), Self::Missing);
        for line in markdown.lines() {
            let was_in_code = headings.in_code();
            let is_heading = headings.read(line).is_some();
            let has_words = || line.contains(char::is_alphanumeric);
            match (was_in_code, headings.in_code()) {
                (true, true) if !line.trim().is_empty() => return Self::Body,
                (false, false) if is_heading && has_words() => text = Self::Headings,
                (false, false) if !is_heading && has_words() => return Self::Body,
                _ => {}
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_word_or_a_line_of_code() {
        for empty in ["", "\n \n", "# \n", "---\n***\n", "```c\n\n```\n", "- - -\n"] {
            assert_eq!(DocumentText::of(empty), DocumentText::Missing, "{empty:?}");
        }
        for headings in ["# Title", "\n# Title\n\n## More\n---\n"] {
            assert_eq!(DocumentText::of(headings), DocumentText::Headings, "{headings:?}");
        }
        for text in [
            "# T\n\nword",
            "潮",
            "- [a](b)",
            "# T\n\n```json\n[]\n```\n",
            "# T\n\n```\n# a comment\n```\n",
            "# T\n\n    # a comment\n",
            "#define A\n",
            "> ```c\n> void f(void);\n> ```\n",
        ] {
            assert_eq!(DocumentText::of(text), DocumentText::Body, "{text:?}");
        }
    }
}
