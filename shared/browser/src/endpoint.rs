//! The endpoint of a session: the URLs of its WebDriver server and of its browser's DevTools socket.
//!
//! A local browser also has a process, which the supervisor watches. A browser on a remote grid has only an endpoint.

use std::{
    io,
    net::TcpStream,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use url::Url;

/// How long a server may take to accept a connection where only that is asked.
const ACCEPTS: Duration = Duration::from_secs(1);

/// The two URLs of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// The WebDriver server, such as `http://127.0.0.1:40123/`.
    pub(crate) webdriver: Url,
    /// The browser's DevTools socket, such as `ws://127.0.0.1:40124/devtools/browser/UUID`. The UUID
    /// distinguishes this browser from another one that has the port by now.
    pub(crate) devtools: Url,
}

impl Endpoint {
    /// The DevTools socket of the tab with `handle`.
    pub(crate) fn tab(&self, handle: &str) -> Url {
        let mut url = self.devtools.clone();
        url.set_path(&format!("/devtools/page/{handle}"));
        url
    }

    /// Whether both servers accept connections.
    pub(crate) fn accepts_connections(&self) -> bool {
        accepts_connections(&self.webdriver) && accepts_connections(&self.devtools)
    }
}

/// Whether the server at `url` accepts connections.
pub(crate) fn accepts_connections(url: &Url) -> bool {
    connect(url, ACCEPTS).is_ok()
}

/// Opens a connection to the server at `url`, by the first of its addresses that accepts one.
pub(crate) fn connect(url: &Url, timeout: Duration) -> io::Result<TcpStream> {
    let deadline = Instant::now() + timeout;
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in url.socket_addrs(|| None)? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn endpoint(webdriver: &str, devtools: &str) -> Endpoint {
        Endpoint { webdriver: Url::parse(webdriver).unwrap(), devtools: Url::parse(devtools).unwrap() }
    }

    #[test]
    fn a_tab_has_a_socket_beside_the_browsers() {
        let endpoint = endpoint("http://127.0.0.1:1/", "ws://grid.example:2/devtools/browser/u-1");
        assert_eq!(endpoint.tab("A1").as_str(), "ws://grid.example:2/devtools/page/A1");
        let written = serde_json::to_string(&endpoint).unwrap();
        assert_eq!(serde_json::from_str::<Endpoint>(&written).unwrap(), endpoint);
    }

    #[test]
    fn a_server_that_is_gone_accepts_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let there = format!("http://127.0.0.1:{port}/");
        assert!(endpoint(&there, &format!("ws://127.0.0.1:{port}/x")).accepts_connections());
        drop(listener);
        assert!(!endpoint(&there, &there).accepts_connections());
    }
}
