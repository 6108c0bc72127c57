//! Normalized text for comparison: without Markdown, in NFKC, with one kind of quotes, dashes and white space.
//!
//! Quotations and documents are normalized by the same rules. A quotation may start anywhere in a block and is often
//! written on one line. So the rules depend only on the adjacent characters, never on the block that contains them.

use std::collections::HashSet;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// How Markdown is read that a renderer shows in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As it is written: with the numbers of list items, the names of links and the languages of code.
    Written,
    /// As a page shows it, where these are no text.
    Shown,
    /// The same for a part of a document, which may lack what defines the names of its links.
    ShownPart,
}

/// The most bytes of a link's target.
const LONGEST_TARGET: usize = 2_000;
/// How deep parentheses in it are nested.
const DEEPEST: usize = 8;
/// Elements whose tags are dropped. Others may be code, such as `Vec<T>`.
const ELEMENTS: [&str; 30] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "details",
    "div",
    "em",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "td",
    "tr",
    "ul",
];
const ENTITIES: [(&str, char); 8] = [
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&nbsp;", ' '),
    ("&#124;", '|'),
];

/// `text` folded.
pub(crate) fn folded(text: &str, reading: Reading) -> String {
    let mut out = String::with_capacity(text.len());
    fold(text, reading, |c, _, _| out.push(c));
    out
}

