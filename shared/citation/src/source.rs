//! Parsing Markdown for comparison: which parts are dropped, white space, or text.

use std::collections::HashSet;

use unicode_normalization::char::is_combining_mark;

use crate::chars::{is_stable, plain};

/// How Markdown syntax is read that a renderer shows in a different form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As written: with the numbers of list items, link labels and code languages.
    Written,
    /// As rendered, without them.
    Shown,
    /// The same for a part of a document, in which the definitions of link labels may be missing.
    ShownPart,
}

/// The longest link target, in bytes.
const MAX_TARGET: usize = 2_000;
/// The maximum nesting depth of parentheses in it.
const MAX_DEPTH: usize = 8;
/// Elements whose tags are dropped. Other tags may be code, such as `Vec<T>`.
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

/// The next part of a source, with its length in bytes.
pub(crate) enum SourcePart {
    Dropped(usize),
    Blank(usize),
    Char(char, usize),
    /// A character with combining marks, which must be normalized.
    Composed(usize),
}

#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct MarkdownReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub(crate) at: usize,
    reading: Reading,
    /// The link labels that the text defines.
    names: HashSet<String>,
    /// Whether only markers precede on the line.
    starts_line: bool,
    /// Whether an autolink in angle brackets is open.
    autolink: bool,
    /// Whether a comment without an end was found.
    unclosed_comment: bool,
    /// Whether the result so far depends on the reading.
    pub(crate) depends: bool,
}

/// A byte that is text anywhere in a line of ASCII.
const INERT: u8 = 1;
/// A byte that is text after another text byte, where no Markdown syntax can begin.
const INERT_WITHIN: u8 = 2;
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => INERT,
            b'0'..=b'9'
            | b'.'
            | b','
            | b';'
            | b':'
            | b'('
            | b')'
            | b'\''
            | b'"'
            | b'/'
            | b'='
            | b'?'
            | b'%'
            | b'$'
            | b'@'
            | b'^'
            | b'{'
            | b'}'
            | b'+'
            | b'-'
            | b'#' => INERT_WITHIN,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

