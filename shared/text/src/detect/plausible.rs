//! The plausibility of the possible readings of a short text.
//!
//! `chardetng` weighs pairs of characters of long texts, and mistakes a few characters of Japanese for Cyrillic. For a
//! text with few bytes outside ASCII, this module computes the cost of the reading in each encoding, in bits: the sum,
//! over the characters, of their rarity in the languages of the encoding and of their improbability beside their
//! neighbours. All readings explain the same bytes, so the sums can be compared.

use std::sync::LazyLock;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, IBM866, ISO_8859_2, KOI8_U, SHIFT_JIS, UTF_8, WINDOWS_874,
    WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
};

use super::{Prior, frequent, prior::MOST};

/// The most non-ASCII bytes of a short text. For longer texts, `chardetng` alone is right.
pub(super) const SHORT: usize = 160;

/// How many bits cheaper another reading must be than that of `chardetng`.
const MARGIN: u32 = 6;

/// The same for a guess that is not among the candidates, such as an encoding of Baltic languages, which `chardetng` makes
/// of a single accented letter.
const MARGIN_OF_RARE: u32 = 3;

/// The disadvantage, in bits, of an encoding of DOS, which explains most bytes with a letter but is rare today.
const OF_DOS: u32 = 8;

/// The cost of invalid bytes, in bits.
const NOT_TEXT: u32 = 40;

/// The encodings that are tried.
static CANDIDATES: [&Encoding; 16] = [
    SHIFT_JIS,
    EUC_JP,
    GBK,
    BIG5,
    EUC_KR,
    WINDOWS_1251,
    KOI8_U,
    IBM866,
    WINDOWS_1252,
    WINDOWS_1250,
    ISO_8859_2,
    WINDOWS_1253,
    WINDOWS_1254,
    WINDOWS_1255,
    WINDOWS_1256,
    WINDOWS_874,
];

/// The encoding of `sample` that is clearly more plausible than `guess`, if the text is short and there is one. The
/// `prior` is asked only where it can decide, because it may have to read files.
pub(crate) fn better(guess: &'static Encoding, sample: &[u8], prior: &dyn Fn() -> Prior) -> Option<&'static Encoding> {
    let count = sample.iter().filter(|byte| !byte.is_ascii()).take(SHORT + 1).count();
    if count == 0 || count > SHORT || guess == UTF_8 || !guess.is_ascii_compatible() {
        return None;
    }
    let sample = &relevant(sample);
    let bits = |encoding| cost(encoding, sample).map(|bits| bits + if encoding == IBM866 { OF_DOS } else { 0 });
    let mut costs: Vec<(u32, &Encoding)> =
        CANDIDATES.into_iter().filter_map(|encoding| Some((bits(encoding)?, encoding))).collect();
    let of_guess = bits(guess);
    let (margin, of_rare) =
        if CANDIDATES.contains(&guess) { (MARGIN, None) } else { (MARGIN_OF_RARE, of_guess.map(|bits| (bits, guess))) };
    let least = costs.iter().map(|found| found.0).min()?;
    if costs.iter().chain(&of_rare).filter(|found| found.0 <= least + MOST + margin).nth(1).is_none() {
        return costs.into_iter().min_by_key(|found| found.0).map(|found| found.1);
    }
    let prior = prior();
    for (bits, encoding) in &mut costs {
        *bits += MOST - prior.advantage(encoding);
    }
    let (bits_of_best, best) = costs.into_iter().min_by_key(|found| found.0)?;
    let is_clear = of_guess.is_none_or(|bits| bits_of_best + margin <= bits + MOST - prior.advantage(guess));
    is_clear.then_some(best)
}

/// The non-ASCII bytes of `sample` with their neighbours; omitted parts are replaced by a newline.
fn relevant(sample: &[u8]) -> Vec<u8> {
    const CONTEXT: usize = 8;
    let mut parts = vec![];
    let mut taken = 0;
    for (at, _) in sample.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()) {
        if taken + CONTEXT < at {
            parts.push(b'\n');
            taken = at - CONTEXT;
        }
        let end = sample.len().min(at + CONTEXT);
        parts.extend_from_slice(sample.get(taken..end).unwrap_or_default());
        taken = taken.max(end);
    }
    parts
}

