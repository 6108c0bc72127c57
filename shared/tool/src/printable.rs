//! Text for people: what is safe to show to a person who decides about it, and numbers of things.

/// `text` without what would control a terminal, or turn the order of what is read.
pub fn printable(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// A number of things: `1 file`, `2 files`. `noun` is a singular with a regular plural.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn a_question_shows_what_would_run() {
        assert_eq!(printable("ls\u{1b}[2K\rrm x"), "ls\u{fffd}[2K\u{fffd}rm x");
        assert_eq!(printable("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(printable("日本\n"), "日本\n");
    }
}
