//! Plain requests to a server of this machine, with JSON answers.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

/// The answer of the server at `port` of the loopback interface for `path`.
///
/// # Errors
///
/// Where it does not answer in time, or with something else.
pub fn get(port: u16, path: &str, patience: Duration) -> io::Result<Value> {
    let mut connection = TcpStream::connect(("127.0.0.1", port))?;
    connection.set_read_timeout(Some(patience))?;
    write!(connection, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
    // Some keep the connection open whatever they are asked.
    let (mut answer, mut block) = (vec![], [0; 4096]);
    loop {
        let read = connection.read(&mut block)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&block[..read]);
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map(|at| &answer[at..]);
        if let Some(json) = body.and_then(|body| serde_json::from_slice(body).ok()) {
            return Ok(json);
        }
    }
}