/// The cost of `sample` in `encoding` in bits; `None` if it is invalid in that encoding. An incomplete
/// character at the end of the sample is ignored.
fn cost(encoding: &'static Encoding, sample: &[u8]) -> Option<u32> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(sample.len())?);
    let (_, _, has_errors) = decoder.decode_to_string(sample, &mut text, false);
    if has_errors {
        return None;
    }
    let many = MultiByte::of(encoding);
    let text: Vec<char> = text.chars().collect();
    let at = |index: Option<usize>| index.and_then(|index| text.get(index)).copied().unwrap_or('\n');
    let outside_ascii = text.iter().enumerate().filter(|(_, c)| !c.is_ascii());
    let total = outside_ascii.map(|(index, &c)| {
        let (before, after) = (at(index.checked_sub(1)), at(Some(index + 1)));
        match &many {
            Some(many) => many.cost(c, before, after),
            None => single_byte(c, before, after, at(index.checked_sub(2))),
        }
    });
    let total: u32 = total.sum();
    Some(total + words(&text))
}

/// A multi-byte encoding of an East Asian language.
struct MultiByte {
    encoding: &'static Encoding,
    frequent: &'static [char],
}

fn sorted(text: &str) -> Vec<char> {
    let mut chars: Vec<char> = text.chars().collect();
    chars.sort_unstable();
    chars
}

impl MultiByte {
    fn of(encoding: &'static Encoding) -> Option<Self> {
        static FREQUENT: LazyLock<[Vec<char>; 4]> = LazyLock::new(|| {
            [frequent::JAPANESE, frequent::SIMPLIFIED, frequent::TRADITIONAL, frequent::KOREAN].map(sorted)
        });
        let language = match encoding {
            _ if encoding == SHIFT_JIS || encoding == EUC_JP => 0,
            _ if encoding == GBK || encoding == GB18030 => 1,
            _ if encoding == BIG5 => 2,
            _ if encoding == EUC_KR => 3,
            _ => return None,
        };
        Some(Self { encoding, frequent: &FREQUENT[language] })
    }

    fn cost(&self, c: char, before: char, after: char) -> u32 {
        let is_japanese = self.encoding == SHIFT_JIS || self.encoding == EUC_JP;
        let own = match c {
            '\u{3041}'..='\u{3093}' if is_japanese => 6,
            '\u{30a1}'..='\u{30f6}' | 'ー' if is_japanese => 7,
            // Half-width katakana: one byte each, usually in runs.
            '\u{ff61}'..='\u{ff9f}' => {
                let is_half_width = |c| matches!(c, '\u{ff61}'..='\u{ff9f}');
                if is_half_width(before) || is_half_width(after) { 6 } else { 14 }
            }
            '\u{3041}'..='\u{30f6}' => 14,
            '、' | '。' | '「' | '」' | '・' | '　' | '，' | '：' | '（' | '）' | '！' | '？' | '；' | '“' | '”'
            | '《' | '》' => 8,
            '\u{ff01}'..='\u{ff5e}' | '\u{3000}'..='\u{303f}' | '—' | '…' | '‘' | '’' => 10,
            '\u{ac00}'..='\u{d7a3}' if self.frequent.binary_search(&c).is_ok() => 8,
            '\u{4e00}'..='\u{9fff}' if self.frequent.binary_search(&c).is_ok() => 9,
            '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => self.rarity(c),
            '\u{e000}'..='\u{f8ff}' | '\u{80}'..='\u{9f}' | '\u{fffd}' => NOT_TEXT,
            _ => 16,
        };
        // A single ideograph in the middle of a Latin word is an accented letter, and so are a few half-width katakana.
        let beside = u32::from(before.is_ascii_alphabetic()) + u32::from(after.is_ascii_alphabetic());
        let is_alone = before.is_ascii() && after.is_ascii();
        let is_half_width = matches!(c, '\u{ff61}'..='\u{ff9f}');
        own + match beside {
            2 if is_alone => 18,
            _ if is_alone || is_half_width => 5 * beside,
            _ => beside,
        }
    }

