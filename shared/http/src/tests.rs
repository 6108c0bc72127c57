//! Tests of the client with servers on the loopback interface.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use ragmaker_address::{
    ADDRESS_NOT_ALLOWED, DOMAIN_NOT_ALLOWED, URL_NOT_ALLOWED,
    codes::{NAVIGATION_FAILED, TIMEOUT},
};
use ragmaker_tool::HostOptions;
use url::Url;

use crate::{Client, GetRequest, Limits, RESPONSE_TOO_LARGE, USER_AGENT};

/// A server that answers each path with bytes, and what it was sent.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: impl Fn(&str, u16) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(vec![]));
        let log = Arc::clone(&heads);
        // It ends with the process.
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let head: Vec<String> =
                    BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
                log.lock().unwrap().push(head.join("\n"));
                let bytes = answer(&path, port);
                if bytes.is_empty() {
                    // Says nothing until the client has left.
                    thread::spawn(move || {
                        let _ = BufReader::new(stream).lines().count();
                    });
                } else {
                    let _ = stream.write_all(&bytes);
                }
            }
        });
        Self { port, heads }
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}{path}", self.port)).unwrap()
    }
}

fn ok(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

fn get(url: &Url) -> GetRequest<'_> {
    GetRequest { url, accept: "text/html", headers: &[("x-key", "secret")] }
}

fn client(given: &Url) -> Client {
    Client::new(&HostOptions::default(), Some(given), Limits::default()).unwrap()
}

#[test]
fn a_page_is_fetched_by_name_and_redirects_are_followed() {
    let server = Server::start(|path, _| match path {
        "/a" => to("/b#part"),
        "/b" => to("c"),
        _ => ok(b"<p>x"),
    });
    let url = server.url("/a");
    let response = client(&url).get(&get(&url)).unwrap();
    assert_eq!((response.status, response.url.path(), response.url.fragment()), (200, "/c", Some("part")));
    assert_eq!((response.body.as_slice(), response.steps.len()), (&b"<p>x"[..], 2));
    assert_eq!(response.media_type(), "text/html");
    let heads = server.heads.lock().unwrap();
    let says = |head: &String| head.to_lowercase().contains(&format!("user-agent: {USER_AGENT}"));
    assert!(heads.iter().all(says) && heads.iter().all(|head| head.contains("x-key: secret")), "{heads:?}");
}

#[test]
fn credentials_go_to_their_origin_alone_and_are_not_shown() {
    let other = Server::start(|_, _| ok(b"other"));
    let away = format!("http://a:b@127.0.0.1:{}/", other.port);
    let server = Server::start(move |path, _| match path {
        "/a" => to("/b"),
        "/away" => to(&away),
        "/silent" => vec![],
        _ => ok(b"<p>x"),
    });
    let mut given = server.url("/a");
    given.set_username("ada").unwrap();
    given.set_password(Some("secret")).unwrap();
    let host = HostOptions { allow_private: true, ..HostOptions::default() };
    let limits = Limits { whole: Duration::from_secs(2), ..Limits::default() };
    let client = Client::new(&host, Some(&given), limits).unwrap();
    let response = client.get(&get(&given)).unwrap();
    assert_eq!(response.url, server.url("/b"));
    // A link has none; those of a link to another place are not sent.
    client.get(&get(&server.url("/c"))).unwrap();
    client.get(&get(&server.url("/away"))).unwrap();
    let has_some = |head: &String| head.to_lowercase().contains("authorization: basic ywrhonnly3jlda==");
    assert!(server.heads.lock().unwrap().iter().all(has_some));
    assert!(!other.heads.lock().unwrap()[0].to_lowercase().contains("authorization"));
    given.set_path("/silent");
    let late = client.get(&get(&given)).unwrap_err();
    assert!(late.is(TIMEOUT) && !format!("{late:?}").contains("secret"), "{late:?}");
}

