//! Normalized text for comparison: without Markdown, in NFKC, with one kind of quotes, dashes and white space.
//!
//! Quotations and documents are normalized by the same rules. A quotation may start anywhere in a block and is often
//! written on one line. So the rules depend only on the adjacent characters, never on the block that contains them.

use unicode_normalization::UnicodeNormalization;

use crate::{
    chars::{is_cjk, plain},
    source::{MarkdownReader, Reading, SourcePart, run},
};

/// Receives a folded text.
trait Sink {
    /// A character, and the bytes of the text that it stands for.
    fn character(&mut self, c: char, start: usize, end: usize);

    /// Characters of ASCII that stand in the text from `start` on as they are.
    fn run(&mut self, run: &str, start: usize);
}

impl Sink for String {
    fn character(&mut self, c: char, _: usize, _: usize) {
        self.push(c);
    }

    fn run(&mut self, run: &str, _: usize) {
        self.push_str(run);
    }
}

/// A folded text with the place that each byte of it came from: first byte and last (exclusive).
type Placed = (String, Vec<(u32, u32)>);

impl Sink for Placed {
    fn character(&mut self, c: char, start: usize, end: usize) {
        self.0.push(c);
        self.1.resize(self.0.len(), (start as u32, end as u32));
    }

    fn run(&mut self, run: &str, start: usize) {
        self.0.push_str(run);
        self.1.extend((start as u32..).zip(start as u32 + 1..).take(run.len()));
    }
}

/// Normalizes `text`.
pub(crate) fn folded(text: &str, reading: Reading) -> String {
    compared(text, reading).0
}

/// `text` folded, and whether it certainly is the same in every reading.
pub(crate) fn compared(text: &str, reading: Reading) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let depends = fold(text, reading, &mut out, run);
    (out, !depends)
}

/// `text` folded, with the places.
pub(crate) fn placed(text: &str, reading: Reading) -> Placed {
    let mut out = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    fold(text, reading, &mut out, run);
    out
}

/// Calls `sink` with `text` folded; `run` may say how much of the text stands for itself. Returns whether the reading
/// could make a difference.
fn fold(text: &str, reading: Reading, sink: &mut impl Sink, run: impl Fn(&MarkdownReader<'_>) -> usize) -> bool {
    let mut out = NormalizedOutput { sink, gap: None, last: None };
    let mut source = MarkdownReader::new(text, reading);
    while source.at < text.len() {
        let length = run(&source);
        if length > 0 {
            out.run(&text[source.at..source.at + length], source.at);
            source.skip(length);
            continue;
        }
        match source.next() {
            SourcePart::Dropped(length) => source.at += length,
            SourcePart::Blank(length) => {
                out.blank(source.at);
                source.at += length;
            }
            SourcePart::Char(c, length) => {
                out.push(c, is_cjk(c), source.at, source.at + length);
                source.at += length;
            }
            SourcePart::Composed(length) => {
                let part = &text[source.at..source.at + length];
                let cjk = part.chars().next().is_some_and(is_cjk);
                for c in part.nfkc() {
                    if c.is_whitespace() {
                        out.blank(source.at);
                    } else {
                        out.push(plain(c), cjk, source.at, source.at + length);
                    }
                }
                source.at += length;
            }
        }
    }
    source.depends
}

struct NormalizedOutput<'a, S> {
    sink: &'a mut S,
    /// The position of white space that was not emitted yet.
    gap: Option<usize>,
    /// Whether the last character was CJK.
    last: Option<bool>,
}

impl<S: Sink> NormalizedOutput<'_, S> {
    fn blank(&mut self, at: usize) {
        self.gap.get_or_insert(at);
    }

    fn push(&mut self, c: char, cjk: bool, start: usize, end: usize) {
        self.close(cjk);
        self.sink.character(c, start, end);
    }

    fn run(&mut self, run: &str, start: usize) {
        self.close(false);
        self.sink.run(run, start);
    }

    /// Ends the white space before a character.
    fn close(&mut self, cjk: bool) {
        if let Some(gap) = self.gap.take()
            && self.last.is_some_and(|last| !(last && cjk))
        {
            self.sink.character(' ', gap, gap + 1);
        }
        self.last = Some(cjk);
    }
}

