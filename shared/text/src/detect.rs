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

/// Detects the encoding of `source`; `None` if it is not text. The `prior` is asked only where the bytes of a short text
/// do not decide.
///
/// The sample is the start of the source, or the first part with non-ASCII bytes.
pub fn identify(source: &ByteSource, prior: &dyn Fn() -> Prior) -> io::Result<Option<Identified>> {
    let mut sample = vec![0; SAMPLE];
    let read = source.read_at(0, &mut sample)?;
    if decides(&sample[..read], source) {
        return Ok(identify_head(&sample[..read], prior));
    }
    let at = first_decisive_byte(source, 0, source.size())?;
    let read = source.read_at(at, &mut sample)?;
    Ok(identify_within(&sample[..read], prior))
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
        return identify_sniffed(sniff(head), head, &|| prior.clone());
    }
    let at = crate::unicode::plain(bytes);
    let part = &bytes[at..bytes.len().min(at + SAMPLE)];
    identify_sniffed(sniff_within(part), part, &|| prior.clone())
}

impl Prior {
    /// This prior, with the legacy encoding that most of `texts` are in, by their number of bytes outside ASCII. A long
    /// text has no more weight than one that is just long enough to be certain.
    #[must_use]
    pub fn with_texts(self, texts: &[Vec<u8>]) -> Self {
        let mut weights: Vec<(&'static encoding_rs::Encoding, usize)> = vec![];
        for text in texts {
            let Some(Encoding::Legacy(encoding)) = identify_bytes(text, &self).map(|found| found.encoding) else {
                continue;
            };
            let weight = text.iter().filter(|byte| !byte.is_ascii()).take(plausible::SHORT).count();
            match weights.iter_mut().find(|found| found.0 == encoding) {
                Some(found) => found.1 += weight,
                None => weights.push((encoding, weight)),
            }
        }
        self.with_encoding(weights.into_iter().max_by_key(|found| found.1).map(|found| found.0))
    }
}

/// Whether `head`, the start of `source`, is sufficient to detect the encoding. A character at its end may be
/// incomplete.
pub(crate) fn decides(head: &[u8], source: &ByteSource) -> bool {
    let plain = plain(head);
    plain < head.len() && (plain + MAX_ESCAPE <= head.len() || head.len() as u64 >= source.size())
}

/// Detects the encoding of a text that starts with `head`; `None` if it is not text.
pub(crate) fn identify_head(head: &[u8], prior: &dyn Fn() -> Prior) -> Option<Identified> {
    identify_sniffed(sniff(head), head, prior)
}

/// Detects the encoding of a text that contains `part` after ASCII text.
pub(crate) fn identify_within(part: &[u8], prior: &dyn Fn() -> Prior) -> Option<Identified> {
    identify_sniffed(sniff_within(part), part, prior)
}

fn identify_sniffed(sniffed: Sniffed, sample: &[u8], prior: &dyn Fn() -> Prior) -> Option<Identified> {
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
    fn the_encoding_of_most_other_texts_decides() {
        let [russian, other] =
            [encoding_rs::WINDOWS_1251, encoding_rs::GBK].map(|encoding| encoding.encode("ФАЙЛ\n").0);
        let long = encoding_rs::WINDOWS_1251.encode("Это предложение на русском языке.").0.into_owned();
        let name = |others: &[Vec<u8>]| {
            identify_bytes(&russian, &Prior::default().with_texts(others)).unwrap().encoding.name()
        };
        let short = other.into_owned();
        assert_eq!((name(&[]), name(&[short.clone(), long.clone()])), ("GBK", "windows-1251"));
        // Text in UTF-8, and what is not text, say nothing.
        assert_eq!(name(&["ФАЙЛ".into(), vec![0; 99], vec![]]), "GBK");
    }

    #[test]
    fn text_after_a_long_start_of_ascii_is_looked_at() {
        let late = [vec![b'a'; SAMPLE * 2], "。".as_bytes().to_vec()].concat();
        let found = identify_bytes(&late, &Prior::default()).unwrap();
        assert_eq!((found.encoding.name(), found.mark), ("UTF-8", 0));
    }
}
