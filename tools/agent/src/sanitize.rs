//! Text of tools and models without terminal controls.
//!
//! Output has no escape sequences, control characters, and marks that reverse the direction of writing, with which one
//! line can look like another. In a question to the person, they are shown as escapes ([`visible`]): what a call
//! contains must not be hidden from whoever approves it.

use std::fmt::{self, Write};

/// Removes control sequences from text that arrives in pieces, wherever it is split.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaner {
    state: EscapeState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// After `ESC (` and the like: one more character belongs to it.
    Designation,
    /// In a sequence that ends with a letter, as for colours.
    Control,
    /// In a string for the terminal, as for titles; it ends with BEL, or an escape character and a backslash.
    Text8,
    /// After an escape character in such a string.
    Text8Escape,
}

impl Cleaner {
    /// The next piece.
    pub(crate) fn clean(&mut self, piece: &str) -> String {
        let mut clean = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.state = match (self.state, c) {
                // A line break ends whatever was not ended: a sequence never contains one.
                (
                    EscapeState::Text8
                    | EscapeState::Text8Escape
                    | EscapeState::Control
                    | EscapeState::Escape
                    | EscapeState::Designation,
                    '\n',
                ) => {
                    clean.push(c);
                    EscapeState::Text
                }
                (EscapeState::Text8, '\u{7}' | '\u{9c}') | (EscapeState::Text8Escape, '\\') => EscapeState::Text,
                (EscapeState::Text8, '\u{1b}') => EscapeState::Text8Escape,
                (EscapeState::Text8 | EscapeState::Text8Escape, _) => EscapeState::Text8,
                (_, '\u{1b}') => EscapeState::Escape,
                (_, '\u{9b}') | (EscapeState::Escape, '[') | (EscapeState::Control, ' '..='?') => EscapeState::Control,
                (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') | (EscapeState::Escape, ']' | 'P' | 'X' | '^' | '_') => {
                    EscapeState::Text8
                }
                (EscapeState::Escape, ' '..='/') => EscapeState::Designation,
                (EscapeState::Escape | EscapeState::Designation, _) | (EscapeState::Control, '@'..='~') => {
                    EscapeState::Text
                }
                (EscapeState::Text | EscapeState::Control, c) => {
                    if !steers(c) {
                        clean.push(c);
                    }
                    EscapeState::Text
                }
            };
        }
        clean
    }
}

/// Whether a terminal does not show `c`, but does something.
fn steers(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// A text in which everything that a terminal does not show is an escape, such as `\x1b`. Line breaks stay.
pub(crate) fn visible(text: &str) -> String {
    escaped(text, |c, shown| {
        if u32::from(c) < 0x100 {
            write!(shown, "\\x{:02x}", u32::from(c))
        } else {
            write!(shown, "{}", c.escape_unicode())
        }
    })
}

/// JSON in which everything that a terminal does not show is an escape of JSON.
pub(crate) fn visible_json(json: &str) -> String {
    escaped(json, |c, shown| c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(shown, "\\u{unit:04x}")))
}

fn escaped(text: &str, escape: impl Fn(char, &mut String) -> fmt::Result) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) || is_invisible(c) {
            // Writing to a string cannot fail.
            let _ = escape(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether `c` has no width on a terminal, or looks like a plain space.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{202f}' | '\u{205f}'..='\u{206f}')
        || matches!(c, '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text without terminal controls.
pub(crate) fn clean(text: &str) -> String {
    Cleaner::default().clean(text)
}

/// A text as one line of at most `most` characters.
pub(crate) fn line(text: &str, most: usize) -> String {
    let text = clean(&text.chars().take(most.saturating_mul(4)).collect::<String>());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_are_removed_and_text_stays() {
        for (text, expected) in [
            ("plain\n\ttext 潮", "plain\n\ttext 潮"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jx\u{9d}52;c;YQ==\u{9c}y", "xy"),
            ("\u{1b}(Bx\u{1b}cy", "xy"),
            ("a\rb\u{8}c\u{0}", "abc"),
            ("gpj.\u{202e}exe\u{2066}", "gpj.exe"),
            ("\u{1b}Pq#0\u{1b}\\end", "end"),
            ("\u{1b}]0;never ended\nnext", "\nnext"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_question_hides_nothing() {
        for (text, expected) in [
            ("rm a\n\tb 潮 🌊", "rm a\n\tb 潮 🌊"),
            ("ls\u{1b}]0;rm -rf x\u{7}\r", "ls\\x1b]0;rm -rf x\\x07\\x0d"),
            ("a\u{9b}2Kb\u{7f}", "a\\x9b2Kb\\x7f"),
            ("gpj.\u{202e}exe\u{200b}", "gpj.\\u{202e}exe\\u{200b}"),
            ("rm\u{a0}x\u{e0041}", "rm\\xa0x\\u{e0041}"),
        ] {
            assert_eq!(visible(text), expected);
        }
        let json = serde_json::json!({"a": "\u{1b}[2K\u{202e}\u{e0041}\u{7f}潮"});
        let shown = visible_json(&json.to_string());
        assert!(shown.is_ascii() || shown.contains('潮') && !shown.chars().any(|c| steers(c) || is_invisible(c)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("a\n  b\u{1b}[1m c", 10), "a b c");
        assert_eq!(line("潮汐の表示", 3), "潮汐…");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_passes_wherever_text_is_split(text in "(\\PC|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}\\[\\]0-9;m]){0,60}", at in 0_usize..60) {
            let whole = clean(&text);
            prop_assert!(!whole.chars().any(steers) && !visible(&text).chars().any(|c| steers(c) || is_invisible(c)));
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let mut cleaner = Cleaner::default();
            let halves = cleaner.clean(&text[..at]) + &cleaner.clean(&text[at..]);
            prop_assert_eq!(halves, whole);
        }
    }
}
