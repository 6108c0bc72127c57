//! The fetched body as text.

use std::borrow::Cow;

use encoding_rs::Encoding;
use ragmaker_text::NOT_TEXT;
use ragmaker_tool::Error;

/// The fetched body, before conversion.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// Text as its author wrote it.
    Text(&'a str),
    /// Bytes in a charset that is still to be found.
    Bytes {
        /// All of them.
        bytes: &'a [u8],
        /// The media type as a server declares it, whose `charset` parameter counts.
        content_type: Option<&'a str>,
    },
}

/// Decodes a page: the text, and the charset that it was read in.
///
/// # Errors
///
/// [`NOT_TEXT`] where the bytes are a file of another kind, or text in no charset.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Result<(Cow<'a, str>, &'static Encoding), Error> {
    let refuse = || NOT_TEXT.error("this is a binary file, not a page").remedy(REMEDY);
    if is_binary(bytes) {
        return Err(refuse());
    }
    let (text, charset) = ragmaker_markdown::decode(bytes, content_type);
    if is_garbled(&text) { Err(refuse()) } else { Ok((text, charset)) }
}

/// The remedy for bytes that are not a page.
const REMEDY: &str = "Give an HTML page; use a program for files of this kind.";

/// Whether the bytes begin as files do that are certainly not pages.
fn is_binary(bytes: &[u8]) -> bool {
    /// The entries after the first eight are so short that a text may begin with them as well.
    const MAGIC: [&[u8]; 10] = [
        b"%PDF-",
        b"PK\x03\x04",
        b"\x89PNG",
        b"GIF8",
        b"\xFF\xD8\xFF",
        b"\x1F\x8B",
        b"\x7FELF",
        b"RIFF",
        b"OggS",
        b"\xFD7zXZ",
    ];
    MAGIC.iter().any(|magic| bytes.starts_with(magic)) && !bytes[..bytes.len().min(4096)].contains(&b'<')
        || MAGIC[..8].iter().any(|magic| bytes.starts_with(magic))
}

/// Whether what was decoded is not text in any charset: a tenth of its start is control characters or
/// errors.
fn is_garbled(text: &str) -> bool {
    let is_bad = |c: &char| (c.is_control() && !c.is_whitespace() && *c != '\x1B') || *c == char::REPLACEMENT_CHARACTER;
    let start = || text.chars().take(4096);
    let bad = start().filter(is_bad).count();
    bad > 32 && bad * 10 > start().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_from_other_files() {
        for page in [&b""[..], b"<p>x", b"OggS is a container <b>format</b>", "日本語".as_bytes()] {
            assert!(decode(page, None).is_ok(), "{:?}", String::from_utf8_lossy(page));
        }
        let noise: Vec<u8> = (0..9000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for other in [&b"%PDF-1.7"[..], b"PK\x03\x04<", b"OggS\0", b"GIF89a", &noise] {
            assert!(decode(other, None).unwrap_err().is(NOT_TEXT), "{:?}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_declared_charset_counts() {
        let (text, charset) = decode(b"\x93\xFA\x96\x7B\x8C\xEA", Some("text/html; charset=Shift_JIS")).unwrap();
        assert_eq!((&*text, charset.name()), ("日本語", "Shift_JIS"));
    }
}
