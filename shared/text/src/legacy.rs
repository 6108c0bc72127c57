//! Texts of any encoding in memory: found, decoded, and changed without touching what is around.
//!
//! The encodings before Unicode are those of the web, decoded as browsers do it (`encoding_rs`) and
//! found as Firefox finds them (`chardetng`). Their tables are most of a small program's size, so a
//! tool that only wants Unicode does not name this module.

use std::{io, ops::Range};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use ragmaker_tool::{Code, Error};

use crate::{
    Decode, Newline, SAMPLE, Sniffed, Source, Unicode, UnicodeDecoder, says_at, sniff, sniff_within,
    unicode::{LONGEST_ESCAPE, has_iso2022, plain},
};

mod reader;

pub use reader::Reader;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One of Unicode's own.
    Unicode(Unicode),
    /// One of those before it.
    Legacy(&'static encoding_rs::Encoding),
}

/// An encoding and the length of the byte order mark before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identified {
    /// The encoding.
    pub encoding: Encoding,
    /// The length of the mark in bytes.
    pub mark: usize,
}

impl Encoding {
    /// The encoding that `label` names, as the web spells it.
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

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unicode(unicode) => unicode.name(),
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// The bytes of a newline, which are nothing else; see [`lines`](crate::lines).
    pub fn newline(self) -> &'static [u8] {
        match self {
            Self::Unicode(unicode) => unicode.newline(),
            Self::Legacy(_) => b"\n",
        }
    }

    /// Whether a line says the same without those before it. ISO-2022-JP changes between character
    /// sets, and may do so in one line for the next.
    pub fn has_lines_of_their_own(self) -> bool {
        self != Self::Legacy(encoding_rs::ISO_2022_JP)
    }

    /// A decoder at the start of a text.
    pub fn decoder(self) -> Decoder {
        match self {
            Self::Unicode(unicode) => Decoder::Unicode(UnicodeDecoder::new(unicode)),
            Self::Legacy(encoding) => Decoder::Legacy(Box::new(encoding.new_decoder_without_bom_handling()), false),
        }
    }

    /// What `text` is in this encoding, without a byte order mark; or the first character that can
    /// not be written in it.
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
    /// Of one of Unicode's own.
    Unicode(UnicodeDecoder),
    /// Of one before it, and whether it met bytes that are no text.
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

/// Finds the encoding of `source`; `None` if it is no text.
///
/// The sample is the start of the source, or where that says nothing the first part that does.
pub fn identify(source: &Source) -> io::Result<Option<Identified>> {
    let mut sample = vec![0; SAMPLE];
    let read = source.read_at(0, &mut sample)?;
    if decides(&sample[..read], source) {
        return Ok(identify_head(&sample[..read]));
    }
    let at = says_at(source, 0, source.size())?;
    let read = source.read_at(at, &mut sample)?;
    Ok(identify_within(&sample[..read]))
}

/// Whether `head`, the start of `source`, says what encoding it is in; a character that it cuts does not.
fn decides(head: &[u8], source: &Source) -> bool {
    let plain = plain(head);
    plain < head.len() && (plain + LONGEST_ESCAPE <= head.len() || head.len() as u64 >= source.size())
}

/// Finds the encoding of a text that begins with `head`; `None` if it is no text.
fn identify_head(head: &[u8]) -> Option<Identified> {
    identify_sniffed(sniff(head), head)
}

/// The same of a text that has `part` in it, after ASCII.
fn identify_within(part: &[u8]) -> Option<Identified> {
    identify_sniffed(sniff_within(part), part)
}

fn identify_sniffed(sniffed: Sniffed, sample: &[u8]) -> Option<Identified> {
    match sniffed {
        Sniffed::Unicode(unicode, mark) => return Some(Identified { encoding: Encoding::Unicode(unicode), mark }),
        Sniffed::Binary => return None,
        Sniffed::Other => {}
    }
    if has_signature(sample) && memchr::memchr(0, sample).is_some() && !has_iso2022(sample) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // A whole sample may end within a character.
    detector.feed(sample, sample.len() < SAMPLE);
    Some(match detector.guess(None, Utf8Detection::Deny) {
        encoding if encoding == encoding_rs::UTF_8 => {
            Identified { encoding: Encoding::Unicode(Unicode::Utf8), mark: 0 }
        }
        encoding => Identified { encoding: Encoding::Legacy(encoding), mark: 0 },
    })
}

