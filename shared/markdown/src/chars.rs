//! Characters and words, in scripts with and without spaces.

/// Whether `c` belongs to a script that is written without spaces.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{312F}' | '\u{31A0}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// The number of words in `text`: separated by white space, and each ideograph.
pub fn count_words(text: &str) -> usize {
    let mut words = 0;
    let mut in_word = false;
    for c in text.chars() {
        // Most text is ASCII, which is classified faster.
        if c.is_ascii_alphanumeric() {
            words += usize::from(!in_word);
            in_word = true;
        } else if c.is_whitespace() {
            in_word = false;
        } else if !c.is_ascii() && c.is_alphanumeric() {
            let is_ideograph = is_ideograph(c);
            words += usize::from(is_ideograph || !in_word);
            in_word = !is_ideograph;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_every_script() {
        for (text, words) in
            [("", 0), ("high and low", 3), ("- 3.5 m!", 2), ("日本 語", 3), ("été à Brest", 3), ("о море", 2)]
        {
            assert_eq!(count_words(text), words, "{text}");
        }
    }

    #[test]
    fn ideographs_are_told_from_letters() {
        assert!(['日', 'か', '，', '𠀀'].into_iter().all(is_ideograph));
        assert!(!['a', 'é', 'я', '한', '.'].into_iter().any(is_ideograph));
    }
}