/// `text` folded, with the place in `text` that each byte of it came from: first byte and last (exclusive).
pub(crate) fn placed(text: &str, reading: Reading) -> (String, Vec<(u32, u32)>) {
    let (mut out, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    fold(text, reading, |c, start, end| {
        out.push(c);
        places.resize(out.len(), (start as u32, end as u32));
    });
    (out, places)
}

/// Calls `emit` with each character of `text` folded, and the bytes of `text` that it stands for.
fn fold(text: &str, reading: Reading, emit: impl FnMut(char, usize, usize)) {
    let mut out = Output { emit, gap: None, last: None };
    let mut source = Source {
        text,
        bytes: text.as_bytes(),
        at: 0,
        reading,
        names: if reading == Reading::Shown { reference_names(text) } else { HashSet::new() },
        starts_line: true,
        autolink: false,
        unclosed_comment: false,
    };
    while source.at < text.len() {
        match source.next() {
            Piece::Dropped(length) => source.at += length,
            Piece::Blank(length) => {
                out.blank(source.at);
                source.at += length;
            }
            Piece::Char(c, length) => {
                out.push(c, is_cjk(c), source.at, source.at + length);
                source.at += length;
            }
            Piece::Composed(length) => {
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
}

/// What comes next in a source, with its length in bytes.
enum Piece {
    Dropped(usize),
    Blank(usize),
    Char(char, usize),
    /// A character with its marks, still to be normalized.
    Composed(usize),
}

struct Source<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    reading: Reading,
    /// The names that links of the text may have.
    names: HashSet<String>,
    /// Whether nothing but marks came before on the line.
    starts_line: bool,
    /// Whether an address in angle brackets is open.
    autolink: bool,
    /// Whether a comment was found that has no end.
    unclosed_comment: bool,
}

impl Source<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    fn starts_word(&self) -> bool {
        self.at == 0 || matches!(self.bytes[self.at - 1], b' ' | b'\n' | b'\t' | b'|' | b'\r' | b'\\')
    }

    fn next(&mut self) -> Piece {
        let byte = self.bytes[self.at];
        if self.starts_word()
            && let Some(length) = self.mark()
        {
            return Piece::Dropped(length);
        }
        self.starts_line = byte == b'\n' || (self.starts_line && matches!(byte, b' ' | b'\t' | b'\r'));
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' | b'|' | 0x0b | 0x0c => Piece::Blank(1),
            b'*' | b'`' | b'[' => Piece::Dropped(self.footnote().unwrap_or(1)),
            b']' => Piece::Dropped(1 + self.target()),
            b'!' if self.byte(1) == b'[' => Piece::Dropped(1),
            b'~' if self.byte(1) == b'~' => Piece::Dropped(2),
            b'\\' if self.byte(1).is_ascii_punctuation() || self.byte(1) == b'\n' => Piece::Dropped(1),
            b'_' if !self.is_within_word() => Piece::Dropped(1),
            b'<' => self.tag().unwrap_or(Piece::Char('<', 1)),
            b'>' if self.autolink => {
                self.autolink = false;
                Piece::Dropped(1)
            }
            b'&' => self.entity().unwrap_or(Piece::Char('&', 1)),
            _ if byte.is_ascii() && self.byte(1).is_ascii() => Piece::Char(char::from(byte), 1),
            _ => self.character(),
        }
    }

    /// The length of a word that is only Markdown: a bullet, hashes, a rule, a fence, a quotation's mark.
    fn mark(&self) -> Option<usize> {
        let rest = &self.bytes[self.at..];
        let first = rest[0];
        if !matches!(first, b'-' | b'+' | b'*' | b'#' | b'>' | b'=' | b':' | b'_' | b'`' | b'~' | b'{' | b'0'..=b'9') {
            return None;
        }
        let starts_line = self.starts_line;
        let length = rest.iter().position(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r' | b'|')).unwrap_or(rest.len());
        let word = &rest[..length];
        let only = |set: &[u8]| word.iter().all(|b| set.contains(b));
        let is_mark = match first {
            b'-' | b'+' | b'*' | b'>' if length == 1 => true,
            b'#' => length <= 6 && only(b"#"),
            b'-' | b'=' | b':' | b'*' | b'_' => length >= 3 && (only(b"-:") || only(b"=") || only(b"*") || only(b"_")),
            b'{' => {
                word.starts_with(b"{#")
                    && word.ends_with(b"}")
                    && matches!(rest.get(length), None | Some(b'\n' | b'\r'))
            }
            b'`' | b'~' if self.reading != Reading::Written && starts_line => {
                // The language of a fenced block, too.
                let line = self.text[self.at..].lines().next().unwrap_or_default();
                let run = line.len() - line.trim_start_matches(char::from(first)).len();
                return (run >= 3 && !line[run..].contains('`')).then_some(line.len());
            }
            b'0'..=b'9' => {
                self.reading != Reading::Written
                    && starts_line
                    && (2..=10).contains(&length)
                    && matches!(word[length - 1], b'.' | b')')
                    && word[..length - 1].iter().all(u8::is_ascii_digit)
            }
            b'>' if starts_line => return Some(1),
            _ => false,
        };
        is_mark.then_some(length)
    }

    /// The length of a footnote's mark, such as `[^1]`.
    fn footnote(&self) -> Option<usize> {
        if !self.text[self.at..].starts_with("[^") {
            return None;
        }
        let rest = &self.bytes[self.at..self.bytes.len().min(self.at + 100)];
        let end = rest.iter().position(|b| matches!(b, b']' | b'\n' | b' '))?;
        (rest[end] == b']').then_some(end + 1)
    }

    /// The length of what says where a link leads, after its closing bracket: `(target)`, or `[name]`.
    fn target(&self) -> usize {
        let end = self.bytes.len().min(self.at + LONGEST_TARGET);
        let rest = &self.bytes[self.at + 1..end];
        match rest.first() {
            Some(b'(') => parenthesized(rest).unwrap_or(0),
            Some(b'[') if self.reading != Reading::Written => {
                let close = rest.iter().position(|b| *b == b']');
                let name = close.and_then(|close| std::str::from_utf8(&rest[1..close]).ok());
                let label = || self.text[..self.at].rsplit('[').next().unwrap_or_default();
                name.filter(|name| {
                    let name = if name.is_empty() { label() } else { name };
                    self.reading == Reading::ShownPart || self.names.contains(&name.to_lowercase())
                })
                .map_or(0, |name| name.len() + 2)
            }
            _ => 0,
        }
    }

    /// Whether the underscore here stands between letters, as in a name of code.
    fn is_within_word(&self) -> bool {
        let before = self.text[..self.at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = self.text[self.at + 1..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        before && after
    }

    /// A tag of HTML, or an address in angle brackets.
    fn tag(&mut self) -> Option<Piece> {
        let rest = &self.text[self.at + 1..];
        if rest.starts_with("http://") || rest.starts_with("https://") || rest.starts_with("mailto:") {
            self.autolink = true;
            return Some(Piece::Dropped(1));
        }
        if let Some(comment) = rest.strip_prefix("!--") {
            let end = if self.unclosed_comment { None } else { comment.find("-->") };
            self.unclosed_comment = end.is_none();
            return end.map(|end| Piece::Dropped(end + 7));
        }
        let name = rest.trim_start_matches('/');
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).filter(|length| *length > 0)?;
        let is_known = ELEMENTS.contains(&name[..length].to_ascii_lowercase().as_str());
        if !is_known || !matches!(name.as_bytes()[length], b' ' | b'>' | b'/' | b'\n') {
            return None;
        }
        let end = rest.bytes().take(LONGEST_TARGET).position(|b| matches!(b, b'>' | b'<'))?;
        if rest.as_bytes()[end] != b'>' {
            return None;
        }
        let end = end + 2;
        let breaks = matches!(&name[..length], "br" | "hr" | "p" | "li" | "td" | "div");
        Some(if breaks { Piece::Blank(end) } else { Piece::Dropped(end) })
    }

    fn entity(&self) -> Option<Piece> {
        let rest = &self.text[self.at..];
        let (name, c) = ENTITIES.into_iter().find(|(name, _)| rest.starts_with(name))?;
        Some(if matches!(c, ' ' | '|') { Piece::Blank(name.len()) } else { Piece::Char(c, name.len()) })
    }

    /// A character outside ASCII, or with marks.
    fn character(&self) -> Piece {
        let rest = &self.text[self.at..];
        let mut chars = rest.char_indices();
        let Some((_, first)) = chars.next() else { return Piece::Dropped(1) };
        // Invisible: soft hyphen, zero-width space and joiner, byte order mark.
        if matches!(first, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}') {
            return Piece::Dropped(first.len_utf8());
        }
        if first.is_whitespace() {
            return Piece::Blank(first.len_utf8());
        }
        let (same, length) = (plain(first), first.len_utf8());
        if same != first {
            // A dash that stands alone goes as a hyphen does there, which is a bullet.
            let is_alone = self.starts_word() && self.byte(length).is_ascii_whitespace();
            return if same == '-' && is_alone { Piece::Dropped(length) } else { Piece::Char(same, length) };
        }
        let joins = |c: char| is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}');
        let end = chars.find(|(_, c)| !joins(*c)).map_or(rest.len(), |(at, _)| at);
        if first.is_ascii() && end == 1 { Piece::Char(first, 1) } else { Piece::Composed(end) }
    }
}

/// The length of a link's target in parentheses at the start of `rest`, if they are closed before an empty line.
fn parenthesized(rest: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut before) = (0_usize, false, b' ');
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            _ if before == b'\\' => {}
            b'\n' if before == b'\n' => return None,
            b'"' => quoted ^= quoted || before == b' ' || before == b'\n',
            b'(' if !quoted && depth == DEEPEST => return None,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        before = if before == b'\\' && byte == b'\\' { b' ' } else { byte };
    }
    None
}

