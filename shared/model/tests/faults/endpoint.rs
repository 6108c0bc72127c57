//! A scripted endpoint: each connection gets the next reply, byte for byte.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use ragmaker_model::{Client, Endpoint, Key, Provider, Retries};
use serde_json::Value;

/// What one connection gets.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) pieces: Vec<Vec<u8>>,
    /// Keeps the connection open after the last piece, or repeats that piece for ever.
    pub(crate) then: Then,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Then {
    #[default]
    Close,
    Hang,
    Repeat,
}

impl Reply {
    pub(crate) fn events(pieces: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
        Self { head, pieces: pieces.into_iter().collect(), then: Then::Close }
    }

    pub(crate) fn status(line: &str, headers: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {line}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}\r\n");
        Self { head, pieces: vec![body.as_bytes().to_vec()], then: Then::Close }
    }

    pub(crate) fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }
}

/// A request as it came.
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Scripted {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Scripted {
    pub(crate) fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(vec![]));
        let all = Arc::clone(&got);
        thread::spawn(move || {
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else { return };
                let all = Arc::clone(&all);
                // A client that left makes the writing fail.
                thread::spawn(move || serve(stream, &reply, &all).unwrap_or_default());
            }
        });
        Self { url, got }
    }

    pub(crate) fn client(&self, provider: Provider) -> Client {
        self.client_with(provider, |_| ())
    }

    pub(crate) fn client_with(&self, provider: Provider, change: impl FnOnce(&mut Endpoint)) -> Client {
        let mut endpoint = Endpoint::new(provider, "scripted", &self.url, Key::new("secret-key"));
        change(&mut endpoint);
        let (first, longest) = (Duration::from_millis(2), Duration::from_millis(8));
        Client::new(endpoint).with_retries(Retries { most: 4, first, longest })
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        std::mem::take(&mut self.got.lock().unwrap())
    }
}

fn serve(mut stream: TcpStream, reply: &Reply, got: &Mutex<Vec<Got>>) -> std::io::Result<()> {
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
    got.lock().unwrap().push(Got { head, body: serde_json::from_slice(&body).unwrap_or_default() });
    stream.set_nodelay(true)?;
    stream.write_all(reply.head.as_bytes())?;
    for piece in &reply.pieces {
        stream.write_all(piece)?;
    }
    match reply.then {
        Then::Close => {}
        // Until the client closes its end.
        Then::Hang => drop(reader.read(&mut [0])),
        Then::Repeat => loop {
            stream.write_all(reply.pieces.last().unwrap())?;
        },
    }
    Ok(())
}
