//! WARC records (ISO 28500), plain or compressed: the responses that are pages.
//!
//! In a compressed archive, each record is a separate gzip member. After a damaged member, reading continues at
//! the next one; in a plain archive, it continues at the next line that starts a record.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Read},
};

use flate2::bufread::GzDecoder;
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

use super::{
    codes::INVALID_RECORD,
    compression::{self, GZIP},
    http::{Body, Head},
};

/// The longest head of a record or of an HTTP response, in bytes.
const HEAD: usize = 64 << 10;

/// A response that is or may be a page.
#[derive(Debug)]
pub(super) struct Response {
    /// `WARC-Record-ID`.
    pub(super) id: Option<String>,
    /// `WARC-Target-URI`.
    pub(super) url: Option<String>,
    /// `WARC-Date`.
    pub(super) date: Option<String>,
    /// The HTTP status; 0 if it is unknown.
    pub(super) status: u16,
    page: Result<(Head, Vec<u8>), Error>,
}

impl Response {
    /// The page, decoded to at most `most` bytes.
    pub(super) fn page(&self, most: usize) -> Result<Body, Error> {
        let (head, bytes) = self.page.as_ref().map_err(Clone::clone)?;
        head.body(bytes, most)
    }
}

/// The records of an archive.
pub(super) struct Records {
    input: Input,
    any_status: bool,
    max_bytes: usize,
    ended: bool,
}

type Source = BufReader<Box<dyn Read + Send>>;

type Member = BufReader<GzDecoder<Source>>;

/// The input, by its compression.
enum Input {
    Plain(Source),
    /// The current member; `None` after the end of the archive.
    Members(Option<Box<Member>>),
}

/// The next item of an archive.
enum NextRecord {
    /// A response, or a damaged record.
    Record(Box<Response>),
    /// A record of another kind.
    Other,
    /// The end of the archive.
    End,
}

impl Records {
    /// The records of `input`; with `any_status`, also those with an HTTP status other than 200.
    pub(super) fn new(input: impl BufRead + Send + 'static, any_status: bool, max_bytes: usize) -> io::Result<Self> {
        let (input, start) = compression::peeked(input)?;
        let source = |input: Box<dyn Read + Send>| BufReader::with_capacity(1 << 16, input);
        let input = if start.starts_with(&GZIP) {
            Input::Members(Some(member(source(Box::new(input)))))
        } else {
            Input::Plain(source(Box::new(compression::decoded(input)?)))
        };
        Ok(Self { input, any_status, max_bytes, ended: false })
    }

    fn read(&mut self) -> io::Result<NextRecord> {
        let wanted = RecordFilter { any_status: self.any_status, max_bytes: self.max_bytes };
        match &mut self.input {
            Input::Plain(input) => match wanted.read(input)? {
                Ok(found) => Ok(found),
                Err(broken) => {
                    skip_to_record(input)?;
                    Ok(NextRecord::Record(broken))
                }
            },
            Input::Members(slot) => {
                let Some(mut reader) = slot.take() else { return Ok(NextRecord::End) };
                let (found, is_over) = match wanted.read(&mut reader) {
                    Ok(Ok(NextRecord::End)) => (NextRecord::Other, true),
                    Ok(Ok(found)) => (found, false),
                    Ok(Err(broken)) => (NextRecord::Record(broken), skip_to_record(&mut reader).is_err()),
                    Err(error) => {
                        let error = INVALID_RECORD.error(format!("the record cannot be decompressed: {error}"));
                        (NextRecord::Record(Box::new(Response::broken(&Headers::new(), error))), true)
                    }
                };
                *slot = if is_over { next_member(reader.into_inner().into_inner())? } else { Some(reader) };
                Ok(found)
            }
        }
    }
}

impl Iterator for Records {
    type Item = io::Result<Box<Response>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.read() {
                Ok(NextRecord::Record(response)) => return Some(Ok(response)),
                Ok(NextRecord::Other) => {}
                Ok(NextRecord::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// The member that starts at the position of `input`.
fn member(input: Source) -> Box<Member> {
    // If a member is damaged, the decoder drops the bytes that it decoded in the same call. The buffer is
    // small, so that the head of the record is available.
    Box::new(BufReader::with_capacity(1 << 10, GzDecoder::new(input)))
}

/// The next gzip member of `input`; bytes before it are skipped.
fn next_member(mut input: Source) -> io::Result<Option<Box<Member>>> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        match memchr::memmem::find(buffer, &GZIP) {
            // Reserved flags are set, so these bytes are data, not a member.
            Some(at) if buffer.get(at + 3).is_some_and(|flags| flags & 0xE0 != 0) => input.consume(at + 1),
            Some(at) => {
                input.consume(at);
                return Ok(Some(member(input)));
            }
            None => {
                let length = buffer.len();
                input.consume(length);
            }
        }
    }
}

/// Skips to the next line that starts a record.
fn skip_to_record(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() || buffer.starts_with(b"WARC/") {
            return Ok(());
        }
        let length = buffer.iter().position(|&byte| byte == b'\n').map_or(buffer.len(), |end| end + 1);
        input.consume(length);
    }
}

