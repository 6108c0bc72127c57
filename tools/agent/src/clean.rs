//! Text of tools and models without terminal controls.
//!
//! It removes escape sequences, control characters, and marks that reverse the direction of writing, with which one
//! line can look like another.

/// Removes control sequences from text that arrives in pieces, wherever it is split.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaner {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
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
                // A line break ends whatever was not ended: a sequence never holds one.
                (State::Text8 | State::Text8Escape | State::Control | State::Escape | State::Designation, '\n') => {
                    clean.push(c);
                    State::Text
                }
                (State::Text8, '\u{7}' | '\u{9c}') | (State::Text8Escape, '\\') => State::Text,
                (State::Text8, '\u{1b}') => State::Text8Escape,
                (State::Text8 | State::Text8Escape, _) => State::Text8,
                (_, '\u{1b}') => State::Escape,
                (_, '\u{9b}') | (State::Escape, '[') | (State::Control, ' '..='?') => State::Control,
                (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') | (State::Escape, ']' | 'P' | 'X' | '^' | '_') => {
                    State::Text8
                }
                (State::Escape, ' '..='/') => State::Designation,
                (State::Escape | State::Designation, _) | (State::Control, '@'..='~') => State::Text,
                (State::Text | State::Control, c) => {
                    if !steers(c) {
                        clean.push(c);
                    }
                    State::Text
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
    fn a_line_is_one_line() {
        assert_eq!(line("a\n  b\u{1b}[1m c", 10), "a b c");
        assert_eq!(line("潮汐の表示", 3), "潮汐…");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_passes_wherever_text_is_split(text in "(\\PC|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}\\[\\]0-9;m]){0,60}", at in 0_usize..60) {
            let whole = clean(&text);
            prop_assert!(!whole.chars().any(steers));
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let mut cleaner = Cleaner::default();
            let halves = cleaner.clean(&text[..at]) + &cleaner.clean(&text[at..]);
            prop_assert_eq!(halves, whole);
        }
    }
}