/// Whether `head` begins as a well-known kind of file that is no text.
fn has_signature(head: &[u8]) -> bool {
    const SIGNATURES: [&[u8]; 9] =
        [b"\x7FELF", b"MZ", b"PK\x03\x04", b"\x1F\x8B", b"\x89PNG", b"\xFF\xD8\xFF", b"GIF8", b"%PDF", b"\0asm"];
    SIGNATURES.iter().any(|signature| head.starts_with(signature))
}

/// A whole text in memory, with the bytes that it came from.
#[derive(Clone, Debug)]
pub struct Text {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The encoding, and the mark before the text.
    pub identified: Identified,
    /// What the bytes say.
    pub text: String,
    /// Whether there are bytes that are no text, shown as U+FFFD.
    pub lossy: bool,
}

impl Text {
    /// Decodes `bytes`; gives them back if they are no text.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, Vec<u8>> {
        let source = Source::Memory(bytes);
        let identified = identify(&source);
        let Source::Memory(bytes) = source else { return Err(vec![]) };
        let Ok(Some(identified)) = identified else { return Err(bytes) };
        let mut decoder = identified.encoding.decoder();
        let mut text = String::new();
        decoder.decode(&bytes[identified.mark..], true, &mut text);
        Ok(Self { bytes, identified, text, lossy: decoder.lossy() })
    }

    /// The bytes of the file with `new` in place of the parts `ranges` of the text, which are in
    /// order and do not overlap; every byte outside them stays. Or the first character of `new`
    /// that can not be written in the encoding.
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

    /// Where the text offsets `wanted`, in order, are in the bytes.
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

/// A character can not be written in the encoding of the file.
pub const UNENCODABLE: Code = Code::new(
    "UNENCODABLE",
    "Nothing was changed. Use characters that the encoding has, or write a new file, which is UTF-8.",
);

/// `c` can not be written in `encoding`.
pub fn unencodable(c: char, encoding: &str) -> Error {
    UNENCODABLE
        .error(format!("{c:?} can not be written in {encoding}, the encoding of the file"))
        .detail("character", c.to_string())
        .detail("encoding", encoding)
}

/// A text file that is about to be written anew, or one that is not there yet.
///
/// What is written takes after what was there: the encoding, the byte order mark, the newlines,
/// and whether the last line ends.
#[derive(Debug)]
pub struct Rewrite {
    /// What was there; `None` for nothing, and for what is no text.
    old: Option<Text>,
    bytes: Vec<u8>,
}

impl Rewrite {
    /// Takes the bytes of the file as it is; none for a file that is not there.
    pub fn of(bytes: Vec<u8>) -> Self {
        match Text::decode(bytes) {
            Ok(text) if text.bytes.is_empty() => Self { old: None, bytes: vec![] },
            Ok(text) => Self { old: Some(text), bytes: vec![] },
            Err(bytes) => Self { old: None, bytes },
        }
    }