    /// The cost of an ideograph or syllable that is not frequent, by its position in its character set. Each
    /// set starts with the characters in common use.
    fn rarity(&self, c: char) -> u32 {
        let mut buffer = [0; 4];
        let (bytes, _, _) = self.encoding.encode(c.encode_utf8(&mut buffer));
        let (lead, trail) = (bytes[0], bytes.get(1).copied().unwrap_or_default());
        let (common, rare) = match self.encoding {
            one if one == SHIFT_JIS => ((0x88..=0x97).contains(&lead) || lead == 0x98 && trail <= 0x72, lead <= 0xEA),
            one if one == EUC_JP => ((0xB0..=0xCF).contains(&lead), (0xD0..=0xF4).contains(&lead)),
            one if one == BIG5 => ((0xA4..=0xC6).contains(&lead), (0xC9..=0xF9).contains(&lead)),
            one if one == EUC_KR => {
                ((0xB0..=0xC8).contains(&lead) && trail >= 0xA1, (0xCA..=0xFD).contains(&lead) && trail >= 0xA1)
            }
            _ => (
                (0xB0..=0xD7).contains(&lead) && trail >= 0xA1 && bytes.len() == 2,
                (0xD8..=0xF7).contains(&lead) && trail >= 0xA1 && bytes.len() == 2,
            ),
        };
        match (common, rare) {
            (true, _) => 12,
            (_, true) => 17,
            _ => 20,
        }
    }
}

/// The costs, in bits, of letters and of signs beside them.
const FREQUENCIES: [(u32, &str); 9] = [
    (4, "оеаинтсрвлαοιετσνηυρ\u{627}\u{644}\u{64a}\u{645}\u{648}\u{646}\u{631}\u{629}יולאםהרמת"),
    (5, "кмдпуяыьгзбπκμλςωάέήίόύώγδ"),
    (6, "чйхжшюц"),
    (7, "щэфёіїєβζθξφχψéäöüèàáíóçñãßåê"),
    (8, "úøæâîôõûùòìïëąęłśżćńčřžšěůýőűğış"),
    (9, "ъґўÉÄÖÜÀÅØÁÓÇ“”’‘„–—…«»©°€£№¿¡\u{a0}"),
    (10, "źťďňŁŚŻĄĘĆŃČŘĚŽŠİŞ"),
    (11, "®™§•·²½±×µ"),
    (12, "¼¾³¹¶÷"),
];

/// The cost of a character of a single-byte encoding.
fn single_byte(c: char, before: char, after: char, before_that: char) -> u32 {
    let script = Script::of(c);
    let lower = c.to_lowercase().next().unwrap_or(c);
    let is_capital = c != lower && matches!(script, Script::Cyrillic | Script::Greek);
    // A word in capitals is as likely as the word in small letters, but for its first letter.
    let capital = if is_capital && !before.is_uppercase() { 2 } else { 0 };
    let letter = if is_capital { lower } else { c };
    let listed = FREQUENCIES.iter().find(|(_, chars)| chars.contains(letter)).map(|(bits, _)| *bits + capital);
    let is_letter = c.is_alphabetic() || script == Script::Thai;
    let own = listed.unwrap_or(match c {
        '\u{621}'..='\u{64a}' => 6,
        '\u{5d0}'..='\u{5ea}' => 5,
        '\u{e01}'..='\u{e4d}' if frequent::THAI.contains(c) => 5,
        '\u{e01}'..='\u{e4d}' => 7,
        '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fffd}' => NOT_TEXT,
        '\u{2500}'..='\u{25ff}' => 18,
        _ if is_letter => 12,
        _ => 15,
    });
    if !is_letter {
        // Quotes and dashes stand between letters; nothing else does.
        let is_joining = matches!(c, '’' | '‘' | '–' | '—' | '…' | '·' | '\u{a0}' | '“' | '”');
        let is_between = before.is_alphabetic() && after.is_alphabetic();
        let is_beside = before.is_alphabetic() || after.is_alphabetic();
        return match c {
            _ if is_between && !is_joining => own + 8,
            '£' | '¼' | '½' | '¾' if is_beside => own + 4,
            _ => own,
        };
    }
    let mut bits = own;
    if before.is_alphabetic() {
        if before.is_lowercase() && c.is_uppercase() {
            bits += 8;
        }
        if before.is_uppercase() && c.is_lowercase() && before_that.is_uppercase() {
            bits += 5;
        }
        if Script::of(before) != script {
            bits += 9;
        } else if script == Script::Latin && !before.is_ascii() {
            bits += 3;
        }
        if before == 'ς' {
            bits += 9;
        }
    } else if matches!(c, 'ь' | 'ъ' | 'ы' | 'ς' | '\u{e30}'..='\u{e3a}' | '\u{e45}'..='\u{e4d}') {
        bits += 8;
    }
    if after.is_alphabetic() && Script::of(after) != script {
        bits += 9;
    }
    if matches!(c, 'σ' | 'ñ') && !after.is_alphabetic() {
        bits += 8;
    }
    // Hebrew has other shapes for the last letter of a word.
    if matches!(c, 'ך' | 'ם' | 'ן' | 'ף' | 'ץ') && after.is_alphabetic() {
        bits += 8;
    }
    // In Portuguese, "õ" stands before "e" only.
    if c == 'õ' && after != 'e' {
        bits += 2;
    }
    if script == Script::Cyrillic && Script::of(before) == script {
        let pair = [before, c].map(|c| c.to_lowercase().next().unwrap_or(c));
        if frequent::CYRILLIC_PAIRS.split(' ').any(|known| known.chars().eq(pair)) {
            bits -= 2;
        } else {
            bits += 1;
        }
    }
    // A letter alone is a word of some languages; of Thai it is none.
    let joins = |c: char| c.is_alphabetic() || Script::of(c) == Script::Thai;
    if !joins(before) && !joins(after) {
        bits += match script {
            Script::Latin => 0,
            Script::Thai => 12,
            _ => 4,
        };
    }
    if script == Script::Latin && !before.is_ascii_alphabetic() && !after.is_ascii_alphabetic() {
        bits += 5;
    }
    bits
}

