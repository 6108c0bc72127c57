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

use crate::limits;

/// The two URLs of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// The WebDriver server, such as `http://127.0.0.1:40123/`.
    pub(crate) webdriver: Url,
    /// The browser's DevTools socket, such as `ws://127.0.0.1:40124/devtools/browser/UUID`. The UUID
    /// distinguishes this browser from another one that has the port by now. None where it has none that could be
    /// reached: pages are then read by WebDriver commands alone.
    pub(crate) devtools: Option<Url>,
    /// Whether the browser is one of another machine: no process of it can be watched here, and its tabs have no
    /// sockets of their own.
    #[serde(default)]
    pub(crate) is_remote: bool,
}

impl Endpoint {
    /// The DevTools socket of the tab with `handle`, where it has one.
    pub(crate) fn tab(&self, handle: &str) -> Option<Url> {
        let mut url = self.devtools.clone().filter(|_| !self.is_remote)?;
        url.set_path(&format!("/devtools/page/{handle}"));
        Some(url)
    }
}

/// Whether the server at `url` accepts connections.
pub(crate) fn accepts_connections(url: &Url) -> bool {
    connect(url, limits::CONNECT_TIMEOUT).is_ok()
}

/// Connects to the server at `url`, at the first of its addresses that accepts.
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
        Endpoint {
            webdriver: Url::parse(webdriver).unwrap(),
            devtools: Some(Url::parse(devtools).unwrap()),
            is_remote: false,
        }
    }

    #[test]
    fn a_tab_has_a_socket_beside_the_browsers() {
        let endpoint = endpoint("http://127.0.0.1:1/", "ws://grid.example:2/devtools/browser/u-1");
        assert_eq!(endpoint.tab("A1").unwrap().as_str(), "ws://grid.example:2/devtools/page/A1");
        assert_eq!(Endpoint { is_remote: true, ..endpoint.clone() }.tab("A1"), None);
        let written = serde_json::to_string(&endpoint).unwrap();
        assert_eq!(serde_json::from_str::<Endpoint>(&written).unwrap(), endpoint);
    }

    #[test]
    fn a_closed_server_accepts_no_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let there = Url::parse(&format!("ws://127.0.0.1:{port}/x")).unwrap();
        assert!(accepts_connections(&there));
        drop(listener);
        assert!(!accepts_connections(&there));
    }
}
