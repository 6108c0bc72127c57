//! A connection to a DevTools socket: commands, results and events.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tungstenite::{Error, HandshakeError, Message, WebSocket, protocol::WebSocketConfig};
use url::Url;

use crate::{
    endpoint::{self, Endpoint},
    error::CommandError,
    limits,
};

/// The longest network event that is parsed, in bytes. Longer events contain `data:` URLs with whole images.
const MAX_EVENT: usize = 1 << 20;

/// An event of the browser.
#[derive(Debug)]
pub(crate) struct Event {
    /// Its name, such as `Network.responseReceived`.
    pub(crate) method: String,
    /// Its parameters.
    pub(crate) params: Value,
}

/// A message of the browser: the result of a command, or an event.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming {
    pub(super) id: Option<u64>,
    #[serde(default)]
    pub(super) method: String,
    /// The session of an event, if the connection has several.
    #[serde(rename = "sessionId")]
    pub(super) session: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Refusal>,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    message: String,
}

impl Incoming {
    /// The result of the command that this message answers.
    pub(super) fn into_result(self) -> Result<Value, CommandError> {
        match self.error {
            None => Ok(self.result),
            Some(refusal) => Err(CommandError::Failed(refusal.message.into())),
        }
    }

    fn tells_of_a_crash(&self) -> bool {
        let refused = |refusal: &Refusal| refusal.message.contains("crashed");
        // The process of a frame may crash while the page continues.
        self.session.is_none() && (self.method == "Inspector.targetCrashed" || self.error.as_ref().is_some_and(refused))
    }
}

/// A pending liveness check: a command and the deadline for its answer.
#[derive(Clone, Copy)]
struct Ping {
    id: u64,
    until: Instant,
}

/// A TCP connection whose reads end at a deadline.
struct Stream {
    tcp: TcpStream,
    deadline: Instant,
}

impl Read for Stream {
    /// Reads what has come. Waits with `poll`, whose timer is precise: the read timeout of a socket is rounded up to
    /// scheduler ticks of 4 ms, which cost each step of an act call 6 ms.
    #[cfg(unix)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        let left = self.deadline.saturating_duration_since(Instant::now());
        let timeout = left.try_into().map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(&self.tcp, PollFlags::IN)], Some(&timeout))? == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.tcp.read(buffer)
    }

    #[cfg(not(unix))]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A timeout of zero is invalid.
        let left = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.tcp.set_read_timeout(Some(left))?;
        self.tcp.read(buffer)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// A connection that sends one command at a time.
pub(super) struct Socket {
    stream: WebSocket<Stream>,
    /// The session of the tab that the connection was attached to, which commands without one go to.
    attached: Option<String>,
    /// The id of the last command.
    last: u64,
    /// The pending ping, if any.
    ping: Option<Ping>,
}

impl Socket {
    /// Connects to the socket at `url`. Its path contains an id that only this browser or tab has, so another
    /// browser at the same port is not mistaken for it.
    pub(super) fn connect(url: &Url, deadline: Instant) -> Result<Self, CommandError> {
        let timeout = deadline.saturating_duration_since(Instant::now()).min(limits::SOCKET_TIMEOUT);
        if timeout.is_zero() {
            return Err(CommandError::Late);
        }
        let unreached = |error: &io::Error| if is_late(error) { CommandError::Late } else { CommandError::Gone };
        let deadline = Instant::now() + timeout;
        let tcp = endpoint::connect(url, timeout).map_err(|error| unreached(&error))?;
        let prepared = tcp.set_nodelay(true).and_then(|()| tcp.set_write_timeout(Some(limits::SOCKET_TIMEOUT)));
        prepared.map_err(|_| CommandError::Gone)?;
        let stream = Stream { tcp, deadline };
        // No size limits: a page may exceed the defaults of the WebSocket library.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let shaken = tungstenite::client::client_with_config(url.as_str(), stream, Some(config));
        let (stream, _) = shaken.map_err(|error| match error {
            HandshakeError::Interrupted(_) => CommandError::Late,
            HandshakeError::Failure(Error::Io(error)) => unreached(&error),
            HandshakeError::Failure(_) => CommandError::Gone,
        })?;
        Ok(Self { stream, attached: None, last: 0, ping: None })
    }

    /// Connects to the tab with `handle`: by its own socket, or by the browser's where tabs have none.
    pub(super) fn of_tab(endpoint: &Endpoint, handle: &str, deadline: Instant) -> Result<Self, CommandError> {
        if let Some(url) = endpoint.tab(handle) {
            return Self::connect(&url, deadline);
        }
        let mut socket = Self::connect(endpoint.devtools.as_ref().ok_or(CommandError::Gone)?, deadline)?;
        socket.attach(handle, deadline)?;
        Ok(socket)
    }

    /// Makes a connection to the browser one to its tab with `handle`: from here on it is used like the tab's own.
    pub(super) fn attach(&mut self, handle: &str, deadline: Instant) -> Result<(), CommandError> {
        let id = self.send(None, "Target.attachToTarget", &json!({"targetId": handle, "flatten": true}))?;
        loop {
            let incoming = self.read(deadline)?;
            if incoming.id == Some(id) {
                let session = incoming.into_result()?["sessionId"].as_str().map(str::to_owned);
                self.attached = Some(session.ok_or(CommandError::Gone)?);
                return Ok(());
            }
        }
    }