/// Calls `emit` with each visible character of `text`, not normalized.
pub(crate) fn visible(text: &str, mut emit: impl FnMut(char)) {
    let (out, places) = placed(text, Reading::ShownPart);
    let mut done = 0;
    for (at, c) in out.char_indices() {
        let start = places[at].0 as usize;
        // One character may become several when normalized.
        if start >= done {
            let shown = text[start..].chars().next().filter(|shown| !shown.is_whitespace()).unwrap_or(c);
            emit(shown);
            done = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markdown_syntax_is_dropped() {
        for (text, folded_text) in [
            ("## A **b** `c` _d_ e_f", "A b c d e_f"),
            ("[a](b \"c\") ![d](e) [^1] f", "a d f"),
            ("| a | b |\n|---|:-:|\n| c | d |", "a b c d"),
            ("- a\n- b\n> c\n---\n***\nd {#id}", "a b c d"),
            ("\\*a\\* \\# b &amp; &lt;c&gt;<br>d <em>e</em> Vec<T>", "a b & <c> d e Vec<T>"),
            ("<https://x.example/> <!-- no --> a ~~b~~ ~c", "https://x.example/ a b ~c"),
            ("“a” ‘b’ – c—d «e» 「ｱ」", "\"a\" 'b' c-d \"e\" \"ア\""),
            ("潮の\n満ち 引き Rust の", "潮の満ち引き Rust の"),
            ("か\u{3099} ｶﾞ e\u{301} ﬁ ①", "がガ é fi 1"),
            ("a\u{ad}b\u{200b}c\u{a0}d", "abc d"),
        ] {
            assert_eq!(folded(text, Reading::Written), folded_text, "{text}");
        }
        let text = "1. a\n2) b\n```rust\nc\n```\n[d][e] [f][g]\n\n[e]: x";
        assert_eq!(folded(text, Reading::Shown), "a b c d fg e: x");
        assert_eq!(folded("a 1. b\n2. [d][e]", Reading::ShownPart), "a 1. b d");
        assert_eq!(folded("a 1. b [d][e]", Reading::Written), "a 1. b de");
    }

    proptest! {
        #[test]
        fn every_place_is_in_the_text(text in "([\\[\\]()<>#*_`~|>\\\\!&;\"a潮か\u{3099}ｶﾞ \n.1-]|<a |<!--|\\]\\(|&amp;){0,60}") {
            for reading in [Reading::Written, Reading::Shown, Reading::ShownPart] {
                let (out, places) = placed(&text, reading);
                prop_assert_eq!(&out, &folded(&text, reading));
                prop_assert_eq!(out.len(), places.len());
                let mut last = 0;
                for (start, end) in places {
                    prop_assert!(start >= last && start < end && text.get(start as usize..end as usize).is_some());
                    last = start;
                }
                prop_assert!(!out.contains("  ") && !out.starts_with(' '));
            }
        }

        #[test]
        fn runs_make_no_difference(text in "([ \\[\\]()<>#*_`~|>\\\\!&;\"a潮か\u{3099}ｶﾞ \n.1-]|[a-c ]{1,9}|[a-c ]{1,4}[潮é\u{301}]|1\\. |```\n|\n){0,60}") {
            for reading in [Reading::Written, Reading::Shown, Reading::ShownPart] {
                let mut slow = (String::new(), vec![]);
                let depends = fold(&text, reading, &mut slow, |_| 0);
                prop_assert_eq!(placed(&text, reading), slow);
                prop_assert_eq!(compared(&text, reading).1, !depends);
            }
        }

        #[test]
        fn a_text_that_is_the_same_in_every_reading_is(text in "([\\[\\]()`~a潮 \n.1-]|1\\. |```|\\[a\\]\\[a\\]|\\[a\\]: b|\n){0,30}") {
            let (written, is_same) = compared(&text, Reading::Written);
            if is_same {
                prop_assert_eq!(&folded(&text, Reading::Shown), &written);
                prop_assert_eq!(&folded(&text, Reading::ShownPart), &written);
            }
        }

        #[test]
        fn no_word_is_lost(words in prop::collection::vec("[a-z潮海]{1,8}", 1..30)) {
            prop_assert_eq!(folded(&words.join("\n"), Reading::Written), folded(&words.join("  "), Reading::Shown));
        }
    }
}
