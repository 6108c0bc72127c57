//! An HTTP response in an archive: status, headers, and the body as it was transferred.

use std::{
    borrow::Cow,
    io::{self, Read},
    iter,
    path::Path,
};

use ragmaker_media::text_type;
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

use super::{
    codes::INVALID_RECORD,
    compression::{self, BOM, GZIP, GzipMembers},
};

/// The media types of pages.
const PAGES: [&str; 2] = ["text/html", "application/xhtml+xml"];
/// The media types that say that the type is unknown, as in the standard MIME Sniffing.
const UNKNOWN: [&str; 3] = ["unknown/unknown", "application/unknown", "*/*"];
/// The maximum number of encodings of a body, as in curl: with more, a short head would take a long time.
const ENCODINGS: usize = 5;
/// The number of bytes that decide whether a body without a media type is a page.
const START: usize = 4096;

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    /// The encodings of the body, in the order in which they were applied.
    pub(super) encodings: Vec<String>,
    pub(super) chunked: bool,
    /// The length of the head in bytes.
    pub(super) length: usize,
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: Option<String>,
}

impl Head {
    /// The head at the start of `block`.
    pub(super) fn read(block: &[u8]) -> Result<Self, Error> {
        let blank = block.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let status = status(&block[blank..])
            .ok_or_else(|| INVALID_RECORD.error("this is not an HTTP response: it has no status line"))?;
        let length = blank
            + end_of_head(&block[blank..])
                .ok_or_else(|| INVALID_RECORD.error("the head of the response has no end"))?;
        let mut head = Self { status, length, ..Self::default() };
        for (name, value) in fields(&block[blank..length]) {
            let each = || value.split(',').map(|one| one.trim().to_ascii_lowercase()).filter(|one| !one.is_empty());
            match name.as_str() {
                "content-encoding" => {
                    let room = ENCODINGS + 1 - head.encodings.len();
                    head.encodings.extend(each().filter(|one| one != "identity").take(room));
                }
                "transfer-encoding" => head.chunked |= each().any(|one| one == "chunked"),
                "content-type" => head.content_type = Some(value),
                _ => {}
            }
        }
        Ok(head)
    }

    /// Whether the response with this `body` is a page: by its media type, or without one, by the start of the body.
    pub(super) fn is_html(&self, body: &[u8]) -> bool {
        match self.media_type() {
            Some(media_type) => PAGES.contains(&&*media_type),
            None => self.decoded(body, START).is_ok_and(|(start, _)| starts_like_html(&start)),
        }
    }

    /// The media type in lower case; `None` if it is missing, not valid, or that of unknown content.
    fn media_type(&self) -> Option<String> {
        let media_type = self.content_type.as_deref()?.split(';').next()?.trim().to_ascii_lowercase();
        let is_token = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        };
        let is_valid = media_type.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype));
        Some(media_type).filter(|media_type| is_valid && !UNKNOWN.contains(&&**media_type))
    }

    /// Decodes the body `bytes` after the head: dechunked and decompressed, at most `most` bytes.
    ///
    /// Not all archives keep the encodings, so a body that contradicts the head is used as it is. Of a truncated body, the
    /// part that can be decoded is used, as in browsers. Only that of zstd cannot, because its decoder keeps the last bytes
    /// until the end of the frame.
    pub(super) fn body(&self, bytes: &[u8], most: usize) -> Result<Body, Error> {
        let (bytes, is_over) = self.decoded(bytes, most)?;
        if is_over {
            let error = INPUT_TOO_LARGE.error(format!("the page has more than {most} bytes"));
            return Err(error.remedy("Raise --max-bytes."));
        }
        Ok(Body { bytes: bytes.into_owned(), content_type: self.content_type.clone() })
    }

    /// The decoded start of a body, and whether a decompressed body has more than `most` bytes.
    fn decoded<'a>(&self, bytes: &'a [u8], most: usize) -> Result<(Cow<'a, [u8]>, bool), Error> {
        if self.encodings.len() > ENCODINGS {
            return Err(INVALID_RECORD.error(format!("the body has more than {ENCODINGS} encodings")));
        }
        let joined = self.chunked.then(|| without_chunks(bytes)).flatten();
        let mut bytes = joined.map_or(Cow::Borrowed(bytes), Cow::Owned);
        let mut is_over = false;
        for encoding in self.encodings.iter().rev() {
            let mut decoded = vec![];
            match decompress(encoding, &bytes, most, &mut decoded) {
                Ok(()) => {}
                // The archiver decompressed it already, because it starts like a page.
                Err(_) if starts_with_tag(&bytes) => continue,
                // It was truncated, by the archiver or because it is too large.
                Err(error) if is_over || error.kind() == io::ErrorKind::UnexpectedEof && !decoded.is_empty() => {}
                Err(error) => return Err(INVALID_RECORD.error(format!("the body is not {encoding}: {error}"))),
            }
            is_over |= decoded.len() > most;
            bytes = decoded.into();
        }
        Ok((bytes, is_over))
    }
}