#[test]
fn a_redirect_to_another_machine_is_refused_before_it_is_asked() {
    let inner = Server::start(|_, _| ok(b"secret"));
    let port = inner.port;
    let server = Server::start(move |path, own| match path {
        "/port" => to(&format!("http://127.0.0.1:{port}/")),
        "/name" => to(&format!("http://localhost:{own}/x")),
        "/hex" => to(&format!("http://0x7f000001:{port}/")),
        "/cloud" => to("http://169.254.169.254/latest"),
        "/file" => to("file:///etc/passwd"),
        "/domain" => to("http://elsewhere.example/"),
        _ => ok(b""),
    });
    for (path, code) in [
        ("/port", ADDRESS_NOT_ALLOWED),
        ("/name", ADDRESS_NOT_ALLOWED),
        ("/hex", ADDRESS_NOT_ALLOWED),
        ("/cloud", ADDRESS_NOT_ALLOWED),
        ("/file", URL_NOT_ALLOWED),
    ] {
        let url = server.url(path);
        let error = client(&url).get(&get(&url)).unwrap_err();
        assert!(error.is(code), "{path}: {error}");
    }
    let host = HostOptions { allow_domain: vec!["127.0.0.1".into()], ..HostOptions::default() };
    let url = server.url("/domain");
    let error = Client::new(&host, Some(&url), Limits::default()).unwrap().get(&get(&url)).unwrap_err();
    assert!(error.is(DOMAIN_NOT_ALLOWED), "{error}");
    assert!(inner.heads.lock().unwrap().is_empty());
    // Nobody named this machine.
    let error = Client::new(&HostOptions::default(), None, Limits::default()).unwrap().get(&get(&url)).unwrap_err();
    assert!(error.is(ADDRESS_NOT_ALLOWED), "{error}");
    let host = HostOptions { allow_private: true, ..HostOptions::default() };
    let url = server.url("/port");
    let response = Client::new(&host, None, Limits::default()).unwrap().get(&get(&url)).unwrap();
    assert_eq!(response.body, b"secret");
    // A key that one origin was meant to get does not go to another.
    assert!(inner.heads.lock().unwrap().iter().all(|head| !head.contains("x-key")));
}

#[test]
fn a_name_for_this_machine_is_refused_by_its_address() {
    let server = Server::start(|_, _| ok(b"secret"));
    let url = Url::parse(&format!("http://localhost:{}/", server.port)).unwrap();
    let refused = Client::new(&HostOptions::default(), None, Limits::default()).unwrap().get(&get(&url)).unwrap_err();
    assert!(refused.is(ADDRESS_NOT_ALLOWED), "{refused}");
    assert!(server.heads.lock().unwrap().is_empty());
    assert_eq!(client(&url).get(&get(&url)).unwrap().body, b"secret");
}

#[test]
fn redirects_end() {
    let server = Server::start(|path, _| if path == "/round" { to("/round") } else { to("http://[bad") });
    let url = server.url("/round");
    let error = client(&url).get(&get(&url)).unwrap_err();
    assert!(error.is(NAVIGATION_FAILED) && error.details()["net_error"] == "TOO_MANY_REDIRECTS", "{error}");
    assert_eq!(server.heads.lock().unwrap().len(), 11);
    // A redirect to nowhere is the answer itself.
    let url = server.url("/bad");
    assert_eq!(client(&url).get(&get(&url)).unwrap().status, 302);
    let url = server.url("/round");
    let refused = client(&url).get_following(&get(&url), &mut |step| Err(NAVIGATION_FAILED.error(step.to.path())));
    assert_eq!(refused.unwrap_err().message(), "/round");
}

#[test]
fn limits_hold() {
    let server = Server::start(|path, _| match path {
        "/silent" => vec![],
        "/head" => [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'a'; 100_000], b"\r\n\r\n".to_vec()].concat(),
        "/garbage" => b"SSH-2.0-x\r\n\r\n".to_vec(),
        "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nabc".to_vec(),
        _ => ok(&[b'x'; 5000]),
    });
    let limits = Limits { body: 4999, whole: Duration::from_millis(300), ..Limits::default() };
    let fetch = |path: &str| {
        let url = server.url(path);
        Client::new(&HostOptions::default(), Some(&url), limits).unwrap().get(&get(&url)).unwrap_err()
    };
    assert!(fetch("/large").is(RESPONSE_TOO_LARGE) && fetch("/head").is(RESPONSE_TOO_LARGE));
    for path in ["/garbage", "/short"] {
        let error = fetch(path);
        assert!(error.is(NAVIGATION_FAILED), "{path}: {error}");
    }
    let start = Instant::now();
    let error = fetch("/silent");
    assert!(error.is(TIMEOUT) && start.elapsed() < Duration::from_secs(20), "{error}");
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let url = Url::parse(&format!("http://127.0.0.1:{free}/")).unwrap();
    let error = client(&url).get(&get(&url)).unwrap_err();
    assert_eq!((error.code(), &error.details()["net_error"]), ("NAVIGATION_FAILED", &"CONNECTION_REFUSED".into()));
}

#[test]
fn a_download_is_written_and_limited() {
    let server = Server::start(|_, _| ok(&[7; 1000]));
    let url = server.url("/file");
    let get = |body: u64| {
        let mut file = vec![];
        let client = Client::of_service(Limits { body, ..Limits::default() });
        let response = client.download(&GetRequest { url: &url, accept: "*/*", headers: &[] }, &mut file);
        response.map(|response| (response.status, file))
    };
    assert_eq!(get(1000).unwrap(), (200, vec![7; 1000]));
    assert!(get(999).unwrap_err().is(RESPONSE_TOO_LARGE));
}
