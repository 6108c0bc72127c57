//! Decoding of HTML: bytes to text, with the charset that the page or its HTTP header declares, or with the detected
//! one.
//!
//! This module has the rules of HTML: the prescan of `<meta>`, the XML declaration, and the precedence of declarations.
//! Detection is in `ragmaker-text`.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use ragmaker_text::{Encoding as Identity, Prior, Unicode, identify_bytes};

/// The prescan for a declared charset, in bytes: browsers read the first kilobyte, but pages that begin with a
/// long comment declare it later.
const PRESCAN: usize = 4096;

/// How much of a page is read to detect its charset, in bytes.
const GUESS: usize = 256 * 1024;

/// Decodes a page.
///
/// The charset is the first of: a byte order mark, UTF-8 if the bytes are valid, the charset parameter of
/// `content_type`, `<meta>` or an XML declaration, a guess. A declared charset that the bytes contradict is passed
/// over. Valid UTF-8 comes early because wrong declarations are far more common than text that is UTF-8 by accident.
pub fn decode<'b>(bytes: &'b [u8], content_type: Option<&str>) -> (Cow<'b, str>, &'static Encoding) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding.decode_without_bom_handling(&bytes[length..]).0, encoding);
    }
    // A charset with escape sequences is valid UTF-8, and so is most of UTF-16.
    if memchr::memchr2(0x1B, 0, bytes).is_none() {
        match std::str::from_utf8(bytes) {
            Ok(text) => return (Cow::Borrowed(text), UTF_8),
            // The end of the input is inside a character.
            Err(error) if error.error_len().is_none() => return (String::from_utf8_lossy(bytes), UTF_8),
            Err(_) => {}
        }
    }
    let by_header = content_type.and_then(charset_parameter).and_then(|declared| fitting(declared, bytes));
    let by_page = || prescan(bytes).map(readable).filter(|declared| plausible(declared, bytes));
    let encoding = by_header.or_else(by_page).unwrap_or_else(|| guess(bytes));
    (encoding.decode_without_bom_handling(bytes).0, encoding)
}

/// Whether `bytes` contain little that is not UTF-8: a page cut in the middle of a character, or with
/// one bad comment.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().bytes().filter(|b| !b.is_ascii()).count();
        bad += chunk.invalid().len();
    }
    bad * 20 <= good || bad <= 3
}

/// The charset that a declaration means, if it can be true: UTF-16 may be big-endian, although the name alone means
/// little-endian on the web.
fn fitting(declared: &'static Encoding, bytes: &[u8]) -> Option<&'static Encoding> {
    let other = (declared == UTF_16LE).then_some(UTF_16BE);
    std::iter::once(declared).chain(other).find(|encoding| plausible(encoding, bytes))
}

/// Whether a declared charset can be true: a multi-byte one decodes with few errors; text in windows-1252, the default
/// of many servers, has hardly a word without an ASCII letter; and most of the zero bytes of UTF-16 belong to tags and
/// other ASCII characters.
fn plausible(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    if encoding == UTF_8 {
        return mostly_utf8(bytes);
    }
    let sample = &bytes[..bytes.len().min(GUESS)];
    if encoding == UTF_16LE || encoding == UTF_16BE {
        let zeros = |at: usize| sample.iter().skip(at).step_by(2).filter(|&&b| b == 0).count();
        let (first, second) = (zeros(0), zeros(1));
        return if encoding == UTF_16LE { second > first } else { first > second };
    }
    if encoding.is_single_byte() {
        let words = sample.split(|b| b.is_ascii() && !b.is_ascii_alphabetic()).filter(|word| word.len() > 2);
        let (mut some, mut all) = (0, 0);
        for word in words {
            let high = word.iter().filter(|b| !b.is_ascii()).count();
            some += usize::from(high > 0);
            all += usize::from(high == word.len());
        }
        return encoding != WINDOWS_1252 || all * 2 <= some;
    }
    let high = sample.iter().filter(|b| !b.is_ascii()).count();
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let errors = text.chars().filter(|&c| c == '\u{FFFD}').count();
    errors * 10 <= high || errors <= 2
}

/// The charset detected by `ragmaker-text`.
fn guess(bytes: &[u8]) -> &'static Encoding {
    // No prior, because the locale of this machine is unrelated to web pages.
    let sample = &bytes[..bytes.len().min(GUESS)];
    match identify_bytes(sample, &Prior::default()).map(|identified| identified.encoding) {
        Some(Identity::Legacy(encoding)) => encoding,
        Some(Identity::Unicode(Unicode::Utf8)) => UTF_8,
        Some(Identity::Unicode(Unicode::Utf16Le)) => UTF_16LE,
        Some(Identity::Unicode(Unicode::Utf16Be)) => UTF_16BE,
        // UTF-32 is not a charset of the web, and binary data is decoded as browsers do it.
        Some(Identity::Unicode(Unicode::Utf32Le | Unicode::Utf32Be)) | None => WINDOWS_1252,
    }
}

