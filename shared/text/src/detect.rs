//! Detection of the encoding of a text.

use std::io;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

mod frequent;
mod plausible;
mod prior;

pub use prior::Prior;

use crate::{
    ByteSource, Encoding, Identified, SAMPLE, Sniffed, Unicode, first_decisive_byte, sniff, sniff_within,
    unicode::{MAX_ESCAPE, has_iso2022, plain},
};

/// Detects the encoding of `source`; `None` if it is not text.
///
/// The sample is the start of the source, or the first part with non-ASCII bytes.
pub fn identify(source: &ByteSource) -> io::Result<Option<Identified>> {
    let mut sample = vec![0; SAMPLE];
    let read = source.read_at(0, &mut sample)?;
    if decides(&sample[..read], source) {
        return Ok(identify_head(&sample[..read]));
    }
    let at = first_decisive_byte(source, 0, source.size())?;
    let read = source.read_at(at, &mut sample)?;
    Ok(identify_within(&sample[..read]))
}

/// Detects the encoding of a text in memory, such as a page without a declared charset.
///
/// ```
/// use ragmaker_text::{Prior, identify_bytes};
/// let shift_jis = b"\x95\xCF\x90\x94 old_value \x8FI\x82\xED\x82\xE8\r\n";
/// let found = identify_bytes(shift_jis, &Prior::default()).unwrap();
/// assert_eq!(found.encoding.name(), "Shift_JIS");
/// ```
pub fn identify_bytes(bytes: &[u8], prior: &Prior) -> Option<Identified> {
    let head = &bytes[..bytes.len().min(SAMPLE)];
    let plain = plain(head);
    if plain < head.len() && (plain + MAX_ESCAPE <= head.len() || head.len() == bytes.len()) {
        return identify_sniffed(sniff(head), head, prior);
    }
    let at = crate::unicode::plain(bytes);
    let part = &bytes[at..bytes.len().min(at + SAMPLE)];
    identify_sniffed(sniff_within(part), part, prior)
}

/// Whether `head`, the start of `source`, is sufficient to detect the encoding. A character at its end may be
/// incomplete.
pub(crate) fn decides(head: &[u8], source: &ByteSource) -> bool {
    let plain = plain(head);
    plain < head.len() && (plain + MAX_ESCAPE <= head.len() || head.len() as u64 >= source.size())
}

/// Detects the encoding of a text that starts with `head`; `None` if it is not text.
pub(crate) fn identify_head(head: &[u8]) -> Option<Identified> {
    identify_sniffed(sniff(head), head, Prior::of_process())
}

/// Detects the encoding of a text that contains `part` after ASCII text.
pub(crate) fn identify_within(part: &[u8]) -> Option<Identified> {
    identify_sniffed(sniff_within(part), part, Prior::of_process())
}

fn identify_sniffed(sniffed: Sniffed, sample: &[u8], prior: &Prior) -> Option<Identified> {
    match sniffed {
        Sniffed::Unicode(unicode, mark) => return Some(Identified { encoding: Encoding::Unicode(unicode), mark }),
        Sniffed::Binary => return None,
        Sniffed::Other => {}
    }
    if ragmaker_media::binary_type(sample).is_some() && memchr::memchr(0, sample).is_some() && !has_iso2022(sample) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // A sample of full length may end inside a character.
    detector.feed(sample, sample.len() < SAMPLE);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let encoding = match plausible::better(guess, sample, prior).unwrap_or(guess) {
        encoding if encoding == encoding_rs::UTF_8 => Encoding::Unicode(Unicode::Utf8),
        encoding => Encoding::Legacy(encoding),
    };
    Some(Identified { encoding, mark: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_bytes_tell_the_encoding() {
        let name =
            |bytes: &[u8]| identify_bytes(bytes, &Prior::default()).map(|found| found.encoding.name().to_owned());
        assert_eq!(name("潮汐".as_bytes()).as_deref(), Some("UTF-8"));
        assert_eq!(name(b"\xff\xfea\0b\0").as_deref(), Some("UTF-16LE"));
        assert_eq!(name(b"\x1b$B$\"$$\x1b(B\n").as_deref(), Some("ISO-2022-JP"));
    }

    #[test]
    fn text_after_a_long_start_of_ascii_is_looked_at() {
        let late = [vec![b'a'; SAMPLE * 2], "。".as_bytes().to_vec()].concat();
        let found = identify_bytes(&late, &Prior::default()).unwrap();
        assert_eq!((found.encoding.name(), found.mark), ("UTF-8", 0));
    }
}
