//! Kinds of characters.

/// Replaces quotation marks and dashes by one kind.
pub(crate) fn plain(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '「' | '」' | '『' | '』' | '〝' | '〞' | '〟' | '＂' | '｢' | '｣' => {
            '"'
        }
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '´' | '＇' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹘' | '﹣' | '－' => '-',
        other => other,
    }
}

/// Whether `c` belongs to a script without spaces between words, including its punctuation.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{312f}' | '\u{3130}'..='\u{318f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3200}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether `c` is a kana or an ideograph that NFKC does not change and that is not a combining mark.
pub(crate) fn is_stable(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}')
}
