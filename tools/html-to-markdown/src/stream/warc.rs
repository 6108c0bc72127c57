//! WARC records (ISO 28500), plain or compressed: the responses that are pages.
//!
//! In a compressed archive, each record is a separate gzip member. After a damaged member, reading continues at
//! the next one; in a plain archive, it continues at the next line that starts a record. An archive that ends inside a
//! record or a member was truncated, so the stream is broken.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Chain, Read},
};

use flate2::bufread::GzDecoder;
use ragmaker_text::INPUT_TOO_LARGE;
use ragmaker_tool::Error;

use super::{
    codes::INVALID_RECORD,
    compression::{self, GZIP},
    http::{Body, Head, fields},
};

/// The longest head of a record or of an HTTP response, in bytes.
const HEAD: usize = 64 << 10;
/// The start of a record.
const VERSION: &str = "WARC/";

/// A response that is or may be a page.
#[derive(Debug)]
pub(super) struct Response {
    /// `WARC-Record-ID`.
    pub(super) id: Option<String>,
    /// `WARC-Target-URI`.
    pub(super) url: Option<String>,
    /// `WARC-Date`.
    pub(super) date: Option<String>,
    /// The HTTP status, if it is known.
    pub(super) status: Option<u16>,
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
    filter: RecordFilter,
    /// Why nothing can be read after the last item.
    broken: Option<io::Error>,
    ended: bool,
}

type Source = BufReader<Box<dyn Read + Send>>;

/// A gzip member of an archive.
struct Member {
    /// Its data. The signature of the member was read when it was found.
    data: BufReader<GzDecoder<Chain<&'static [u8], Source>>>,
    /// The number of records that were read from it.
    records: usize,
    /// Whether the start of the next record was read.
    resumed: bool,
}

/// The input, by its compression.
enum Input {
    Plain {
        source: Source,
        /// Whether the start of the next record was read.
        resumed: bool,
    },
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

/// What follows a record.
enum Rest {
    /// The next record, or the end.
    Next,
    /// The next record, whose [`VERSION`] was read to find it.
    Resumed,
    /// Nothing that can be read.
    Lost(io::Error),
}

impl Records {
    /// The records of `input`; with `any_status`, also those with an HTTP status other than 200.
    pub(super) fn new(input: impl BufRead + Send + 'static, any_status: bool, max_bytes: usize) -> io::Result<Self> {
        let (input, start) = compression::peeked(input, &[&GZIP])?;
        let source = |input: Box<dyn Read + Send>| BufReader::with_capacity(1 << 16, input);
        let input = if start == GZIP {
            Input::Members(next_member(source(Box::new(input)))?)
        } else {
            Input::Plain { source: source(Box::new(compression::decoded(input)?)), resumed: false }
        };
        Ok(Self { input, filter: RecordFilter { any_status, max_bytes }, broken: None, ended: false })
    }

    fn read(&mut self) -> NextRecord {
        match &mut self.input {
            Input::Plain { source, resumed } => {
                let (found, rest) = self.filter.read(source, *resumed);
                *resumed = matches!(rest, Rest::Resumed);
                if let Rest::Lost(error) = rest {
                    self.broken = Some(error);
                }
                found
            }
            Input::Members(slot) => {
                let Some(mut member) = slot.take() else { return NextRecord::End };
                let (found, rest) = self.filter.read(&mut member.data, member.resumed);
                let lost = match rest {
                    Rest::Lost(error) => Some(error),
                    _ if matches!(found, NextRecord::End) => None,
                    _ => {
                        member.records += 1;
                        member.resumed = matches!(rest, Rest::Resumed);
                        *slot = Some(member);
                        return found;
                    }
                };
                let (_, source) = member.data.into_inner().into_inner().into_inner();
                match (next_member(source), lost) {
                    (Ok(Some(next)), _) => *slot = Some(next),
                    (Ok(None), Some(error)) => {
                        // A damaged member can be the last record. If it has several, others are lost.
                        let is_cut = error.kind() == io::ErrorKind::UnexpectedEof;
                        self.broken = Some(error).filter(|_| is_cut || member.records > 0);
                    }
                    (Ok(None), None) => {}
                    (Err(error), _) => self.broken = Some(error),
                }
                // The members after this one are read next.
                if matches!(found, NextRecord::End) { NextRecord::Other } else { found }
            }
        }
    }
}

impl Iterator for Records {
    type Item = io::Result<Box<Response>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            if let Some(error) = self.broken.take() {
                self.ended = true;
                return Some(Err(error));
            }
            match self.read() {
                NextRecord::Record(response) => return Some(Ok(response)),
                NextRecord::Other => {}
                NextRecord::End => self.ended = self.broken.is_none(),
            }
        }
        None
    }
}

/// The next gzip member of `input`; bytes before it are skipped.
fn next_member(mut input: Source) -> io::Result<Option<Box<Member>>> {
    let mut skipped = 0;
    loop {
        let (matched, before) = skip_past(&mut input, &GZIP, 0)?;
        skipped += before;
        if matched < GZIP.len() {
            let is_cut = matched > 0 && skipped == 0;
            return if is_cut { Err(ended("the input ends in a gzip member")) } else { Ok(None) };
        }
        // If reserved flags are set, these bytes are data, not a member.
        if input.fill_buf()?.first().is_none_or(|flags| flags & 0xE0 == 0) {
            // If a member is damaged, the decoder drops the bytes that it decoded in the same call. The buffer is
            // small, so that the head of the record is available.
            let data = BufReader::with_capacity(1 << 10, GzDecoder::new(GZIP.chain(input)));
            return Ok(Some(Box::new(Member { data, records: 0, resumed: false })));
        }
        skipped += GZIP.len() as u64;
    }
}

