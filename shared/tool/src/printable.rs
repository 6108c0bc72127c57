//! Text in a form that is safe to show to a person who decides about it.

/// `text` without what would control a terminal, or turn the order of what is read.
pub fn printable(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_question_shows_what_would_run() {
        assert_eq!(printable("ls\u{1b}[2K\rrm x"), "ls\u{fffd}[2K\u{fffd}rm x");
        assert_eq!(printable("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(printable("日本\n"), "日本\n");
    }
}