/// The status in the first line of a response. Archivers write such a line also for HTTP/2 and HTTP/3, which have none: with
/// or without a minor version, and without a reason.
fn status(block: &[u8]) -> Option<u16> {
    let line = block.split(|&byte| byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (version, status) = (words.next()?.strip_prefix(b"HTTP/")?, words.next()?);
    let is_version = version.first()?.is_ascii_digit() && version.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let is_status = status.len() == 3 && status.iter().all(u8::is_ascii_digit);
    if is_version && is_status { str::from_utf8(status).ok()?.parse().ok() } else { None }
}

/// The position after the first empty line.
fn end_of_head(block: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', block).map(|at| at + 1).find_map(|start| {
        let ends = [&b"\n"[..], b"\r\n"].into_iter().find(|end| block[start..].starts_with(end))?;
        Some(start + ends.len())
    })
}

/// The fields of the head of a response or of a record: the names in lower case, and the values. A line that starts with white
/// space continues the line before it. Other lines without a colon are skipped.
pub(super) fn fields(head: &[u8]) -> impl Iterator<Item = (String, String)> {
    let mut lines = head.split(|&byte| byte == b'\n').peekable();
    iter::from_fn(move || {
        loop {
            let mut line = String::from_utf8_lossy(lines.next()?).trim_end().to_owned();
            while let Some(more) = lines.next_if(|line| line.starts_with(b" ") || line.starts_with(b"\t")) {
                line.push(' ');
                line.push_str(String::from_utf8_lossy(more).trim());
            }
            if let Some((name, value)) = line.split_once(':') {
                return Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    })
}

/// Whether a body starts with markup that is not of another kind, such as a feed.
fn starts_like_html(body: &[u8]) -> bool {
    // By its name, a file that starts with part of a page is HTML.
    starts_with_tag(body) && PAGES.contains(&text_type(body, false, Path::new("page.html")))
}

fn starts_with_tag(body: &[u8]) -> bool {
    body.strip_prefix(&BOM).unwrap_or(body).trim_ascii_start().starts_with(b"<")
}

/// Adds the decompressed `bytes` to `decoded`: one byte more than `most` if they are more. Before an error, it adds those
/// before the damage.
fn decompress(encoding: &str, bytes: &[u8], most: usize, decoded: &mut Vec<u8>) -> io::Result<()> {
    let from: Box<dyn Read + '_> = match encoding {
        "gzip" | "x-gzip" if bytes.starts_with(&GZIP) => Box::new(GzipMembers::new(bytes)),
        "deflate" if is_zlib(bytes) => Box::new(flate2::bufread::ZlibDecoder::new(bytes)),
        "deflate" => Box::new(flate2::bufread::DeflateDecoder::new(bytes)),
        "br" => Box::new(brotli_decompressor::Decompressor::new(bytes.chain(Ended), 1 << 14)),
        "zstd" => compression::decoded(io::Cursor::new(bytes.to_vec()))?,
        _ => Box::new(bytes),
    };
    from.take((most as u64).saturating_add(1)).read_to_end(decoded).map(drop)
}

/// The end of a body. The decoder of brotli has one error for damage and for a missing end. It passes this error on.
struct Ended;

impl Read for Ended {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..] if first & 0x0F == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// Joins the chunks of `bytes`; `None` if they do not start with a chunk. Of a truncated chunk, the available
/// part is used.
fn without_chunks(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut joined: Option<Vec<u8>> = None;
    while let Ok(httparse::Status::Complete((start, size))) = httparse::parse_chunk_size(bytes) {
        let joined = joined.get_or_insert_default();
        let rest = &bytes[start..];
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        if size == 0 {
            break;
        }
        joined.extend_from_slice(&rest[..size]);
        let rest = &rest[size..];
        bytes = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    fn body(headers: &str, body: &[u8]) -> Result<Vec<u8>, Error> {
        let block = [format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat();
        let head = Head::read(&block)?;
        head.body(&block[head.length..], 1 << 20).map(|body| body.bytes)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &str) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(vec![], Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &str) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(vec![], Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn the_head_of_a_response_is_parsed() {
        let block = b"HTTP/1.1 404 \r\ncontent-type : Text/HTML; charset=x\r\nTransfer-Encoding: Chunked\r\n\r\nbody";
        let head = Head::read(block).unwrap();
        assert_eq!((head.status, head.is_html(b""), head.chunked), (404, true, true));
        assert_eq!(&block[head.length..], b"body");
        for wrong in [
            &b""[..],
            b"\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b",
            b"HTTP/2\r\n\r\n",
            b"HTTP/x 200\r\n\r\n",
            b"HTTP/1.1 20\r\n\r\n",
            b"HTTP/1.1 +20\r\n\r\n",
            b"\x16\x03\x01",
            b"<html>",
        ] {
            assert!(Head::read(wrong).unwrap_err().is(INVALID_RECORD), "{wrong:?}");
        }
    }

    #[test]
    fn a_status_line_has_any_version_and_needs_no_reason() {
        for line in [
            "HTTP/1.0 200 OK",
            "HTTP/1.1 200",
            "HTTP/2 200 OK",
            "HTTP/2.0 200 OK",
            "HTTP/2 200",
            "HTTP/3 200 ",
            "\r\nHTTP/3 200",
        ] {
            for end in ["\r\n", "\n"] {
                let block = format!("{line}{end}Content-Encoding: gzip,{end} br{end}{end}body");
                let head = Head::read(block.as_bytes()).unwrap();
                assert_eq!((head.status, &block[head.length..]), (200, "body"), "{block}");
                assert_eq!(head.encodings, ["gzip", "br"], "{block}");
            }
        }
    }

    #[test]
    fn a_head_has_any_number_of_fields() {
        let many = (0..5000).map(|n| format!("X-{n}: a\r\n")).collect::<Vec<_>>().concat();
        let block = format!("HTTP/1.1 200 OK\r\nno field\r\n{many}Content-Type: text/html\r\n\r\n<p>");
        let head = Head::read(block.as_bytes()).unwrap();
        assert_eq!((head.content_type.as_deref(), &block[head.length..]), (Some("text/html"), "<p>"));
    }

    #[test]
    fn a_body_without_a_media_type_is_sniffed() {
        let is_html = |headers: &str, body: &[u8]| {
            Head::read(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes()).unwrap().is_html(body)
        };
        for content_type in [
            "",
            "Content-Type:\r\n",
            "Content-Type: ; charset=utf-8\r\n",
            "Content-Type: html\r\n",
            "Content-Type: text/\r\n",
            "Content-Type: text/html, text/html\r\n",
            "Content-Type: */*\r\n",
        ] {
            for html in ["<p>a", "\u{FEFF} <!-- a --><html>", "<!doctype html>a", "<?xml version='1.0'?><html>"] {
                assert!(is_html(content_type, html.as_bytes()), "{content_type} {html}");
            }
            for other in ["", "text", "{}", "<?xml version='1.0'?><rss>", "<svg xmlns='x'>", "%PDF-1.7"] {
                assert!(!is_html(content_type, other.as_bytes()), "{content_type} {other}");
            }
            assert!(is_html(&format!("{content_type}Transfer-Encoding: chunked\r\n"), b"4\r\n<p>a\r\n0\r\n\r\n"));
            let (zstd, gzip) = (zstd(&"<p>tide ".repeat(10_000)), gzip(&"<p>tide ".repeat(10_000)));
            assert!(is_html(&format!("{content_type}Content-Encoding: gzip\r\n"), &gzip));
            assert!(is_html(&format!("{content_type}Content-Encoding: zstd\r\n"), &zstd));
        }
        assert!(is_html("Content-Type: text/html\r\n", b"text"));
        assert!(!is_html("Content-Type: image/png\r\n", b"<p>"));
    }

    #[test]
    fn chunks_are_joined() {
        let chunked = "Transfer-Encoding: chunked\r\n";
        assert_eq!(body(chunked, b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n").unwrap(), b"abc0123456789");
        assert_eq!(body(chunked, b"FF\r\ncut off").unwrap(), b"cut off");
        // The archiver joined the chunks.
        assert_eq!(body(chunked, b"<p>a").unwrap(), b"<p>a");
        assert_eq!(body(chunked, b"FFFFFFFFFFFFFFFF\r\nx").unwrap(), b"x");
    }

    #[test]
    fn bodies_are_decompressed() {
        let page = "<p>tide ".repeat(1000);
        let padded = [gzip(&page), vec![0; 512]].concat();
        for (encoding, bytes) in [
            ("gzip", &gzip(&page)),
            ("x-gzip", &padded),
            ("deflate", &zlib(&page)),
            ("Deflate", &deflate(&page)),
            ("zstd", &zstd(&page)),
        ] {
            let decoded = body(&format!("Content-Encoding: {encoding}\r\n"), bytes).unwrap();
            assert!(decoded == page.as_bytes(), "{encoding}");
        }
        let brotli = b"\x8B\x0C\x80<p>Tides rise twice a day.\x03";
        assert_eq!(body("Content-Encoding: br\r\n", brotli).unwrap(), b"<p>Tides rise twice a day.");
        // The archiver decompressed the body.
        for plain in [" <p>x", "\u{FEFF}<p>x"] {
            assert_eq!(body("Content-Encoding: br\r\n", plain.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert!(body("Content-Encoding: br\r\n", b"\xFF\xFF").unwrap_err().is(INVALID_RECORD));
    }

    #[test]
    fn of_a_truncated_body_the_part_that_can_be_decoded_is_used() {
        let page: String = (0..20_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
        for (encoding, whole) in [("gzip", gzip(&page)), ("deflate", zlib(&page)), ("Deflate", deflate(&page))] {
            let decoded = body(&format!("Content-Encoding: {encoding}\r\n"), &whole[..whole.len() / 2]).unwrap();
            assert!(decoded.len() > page.len() / 3 && page.as_bytes().starts_with(&decoded), "{encoding}");
            // Only the checksum is missing.
            let decoded = body(&format!("Content-Encoding: {encoding}\r\n"), &whole[..whole.len() - 1]).unwrap();
            assert!(decoded.len() > page.len() - 100 && page.as_bytes().starts_with(&decoded), "{encoding}");
        }
        // Uncompressed data of which the last byte is missing.
        let brotli = b"\x8B\x0C\x80<p>Tides rise twice a day.";
        assert_eq!(body("Content-Encoding: br\r\n", &brotli[..20]).unwrap(), b"<p>Tides rise twi");
        // Nothing can be decoded, or it is damaged.
        for (encoding, bytes) in [("gzip", &gzip(&page)[..10]), ("deflate", &zlib(&page)[..2]), ("br", &brotli[..2])] {
            let error = body(&format!("Content-Encoding: {encoding}\r\n"), bytes).unwrap_err();
            assert!(error.is(INVALID_RECORD), "{encoding}: {error}");
        }
        let mut damaged = gzip(&page);
        let end = damaged.len() - 8;
        damaged[end] ^= 1;
        assert!(body("Content-Encoding: gzip\r\n", &damaged).unwrap_err().is(INVALID_RECORD));
    }

    #[test]
    fn a_body_is_bounded() {
        let bomb = gzip(&"a".repeat(4 << 20));
        assert!(body("Content-Encoding: gzip\r\n", &bomb).unwrap_err().is(INPUT_TOO_LARGE));
        assert_eq!(body("Content-Encoding: a, b, gzip, d, e\r\n", &gzip("x")).unwrap(), b"x");
        let many = format!("Content-Encoding: a, b, c\r\nContent-Encoding: {}\r\n", "x,".repeat(1 << 20));
        assert!(body(&many, b"<p>").unwrap_err().is(INVALID_RECORD));
    }
}