/// Skips to the end of the next `signature`, of which `matched` bytes were read before. Returns the number of bytes of the
/// signature that were read, which are fewer than it has only at the end of the input, and the number of bytes before it.
///
/// A signature may be split between two buffers. Its first byte is in it once.
fn skip_past(input: &mut impl BufRead, signature: &[u8], mut matched: usize) -> io::Result<(usize, u64)> {
    let mut skipped = 0;
    while matched < signature.len() {
        let buffer = input.fill_buf()?;
        let Some(&byte) = buffer.first() else { break };
        let used = if byte == signature[matched] {
            matched += 1;
            1
        } else {
            skipped += matched as u64;
            matched = 0;
            let start = memchr::memchr(signature[0], buffer).unwrap_or(buffer.len());
            skipped += start as u64;
            start
        };
        input.consume(used);
    }
    Ok((matched, skipped))
}

/// Skips to the next line that starts a record.
fn skip_to_record(input: &mut impl BufRead) -> Rest {
    let line = format!("\n{VERSION}");
    match skip_past(input, line.as_bytes(), 1) {
        Ok((matched, _)) if matched == line.len() => Rest::Resumed,
        Ok(_) => Rest::Next,
        Err(error) => Rest::Lost(error),
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
    /// Reads the record at the position of `input`, or after its [`VERSION`] if reading is `resumed` there.
    fn read(self, input: &mut impl BufRead, resumed: bool) -> (NextRecord, Rest) {
        let mut headers = Headers::new();
        let start = if resumed { VERSION } else { "" };
        let head = read_headers(&mut start.as_bytes().chain(&mut *input), &mut headers);
        let broken =
            |message: String| NextRecord::Record(Box::new(Response::broken(&headers, INVALID_RECORD.error(message))));
        match head {
            Ok(true) => {}
            Ok(false) => return (NextRecord::End, Rest::Next),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return (broken(error.to_string()), skip_to_record(input));
            }
            Err(error) => return (broken(format!("the record cannot be read: {error}")), Rest::Lost(error)),
        }
        let Some(length) = headers.get("content-length").and_then(|length| length.parse::<u64>().ok()) else {
            return (broken("the record has no Content-Length".to_owned()), skip_to_record(input));
        };
        let is_response = headers.get("warc-type").is_some_and(|kind| kind.eq_ignore_ascii_case("response"));
        let kept = if is_response { length.min(self.max_bytes.saturating_add(HEAD) as u64) } else { 0 };
        let mut block = vec![];
        let read = input.by_ref().take(kept).read_to_end(&mut block);
        let read = read.and_then(|read| Ok(read as u64 + io::copy(&mut input.take(length - kept), &mut io::sink())?));
        let stopped = match read {
            Ok(read) if read < length => Some(ended("the input ends inside a record")),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        let response = is_response.then(|| self.response(&headers, block, length));
        let found = match (response, &stopped) {
            (Some(Some(response)), None) => NextRecord::Record(Box::new(response)),
            (Some(Some(response)), Some(error)) => {
                let error = INVALID_RECORD.error(format!("the record of {length} bytes cannot be read: {error}"));
                NextRecord::Record(Box::new(Response { page: Err(error), ..response }))
            }
            (None, Some(error)) => broken(format!("the record of {length} bytes cannot be read: {error}")),
            (Some(None) | None, _) => NextRecord::Other,
        };
        (found, stopped.map_or(Rest::Next, Rest::Lost))
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
        if (head.status != 200 && !self.any_status) || !head.is_html(bytes) {
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
        Some(Response { status: Some(status), page, ..Response::named(headers) })
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
            status: None,
            page: Err(INVALID_RECORD.error("the record has no page")),
        }
    }
}

fn ended(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

/// Reads the head of the next record into `headers`; `false` at the end of the archive. After an error, `headers` has those
/// before it.
///
/// The error is `InvalidData` if the bytes are not a record.
fn read_headers(input: &mut impl BufRead, headers: &mut Headers) -> io::Result<bool> {
    let mut head = vec![];
    let read = read_head(input, &mut head);
    headers.extend(fields(&head));
    read
}

/// Reads the lines of the head of the next record, without those before its fields.
fn read_head(input: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<bool> {
    let wrong = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut left = HEAD;
    let mut line = || -> io::Result<Vec<u8>> {
        let mut line = vec![];
        left -= input.by_ref().take(left as u64).read_until(b'\n', &mut line)?;
        if left == 0 { Err(wrong("the head of the record has no end")) } else { Ok(line) }
    };
    // Blank lines follow each record.
    let version = loop {
        let bytes = line()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        if !bytes.trim_ascii().is_empty() {
            break bytes;
        }
    };
    let is_cut = !version.ends_with(b"\n") && VERSION.as_bytes().starts_with(&version);
    if !is_cut && !version.starts_with(VERSION.as_bytes()) {
        return Err(wrong("this is not the start of a WARC record"));
    }
    loop {
        let bytes = line()?;
        if !bytes.ends_with(b"\n") {
            return Err(ended("the input ends in the head of a record"));
        }
        if bytes.trim_ascii().is_empty() {
            return Ok(true);
        }
        head.extend(bytes);
    }
}

#[cfg(test)]
mod tests;
