//! An HTTP response in an archive: status, headers, and the body as it was transferred.

use std::io::{self, Read};

use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

use super::{
    codes::INVALID_RECORD,
    compression::{self, GZIP},
};

/// The maximum number of headers of a response.
const HEADERS: usize = 128;

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
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = httparse::ParserConfig::default()
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .parse_response(&mut response, block);
        let length = match parsed {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Err(INVALID_RECORD.error("the head of the response has no end")),
            Err(error) => return Err(INVALID_RECORD.error(format!("this is not an HTTP response: {error}"))),
        };
        let mut head = Self { status: response.code.unwrap_or_default(), length, ..Self::default() };
        for header in response.headers.iter() {
            let value = String::from_utf8_lossy(header.value);
            let each = || value.split(',').map(|one| one.trim().to_ascii_lowercase()).filter(|one| !one.is_empty());
            match header.name.to_ascii_lowercase().as_str() {
                "content-type" => head.content_type = Some(value.into_owned()),
                "content-encoding" => head.encodings.extend(each().filter(|one| one != "identity")),
                "transfer-encoding" => head.chunked |= each().any(|one| one == "chunked"),
                _ => {}
            }
        }
        Ok(head)
    }

    /// Whether the response has the media type of a page; `None` if it has none.
    pub(super) fn is_html(&self) -> Option<bool> {
        let essence = self.content_type.as_deref()?.split(';').next()?.trim().to_ascii_lowercase();
        Some(matches!(essence.as_str(), "text/html" | "application/xhtml+xml"))
    }

    /// Decodes the body `bytes` after the head: dechunked and decompressed, at most `most` bytes.
    ///
    /// Not all archives keep the encodings, so a body that contradicts the head is used as it is.
    pub(super) fn body(&self, bytes: &[u8], most: usize) -> Result<Body, Error> {
        let mut bytes = match self.chunked.then(|| without_chunks(bytes)).flatten() {
            Some(joined) => joined,
            None => bytes.to_vec(),
        };
        for encoding in self.encodings.iter().rev() {
            let decoded = match encoding.as_str() {
                "gzip" | "x-gzip" if bytes.starts_with(&GZIP) => {
                    decompressed(flate2::bufread::MultiGzDecoder::new(&*bytes), most)
                }
                "deflate" if is_zlib(&bytes) => decompressed(flate2::bufread::ZlibDecoder::new(&*bytes), most),
                "deflate" => decompressed(flate2::bufread::DeflateDecoder::new(&*bytes), most),
                "br" => decompressed(brotli_decompressor::Decompressor::new(&*bytes, 1 << 14), most),
                "zstd" => {
                    compression::decoded(io::Cursor::new(bytes.clone())).and_then(|from| decompressed(from, most))
                }
                _ => Ok(bytes.clone()),
            };
            bytes = match decoded {
                Ok(decoded) => decoded,
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    return Err(INPUT_TOO_LARGE
                        .error(format!("the page has more than {most} bytes"))
                        .remedy("Raise --max-bytes."));
                }
                // The archiver decompressed it already, because it starts like a page.
                Err(_) if bytes.trim_ascii_start().starts_with(b"<") => bytes,
                Err(error) => return Err(INVALID_RECORD.error(format!("the body is not {encoding}: {error}"))),
            };
        }
        Ok(Body { bytes, content_type: self.content_type.clone() })
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [first, second, ..] if first & 0x0F == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

fn decompressed(from: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    from.take((most as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
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

    use super::*;

    fn body(headers: &str, body: &[u8]) -> Result<Vec<u8>, Error> {
        let block = [format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat();
        let head = Head::read(&block)?;
        head.body(&block[head.length..], 1 << 20).map(|body| body.bytes)
    }

    #[test]
    fn the_head_of_a_response_is_parsed() {
        let block = b"HTTP/1.1 404 \r\ncontent-type : Text/HTML; charset=x\r\nTransfer-Encoding: Chunked\r\n\r\nbody";
        let head = Head::read(block).unwrap();
        assert_eq!((head.status, head.is_html(), head.chunked), (404, Some(true), true));
        assert_eq!(&block[head.length..], b"body");
        assert_eq!(Head::read(b"HTTP/1.0 200 OK\r\n\r\n").unwrap().is_html(), None);
        for wrong in [&b""[..], b"HTTP/1.1 200 OK\r\nA: b", b"\x16\x03\x01", b"<html>"] {
            assert!(Head::read(wrong).unwrap_err().is(INVALID_RECORD), "{wrong:?}");
        }
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
        let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        gzip.write_all(page.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::fast());
        zlib.write_all(page.as_bytes()).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(vec![], flate2::Compression::fast());
        raw.write_all(page.as_bytes()).unwrap();
        let raw = raw.finish().unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(page.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for (encoding, bytes) in [("gzip", &gzip), ("deflate", &zlib), ("Deflate", &raw), ("zstd", &zstd)] {
            let decoded = body(&format!("Content-Encoding: {encoding}\r\n"), bytes).unwrap();
            assert!(decoded == page.as_bytes(), "{encoding}");
        }
        let brotli = b"\x8B\x0C\x80<p>Tides rise twice a day.\x03";
        assert_eq!(body("Content-Encoding: br\r\n", brotli).unwrap(), b"<p>Tides rise twice a day.");
        // The archiver decompressed the body.
        assert_eq!(body("Content-Encoding: br\r\n", b" <p>x").unwrap(), b" <p>x");
        assert!(body("Content-Encoding: br\r\n", b"\xFF\xFF").unwrap_err().is(INVALID_RECORD));
    }

    #[test]
    fn a_body_is_bounded() {
        let mut bomb = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        bomb.write_all(&vec![b'a'; 4 << 20]).unwrap();
        let bomb = bomb.finish().unwrap();
        assert!(body("Content-Encoding: gzip\r\n", &bomb).unwrap_err().is(INPUT_TOO_LARGE));
    }
}