impl<'a> MarkdownReader<'a> {
    pub(crate) fn new(text: &'a str, reading: Reading) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            reading,
            names: if reading == Reading::Shown { reference_names(text) } else { HashSet::new() },
            starts_line: true,
            autolink: false,
            unclosed_comment: false,
            depends: false,
        }
    }

    /// Skips a run of `length` bytes.
    pub(crate) fn skip(&mut self, length: usize) {
        self.at += length;
        self.starts_line = false;
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    fn starts_word(&self) -> bool {
        self.at == 0 || matches!(self.bytes[self.at - 1], b' ' | b'\n' | b'\t' | b'|' | b'\r' | b'\\')
    }

    pub(crate) fn next(&mut self) -> SourcePart {
        let byte = self.bytes[self.at];
        if self.starts_word()
            && let Some(length) = self.mark()
        {
            return SourcePart::Dropped(length);
        }
        self.starts_line = byte == b'\n' || (self.starts_line && matches!(byte, b' ' | b'\t' | b'\r'));
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' | b'|' | 0x0b | 0x0c => SourcePart::Blank(1),
            b'*' | b'`' | b'[' => SourcePart::Dropped(self.footnote().unwrap_or(1)),
            b']' => SourcePart::Dropped(1 + self.target()),
            b'!' if self.byte(1) == b'[' => SourcePart::Dropped(1),
            b'~' if self.byte(1) == b'~' => SourcePart::Dropped(2),
            b'\\' if self.byte(1).is_ascii_punctuation() || self.byte(1) == b'\n' => SourcePart::Dropped(1),
            b'_' if !self.is_within_word() => SourcePart::Dropped(1),
            b'<' => self.tag().unwrap_or(SourcePart::Char('<', 1)),
            b'>' if self.autolink => {
                self.autolink = false;
                SourcePart::Dropped(1)
            }
            b'&' => self.entity().unwrap_or(SourcePart::Char('&', 1)),
            _ if byte.is_ascii() && self.byte(1).is_ascii() => SourcePart::Char(char::from(byte), 1),
            _ => self.character(),
        }
    }

    /// The length of a word that is only Markdown syntax: a bullet, hashes, a rule, a fence, a block quote
    /// marker.
    fn mark(&mut self) -> Option<usize> {
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
            b'`' | b'~' if starts_line => {
                self.depends = true;
                if self.reading == Reading::Written {
                    return None;
                }
                // Includes the language of a fenced block.
                let line = self.text[self.at..].lines().next().unwrap_or_default();
                let run = line.len() - line.trim_start_matches(char::from(first)).len();
                return (run >= 3 && !line[run..].contains('`')).then_some(line.len());
            }
            b'0'..=b'9' => {
                let is_number = starts_line
                    && (2..=10).contains(&length)
                    && matches!(word[length - 1], b'.' | b')')
                    && word[..length - 1].iter().all(u8::is_ascii_digit);
                self.depends |= is_number;
                is_number && self.reading != Reading::Written
            }
            b'>' if starts_line => return Some(1),
            _ => false,
        };
        is_mark.then_some(length)
    }

    /// The length of a footnote reference, such as `[^1]`.
    fn footnote(&self) -> Option<usize> {
        if !self.text[self.at..].starts_with("[^") {
            return None;
        }
        let rest = &self.bytes[self.at..self.bytes.len().min(self.at + 100)];
        let end = rest.iter().position(|b| matches!(b, b']' | b'\n' | b' '))?;
        (rest[end] == b']').then_some(end + 1)
    }

    /// The length of a link target after the closing bracket: `(target)` or `[name]`.
    fn target(&mut self) -> usize {
        let end = self.bytes.len().min(self.at + MAX_TARGET);
        let rest = &self.bytes[self.at + 1..end];
        match rest.first() {
            Some(b'(') => parenthesized(rest).unwrap_or(0),
            Some(b'[') => {
                self.depends = true;
                if self.reading == Reading::Written {
                    return 0;
                }
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

    /// Whether the underscore at this position is between letters, as in an identifier.
    fn is_within_word(&self) -> bool {
        let before = self.text[..self.at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = self.text[self.at + 1..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        before && after
    }

    /// An HTML tag, or an autolink in angle brackets.
    fn tag(&mut self) -> Option<SourcePart> {
        let rest = &self.text[self.at + 1..];
        if rest.starts_with("http://") || rest.starts_with("https://") || rest.starts_with("mailto:") {
            self.autolink = true;
            return Some(SourcePart::Dropped(1));
        }
        if let Some(comment) = rest.strip_prefix("!--") {
            let end = if self.unclosed_comment { None } else { comment.find("-->") };
            self.unclosed_comment = end.is_none();
            return end.map(|end| SourcePart::Dropped(end + 7));
        }
        let name = rest.trim_start_matches('/');
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).filter(|length| *length > 0)?;
        let is_known = ELEMENTS.contains(&name[..length].to_ascii_lowercase().as_str());
        if !is_known || !matches!(name.as_bytes()[length], b' ' | b'>' | b'/' | b'\n') {
            return None;
        }
        let end = rest.bytes().take(MAX_TARGET).position(|b| matches!(b, b'>' | b'<'))?;
        if rest.as_bytes()[end] != b'>' {
            return None;
        }
        let end = end + 2;
        let breaks = matches!(&name[..length], "br" | "hr" | "p" | "li" | "td" | "div");
        Some(if breaks { SourcePart::Blank(end) } else { SourcePart::Dropped(end) })
    }

    fn entity(&self) -> Option<SourcePart> {
        let rest = &self.text[self.at..];
        let (name, c) = ENTITIES.into_iter().find(|(name, _)| rest.starts_with(name))?;
        Some(if matches!(c, ' ' | '|') { SourcePart::Blank(name.len()) } else { SourcePart::Char(c, name.len()) })
    }

    /// A character outside ASCII or with combining marks.
    fn character(&self) -> SourcePart {
        let rest = &self.text[self.at..];
        let mut chars = rest.char_indices();
        let Some((_, first)) = chars.next() else { return SourcePart::Dropped(1) };
        // Invisible characters: soft hyphen, zero-width space, word joiner, byte order mark.
        if matches!(first, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}') {
            return SourcePart::Dropped(first.len_utf8());
        }
        if first.is_whitespace() {
            return SourcePart::Blank(first.len_utf8());
        }
        let second = chars.clone().next();
        if is_stable(first) && second.is_none_or(|(_, second)| second.is_ascii() || is_stable(second)) {
            return SourcePart::Char(first, first.len_utf8());
        }
        let (same, length) = (plain(first), first.len_utf8());
        if same != first {
            // A dash that stands alone is dropped, like a hyphen, which is a bullet there.
            let is_alone = self.starts_word() && self.byte(length).is_ascii_whitespace();
            return if same == '-' && is_alone { SourcePart::Dropped(length) } else { SourcePart::Char(same, length) };
        }
        let joins = |c: char| is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}');
        let end = chars.find(|(_, c)| !joins(*c)).map_or(rest.len(), |(at, _)| at);
        if first.is_ascii() && end == 1 { SourcePart::Char(first, 1) } else { SourcePart::Composed(end) }
    }
}

/// The number of following bytes that are unchanged text with single spaces between words. Most of a text is;
/// [`MarkdownReader::next`] gives the same result for it.
pub(crate) fn run(source: &MarkdownReader<'_>) -> usize {
    let rest = &source.bytes[source.at..];
    let kind = |at: usize| rest.get(at).map_or(0, |byte| KINDS[usize::from(*byte)]);
    let mut length = 0;
    if kind(0) == INERT {
        loop {
            if kind(length) != 0 {
                length += 1;
            } else if rest.get(length) == Some(&b' ') && kind(length + 1) == INERT {
                length += 2;
            } else {
                break;
            }
        }
        // A combining mark may follow, which belongs to the last character.
        if rest.get(length).is_some_and(|byte| !byte.is_ascii()) {
            length -= 1;
            length -= usize::from(length > 0 && rest[length - 1] == b' ');
        }
    }
    length
}

/// The length of a link target in parentheses at the start of `rest`, if they are closed before an empty line.
fn parenthesized(rest: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut before) = (0_usize, false, b' ');
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            _ if before == b'\\' => {}
            b'\n' if before == b'\n' => return None,
            b'"' => quoted ^= quoted || before == b' ' || before == b'\n',
            b'(' if !quoted && depth == MAX_DEPTH => return None,
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

/// The labels that `[name]: target` defines, in lower case.
fn reference_names(text: &str) -> HashSet<String> {
    let name = |line: &str| {
        let (name, _) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
        Some(name.to_lowercase())
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of `markdown` as `reading` reads it, with one blank for each run of white space.
    fn read(markdown: &str, reading: Reading) -> String {
        let mut reader = MarkdownReader::new(markdown, reading);
        let mut text = String::new();
        while reader.at < markdown.len() {
            let length = match reader.next() {
                SourcePart::Dropped(length) => length,
                SourcePart::Blank(length) => {
                    text.push(' ');
                    length
                }
                SourcePart::Char(c, length) => {
                    text.push(c);
                    length
                }
                SourcePart::Composed(length) => {
                    text += &markdown[reader.at..reader.at + length];
                    length
                }
            };
            reader.at += length;
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn syntax_is_dropped_and_text_kept() {
        for (markdown, text) in [
            ("## Spring *tides*", "Spring tides"),
            ("- [Brest](https://a.example/b_(c)) rises", "Brest rises"),
            ("a ![map](m.png) b", "a map b"),
            ("`snake_case` and _word_", "snake_case and word"),
            ("| a | b |\n|---|---|\n| c | d |", "a b c d"),
            ("1 &lt; 2 &amp; 3", "1 < 2 & 3"),
            ("Vec<T> <br>x <!-- no --> y", "Vec<T> x y"),
            ("see [^1] \\*all\\*", "see all"),
            ("<https://a.example>", "https://a.example"),
            ("# Title {#anchor}", "Title"),
        ] {
            assert_eq!(read(markdown, Reading::Shown), text, "{markdown}");
        }
    }

    #[test]
    fn numbers_of_items_are_read_only_as_written() {
        let markdown = "1. first\n2. second";
        assert_eq!(read(markdown, Reading::Shown), "first second");
        assert_eq!(read(markdown, Reading::Written), "1. first 2. second");
        let labels = "[a][one] and [b][two]\n\n[one]: x";
        assert!(read(labels, Reading::Shown).starts_with("a and btwo"), "{}", read(labels, Reading::Shown));
        assert!(read(labels, Reading::ShownPart).starts_with("a and b"));
    }

    #[test]
    fn a_run_is_plain_words() {
        let length = |text| run(&MarkdownReader::new(text, Reading::Shown));
        assert_eq!(length("plain words, here *x*"), "plain words, here".len());
        assert_eq!((length("*x"), length("")), (0, 0));
        // The last letter may get a mark.
        assert_eq!(length("ae\u{301}"), 1);
    }

    #[test]
    fn targets_end_with_their_parenthesis() {
        assert_eq!(parenthesized(b"(a(b)c) d"), Some(7));
        assert_eq!(parenthesized(b"(a \")\" b)"), Some(9));
        assert_eq!((parenthesized(b"(a"), parenthesized(b"(a\n\nb)")), (None, None));
    }
}
