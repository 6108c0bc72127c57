//! The text of a file as UTF-8, decoded during reading.

use std::io::{self, Read};

use crate::{
    ByteSource, Decode, Decoder, Encoding, Identified, Prior, SAMPLE, Unicode,
    detect::{decides, identify_head, identify_within},
    unicode::plain as plain_of,
};

/// How many bytes are decoded at a time.
const BLOCK: usize = 64 * 1024;

/// Reads a text of any size and encoding as UTF-8. UTF-8 input passes unchanged, including invalid bytes.
///
/// The encoding is detected while reading, by the same rule as [`identify`](crate::identify). The ASCII text
/// before the first decisive byte is the same in all encodings.
pub struct Reader<'a> {
    source: &'a ByteSource,
    /// The start of the source, which was read already.
    head: &'a [u8],
    prior: &'a dyn Fn() -> Prior,
    at: u64,
    state: EncodingState,
}

enum EncodingState {
    /// Only ASCII so far; the encoding is not known yet.
    Plain,
    /// The rest is UTF-8.
    Utf8,
    Decoding(Box<Decoding>),
    NotText,
}

struct Decoding {
    decoder: Decoder,
    block: Vec<u8>,
    text: String,
    /// How many bytes of `text` were returned.
    given: usize,
    last: bool,
}

impl<'a> Reader<'a> {
    /// A reader of `source`, which starts with `head`: [`SAMPLE`] bytes, or the whole source. The `prior` is that of
    /// [`identify`](crate::identify).
    pub fn new(source: &'a ByteSource, head: &'a [u8], prior: &'a dyn Fn() -> Prior) -> Self {
        let mut reader = Self { source, head, prior, at: 0, state: EncodingState::Plain };
        if decides(head, source) {
            reader.take_for(identify_head(head, prior));
        }
        reader
    }

    /// The whole text, if it is UTF-8 and complete in the head.
    pub fn whole_if_utf8(&self) -> Option<&'a [u8]> {
        let whole = self.source.size() <= self.head.len() as u64;
        let passes = matches!(self.state, EncodingState::Plain | EncodingState::Utf8);
        if whole && passes { self.head.get(usize::try_from(self.at).ok()?..) } else { None }
    }

    /// Whether reading ended because the source is not text.
    pub fn is_not_text(&self) -> bool {
        matches!(self.state, EncodingState::NotText)
    }

    /// Sets the encoding of the following bytes.
    fn take_for(&mut self, found: Option<Identified>) {
        self.state = match found {
            None => EncodingState::NotText,
            Some(Identified { encoding, mark }) => {
                self.at += mark as u64;
                if encoding == Encoding::Unicode(Unicode::Utf8) {
                    EncodingState::Utf8
                } else {
                    let decoder = encoding.decoder();
                    let decoding = Decoding { decoder, block: vec![], text: String::new(), given: 0, last: false };
                    EncodingState::Decoding(Box::new(decoding))
                }
            }
        };
    }

    fn raw(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match usize::try_from(self.at).ok().and_then(|at| self.head.get(at..)) {
            Some(held) if !held.is_empty() => {
                let count = held.len().min(buffer.len());
                buffer[..count].copy_from_slice(&held[..count]);
                Ok(count)
            }
            _ => self.source.read_at(self.at, buffer),
        }
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.state {
                EncodingState::NotText => return Ok(0),
                EncodingState::Utf8 => {
                    let count = self.raw(buffer)?;
                    self.at += count as u64;
                    return Ok(count);
                }
                EncodingState::Plain => {
                    let count = self.raw(buffer)?;
                    let plain = plain_of(&buffer[..count]);
                    self.at += plain as u64;
                    if plain > 0 || count == 0 {
                        return Ok(plain);
                    }
                    let mut sample = vec![0; SAMPLE];
                    let count = self.source.read_at(self.at, &mut sample)?;
                    // With more bytes, an escape may turn out not to be decisive.
                    let plain = plain_of(&sample[..count]).min(buffer.len());
                    if plain > 0 {
                        buffer[..plain].copy_from_slice(&sample[..plain]);
                        self.at += plain as u64;
                        return Ok(plain);
                    }
                    self.take_for(identify_within(&sample[..count], self.prior));
                }
                EncodingState::Decoding(decoding) => {
                    let left = &decoding.text.as_bytes()[decoding.given..];
                    if !left.is_empty() {
                        let count = left.len().min(buffer.len());
                        buffer[..count].copy_from_slice(&left[..count]);
                        decoding.given += count;
                        return Ok(count);
                    }
                    if decoding.last {
                        return Ok(0);
                    }
                    decoding.block.resize(BLOCK, 0);
                    let count = self.source.read_at(self.at, &mut decoding.block)?;
                    self.at += count as u64;
                    decoding.last = count < BLOCK;
                    decoding.text.clear();
                    decoding.given = 0;
                    decoding.decoder.decode(&decoding.block[..count], decoding.last, &mut decoding.text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Text;
    use proptest::prelude::*;

    /// The result of reading `step` bytes at a time; `None` if it is not text.
    fn read(bytes: &[u8], step: usize) -> Option<Vec<u8>> {
        let source = ByteSource::Memory(bytes.to_vec());
        let mut reader = Reader::new(&source, &bytes[..bytes.len().min(SAMPLE)], &Prior::of_process);
        let (mut out, mut block) = (vec![], vec![0; step]);
        loop {
            match reader.read(&mut block).unwrap() {
                0 => return (!reader.is_not_text()).then_some(out),
                count => out.extend_from_slice(&block[..count]),
            }
        }
    }

    #[test]
    fn a_late_decisive_byte_determines_the_encoding() {
        let ascii = "ascii first\n".repeat(8000);
        let japanese = "これは日本語の文章です。文字コードを調べるために書きました。\n".repeat(3000);
        for encoding in ["Shift_JIS", "EUC-JP", "ISO-2022-JP", "UTF-8"] {
            let encoding = Encoding::named(encoding).unwrap();
            let bytes = [ascii.as_bytes(), &encoding.encode(&japanese).unwrap()].concat();
            for step in [1 << 16, 999] {
                assert!(read(&bytes, step).unwrap() == (ascii.clone() + &japanese).as_bytes(), "{}", encoding.name());
            }
        }
        assert_eq!(read(&[ascii.as_bytes(), &[0, 1, 2, 0xFF].repeat(99)].concat(), 4096), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn reading_in_steps_gives_the_whole_text(
            plain in 0_usize..3, bytes: Vec<u8>, text in "[ぁ-ん亜-黑a-z\n\u{1b}]{0,40}", label in 0_usize..6, step in 500_usize..70_000,
        ) {
            let label = ["utf-8", "utf-16le", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030"][label];
            let Ok(encoded) = Encoding::named(label).unwrap().encode(&text) else { return Ok(()) };
            for rest in [bytes, encoded] {
                let bytes = [b"plain text\n".repeat(plain * 6000), rest].concat();
                let whole = Text::decode(bytes.clone(), &Prior::of_process).ok().map(|text| {
                    let utf8 = text.identified.encoding == Encoding::Unicode(Unicode::Utf8);
                    if utf8 { bytes[text.identified.mark..].to_vec() } else { text.text.into_bytes() }
                });
                prop_assert_eq!(read(&bytes, step), whole);
            }
        }
    }
}
