//! Response bodies with limits: on the received size, on the decompressed size, and on the ratio of the two.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ragmaker_tool::{Code, Error};

use crate::Limits;

/// The response is larger than the limit.
pub const RESPONSE_TOO_LARGE: Code =
    Code::new("RESPONSE_TOO_LARGE", "Skip this URL: its content exceeds the size limit of a page.");

/// Up to this size, no ratio between what was received and what it becomes is too large (1 MiB).
const SMALL: u64 = 1 << 20;

/// The reasons why a body cannot be returned.
#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge(Error),
    Io(io::Error),
    Encoding(String),
}

/// Counts what is read, up to a limit.
struct LimitedReader<R> {
    from: R,
    read: u64,
    limit: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// Reads all of `from`, which is in `encoding` as a `Content-Encoding` header names it.
pub(crate) fn read(from: impl Read, encoding: &str, limits: &Limits) -> Result<Vec<u8>, BodyError> {
    let counted = LimitedReader { from, read: 0, limit: limits.body };
    let mut body = vec![];
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => take(counted, |counted| counted, limits, &mut body)?,
        "gzip" | "x-gzip" => {
            take(MultiGzDecoder::new(counted), MultiGzDecoder::get_ref, limits, &mut body)?;
        }
        "deflate" => take(ZlibDecoder::new(counted), ZlibDecoder::get_ref, limits, &mut body)?,
        other => return Err(BodyError::Encoding(other.chars().take(40).collect())),
    }
    Ok(body)
}

/// The content of the gzip file `bytes`, for example of a sitemap.
///
/// # Errors
///
/// [`RESPONSE_TOO_LARGE`] if its content exceeds `limits`; `None` if it is not a gzip file.
pub fn unzip(bytes: &[u8], limits: &Limits) -> Result<Option<Vec<u8>>, Error> {
    match read(bytes, "gzip", limits) {
        Ok(body) => Ok(Some(body)),
        Err(BodyError::TooLarge(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Reads `from` to its end; `source` is what it decodes.
fn take<D: Read, R>(
    mut from: D,
    source: impl Fn(&D) -> &LimitedReader<R>,
    limits: &Limits,
    body: &mut Vec<u8>,
) -> Result<(), BodyError> {
    let mut block = vec![0; 32 * 1024];
    loop {
        let read = match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BodyError::Io(error)),
        };
        body.extend_from_slice(&block[..read]);
        let LimitedReader { read: received, limit, .. } = source(&from);
        let size = body.len() as u64;
        let too_large = |what: &str, most: u64| {
            let error = RESPONSE_TOO_LARGE.error(format!("the server sends more than {most} {what}"));
            Err(BodyError::TooLarge(error.detail("limit", most)))
        };
        if received > limit {
            return too_large("bytes", *limit);
        }
        if size > limits.decompressed {
            return too_large("bytes, decompressed", limits.decompressed);
        }
        if size > SMALL && size > received.saturating_mul(limits.ratio) {
            return too_large("times the size of what is compressed", limits.ratio);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn bodies_are_limited_on_both_sides() {
        let limits = Limits { body: 1000, decompressed: 3 << 20, ratio: 100, ..Limits::default() };
        assert_eq!(read(&[7; 1000][..], "", &limits).unwrap().len(), 1000);
        assert!(matches!(read(&[7; 1001][..], "identity", &limits), Err(BodyError::TooLarge(_))));
        assert!(matches!(read(io::repeat(1), "", &limits), Err(BodyError::TooLarge(_))));
        let bomb = gzip(&vec![0; 2 << 20]);
        let ratio = Limits { body: 1 << 20, ..limits };
        assert!(matches!(read(&*bomb, "gzip", &ratio), Err(BodyError::TooLarge(_))), "{}", bomb.len());
        let large = Limits { ratio: 2000, ..ratio };
        assert_eq!(read(&*bomb, "x-gzip", &large).unwrap().len(), 2 << 20);
        assert!(matches!(read(&*gzip(&vec![0; 4 << 20]), "gzip", &large), Err(BodyError::TooLarge(_))));
    }

    #[test]
    fn bodies_with_a_wrong_encoding_are_errors() {
        let limits = Limits::default();
        assert!(matches!(read(&b"plain"[..], "gzip", &limits), Err(BodyError::Io(_))));
        assert!(matches!(read(&b"plain"[..], "br", &limits), Err(BodyError::Encoding(_))));
        let whole = gzip(b"two members, ");
        let both = [whole.clone(), gzip(b"both read")].concat();
        assert_eq!(read(&*both, "gzip", &limits).unwrap(), b"two members, both read");
        assert!(matches!(read(&whole[..whole.len() - 6], "gzip", &limits), Err(BodyError::Io(_))));
        assert_eq!(unzip(&whole, &limits).unwrap().unwrap(), b"two members, ");
        assert!(unzip(b"<urlset>", &limits).unwrap().is_none());
    }
}
