//! The page over HTTP, for this machine only.
//!
//! Other users of the machine cannot guess the address. Other sites in the browser cannot read the page: a request must
//! have the server's own address as its host, so DNS rebinding does not work.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use ragmaker_catalog::Catalog;
use ragmaker_tool::Error;

use crate::{SERVER_NOT_STARTED, page};

/// The time limit for receiving a request and sending the page.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The largest request, in bytes.
const MAX_REQUEST: u64 = 16 << 10;
/// The maximum number of requests that are answered at once.
const MAX_CONNECTIONS: usize = 16;

/// A server that listens; it answers after [`Server::run`] is called.
pub(crate) struct Server {
    listener: TcpListener,
    catalog: Catalog,
    host: String,
    path: String,
}

impl Server {
    /// Listens on a free port.
    ///
    /// # Errors
    ///
    /// [`SERVER_NOT_STARTED`].
    pub(crate) fn start(catalog: Catalog) -> Result<Self, Error> {
        let failed = |error: &dyn std::fmt::Display| SERVER_NOT_STARTED.error(format!("cannot serve: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| failed(&error))?;
        let port = listener.local_addr().map_err(|error| failed(&error))?.port();
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| failed(&error))?;
        let secret = u128::from_ne_bytes(secret);
        Ok(Self { listener, catalog, host: format!("127.0.0.1:{port}"), path: format!("/{secret:032x}/") })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Answers requests until the process ends.
    pub(crate) fn run(self) {
        let server = Arc::new(self);
        for stream in server.listener.incoming().flatten() {
            if Arc::strong_count(&server) > MAX_CONNECTIONS {
                continue;
            }
            let server = Arc::clone(&server);
            // A closed connection is not an error.
            let _ = thread::Builder::new().spawn(move || drop(server.answer(&stream)));
        }
    }

    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut request = BufReader::new(stream.take(MAX_REQUEST)).lines();
        let first = request.next().transpose()?.unwrap_or_default();
        let mut host = None;
        for line in request {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = Some(value.trim().to_owned());
            }
        }
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_ours = host.as_deref() == Some(&self.host) && target == self.path;
        let (status, body) = match method {
            "GET" if is_ours => match page::page(&self.catalog) {
                Ok(page) => ("200 OK", page.html),
                Err(error) => ("500 Internal Server Error", error.to_string()),
            },
            "GET" => ("404 Not Found", "Not found.".into()),
            _ => ("405 Method Not Allowed", "Only GET is answered.".into()),
        };
        let kind = if status.starts_with("200") { "text/html" } else { "text/plain" };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
             X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: frame-ancestors 'none'\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Connection: close\r\n\r\n",
            body.len()
        )?;
        stream.write_all(body.as_bytes())?;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};

    use super::*;

    /// The status line and the whole reply of `server` to `request`.
    fn reply(server: &Server, request: &[u8]) -> (String, String) {
        let mut client = TcpStream::connect(server.listener.local_addr().unwrap()).unwrap();
        client.write_all(request).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let (stream, _) = server.listener.accept().unwrap();
        let _ = server.answer(&stream);
        drop(stream);
        let mut text = String::new();
        let _ = client.read_to_string(&mut text);
        (text.lines().next().unwrap_or_default().to_owned(), text)
    }

    #[test]
    fn only_a_request_with_the_secret_and_the_own_host_gets_the_page() {
        let (_holder, root) = folder("kb");
        write(&root, "cache/catalog.json", r#"{"title": "Tidal knowledge", "documents": []}"#);
        let server = Server::start(Catalog::at(root.join("cache/catalog.json")).unwrap()).unwrap();
        let Server { host, path, .. } = &server;
        let status = |request: String| reply(&server, request.as_bytes()).0;
        let (first, page) = reply(&server, format!("GET {path} HTTP/1.1\r\nhOsT:  {host}\r\n\r\n").as_bytes());
        assert!(first == "HTTP/1.1 200 OK" && page.contains("Tidal knowledge"), "{page}");
        let length = page.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(page.split_once("\r\n\r\n").unwrap().1.len().to_string(), length);
        for request in [
            format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            format!("GET {path}x HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            // A name of another site that leads to this machine.
            format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", host.rsplit(':').next().unwrap()),
            format!("GET {path} HTTP/1.1\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n"),
        ] {
            let (first, text) = reply(&server, request.as_bytes());
            assert!(first.ends_with("404 Not Found") && !text.contains("Tidal"), "{request:?}: {text}");
        }
        assert!(status(format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).contains("405"));
        assert!(status(String::new()).contains("405"));
        // A header without an end is cut at the limit.
        let endless = format!("GET {path} HTTP/1.1\r\nX: {}", "x".repeat(64 << 10));
        assert!(!status(endless).contains("200"));
        assert!(reply(&server, b"GET \xff\xff HTTP/1.1\r\n\r\n").0.is_empty(), "it is not text");
    }

    #[test]
    fn addresses_differ_between_starts() {
        let (_holder, root) = folder("kb");
        let start = || Server::start(Catalog::at(root.join("catalog.json")).unwrap()).unwrap();
        let (one, other) = (start(), start());
        assert!(one.path != other.path && one.path.len() == 34 && one.url().ends_with(&one.path));
        assert!(one.listener.local_addr().unwrap().ip().is_loopback());
    }
}