/// The charset that a page declares in its first bytes, by an XML declaration or by `<meta>`.
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    if head.starts_with("<?xml")
        && let Some((declaration, _)) = head.split_once("?>")
        && let Some((_, name)) = declaration.split_once("encoding=")
    {
        return label(name);
    }
    let mut metas = head.match_indices("<meta").filter_map(|(at, _)| head[at..].split('>').next());
    metas.find_map(charset_parameter)
}

/// The charset of a page whose declaration can be read although nothing else is known: it is not UTF-16.
fn readable(declared: &'static Encoding) -> &'static Encoding {
    if declared == UTF_16LE || declared == UTF_16BE { UTF_8 } else { declared }
}

/// The charset after `charset=`, in a header or a tag. The value may be a whole content type, which has the parameter
/// in turn.
fn charset_parameter(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let mut places = lower.match_indices("charset").map(|(at, name)| &text[at + name.len()..]);
    places.find_map(|rest| label(rest.trim_start().strip_prefix('=')?))
}

fn label(text: &str) -> Option<&'static Encoding> {
    let text = text.trim_start_matches([' ', '"', '\'', '\t', '\n']);
    let name = text.split(['"', '\'', ' ', ';', '>', '/', '?']).next()?;
    let encoding = Encoding::for_label(name.as_bytes())?;
    // `x-user-defined` means windows-1252, and `replacement` is no charset.
    match encoding.name() {
        "replacement" => Some(UTF_8),
        "x-user-defined" => Some(WINDOWS_1252),
        _ => Some(encoding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, GB18030, GBK, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251};

    fn read(bytes: &[u8]) -> (String, &'static Encoding) {
        let (text, encoding) = decode(bytes, None);
        (text.into_owned(), encoding)
    }

    #[test]
    fn a_declared_charset_is_used() {
        for (encoding, text) in [
            (SHIFT_JIS, "日本語のページです"),
            (EUC_JP, "日本語のページです"),
            (GBK, "这是一个中文网页"),
            (GB18030, "这是一个中文网页"),
            (WINDOWS_1251, "Это страница"),
            (ISO_2022_JP, "日本語のページです"),
        ] {
            let html = format!("<html><head><meta charset=\"{}\"></head>{text}", encoding.name());
            let (bytes, ..) = encoding.encode(&html);
            assert_eq!(read(&bytes), (html.clone(), encoding));
            let (bytes, ..) = encoding.encode(text);
            let header = format!("text/html; charset={}", encoding.name());
            assert_eq!(decode(&bytes, Some(&header)).0, text);
        }
    }

    #[test]
    fn a_declaration_that_the_bytes_contradict_is_passed_over() {
        let html = format!("<meta charset=shift_jis><p>{}", "日本語のページです".repeat(4));
        let (bytes, ..) = SHIFT_JIS.encode(&html);
        for header in ["utf-8", "euc-kr", "utf-16le", "no-charset"] {
            let (text, encoding) = decode(&bytes, Some(&format!("text/html; charset={header}")));
            assert_eq!((&*text, encoding), (&*html, SHIFT_JIS), "{header}");
        }
    }

    #[test]
    fn declared_utf_16_needs_no_byte_order_mark() {
        for text in ["<p>plain text</p>", "<p>日本語のページです　はい</p>", "<p>Это страница"] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            for (bytes, header, encoding) in [
                (&little, "utf-16le", UTF_16LE),
                (&little, "UTF-16", UTF_16LE),
                (&big, "utf-16be", UTF_16BE),
                (&big, "utf-16", UTF_16BE),
            ] {
                let got = decode(bytes, Some(&format!("text/html; charset={header}")));
                assert_eq!(got, (text.into(), encoding), "{header}");
            }
        }
        // A page in which a declaration can be read is not UTF-16.
        let html = "<meta charset=utf-16le>d\u{e9}j\u{e0} vu";
        assert_eq!(read(html.as_bytes()), (html.to_owned(), UTF_8));
    }

    #[test]
    fn a_charset_may_be_a_whole_content_type() {
        let (bytes, ..) = SHIFT_JIS.encode("日本語");
        for header in
            ["text/html; charset=text/html; charset=shift_jis", "text/html; charset=\"text/html;charset=SJIS\""]
        {
            assert_eq!(decode(&bytes, Some(header)), ("日本語".into(), SHIFT_JIS), "{header}");
        }
    }

    #[test]
    fn an_undeclared_charset_is_guessed() {
        let text = "これは文字コードを宣言していない日本語のページです。内容は普通の文章です。".repeat(4);
        for encoding in [SHIFT_JIS, EUC_JP] {
            let (bytes, ..) = encoding.encode(&text);
            assert_eq!(read(&bytes), (text.clone(), encoding));
        }
        let chinese = "这是一个没有声明字符编码的中文网页，内容是普通的文章。".repeat(4);
        let russian = "Это страница без объявленной кодировки, на ней обычный текст. ".repeat(4);
        let polish = "Strona bez zadeklarowanego kodowania; zażółć gęślą jaźń, źródło wód. ".repeat(4);
        for (encoding, text) in [(GBK, chinese), (WINDOWS_1251, russian), (encoding_rs::WINDOWS_1250, polish)] {
            let (bytes, ..) = encoding.encode(&text);
            assert_eq!(read(&bytes).0, text, "{}", encoding.name());
        }
        let units: Vec<u8> = "<p>plain text</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&units), ("<p>plain text</p>".to_owned(), UTF_16LE));
    }

    #[test]
    fn a_wrong_declaration_does_not_matter() {
        let html = "<meta charset=iso-8859-1>déjà vu 日本";
        assert_eq!(read(html.as_bytes()), (html.to_owned(), UTF_8));
        let (bytes, ..) =
            WINDOWS_1252.encode("<meta charset=utf-8>d\u{e9}j\u{e0} vu, na\u{ef}vet\u{e9}, \u{e9}t\u{e9}");
        assert!(read(&bytes).0.contains("déjà vu"));
        let russian = "<meta charset=iso-8859-1><p>Это страница, которую сервер назвал западной. ".repeat(3);
        let (bytes, ..) = WINDOWS_1251.encode(&russian);
        assert_eq!(read(&bytes).0, russian);
        assert_eq!(read(b"\xEF\xBB\xBFx"), ("x".to_owned(), UTF_8));
        assert_eq!(read(b"\xFF\xFEx\0"), ("x".to_owned(), UTF_16LE));
        assert_eq!(read("cut off: é".as_bytes().split_last().unwrap().1).0, "cut off: \u{FFFD}");
    }
}
