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