/// The cost of whole words: unpronounceable runs of letters, and Greek without accents.
fn words(text: &[char]) -> u32 {
    const VOWELS: &str = "аеёиоуыэюяіїєАЕИОУЫЭЮЯІЇЄαεηιουωάέήίόύώΑΕΗΙΟΥΩ";
    let mut bits = 0;
    for word in text.split(|&c| !c.is_alphabetic() && Script::of(c) != Script::Thai) {
        let script = word.first().map_or(Script::Other, |&c| Script::of(c));
        if !matches!(script, Script::Cyrillic | Script::Greek | Script::Thai) {
            continue;
        }
        let is_vowel: Vec<bool> =
            word.iter().map(|&c| VOWELS.contains(c) || matches!(c, '\u{e30}'..='\u{e4d}')).collect();
        let runs = |of: bool, most: usize| -> u32 {
            is_vowel.split(|&vowel| vowel != of).map(|run| run.len().saturating_sub(most) as u32).sum()
        };
        bits += 3 * (runs(true, 2) + runs(false, 3));
        let is_capital = word.iter().all(|c| c.is_uppercase());
        if script == Script::Greek && word.len() > 2 && !is_capital {
            let accents = word.iter().filter(|c| "άέήίόύώΆΈΉΊΌΎΏ".contains(**c)).count() as u32;
            bits += 5 * accents.abs_diff(1);
        }
    }
    bits
}

/// The script of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Thai,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Self::Latin,
            '\u{370}'..='\u{3ff}' => Self::Greek,
            '\u{400}'..='\u{4ff}' => Self::Cyrillic,
            '\u{590}'..='\u{5ff}' => Self::Hebrew,
            '\u{600}'..='\u{6ff}' => Self::Arabic,
            '\u{e00}'..='\u{e7f}' => Self::Thai,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify_bytes;

    #[test]
    fn the_locale_decides_between_readings_that_are_as_plausible() {
        let name =
            |bytes: &[u8], locale: &str| identify_bytes(bytes, &Prior::of_locale(locale)).unwrap().encoding.name();
        let bytes = GBK.encode("SELECT * FROM 客户\n").0;
        assert_eq!((name(&bytes, "zh_CN.UTF-8"), name(&bytes, "ja_JP.UTF-8")), ("GBK", "EUC-JP"));
        // The locale does not outweigh clear evidence.
        let bytes = SHIFT_JIS.encode("これはテストです\n").0;
        assert_eq!(name(&bytes, "ru_RU.UTF-8"), "Shift_JIS");
    }

    #[test]
    fn long_texts_are_left_to_chardetng() {
        let bytes = SHIFT_JIS.encode("日本語").0.repeat(SHORT);
        assert_eq!(better(WINDOWS_1252, &bytes, &Prior::default), None);
        assert_eq!(better(WINDOWS_1252, &SHIFT_JIS.encode("日本語").0, &Prior::default), Some(SHIFT_JIS));
        assert_eq!(better(WINDOWS_1252, b"ascii", &Prior::default), None);
        let long = [b"x".repeat(99), vec![0xE9], b"y".repeat(9), vec![0xE9], b"z".repeat(99), vec![0xE9]].concat();
        assert_eq!(relevant(&long), b"\nxxxxxxxx\xE9yyyyyyyyy\xE9zzzzzzz\nzzzzzzzz\xE9");
    }
}
