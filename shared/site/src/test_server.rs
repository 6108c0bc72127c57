//! A server on the loopback interface, for tests.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
};

use ragmaker_http::{Client, GetRequest, Limits, Response};
use ragmaker_tool::HostOptions;
use url::Url;

/// The root address of a server that answers each request by `answer` of its target and its `Accept` header: a status
/// line with headers, and a body.
pub(crate) fn serve(answer: impl Fn(&str, &str) -> (String, String) + Send + 'static) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
            let accept = head.iter().find_map(|line| line.strip_prefix("accept: ")).unwrap_or_default();
            let (head, body) = answer(target, accept);
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    url
}

/// A client that may request `url`.
pub(crate) fn client(url: &Url) -> Client {
    Client::new(&HostOptions::default(), Some(url), Limits::default()).unwrap()
}

/// A response with this status line and these headers, separated by line breaks, and this body.
pub(crate) fn response(head: &str, body: &str) -> Response {
    let (head, body) = (head.replace('\n', "\r\n"), body.to_owned());
    let url = serve(move |_, _| (head.clone(), body.clone()));
    client(&url).get(&GetRequest { url: &url, accept: "*/*", headers: &[] }).unwrap()
}
