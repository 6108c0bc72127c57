//! Unicode encodings: detected by their byte order mark, by their zero bytes, or by validity.

use std::io;

use crate::{ByteSource, SAMPLE};

/// A Unicode encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unicode {
    /// UTF-8, including ASCII.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// UTF-32, little-endian.
    Utf32Le,
    /// UTF-32, big-endian.
    Utf32Be,
}

impl Unicode {
    /// All encodings.
    pub const ALL: [Self; 5] = [Self::Utf8, Self::Utf16Le, Self::Utf16Be, Self::Utf32Le, Self::Utf32Be];

    /// The name registered with IANA.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
        }
    }

    /// The bytes of U+000A, whose number is the size of a code unit.
    pub const fn newline(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"\n",
            Self::Utf16Le => b"\n\0",
            Self::Utf16Be => b"\0\n",
            Self::Utf32Le => b"\n\0\0\0",
            Self::Utf32Be => b"\0\0\0\n",
        }
    }

    /// The byte order mark.
    pub const fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"\xEF\xBB\xBF",
            Self::Utf16Le => b"\xFF\xFE",
            Self::Utf16Be => b"\xFE\xFF",
            Self::Utf32Le => b"\xFF\xFE\0\0",
            Self::Utf32Be => b"\0\0\xFE\xFF",
        }
    }
}

/// The result of examining the start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// A Unicode encoding, with the length of its byte order mark.
    Unicode(Unicode, usize),
    /// Text in another encoding.
    Other,
    /// Binary data: more control characters than text has.
    Binary,
}

/// Detects a Unicode encoding by `head`, the start of a file.
///
/// A byte order mark decides. Without one, zeros on one side of most byte pairs mean UTF-16. Valid UTF-8 is
/// UTF-8, unless it has unusual control characters or escapes of ISO-2022. Mostly valid UTF-8 with few invalid
/// bytes is UTF-8 with errors.
pub fn sniff(head: &[u8]) -> Sniffed {
    // The mark of UTF-16LE is a prefix of that of UTF-32LE, so longer marks come first.
    for unicode in [Unicode::Utf32Le, Unicode::Utf32Be, Unicode::Utf8, Unicode::Utf16Le, Unicode::Utf16Be] {
        if head.starts_with(unicode.mark()) {
            return Sniffed::Unicode(unicode, unicode.mark().len());
        }
    }
    // A fast path for nearly every file: the tests below examine each byte several times.
    let odd = head.iter().fold(false, |odd, byte| odd | (*byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')));
    if !odd && std::str::from_utf8(head).is_ok() {
        return Sniffed::Unicode(Unicode::Utf8, 0);
    }
    if let Some(unicode) = utf16_by_zeros(head) {
        return Sniffed::Unicode(unicode, 0);
    }
    sniff_within(head)
}

/// The same for a part of a file after ASCII text, so it has no byte order mark, and its encoding is a superset
/// of ASCII.
pub fn sniff_within(part: &[u8]) -> Sniffed {
    if is_binary(part) {
        Sniffed::Binary
    } else if has_iso2022(part) || !is_mostly_utf8(part) {
        Sniffed::Other
    } else {
        Sniffed::Unicode(Unicode::Utf8, 0)
    }
}

/// UTF-16 without a byte order mark: spaces, newlines or Latin letters have zeros as high bytes, all on the
/// same side, and the bytes are valid.
fn utf16_by_zeros(head: &[u8]) -> Option<Unicode> {
    let pairs = head.as_chunks::<2>().0;
    if pairs.is_empty() {
        return None;
    }
    // A printable ASCII character or white space, as a number, so that the compiler can vectorise the
    // comparison.
    let plain = |unit: u16| matches!(unit, 9 | 10 | 13 | 0x20..=0x7E);
    let count = |unit: fn([u8; 2]) -> u16| -> usize {
        let chunks = pairs.chunks(1 << 15);
        chunks.map(|chunk| usize::from(chunk.iter().fold(0, |count, pair| count + u16::from(plain(unit(*pair)))))).sum()
    };
    let (little, big) = (count(u16::from_le_bytes), count(u16::from_be_bytes));
    let (unicode, hits, misses) =
        if little >= big { (Unicode::Utf16Le, little, big) } else { (Unicode::Utf16Be, big, little) };
    // At least one in fifty: even Japanese text has newlines.
    if hits == 0 || hits * 50 < pairs.len() || misses * 20 > hits {
        return None;
    }
    let unit = |pair: &[u8; 2]| {
        if unicode == Unicode::Utf16Le { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) }
    };
    // ASCII with a few zeros in it, such as a log after a loss of power. Text in UTF-16 is mostly Latin, has bytes that are not
    // ASCII, or is in Hiragana.
    let hiragana = || pairs.iter().filter(|pair| unit(pair) >> 8 == 0x30).count();
    let is_ascii = || head.iter().all(|&byte| byte == 0 || plain(u16::from(byte)));
    if hits * 4 < pairs.len() && is_ascii() && hiragana() * 2 < pairs.len() {
        return None;
    }
    let odd = char::decode_utf16(pairs.iter().map(unit))
        .filter(|c| match c {
            Ok(c) => c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}') || is_unassigned(*c),
            Err(_) => true,
        })
        .count();
    // The last pair may be half of a character.
    (odd * 50 <= pairs.len() + 49).then_some(unicode)
}

