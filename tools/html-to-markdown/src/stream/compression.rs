//! Compressed streams, detected by their first bytes: gzip and zstd, with one or several members.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

/// The first bytes of a gzip member.
pub(super) const GZIP: [u8; 3] = [0x1F, 0x8B, 8];
/// The first bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The first bytes of a skippable zstd frame, which pzstd writes before each frame; the first one has 16 values.
const SKIPPABLE: [u8; 4] = [0x50, 0x2A, 0x4D, 0x18];

/// The byte order mark of UTF-8.
pub(super) const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The number of bytes of a zstd frame that are decoded together.
const PART: usize = 1 << 16;

/// A stream whose first bytes were examined.
type PeekedStream<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// `input`, decompressed if it starts with the signature of a compressed format.
pub(super) fn decoded(input: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let zstd: [[u8; 4]; 17] = std::array::from_fn(|at| match at {
        0..16 => [SKIPPABLE[0] | at as u8, SKIPPABLE[1], SKIPPABLE[2], SKIPPABLE[3]],
        _ => ZSTD,
    });
    let signatures: Vec<&[u8]> = zstd.iter().map(|signature| &signature[..]).chain([&GZIP[..]]).collect();
    let (input, start) = peeked(input, &signatures)?;
    Ok(if start == GZIP {
        Box::new(BufReader::with_capacity(PART, GzipMembers::new(input)))
    } else if zstd.iter().any(|signature| start == signature) {
        Box::new(BufReader::with_capacity(PART, Frames { input, decoder: FrameDecoder::new(), within: false }))
    } else {
        Box::new(input)
    })
}

/// `input` without the byte order mark at its start.
pub(super) fn without_bom(input: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let (input, start) = peeked(input, &[&BOM])?;
    Ok(if start == BOM { Box::new(input.into_inner().1) } else { Box::new(input) })
}

/// `input` from its start, and its first bytes: one of `signatures`, or as many as tell that it starts with none. A
/// client that waits for the answer to a short line sends no more bytes.
pub(super) fn peeked<R: BufRead>(mut input: R, signatures: &[&[u8]]) -> io::Result<(PeekedStream<R>, Vec<u8>)> {
    let mut start = vec![];
    while signatures.iter().any(|signature| signature.starts_with(&start) && signature.len() > start.len()) {
        if input.by_ref().take(1).read_to_end(&mut start)? == 0 {
            break;
        }
    }
    Ok((Cursor::new(start.clone()).chain(input), start))
}

/// The members of a gzip stream.
///
/// Zero bytes after a member are padding, as for gzip(1): tapes and block devices fill their last block with them.
pub(super) struct GzipMembers<R> {
    /// The current member; `None` after the last one.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(super) fn new(input: R) -> Self {
        Self { member: Some(GzDecoder::new(input)) }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            let has_more = skip_zeros(member.get_mut())?;
            self.member = self.member.take().filter(|_| has_more).map(|ended| GzDecoder::new(ended.into_inner()));
        }
        Ok(0)
    }
}

/// Skips zero bytes. Returns whether there are other bytes after them.
fn skip_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = input.fill_buf()?;
        let (zeros, length) = (buffer.iter().take_while(|&&byte| byte == 0).count(), buffer.len());
        input.consume(zeros);
        if zeros < length || length == 0 {
            return Ok(zeros < length);
        }
    }
}

/// The frames of a zstd stream.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    /// Whether the current frame has started.
    within: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.decoder.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            if self.within && !self.decoder.is_finished() {
                let part = BlockDecodingStrategy::UptoBytes(PART);
                self.decoder.decode_blocks(&mut self.input, part).map_err(io::Error::other)?;
                continue;
            }
            if self.input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => self.within = true,
                // A skippable frame with metadata.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.input.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decoded(Cursor::new(bytes))?.read_to_string(&mut text).map(|_| text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    #[test]
    fn members_are_read_one_after_the_other() {
        let long = "tide ".repeat(100_000);
        assert_eq!(read([gzip("a\n"), gzip(&long)].concat()).unwrap(), format!("a\n{long}"));
        let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let frames = [zstd("a\n"), zstd(""), skipped.clone(), zstd(&long)].concat();
        assert_eq!(read(frames).unwrap(), format!("a\n{long}"));
        for first in 0x50..=0x5F {
            let frames = [&[first], &skipped[1..], &zstd("a\n")[..]].concat();
            assert_eq!(read(frames).unwrap(), "a\n", "{first:x}");
        }
        for plain in ["", "{", "{}\n", "\u{1f}"] {
            assert_eq!(read(plain.into()).unwrap(), plain);
        }
    }

    #[test]
    fn zeros_after_a_gzip_member_are_padding() {
        let (first, last) = (gzip("a\n"), gzip("b\n"));
        for zeros in [1, 10, 512, 1 << 20] {
            let zeros = vec![0; zeros];
            assert_eq!(read([&first[..], &last, &zeros].concat()).unwrap(), "a\nb\n");
            assert_eq!(read([&first[..], &zeros, &last].concat()).unwrap(), "a\nb\n");
            assert!(read([&first[..], &zeros, b"x"].concat()).is_err());
        }
        assert!(read([&first[..], b"x"].concat()).is_err());
    }

    #[test]
    fn damage_is_an_error() {
        let skipped = [0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        for mut whole in [gzip("text text"), zstd("text text"), [&zstd("text")[..], &skipped].concat()] {
            whole.truncate(whole.len() - 5);
            assert!(read(whole).is_err());
        }
    }

    #[test]
    fn only_a_byte_order_mark_at_the_start_is_skipped() {
        for (bytes, expected) in
            [("\u{feff}{}\n\u{feff}{}", "{}\n\u{feff}{}"), ("\u{feff}", ""), ("\u{feee}x", "\u{feee}x"), ("{", "{")]
        {
            let mut text = String::new();
            without_bom(Cursor::new(bytes)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn no_more_is_read_than_tells_the_format() {
        let (_, start) = peeked(&b"{}\n"[..], &[&GZIP, &ZSTD]).unwrap();
        assert_eq!(start, b"{");
        let (_, start) = peeked(&gzip("x")[..], &[&GZIP, &ZSTD]).unwrap();
        assert_eq!(start, GZIP);
    }
}
