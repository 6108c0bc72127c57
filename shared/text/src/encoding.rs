//! Encodings: Unicode and the legacy encodings of the web, decoded like in browsers (`encoding_rs`).

use crate::{Decode, Unicode, UnicodeDecoder};

/// A character encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A Unicode encoding.
    Unicode(Unicode),
    /// A legacy encoding.
    Legacy(&'static encoding_rs::Encoding),
}

/// An encoding and the length of the byte order mark before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identified {
    /// The encoding.
    pub encoding: Encoding,
    /// The length of the byte order mark in bytes.
    pub mark: usize,
}

impl Encoding {
    /// The encoding for `label`, as defined by the Encoding Standard.
    pub fn named(label: &str) -> Option<Self> {
        let unicode = Unicode::ALL.into_iter().find(|unicode| unicode.name().eq_ignore_ascii_case(label.trim()));
        if let Some(unicode) = unicode {
            return Some(Self::Unicode(unicode));
        }
        match encoding_rs::Encoding::for_label(label.as_bytes())? {
            encoding if encoding == encoding_rs::UTF_8 => Some(Self::Unicode(Unicode::Utf8)),
            encoding if encoding == encoding_rs::UTF_16LE => Some(Self::Unicode(Unicode::Utf16Le)),
            encoding if encoding == encoding_rs::UTF_16BE => Some(Self::Unicode(Unicode::Utf16Be)),
            encoding if encoding == encoding_rs::REPLACEMENT => None,
            encoding => Some(Self::Legacy(encoding)),
        }
    }

    /// The name of the encoding.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unicode(unicode) => unicode.name(),
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// The bytes of a newline, which never occur inside other characters; see [`lines`](crate::lines).
    pub fn newline(self) -> &'static [u8] {
        match self {
            Self::Unicode(unicode) => unicode.newline(),
            Self::Legacy(_) => b"\n",
        }
    }

    /// Whether each line can be decoded independently. In ISO-2022-JP, a line may change the character set of
    /// the next.
    pub fn decodes_line_by_line(self) -> bool {
        self != Self::Legacy(encoding_rs::ISO_2022_JP)
    }

    /// A decoder at the start of a text.
    pub fn decoder(self) -> Decoder {
        match self {
            Self::Unicode(unicode) => Decoder::Unicode(UnicodeDecoder::new(unicode)),
            Self::Legacy(encoding) => Decoder::Legacy(Box::new(encoding.new_decoder_without_bom_handling()), false),
        }
    }

    /// Encodes `text` without a byte order mark. The error is the first character that the encoding lacks.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        Ok(match self {
            Self::Unicode(Unicode::Utf8) => text.as_bytes().to_vec(),
            Self::Unicode(Unicode::Utf16Le) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Unicode(Unicode::Utf16Be) => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Unicode(Unicode::Utf32Le) => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
            Self::Unicode(Unicode::Utf32Be) => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
            Self::Legacy(encoding) => {
                let mut encoder = encoding.new_encoder();
                let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or(usize::MAX);
                let mut bytes = Vec::with_capacity(most);
                match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true).0 {
                    encoding_rs::EncoderResult::Unmappable(c) => return Err(c),
                    _ => bytes,
                }
            }
        })
    }
}

/// A decoder of any encoding.
#[derive(Debug)]
pub enum Decoder {
    /// Decodes a Unicode encoding.
    Unicode(UnicodeDecoder),
    /// Decodes a legacy encoding; the flag says whether there were invalid bytes.
    Legacy(Box<encoding_rs::Decoder>, bool),
}

impl Decode for Decoder {
    fn decode(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        match self {
            Self::Unicode(decoder) => decoder.decode(bytes, last, out),
            Self::Legacy(decoder, lossy) => {
                let mut rest = bytes;
                loop {
                    out.reserve(decoder.max_utf8_buffer_length(rest.len()).unwrap_or(rest.len()));
                    let (result, read, errors) = decoder.decode_to_string(rest, out, last);
                    *lossy |= errors;
                    rest = &rest[read..];
                    if result == encoding_rs::CoderResult::InputEmpty {
                        return;
                    }
                }
            }
        }
    }

    fn lossy(&self) -> bool {
        match self {
            Self::Unicode(decoder) => decoder.lossy(),
            Self::Legacy(_, lossy) => *lossy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn legacy(label: &str) -> Encoding {
        Encoding::named(label).unwrap()
    }

    #[test]
    fn the_first_unencodable_character_is_reported() {
        assert_eq!(legacy("shift_jis").encode("a😀"), Err('😀'));
        assert_eq!(legacy("utf-16le").encode("a😀").unwrap(), b"a\0\x3D\xD8\0\xDE");
    }

    proptest! {
        #[test]
        fn encoding_and_decoding_are_inverse(text in "[ -~\n]{0,20}[ぁ-ん]{0,9}[亜-黑]{0,4}") {
            for label in ["utf-8", "utf-16le", "utf-16be", "utf-32be", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5"] {
                let encoding = legacy(label);
                let Ok(bytes) = encoding.encode(&text) else { continue };
                let mut decoder = encoding.decoder();
                let mut read = String::new();
                decoder.decode(&bytes, true, &mut read);
                prop_assert_eq!((read.as_str(), decoder.lossy()), (text.as_str(), false), "{}", label);
            }
        }
    }
}