/// The records to read.
#[derive(Clone, Copy)]
struct RecordFilter {
    any_status: bool,
    max_bytes: usize,
}

type Headers = HashMap<String, String>;

impl RecordFilter {
    /// Reads the record at the position of `input`. A damaged record is returned inside `Ok`; the outer error
    /// is an I/O error.
    fn read(self, input: &mut impl BufRead) -> io::Result<Result<NextRecord, Box<Response>>> {
        let headers = match read_headers(input) {
            Ok(Some(headers)) => headers,
            Ok(None) => return Ok(Ok(NextRecord::End)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Ok(Err(Box::new(Response::broken(&Headers::new(), INVALID_RECORD.error(error.to_string())))));
            }
            Err(error) => return Err(error),
        };
        let broken = |message: String| Box::new(Response::broken(&headers, INVALID_RECORD.error(message)));
        let Some(length) = headers.get("content-length").and_then(|length| length.parse::<u64>().ok()) else {
            return Ok(Err(broken("the record has no Content-Length".to_owned())));
        };
        let is_response = headers.get("warc-type").is_some_and(|kind| kind.eq_ignore_ascii_case("response"));
        let kept = if is_response { length.min((self.max_bytes + HEAD) as u64) } else { 0 };
        let mut block = vec![];
        let read = input.by_ref().take(kept).read_to_end(&mut block);
        let read = read.and_then(|read| Ok(read as u64 + io::copy(&mut input.take(length - kept), &mut io::sink())?));
        let is_cut = read.as_ref().map_or(true, |read| *read < length);
        let found = match is_response.then(|| self.response(&headers, block, length)) {
            Some(Some(_)) | None if is_cut => {
                let why = read.map_or_else(|error| error.to_string(), |_| "it ends too early".to_owned());
                return Ok(Err(broken(format!("the record of {length} bytes cannot be read: {why}"))));
            }
            Some(Some(response)) => NextRecord::Record(Box::new(response)),
            Some(None) | None => NextRecord::Other,
        };
        Ok(Ok(found))
    }

    /// The response of a record; `None` if the record is filtered out.
    fn response(self, headers: &Headers, mut block: Vec<u8>, length: u64) -> Option<Response> {
        // Responses of other protocols, such as DNS.
        let media_type = headers.get("content-type").map(String::as_str).unwrap_or_default();
        if !media_type.is_empty() && !media_type.to_ascii_lowercase().starts_with("application/http") {
            return None;
        }
        let head = match Head::read(&block) {
            Ok(head) => head,
            Err(error) => return Some(Response::broken(headers, error)),
        };
        let bytes = &block[head.length..];
        let is_html = head.is_html().unwrap_or_else(|| bytes.trim_ascii_start().starts_with(b"<"));
        if !is_html || (head.status != 200 && !self.any_status) {
            return None;
        }
        let status = head.status;
        let page = if block.len() as u64 == length && bytes.len() <= self.max_bytes {
            block.drain(..head.length);
            Ok((head, block))
        } else {
            let message = format!("the response has {length} bytes: more than {}", self.max_bytes);
            Err(INPUT_TOO_LARGE.error(message).remedy("Raise --max-bytes."))
        };
        Some(Response { status, page, ..Response::named(headers) })
    }
}

impl Response {
    /// A damaged record with its headers.
    fn broken(headers: &Headers, error: Error) -> Self {
        Self { page: Err(error), ..Self::named(headers) }
    }

    fn named(headers: &Headers) -> Self {
        let of = |name: &str| headers.get(name).cloned();
        let without_angle_brackets = |text: String| text.trim_matches(['<', '>']).to_owned();
        Self {
            id: of("warc-record-id"),
            url: of("warc-target-uri").map(without_angle_brackets),
            date: of("warc-date"),
            status: 0,
            page: Err(INVALID_RECORD.error("the record has no page")),
        }
    }
}