/// The names that `[name]: target` defines, in lower case.
fn reference_names(text: &str) -> HashSet<String> {
    let name = |line: &str| {
        let (name, _) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
        Some(name.to_lowercase())
    };
    text.lines().filter_map(name).collect()
}

struct Output<F> {
    emit: F,
    /// Where white space is that was not emitted yet.
    gap: Option<usize>,
    /// Whether the last character was CJK.
    last: Option<bool>,
}

impl<F: FnMut(char, usize, usize)> Output<F> {
    fn blank(&mut self, at: usize) {
        self.gap.get_or_insert(at);
    }

    fn push(&mut self, c: char, cjk: bool, start: usize, end: usize) {
        if let Some(gap) = self.gap.take()
            && self.last.is_some_and(|last| !(last && cjk))
        {
            (self.emit)(' ', gap, gap + 1);
        }
        self.last = Some(cjk);
        (self.emit)(c, start, end);
    }
}

/// One kind of quotes and dashes.
fn plain(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '「' | '」' | '『' | '』' | '〝' | '〞' | '〟' | '＂' | '｢' | '｣' => {
            '"'
        }
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '´' | '＇' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹘' | '﹣' | '－' => '-',
        other => other,
    }
}

/// Whether `c` is of a script that puts no spaces between words, or punctuation of it.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{312f}' | '\u{3130}'..='\u{318f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3200}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// Calls `emit` with each character of `text` that a page shows, as it is.
pub(crate) fn visible(text: &str, mut emit: impl FnMut(char)) {
    let mut done = 0;
    fold(text, Reading::ShownPart, |c, start, _| {
        // One character may be several when folded.
        if start >= done {
            let shown = text[start..].chars().next().filter(|shown| !shown.is_whitespace()).unwrap_or(c);
            emit(shown);
            done = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_text_is_dropped() {
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
        fn words_of_a_text_stay(words in prop::collection::vec("[a-z潮海]{1,8}", 1..30)) {
            prop_assert_eq!(folded(&words.join("\n"), Reading::Written), folded(&words.join("  "), Reading::Shown));
        }
    }
}
