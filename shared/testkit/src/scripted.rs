//! A scripted model endpoint: each connection receives the next reply, byte for byte, or the reply that a script makes
//! for its request.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// The reply to one connection.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The head, with the empty line after it.
    pub head: String,
    /// The body, as it is written.
    pub pieces: Vec<Vec<u8>>,
    /// The action after the last piece.
    pub then: AfterReply,
}

/// The action after the last piece of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterReply {
    /// Closes the connection.
    #[default]
    Close,
    /// Keeps it open.
    Hang,
    /// Writes the last piece again, for ever.
    Repeat,
}

impl Reply {
    /// A stream of events.
    pub fn events(pieces: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
        Self { head, pieces: pieces.into_iter().collect(), then: AfterReply::Close }
    }

    /// A status with further headers and a body of JSON.
    pub fn status(line: &str, headers: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {line}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}\r\n");
        Self { head, pieces: vec![body.as_bytes().to_vec()], then: AfterReply::Close }
    }

    /// The same with another end.
    #[must_use]
    pub fn then(self, then: AfterReply) -> Self {
        Self { then, ..self }
    }
}

/// A request as it came.
#[derive(Debug)]
pub struct ReceivedRequest {
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// A running endpoint.
#[derive(Debug)]
pub struct Scripted {
    /// Its address.
    pub url: String,
    got: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// How many clients hung up on an endpoint that said nothing more.
    left: Arc<AtomicUsize>,
}

impl Scripted {
    /// An endpoint that gives these replies, one to each connection, and then closes.
    ///
    /// # Panics
    ///
    /// Where no port of this machine can be had.
    pub fn new(replies: Vec<Reply>) -> Self {
        let most = replies.len();
        let replies = Mutex::new(replies.into_iter());
        Self::start(most, move |_| replies.lock().ok().and_then(|mut replies| replies.next()).unwrap_or_default())
    }

    /// An endpoint that answers every request as `script` says.
    ///
    /// # Panics
    ///
    /// Where no port of this machine can be had.
    pub fn with_script(script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(usize::MAX, script)
    }

    fn start(most: usize, script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let got = Arc::new(Mutex::new(vec![]));
        let (all, script) = (Arc::clone(&got), Arc::new(script));
        let left = Arc::new(AtomicUsize::new(0));
        let gone = Arc::clone(&left);
        thread::spawn(move || {
            for _ in 0..most {
                let Ok((stream, _)) = listener.accept() else { return };
                let (all, script, gone) = (Arc::clone(&all), Arc::clone(&script), Arc::clone(&gone));
                // A client that left makes the writing fail.
                thread::spawn(move || serve(stream, &*script, &all, &gone).unwrap_or_default());
            }
        });
        Self { url, got, left }
    }

    /// Whether a client hangs up within `patience` on an endpoint that says nothing more.
    pub fn disconnects_within(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while self.left.load(Ordering::SeqCst) == 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        self.left.load(Ordering::SeqCst) > 0
    }

    /// The requests since this was asked last.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.got.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(
    mut stream: TcpStream,
    script: &dyn Fn(&ReceivedRequest) -> Reply,
    all: &Mutex<Vec<ReceivedRequest>>,
    left: &AtomicUsize,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let got = ReceivedRequest { head, body: serde_json::from_slice(&body).unwrap_or_default() };
    let reply = script(&got);
    all.lock().unwrap_or_else(PoisonError::into_inner).push(got);
    stream.set_nodelay(true)?;
    stream.write_all(reply.head.as_bytes())?;
    for piece in &reply.pieces {
        stream.write_all(piece)?;
    }
    match reply.then {
        AfterReply::Close => {}
        // Until the client closes its end.
        AfterReply::Hang => {
            drop(reader.read(&mut [0]));
            left.fetch_add(1, Ordering::SeqCst);
        }
        AfterReply::Repeat => loop {
            stream.write_all(reply.pieces.last().map_or(&b""[..], Vec::as_slice))?;
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(url: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        let head = format!("POST /v1 HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn each_connection_gets_the_next_reply_and_its_request_is_kept() {
        let endpoint = Scripted::new(vec![
            Reply::events([b"data: a\n\n".to_vec(), b"data: b\n\n".to_vec()]),
            Reply::status("429 Too Many Requests", "retry-after: 1\r\n", "{}"),
        ]);
        let first = ask(&endpoint.url, "{\"n\": \"\u{6f6e}\"}");
        assert!(first.contains("text/event-stream") && first.ends_with("\r\n\r\ndata: a\n\ndata: b\n\n"), "{first}");
        let second = ask(&endpoint.url, "no JSON");
        assert!(second.starts_with("HTTP/1.1 429 ") && second.contains("\r\nretry-after: 1\r\n\r\n{}"), "{second}");
        let requests = endpoint.requests();
        assert_eq!(
            requests.iter().map(|request| &request.body).collect::<Vec<_>>(),
            [&serde_json::json!({"n": "\u{6f6e}"}), &Value::Null]
        );
        assert!(requests[0].head.starts_with("POST /v1 ") && endpoint.requests().is_empty());
    }

    #[test]
    fn a_script_answers_by_the_request_and_sees_who_hangs_up() {
        let endpoint = Scripted::with_script(|request| {
            let reply = Reply::status("200 OK", "", &request.body["n"].to_string());
            if request.body["n"] == 2 { reply.then(AfterReply::Hang) } else { reply }
        });
        assert!(ask(&endpoint.url, "{\"n\": 1}").ends_with("\r\n\r\n1"));
        assert!(!endpoint.disconnects_within(Duration::ZERO));
        let mut stream = TcpStream::connect(endpoint.url.trim_start_matches("http://")).unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 8\r\n\r\n{\"n\": 2}").unwrap();
        let (mut answer, mut byte) = (String::new(), [0]);
        while !answer.ends_with("\r\n\r\n2") {
            stream.read_exact(&mut byte).unwrap();
            answer.push(char::from(byte[0]));
        }
        drop(stream);
        assert!(endpoint.disconnects_within(Duration::from_mins(1)));
    }
}
