//! Tests of the pages that the site returns.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use super::{html::example, visitors::Visit, *};

/// A connection to the site, as a browser keeps one.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(site: &Site) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", site.server.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn get(&mut self, path: &str) -> (String, Vec<u8>) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"));
        self.receive()
    }

    /// The head and the body of the next response.
    fn receive(&mut self) -> (String, Vec<u8>) {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(self.0.read_line(&mut head).unwrap(), 0, "the head ends: {head:?}");
        }
        let length =
            head.split("Content-Length: ").nth(1).map_or(0, |rest| rest.split_once('\r').unwrap().0.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (head, body)
    }
}

fn get(path: &str) -> Request {
    Request { method: "GET".into(), path: path.into(), headers: vec![], body: vec![] }
}

#[test]
fn every_page_of_the_list_is_served() {
    let visit = Visit::new();
    let pages = pages();
    assert!(pages.len() > 80, "the list is read: {}", pages.len());
    for (path, about) in &pages {
        assert!(page(&PageRequest::new(&get(&example(path)), 80, &visit)).is_some(), "{path}");
        for also in about.split('`').skip(1).step_by(2).filter(|also| also.starts_with('/')) {
            assert!(page(&PageRequest::new(&get(&example(also)), 80, &visit)).is_some(), "{also}");
        }
    }
    for path in ["/nothing", "/links/20001", "/status/99", "/slow/answer/soon"] {
        assert!(page(&PageRequest::new(&get(path), 80, &visit)).is_none(), "{path}");
    }
}

#[test]
fn one_connection_serves_many_requests_that_are_all_logged() {
    let site = Site::start();
    let mut connection = Connection::open(&site);
    assert!(connection.get("/page/one").0.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(connection.get("/nothing").0.starts_with("HTTP/1.1 404 "));
    assert!(connection.get("/status/204").0.starts_with("HTTP/1.1 204 "));
    assert!(connection.get("/page/one?again").0.starts_with("HTTP/1.1 200 "));
    let log: Vec<_> = site.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    assert_eq!(log, ["GET /page/one", "GET /nothing", "GET /status/204", "GET /page/one?again"]);
    assert_eq!((site.count("/page/one"), site.count("/page/one?again"), site.count("/page")), (2, 1, 0));
    assert_eq!(site.requests()[0].header("host"), Some("test"));
}

#[test]
fn a_request_can_be_waited_for() {
    let site = Site::start();
    assert!(!site.wait_for("/slow/first-byte", Duration::ZERO));
    let mut connection = Connection::open(&site);
    connection.send("GET /slow/first-byte?x HTTP/1.1\r\n\r\n");
    assert!(site.wait_for("/slow/first-byte", Duration::from_mins(1)));
}

#[test]
fn the_plain_page_has_its_links_and_is_the_same_every_time() {
    let site = Site::start();
    let body = |count: usize| String::from_utf8(Connection::open(&site).get(&format!("/links/{count}")).1).unwrap();
    assert_eq!(body(500).matches("<a href=").count(), 500);
    assert_eq!(body(20_000).matches("<a href=").count(), 20_000);
    assert_eq!(body(7), body(7));
}

#[test]
fn half_open_and_hanging_connections_block_no_others() {
    let site = Site::start();
    let mut half = Connection::open(&site);
    half.send("GET /page/one HT");
    let mut hanging = Connection::open(&site);
    hanging.send("GET /slow/first-byte HTTP/1.1\r\n\r\n");
    let mut trickling = Connection::open(&site);
    trickling.send("GET /slow/body HTTP/1.1\r\n\r\n");
    let mut line = String::new();
    trickling.0.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"));
    assert!(Connection::open(&site).get("/page/two").0.starts_with("HTTP/1.1 200"));

    let address = ("127.0.0.1", site.server.port());
    drop(site);
    // The site closed them all, and listens no more.
    let mut rest = vec![];
    trickling.0.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains("</html>"));
    assert_eq!(hanging.0.read_to_end(&mut rest).unwrap(), 0);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn connections_break_as_their_pages_say() {
    let site = Site::start();
    let read = |path: &str| {
        let mut connection = Connection::open(&site);
        connection.send(&format!("GET {path} HTTP/1.1\r\n\r\n"));
        let mut bytes = vec![];
        let end = connection.0.read_to_end(&mut bytes).map_err(|error| error.kind());
        (end.err(), String::from_utf8_lossy(&bytes).into_owned())
    };
    let (error, text) = read("/broken/reset");
    assert_eq!(error, Some(io::ErrorKind::ConnectionReset));
    assert!(text.contains("<h1>Broken page</h1>"));
    let (error, text) = read("/broken/short");
    assert_eq!(error, None);
    assert!(text.contains("Content-Length: 100000") && text.len() < 10_000);
    assert_eq!(read("/broken/nothing"), (None, String::new()));
    assert!(!read("/broken/invalid").1.starts_with("HTTP"));
}

#[test]
fn only_cookies_of_this_site_are_valid() {
    let site = Site::start();
    let mut connection = Connection::open(&site);
    assert!(connection.get("/account").0.contains("Location: /login\r\n"));
    connection.send("POST /login HTTP/1.1\r\nContent-Length: 27\r\n\r\nname=keeper&password=secret");
    let (head, _) = connection.receive();
    assert!(head.starts_with("HTTP/1.1 303 ") && head.contains("Location: /account\r\n"), "{head}");
    let cookie = head.split("Set-Cookie: ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let account = |cookie: &str| {
        let mut connection = Connection::open(&site);
        connection.send(&format!("GET /account HTTP/1.1\r\nCookie: other=1; {cookie}\r\n\r\n"));
        String::from_utf8(connection.receive().1).unwrap()
    };
    assert!(account(&cookie).contains("Signed in as keeper."));
    assert!(account("session=0-keeper").is_empty());
}

#[test]
fn legacy_encodings_are_served() {
    let site = Site::start();
    let mut connection = Connection::open(&site);
    let (head, body) = connection.get("/content/shift-jis");
    assert!(head.contains("Content-Type: text/html\r\n"));
    let (text, _, broken) = encoding_rs::SHIFT_JIS.decode(&body);
    assert!(!broken && text.contains("気圧の変化") && std::str::from_utf8(&body).is_err());
    let (head, body) = connection.get("/wiki/ja/history");
    assert!(head.contains("Content-Type: text/html; charset=euc-jp\r\n"));
    let (text, _, broken) = encoding_rs::EUC_JP.decode(&body);
    assert!(!broken && text.contains("験潮の歴史"));
}

#[test]
fn the_policy_keeps_pages_to_this_machine() {
    let site = Site::start();
    let (head, _) = Connection::open(&site).get("/challenge/hcaptcha");
    assert!(head.starts_with("HTTP/1.1 403 ") && head.contains("Content-Security-Policy: default-src 'self'"));
}

#[test]
fn https_has_an_untrusted_certificate() {
    let site = Site::start_https();
    assert!(site.url("/").starts_with("https://127.0.0.1:"));
    let roots = rustls::RootCertStore::empty();
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = "127.0.0.1".try_into().unwrap();
    let client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect(("127.0.0.1", site.server.port())).unwrap();
    let error = rustls::StreamOwned::new(client, socket).write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap_err();
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
    assert!(site.requests().is_empty());
}