/// Noncharacters and private use: typical for binary data that is read as UTF-16.
fn is_unassigned(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{fff8}' | '\u{fffe}' | '\u{ffff}')
}

/// The offset in `from..to` of the first byte that is decisive for the encoding, or `to`.
pub fn first_decisive_byte(source: &ByteSource, from: u64, to: u64) -> io::Result<u64> {
    let mut block = source.buffer(SAMPLE);
    let mut at = from;
    while at < to {
        let read = source.read_at(at, &mut block)?;
        match plain(&block[..read]) {
            0 => break,
            plain => at += plain as u64,
        }
    }
    Ok(at.min(to))
}

/// The length of the longest ISO-2022 escape sequence.
pub(crate) const MAX_ESCAPE: usize = 3;

/// The number of bytes at the start of `bytes` that are not decisive: ASCII without zeros and without escapes
/// of ISO-2022. An incomplete escape at the end is not included.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    let odd = |byte: u8| byte >= 0x80 || byte == 0 || byte == 0x1B;
    // In blocks, which the compiler can vectorise.
    let from =
        bytes.chunks(4096).take_while(|chunk| !chunk.iter().fold(false, |found, &byte| found | odd(byte))).count();
    let from = bytes.len().min(from * 4096);
    let says = |at: &usize| match bytes[*at] {
        0x1B => bytes.len() - at < MAX_ESCAPE || is_iso2022(&bytes[at + 1..]),
        byte => odd(byte),
    };
    (from..bytes.len()).find(says).unwrap_or(bytes.len())
}

/// Whether `head` has the escape sequences of ISO-2022-JP and similar encodings.
pub(crate) fn has_iso2022(head: &[u8]) -> bool {
    memchr::memchr_iter(0x1B, head).any(|at| is_iso2022(&head[at + 1..]))
}

/// Whether the bytes `after` an escape character form such a sequence.
fn is_iso2022(after: &[u8]) -> bool {
    matches!(after, [b'$', b'@' | b'B' | b'A' | b')', ..] | [b'(', b'J' | b'I', ..])
}

/// Whether `head` has more control characters than text: one in twenty. Terminal escape sequences count as
/// text.
fn is_binary(head: &[u8]) -> bool {
    let odd = |b: u8| matches!(b, 0..=6 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F);
    // Counted in bytes, so that the compiler can vectorise the sum.
    let chunks = head.chunks(usize::from(u8::MAX));
    let count: usize =
        chunks.map(|chunk| usize::from(chunk.iter().fold(0_u8, |count, byte| count + u8::from(odd(*byte))))).sum();
    count * 20 > head.len()
}