    /// Sends a command, optionally to a session of the connection, and returns its id without waiting for the
    /// result.
    pub(super) fn send(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<u64, CommandError> {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session.or(self.attached.as_deref()) {
            command["sessionId"] = session.into();
        }
        self.stream.send(Message::text(command.to_string())).map_err(|_| CommandError::Gone)?;
        Ok(self.last)
    }

    /// Makes the last command a ping that must be answered within `timeout`. Until then, every
    /// [`Self::receive`] fails with [`CommandError::Unresponsive`] when the time is over.
    pub(super) fn start_ping(&mut self, timeout: Duration) {
        self.ping = Some(Ping { id: self.last, until: Instant::now() + timeout });
    }

    /// The deadline of the pending ping, if any.
    pub(super) fn ping_ends(&self) -> Option<Instant> {
        self.ping.map(|ping| ping.until)
    }

    /// Receives the next message.
    pub(super) fn receive(&mut self, deadline: Instant) -> Result<Incoming, CommandError> {
        let Some(ping) = self.ping else { return self.read(deadline) };
        let incoming = match self.read(deadline.min(ping.until)) {
            Err(CommandError::Late) if Instant::now() < ping.until => return Err(CommandError::Late),
            Err(_) => return Err(CommandError::Unresponsive),
            Ok(incoming) => incoming,
        };
        if incoming.id == Some(ping.id) {
            self.ping = None;
        }
        Ok(incoming)
    }

    fn read(&mut self, deadline: Instant) -> Result<Incoming, CommandError> {
        loop {
            if Instant::now() >= deadline {
                return Err(CommandError::Late);
            }
            self.stream.get_mut().deadline = deadline;
            let message = match self.stream.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if is_late(&error) => continue,
                Err(_) => return Err(CommandError::Gone),
            };
            let text = message.to_text().unwrap_or_default();
            if text.len() > MAX_EVENT && text.starts_with(r#"{"method":"Network."#) {
                continue;
            }
            let Ok(mut incoming) = serde_json::from_str::<Incoming>(text) else { continue };
            if let Some(tab) = &self.attached {
                if incoming.method == "Target.detachedFromTarget" && incoming.params["sessionId"] == **tab {
                    return Err(CommandError::Gone);
                }
                incoming.session.take_if(|session| session == tab);
            }
            if incoming.tells_of_a_crash() {
                return Err(CommandError::Crashed);
            }
            return Ok(incoming);
        }
    }
}

/// Whether an error is a timeout; systems report it differently.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The value that a script returned, or its exception as an error.
pub(crate) fn returned(mut answer: Value) -> Result<Value, CommandError> {
    match answer["exceptionDetails"].take() {
        Value::Null => Ok(answer["result"]["value"].take()),
        thrown => {
            let words = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
            Err(CommandError::Failed(words.unwrap_or_default().into()))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::{net::TcpListener, thread};

    /// A server that accepts one connection and passes it to `serve`; returns its URL.
    pub(in crate::cdp) fn server(serve: impl FnOnce(WebSocket<TcpStream>) + Send + 'static) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/devtools/browser/x", listener.local_addr().unwrap());
        thread::spawn(move || serve(tungstenite::accept(listener.accept().unwrap().0).unwrap()));
        Url::parse(&url).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn results_events_and_errors_are_distinguished() {
        let url = server(|mut stream| {
            let command: Value = serde_json::from_str(stream.read().unwrap().to_text().unwrap()).unwrap();
            assert_eq!((&command["method"], &command["sessionId"]), (&json!("A.b"), &json!("s")));
            for text in [
                r#"{"method":"Page.loadEventFired","params":{"timestamp":1}}"#,
                "not JSON",
                r#"{"id":1,"result":{"a":2}}"#,
                r#"{"id":2,"error":{"message":"no such thing"}}"#,
                r#"{"id":3,"error":{"message":"Target crashed"}}"#,
            ] {
                stream.send(Message::text(text)).unwrap();
            }
            let _ = stream.read();
        });
        let mut socket = Socket::connect(&url, soon()).unwrap();
        assert_eq!(socket.send(Some("s"), "A.b", &json!({})).unwrap(), 1);
        let event = socket.receive(soon()).unwrap();
        assert_eq!((event.id, event.method.as_str()), (None, "Page.loadEventFired"));
        let result = socket.receive(soon()).unwrap();
        assert_eq!((result.id, result.into_result().unwrap()), (Some(1), json!({"a": 2})));
        let refused = socket.receive(soon()).unwrap().into_result();
        assert!(matches!(refused, Err(CommandError::Failed(words)) if words.words == "no such thing"));
        assert!(matches!(socket.receive(soon()), Err(CommandError::Crashed)));
    }

    #[test]
    fn a_ping_that_is_not_answered_means_an_unresponsive_tab() {
        let url = server(|mut stream| while stream.read().is_ok() {});
        let mut socket = Socket::connect(&url, soon()).unwrap();
        socket.send(None, "Inspector.enable", &json!({})).unwrap();
        assert!(matches!(socket.receive(Instant::now() + Duration::from_millis(20)), Err(CommandError::Late)));
        socket.start_ping(Duration::from_millis(200));
        assert!(matches!(socket.receive(Instant::now() + Duration::from_millis(20)), Err(CommandError::Late)));
        assert!(matches!(socket.receive(soon()), Err(CommandError::Unresponsive)));
    }

    #[test]
    fn a_missing_tab_is_gone_and_a_passed_deadline_is_late() {
        let url = Url::parse("ws://127.0.0.1:1/devtools/browser/x").unwrap();
        assert!(matches!(Socket::connect(&url, soon()), Err(CommandError::Gone)));
        assert!(matches!(Socket::connect(&url, Instant::now()), Err(CommandError::Late)));
    }
}
