//! Decoding bytes to text, in chunks.

use crate::Unicode;

/// A decoder that takes the bytes of a text in pieces.
pub trait Decode {
    /// Appends the decoded `bytes` to `out`; `last` says that no more bytes follow.
    fn decode(&mut self, bytes: &[u8], last: bool, out: &mut String);

    /// Whether there were invalid bytes, which were decoded as U+FFFD.
    fn lossy(&self) -> bool;
}

impl<D: Decode + ?Sized> Decode for Box<D> {
    fn decode(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        (**self).decode(bytes, last, out);
    }

    fn lossy(&self) -> bool {
        (**self).lossy()
    }
}

/// A decoder of the Unicode encodings.
#[derive(Debug)]
pub struct UnicodeDecoder {
    unicode: Unicode,
    /// The first bytes of an incomplete character.
    carry: Vec<u8>,
    lossy: bool,
}

impl UnicodeDecoder {
    /// A decoder that starts at the first byte of a character.
    pub fn new(unicode: Unicode) -> Self {
        Self { unicode, carry: vec![], lossy: false }
    }

    fn replace(&mut self, out: &mut String) {
        self.lossy = true;
        out.push(char::REPLACEMENT_CHARACTER);
    }

    fn decode_utf8(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        let mut rest = bytes;
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return out.push_str(text),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    out.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    match error.error_len() {
                        None if !last => return self.carry.extend_from_slice(after),
                        None => return self.replace(out),
                        Some(length) => {
                            self.replace(out);
                            rest = &after[length..];
                        }
                    }
                }
            }
        }
    }

    fn decode_utf16(&mut self, bytes: &[u8], last: bool, unit: fn([u8; 2]) -> u16, out: &mut String) {
        let (mut pairs, mut odd) = bytes.as_chunks::<2>();
        let high = |pair: &[u8; 2]| matches!(unit(*pair), 0xD800..=0xDBFF);
        if !last && pairs.last().is_some_and(high) {
            odd = &bytes[pairs.len() * 2 - 2..];
            pairs = &pairs[..pairs.len() - 1];
        }
        for c in char::decode_utf16(pairs.iter().copied().map(unit)) {
            match c {
                Ok(c) => out.push(c),
                Err(_) => self.replace(out),
            }
        }
        self.finish(odd, last, out);
    }

    fn decode_utf32(&mut self, bytes: &[u8], last: bool, unit: fn([u8; 4]) -> u32, out: &mut String) {
        let (quads, odd) = bytes.as_chunks::<4>();
        for quad in quads {
            match char::from_u32(unit(*quad)) {
                Some(c) => out.push(c),
                None => self.replace(out),
            }
        }
        self.finish(odd, last, out);
    }

    fn finish(&mut self, odd: &[u8], last: bool, out: &mut String) {
        if !last {
            self.carry.extend_from_slice(odd);
        } else if !odd.is_empty() {
            self.replace(out);
        }
    }
}

impl Decode for UnicodeDecoder {
    fn decode(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        let carried: Vec<u8>;
        let mut bytes = bytes;
        if !self.carry.is_empty() {
            let mut joined = std::mem::take(&mut self.carry);
            joined.extend_from_slice(bytes);
            carried = joined;
            bytes = &carried;
        }
        match self.unicode {
            Unicode::Utf8 => self.decode_utf8(bytes, last, out),
            Unicode::Utf16Le => self.decode_utf16(bytes, last, u16::from_le_bytes, out),
            Unicode::Utf16Be => self.decode_utf16(bytes, last, u16::from_be_bytes, out),
            Unicode::Utf32Le => self.decode_utf32(bytes, last, u32::from_le_bytes, out),
            Unicode::Utf32Be => self.decode_utf32(bytes, last, u32::from_be_bytes, out),
        }
    }

    fn lossy(&self) -> bool {
        self.lossy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(unicode: Unicode, pieces: &[&[u8]]) -> (String, bool) {
        let mut decoder = UnicodeDecoder::new(unicode);
        let mut out = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            decoder.decode(piece, index + 1 == pieces.len(), &mut out);
        }
        (out, decoder.lossy())
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(decode(Unicode::Utf8, &[b"a\xFFb\xE6"]), ("a\u{fffd}b\u{fffd}".into(), true));
        assert_eq!(decode(Unicode::Utf16Le, &[b"a\0\0\xD8b\0x"]), ("a\u{fffd}b\u{fffd}".into(), true));
        assert_eq!(decode(Unicode::Utf32Be, &[b"\0\0\0a\0\x11\0\0"]), ("a\u{fffd}".into(), true));
    }

    proptest! {
        #[test]
        fn decoding_in_pieces_gives_the_same_text(bytes: Vec<u8>, cut in 0_usize..64, text in ".*") {
            for bytes in [bytes, text.clone().into_bytes()] {
                let cut = cut.min(bytes.len());
                for unicode in Unicode::ALL {
                    prop_assert_eq!(decode(unicode, &[&bytes[..cut], &bytes[cut..]]), decode(unicode, &[&bytes]));
                }
                prop_assert_eq!(decode(Unicode::Utf8, &[&bytes]).0, String::from_utf8_lossy(&bytes).into_owned());
            }
            let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(decode(Unicode::Utf16Be, &[&utf16]), (text, false));
        }
    }
}