/// Whether `head` is UTF-8, completely or with few errors.
fn is_mostly_utf8(head: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    let mut chunks = head.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        // An incomplete character at the end of the sample is not an error. At the end of a short file without another
        // character of UTF-8, it is a letter of a legacy encoding.
        let may_be_cut = good > 0 || head.len() >= SAMPLE;
        let cut = may_be_cut && chunks.peek().is_none() && chunk.invalid().first().is_some_and(|&lead| lead >= 0xC2);
        bad += usize::from(!chunk.invalid().is_empty() && !cut);
        if bad > 64 && bad * 10 > good {
            return false;
        }
    }
    bad == 0 || bad * 10 <= good
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn unicode_encodings_are_detected() {
        let is = |head: &[u8], unicode, mark| assert_eq!(sniff(head), Sniffed::Unicode(unicode, mark), "{head:?}");
        is(b"", Unicode::Utf8, 0);
        is(b"plain\n", Unicode::Utf8, 0);
        is("日本語\n".as_bytes(), Unicode::Utf8, 0);
        is(b"\xEF\xBB\xBFx", Unicode::Utf8, 3);
        is(b"\xFF\xFEx\0", Unicode::Utf16Le, 2);
        is(b"\xFF\xFE\0\0x\0\0\0", Unicode::Utf32Le, 4);
        is(&units("日本語の文章です。\n二行目。\n", u16::to_le_bytes), Unicode::Utf16Le, 0);
        is(&units("日本語の文章です。\n二行目。\n", u16::to_be_bytes), Unicode::Utf16Be, 0);
        is(&units("hello\r\n", u16::to_le_bytes), Unicode::Utf16Le, 0);
        is(b"\x1B[31mred\x1B[0m\n", Unicode::Utf8, 0);
        let mut spoiled = "日本語の文章です。".repeat(10).into_bytes();
        spoiled.splice(9..9, [0xFF, 0xFE, 0x80]);
        is(&spoiled, Unicode::Utf8, 0);
    }

    #[test]
    fn other_encodings_and_binary_data_are_not_unicode() {
        for other in [&b"\x93\xFA\x96{\x8C\xEA\n"[..], b"\x1B$BF|K\\8l\x1B(B\n", b"caf\xE9\n"] {
            assert_eq!(sniff(other), Sniffed::Other, "{other:?}");
        }
        for binary in [
            &b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0\x01\0\0\0"[..],
            b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0",
        ] {
            assert_eq!(sniff(binary), Sniffed::Binary, "{binary:?}");
        }
    }

    #[test]
    fn a_zero_in_ascii_text_does_not_make_it_utf_16() {
        for text in [&b"first line\nx\0y\nthird line\n"[..], b"first line\nx y\0third line\nand a fourth\n"] {
            assert_eq!(sniff(text), Sniffed::Unicode(Unicode::Utf8, 0), "{text:?}");
        }
        let log = [b"2026-11-29 a line of a log\n".repeat(500), vec![0; 400], b"after it\n".to_vec()].concat();
        assert_eq!(sniff(&log), Sniffed::Unicode(Unicode::Utf8, 0));
        // All bytes of these are ASCII or zero as well.
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert!(matches!(
                sniff(&units("あいうえお\n", bytes)),
                Sniffed::Unicode(Unicode::Utf16Le | Unicode::Utf16Be, 0)
            ));
        }
    }

    #[test]
    fn an_incomplete_character_at_the_end_is_no_error() {
        let text = "日".repeat(10);
        for end in 3..text.len() {
            assert_eq!(sniff(&text.as_bytes()[..end]), Sniffed::Unicode(Unicode::Utf8, 0));
        }
        let mut sample = vec![b'a'; SAMPLE];
        sample[SAMPLE - 1] = 0xE6;
        assert_eq!(sniff(&sample), Sniffed::Unicode(Unicode::Utf8, 0));
        // The file ends with a letter in windows-1252.
        assert_eq!(sniff(b"caf\xE9"), Sniffed::Other);
    }
}
