//! A whole text in memory; an edit does not touch the bytes around it.

use std::ops::Range;

use crate::{ByteSource, Decode, Encoding, Identified, Prior, Unicode, identify};

/// A whole text in memory, with its original bytes.
#[derive(Clone, Debug)]
pub struct Text {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The encoding and the length of the byte order mark.
    pub identified: Identified,
    /// The decoded text.
    pub text: String,
    /// Whether there are invalid bytes, decoded as U+FFFD.
    pub lossy: bool,
}

impl Text {
    /// Decodes `bytes`; returns them as the error if they are not text. The `prior` is that of [`identify`].
    pub fn decode(bytes: Vec<u8>, prior: &dyn Fn() -> Prior) -> Result<Self, Vec<u8>> {
        let source = ByteSource::Memory(bytes);
        let identified = identify(&source, prior);
        let ByteSource::Memory(bytes) = source else { return Err(vec![]) };
        let Ok(Some(identified)) = identified else { return Err(bytes) };
        let mut decoder = identified.encoding.decoder();
        let mut text = String::new();
        decoder.decode(&bytes[identified.mark..], true, &mut text);
        Ok(Self { bytes, identified, text, lossy: decoder.lossy() })
    }

    /// The bytes of the file with `new` instead of the text ranges `ranges`, which are ordered and do not
    /// overlap. All other bytes stay unchanged. The error is the first character of `new` that the encoding
    /// lacks.
    pub fn replace(&self, ranges: &[Range<usize>], new: &str) -> Result<Vec<u8>, char> {
        let encoded = self.identified.encoding.encode(new)?;
        let wanted: Vec<usize> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
        let offsets = self.byte_offsets(&wanted);
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut copied = 0;
        for pair in offsets.as_chunks::<2>().0 {
            out.extend_from_slice(&self.bytes[copied..pair[0]]);
            out.extend_from_slice(&encoded);
            copied = pair[1];
        }
        out.extend_from_slice(&self.bytes[copied..]);
        Ok(out)
    }

    /// The byte offsets of the text offsets `wanted`, which are in order.
    fn byte_offsets(&self, wanted: &[usize]) -> Vec<usize> {
        let mark = self.identified.mark;
        if self.identified.encoding == Encoding::Unicode(Unicode::Utf8) && !self.lossy {
            return wanted.iter().map(|offset| offset + mark).collect();
        }
        let mut decoder = self.identified.encoding.decoder();
        let (mut out, mut produced, mut begins) = (String::new(), 0, mark);
        let mut offsets = Vec::with_capacity(wanted.len());
        for (at, byte) in self.bytes.iter().enumerate().skip(mark) {
            while offsets.len() < wanted.len() && wanted[offsets.len()] <= produced {
                offsets.push(begins);
            }
            out.clear();
            decoder.decode(std::slice::from_ref(byte), false, &mut out);
            if !out.is_empty() {
                produced += out.len();
                begins = at + 1;
            }
        }
        offsets.resize(wanted.len(), self.bytes.len());
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JAPANESE: &str = "これは日本語の文章です。文字コードを調べるために書きました。\n二行目もあります。\n";

    fn legacy(label: &str) -> Encoding {
        Encoding::named(label).unwrap()
    }

    #[test]
    fn encodings_are_detected() {
        for (label, text) in [
            ("Shift_JIS", JAPANESE),
            ("EUC-JP", JAPANESE),
            ("ISO-2022-JP", JAPANESE),
            ("EUC-KR", "이것은 한국어로 쓴 문장입니다. 글자 부호를 알아보려고 썼습니다.\n"),
            ("GBK", "这是一个用来测试字符编码的中文句子。我们希望它能被正确识别。\n"),
            ("Big5", "這是一個用來測試字元編碼的中文句子。我們希望它能被正確識別。\n"),
            ("windows-1251", "Это предложение на русском языке, написанное для проверки кодировки.\n"),
            ("windows-1252", "Un café crème à la terrasse, c'est une idée très agréable en été, même à Noël.\n"),
        ] {
            let ascii = "ascii first\n".repeat(10_000);
            for text in [text.to_owned(), ascii + text] {
                let bytes = legacy(label).encode(&text).unwrap();
                let found = Text::decode(bytes, &Prior::of_process).unwrap();
                assert_eq!((found.identified.encoding.name(), found.lossy), (label, false));
                assert_eq!(found.text, text);
            }
        }
        for bytes in
            [&b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1F\x15\xC4\x89"[..], &[0; 100]]
        {
            assert!(Text::decode(bytes.to_vec(), &Prior::of_process).is_err());
        }
    }

    proptest! {
        #[test]
        fn bytes_outside_a_replacement_stay(before in "[ぁ-ん a]{0,9}", old in "[ア-ン]{1,4}", after in "[ぁ-ん\n]{0,9}", new in "[ァ-ヶa]{0,6}") {
            for label in ["utf-8", "utf-16le", "utf-16be", "utf-32le", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"] {
                let encoding = legacy(label);
                let text = format!("{before}{old}{after}");
                let Ok(bytes) = encoding.encode(&text) else { continue };
                let Ok(expected) = encoding.encode(&format!("{before}{new}{after}")) else { continue };
                let whole = Text { bytes, identified: Identified { encoding, mark: 0 }, text, lossy: false };
                let range = before.len()..before.len() + old.len();
                prop_assert_eq!(whole.replace(&[range], &new).unwrap(), expected, "{}", label);
            }
        }

        #[test]
        fn invalid_bytes_outside_a_replacement_stay(before: Vec<u8>, after: Vec<u8>) {
            let bytes = [&before, &b" needle "[..], &after].concat();
            let Ok(whole) = Text::decode(bytes, &Prior::of_process) else { return Ok(()) };
            let Some(at) = whole.text.find(" needle ") else { return Ok(()) };
            if whole.identified.encoding != Encoding::Unicode(Unicode::Utf8) { return Ok(()) }
            let changed = whole.replace(std::slice::from_ref(&(at + 1..at + 7)), "x").unwrap();
            prop_assert_eq!(changed, [&before, &b" x "[..], &after].concat());
        }
    }
}