    /// The encoding that is written.
    pub fn encoding(&self) -> &'static str {
        self.identified().encoding.name()
    }

    /// The bytes of a file that says `content`.
    pub fn write(&self, content: &str) -> Result<Vec<u8>, Error> {
        let mut content = self.with_newlines(content);
        if let Some(old) = &self.old {
            let ended = old.text.ends_with('\n');
            if ended && !content.ends_with('\n') && !content.is_empty() {
                content.push_str(if Newline::of(&old.text) == Newline::CrLf { "\r\n" } else { "\n" });
            } else if !ended && !old.text.is_empty() {
                let open = content.strip_suffix("\r\n").or(content.strip_suffix('\n'));
                content = open.map(str::to_owned).unwrap_or(content);
            }
        }
        let mark = self.old.as_ref().map_or(&[][..], |old| &old.bytes[..old.identified.mark]);
        Ok([mark, &self.encode(&content)?].concat())
    }

    /// The bytes of the file as it is with `content` after its end.
    pub fn append(&self, content: &str) -> Result<Vec<u8>, Error> {
        let old = self.old.as_ref().map_or(&self.bytes, |old| &old.bytes);
        Ok([old.as_slice(), &self.encode(&self.with_newlines(content))?].concat())
    }

    /// How the lines of `bytes`, which were made here, end.
    pub fn newline_of(&self, bytes: &[u8]) -> Newline {
        let mut text = String::new();
        let mark = self.identified().mark.min(bytes.len());
        self.identified().encoding.decoder().decode(&bytes[mark..], true, &mut text);
        Newline::of(&text)
    }

    fn identified(&self) -> Identified {
        let utf8 = Identified { encoding: Encoding::Unicode(Unicode::Utf8), mark: 0 };
        self.old.as_ref().map_or(utf8, |old| old.identified)
    }

    fn encode(&self, text: &str) -> Result<Vec<u8>, Error> {
        self.identified().encoding.encode(text).map_err(|c| unencodable(c, self.encoding()))
    }

    fn with_newlines(&self, content: &str) -> String {
        let unix = || content.replace("\r\n", "\n");
        match self.old.as_ref().map(|old| Newline::of(&old.text)) {
            Some(Newline::CrLf) => unix().replace('\n', "\r\n"),
            Some(Newline::Lf) => unix(),
            _ => content.to_owned(),
        }
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
    fn encodings_are_found() {
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
                let found = Text::decode(bytes).unwrap();
                assert_eq!((found.identified.encoding.name(), found.lossy), (label, false));
                assert_eq!(found.text, text);
            }
        }
        for bytes in
            [&b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1F\x15\xC4\x89"[..], &[0; 100]]
        {
            assert!(Text::decode(bytes.to_vec()).is_err());
        }
    }

    #[test]
    fn what_can_not_be_written_is_named() {
        assert_eq!(legacy("shift_jis").encode("a😀"), Err('😀'));
        assert_eq!(legacy("utf-16le").encode("a😀").unwrap(), b"a\0\x3D\xD8\0\xDE");
    }

    #[test]
    fn what_is_written_takes_after_what_was_there() {
        let shift_jis = legacy("shift_jis");
        let old = shift_jis.encode("これは日本語の文章です。\r\n二行目もあります。\r\n").unwrap();
        let rewrite = Rewrite::of(old.clone());
        assert_eq!(rewrite.write("新しい\n文").unwrap(), shift_jis.encode("新しい\r\n文\r\n").unwrap());
        assert_eq!(rewrite.append("終\n").unwrap(), [old, shift_jis.encode("終\r\n").unwrap()].concat());
        assert!(rewrite.write("😀").unwrap_err().is(UNENCODABLE));
        let marked = Rewrite::of(b"\xEF\xBB\xBFno end".to_vec());
        assert_eq!(marked.write("new\n").unwrap(), b"\xEF\xBB\xBFnew");
        assert_eq!(Rewrite::of(vec![]).write("a\r\nb").unwrap(), b"a\r\nb");
        assert_eq!(Rewrite::of(b"a\nb\n".to_vec()).write("c\r\nd\r\n").unwrap(), b"c\nd\n");
    }

    proptest! {
        #[test]
        fn only_what_is_replaced_changes(before in "[ぁ-ん a]{0,9}", old in "[ア-ン]{1,4}", after in "[ぁ-ん\n]{0,9}", new in "[ァ-ヶa]{0,6}") {
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
        fn what_is_written_is_read(text in "[ -~\n]{0,20}[ぁ-ん]{0,9}[亜-黑]{0,4}") {
            for label in ["utf-8", "utf-16le", "utf-16be", "utf-32be", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5"] {
                let encoding = legacy(label);
                let Ok(bytes) = encoding.encode(&text) else { continue };
                let mut decoder = encoding.decoder();
                let mut read = String::new();
                decoder.decode(&bytes, true, &mut read);
                prop_assert_eq!((read.as_str(), decoder.lossy()), (text.as_str(), false), "{}", label);
            }
        }

        #[test]
        fn bad_bytes_stay_where_they_are(before: Vec<u8>, after: Vec<u8>) {
            let bytes = [&before, &b" needle "[..], &after].concat();
            let Ok(whole) = Text::decode(bytes) else { return Ok(()) };
            let Some(at) = whole.text.find(" needle ") else { return Ok(()) };
            if whole.identified.encoding != Encoding::Unicode(Unicode::Utf8) { return Ok(()) }
            let changed = whole.replace(std::slice::from_ref(&(at + 1..at + 7)), "x").unwrap();
            prop_assert_eq!(changed, [&before, &b" x "[..], &after].concat());
        }
    }
}
