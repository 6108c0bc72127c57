//! HTTP/1.1 as far as a browser needs it: requests in, whole responses out.

use std::io::{self, BufRead, Read, Write};

/// The maximum number of bytes that a request line and its headers may take.
const MAX_HEAD: u64 = 1 << 20;

/// The maximum size in bytes of a body: agents send a whole conversation, images included.
const MAX_BODY: u64 = 64 << 20;

/// Keeps every page to this machine: scripts, frames and images of other hosts are named in the pages
/// that imitate a vendor's, and never loaded.
const HERMETIC: &str = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: \
                        http://127.0.0.1:* http://localhost:* http://*.localhost:* \
                        ws://127.0.0.1:* ws://*.localhost:*";

/// A request as it was received.
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path with its query, as it was sent.
    pub path: String,
    /// The headers in the order they were sent, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, empty where there was none.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of the header `name`, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of the cookie `name`.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie")?.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Reads the next request of a connection; `None` where the client has left.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = from.take(MAX_HEAD);
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut request = Self { method: method.into(), path: path.into(), headers: vec![], body: vec![] };
        loop {
            let mut line = String::new();
            if head.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            request.headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        if request.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            request.body = chunked(from)?;
        } else {
            let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            from.take(u64::min(length, MAX_BODY)).read_to_end(&mut request.body)?;
        }
        Ok(Some(request))
    }

    pub(crate) fn keeps_alive(&self) -> bool {
        !self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// A body in chunks, put together; trailers are left out.
fn chunked(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = vec![];
    loop {
        let mut line = String::new();
        from.take(MAX_HEAD).read_line(&mut line)?;
        let length = line.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(length, 16).map_err(io::Error::other)?;
        from.take(u64::min(length, MAX_BODY)).read_to_end(&mut body)?;
        let mut end = String::new();
        from.take(MAX_HEAD).read_line(&mut end)?;
        if length == 0 || body.len() as u64 > MAX_BODY {
            return Ok(body);
        }
    }
}

/// A response that is known as a whole.
pub(crate) struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![
            ("Content-Type", content_type.to_owned()),
            ("Content-Security-Policy", HERMETIC.to_owned()),
            // Every load reaches the log.
            ("Cache-Control", "no-store".to_owned()),
        ];
        Self { status: 200, headers, body: body.into() }
    }

    /// A file of a site that others wrote, whose other hosts may be asked.
    pub(crate) fn of_others(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: vec![("Content-Type", content_type.to_owned())], body: body.into() }
    }

    pub(crate) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/html; charset=utf-8", body)
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::html("").status(status).header("Location", location)
    }

    /// The size of the body.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Writes the response to `request`, which is over with `Connection: close` unless `keep`.
    pub(crate) fn write(&self, request: &Request, keep: bool, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut out = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            write!(out, "{name}: {value}\r\n")?;
        }
        if !matches!(self.status, 204 | 304) {
            write!(out, "Content-Length: {}\r\n", self.body.len())?;
        }
        write!(out, "Connection: {}\r\n\r\n", if keep { "keep-alive" } else { "close" })?;
        if request.method != "HEAD" && !matches!(self.status, 204 | 304) {
            out.extend_from_slice(&self.body);
        }
        to.write_all(&out)?;
        to.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        418 => "I'm a teapot",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_with_its_body_and_no_further() {
        let mut bytes = "POST /a?b HTTP/1.1\r\nHost: x\r\nCookie: a=1; b=2\r\nContent-Length: 3\r\n\r\nxyzGET / HTTP/1.1\r\nConnection: close\r\n\r\n".as_bytes();
        let request = Request::read(&mut bytes).unwrap().unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str(), request.body.as_slice()),
            ("POST", "/a?b", &b"xyz"[..])
        );
        assert_eq!((request.header("host"), request.cookie("b"), request.cookie("c")), (Some("x"), Some("2"), None));
        assert!(request.keeps_alive());
        assert!(!Request::read(&mut bytes).unwrap().unwrap().keeps_alive());
        assert!(Request::read(&mut bytes).unwrap().is_none());
    }

    #[test]
    fn a_body_in_chunks_is_put_together() {
        let mut bytes =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
                .as_bytes();
        assert_eq!(Request::read(&mut bytes).unwrap().unwrap().body, b"abc0123456789");
        assert_eq!(Request::read(&mut bytes).unwrap().unwrap().method, "GET");
    }

    #[test]
    fn an_invalid_request_is_an_error() {
        for bytes in ["\r\n\r\n", "GET\r\n", "GET / HTTP/1.1\r\nHost: x\r\n", "\u{16}\u{3}\u{1}"] {
            assert!(Request::read(&mut bytes.as_bytes()).is_err(), "{bytes:?}");
        }
        let endless = "GET / HTTP/1.1\r\nA: ".to_owned() + &"a".repeat(2 << 20);
        assert!(Request::read(&mut endless.as_bytes()).is_err());
    }

    #[test]
    fn a_head_request_has_no_body() {
        let request = Request { method: "HEAD".into(), path: "/".into(), headers: vec![], body: vec![] };
        let mut out = vec![];
        Response::html("abc").write(&request, true, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("Content-Length: 3\r\n") && text.ends_with("\r\n\r\n"), "{text}");
    }
}