/// The head of the next record, with names in lower case; `None` at the end of the archive.
///
/// The error is `InvalidData` if the bytes are not a record.
fn read_headers(input: &mut impl BufRead) -> io::Result<Option<Headers>> {
    let wrong = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut left = HEAD;
    let mut line = || -> io::Result<Option<String>> {
        let mut line = vec![];
        let read = input.by_ref().take(left as u64).read_until(b'\n', &mut line)?;
        left -= read;
        if left == 0 {
            return Err(wrong("the head of the record has no end"));
        }
        Ok((read > 0).then(|| String::from_utf8_lossy(line.trim_ascii_end()).into_owned()))
    };
    // Blank lines follow each record.
    let version = loop {
        match line()? {
            None => return Ok(None),
            Some(text) if text.is_empty() => {}
            Some(text) => break text,
        }
    };
    if !version.starts_with("WARC/") {
        return Err(wrong("this is not the start of a WARC record"));
    }
    let mut headers = HashMap::new();
    let mut last = None;
    while let Some(text) = line()?.filter(|text| !text.is_empty()) {
        if text.starts_with([' ', '\t']) {
            if let Some(value) = last.as_ref().and_then(|last| headers.get_mut(last)) {
                *value = format!("{value} {}", text.trim());
            }
        } else if let Some((name, value)) = text.split_once(':') {
            let name = name.trim().to_ascii_lowercase();
            headers.insert(name.clone(), value.trim().to_owned());
            last = Some(name);
        }
    }
    Ok(Some(headers))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Tides";

    fn record(kind: &str, id: &str, block: &str) -> Vec<u8> {
        let head = format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
             WARC-Target-URI: <https://x.example/{id}>\r\nWARC-Date: 2026-01-31T00:00:00Z\r\n\
             Content-Type: application/http;\r\n  msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        );
        head.into_bytes()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// For each record, the last character of its id, and the text of the page or the error message.
    fn read(archive: Vec<u8>, any_status: bool) -> Vec<(String, String)> {
        let records = Records::new(Cursor::new(archive), any_status, 1 << 20).unwrap();
        let said = |item: io::Result<Box<Response>>| {
            let response = item.unwrap();
            let page = response.page(1 << 20);
            let text = page.map_or_else(
                |error| error.message().to_owned(),
                |body| String::from_utf8_lossy(&body.bytes).into_owned(),
            );
            let id = response.id.unwrap_or_default();
            (id.trim_end_matches('>').chars().last().map(String::from).unwrap_or_default(), text)
        };
        records.map(said).collect()
    }

    fn pair(id: &str, text: &str) -> (String, String) {
        (id.to_owned(), text.to_owned())
    }

    #[test]
    fn responses_that_are_pages_are_read() {
        let other = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n<svg>";
        let gone = PAGE.replace("200 OK", "404 Not Found");
        let records = [
            record("warcinfo", "0", "software: test"),
            record("response", "1", PAGE),
            record("request", "2", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "3", other),
            record("response", "4", &gone),
            record("response", "5", "HTTP/1.1 200 OK\r\n\r\n <html>no type"),
        ];
        let expected = [pair("1", "<p>Tides"), pair("5", " <html>no type")];
        let members: Vec<Vec<u8>> = records.iter().map(|record| gzip(record)).collect();
        for archive in [records.concat(), gzip(&records.concat()), members.concat()] {
            assert_eq!(read(archive, false), expected);
        }
        assert_eq!(read(records.concat(), true)[1], pair("4", "<p>Tides"));
        assert!(read(vec![], false).is_empty() && read(b"\r\n\r\n".to_vec(), false).is_empty());
    }

    #[test]
    fn the_data_of_a_broken_record_is_kept() {
        let whole = record("response", "1", PAGE);
        let no_http = record("response", "2", "garbage");
        let mut no_length = record("response", "3", PAGE);
        no_length = String::from_utf8(no_length).unwrap().replace("Content-Length", "Length").into_bytes();
        let last = record("response", "4", PAGE);
        let cut = &last[..last.len() - 6];
        let archive = [&whole[..], &no_http, b"not a record\n", &no_length, &whole, cut].concat();
        let told = read(archive, false);
        let ids: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "", "3", "1", "4"], "{told:#?}");
        for (place, message) in [
            (1, "this is not an HTTP response"),
            (2, "this is not the start of a WARC record"),
            (3, "the record has no Content-Length"),
            (5, "it ends too early"),
        ] {
            assert!(told[place].1.contains(message), "{told:#?}");
        }
    }

    #[test]
    fn a_damaged_member_does_not_hide_the_next() {
        let noise: String = (0..5000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
        let mut damaged = gzip(&record("response", "2", &format!("{PAGE}{noise}")));
        let middle = damaged.len() / 2;
        damaged[middle..middle + 8].fill(0xFF);
        let archive = [gzip(&record("response", "1", PAGE)), damaged, gzip(&record("response", "3", PAGE))].concat();
        let told = read(archive, false);
        let first_and_last = (told.first().cloned(), told.last().cloned());
        assert_eq!(first_and_last, (Some(pair("1", "<p>Tides")), Some(pair("3", "<p>Tides"))), "{told:#?}");
        assert!(told.len() == 3 && told[1].0 == "2" && !told[1].1.starts_with('<'), "{told:#?}");
    }

    #[test]
    fn any_bytes_are_read_to_the_end() {
        let archive = record("response", "1", PAGE);
        for at in 0..archive.len() {
            let mut changed = archive.clone();
            changed[at] ^= 0x15;
            read([&changed[..], &archive].concat(), false);
            read(gzip(&changed), true);
            let mut changed = gzip(&archive);
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 0x15;
                read([changed, gzip(&archive)].concat(), false);
            }
        }
    }
}
