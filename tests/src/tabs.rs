//! The open tabs of a project's browser, over its debugging socket.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use serde_json::Value;

/// The addresses in the tabs of the browser of the project in `folder`.
///
/// # Panics
///
/// Where no browser is open there.
pub fn tabs(folder: &Path) -> Vec<String> {
    let file = folder.join(".tmp/cache/browser_profile/DevToolsActivePort");
    let port: u16 = fs::read_to_string(file).unwrap().lines().next().unwrap().parse().unwrap();
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(connection, "GET /json/list HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
    // The browser keeps the connection open whatever it is asked.
    connection.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (mut answer, mut block) = (vec![], [0; 4096]);
    let list: Value = loop {
        let read = connection.read(&mut block).unwrap();
        assert_ne!(read, 0, "the list of tabs ends early");
        answer.extend_from_slice(&block[..read]);
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map(|at| &answer[at..]);
        if let Some(list) = body.and_then(|body| serde_json::from_slice(body).ok()) {
            break list;
        }
    };
    let pages = list.as_array().unwrap().iter().filter(|target| target["type"] == "page");
    pages.map(|target| target["url"].as_str().unwrap().to_owned()).collect()
}
