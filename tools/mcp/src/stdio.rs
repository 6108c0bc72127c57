//! The protocol over standard input and output: one JSON message on each line.
//!
//! The SDK's own transport ignores lines that are not JSON, and refuses requests without a handshake. This transport
//! answers invalid lines with -32700, as JSON-RPC requires, and accepts calls without a handshake: such a request is
//! served as the protocol's oldest revision, which has no other way to state its version.

use std::{collections::VecDeque, io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, Stdout},
    sync::{Mutex, mpsc},
};

use crate::duplicate_keys;

/// The maximum number of bytes of a message: the maximum of a tool's standard input, and its frame.
const MAX_MESSAGE: usize = (64 << 20) + (64 << 10);

/// The number of messages that are read ahead.
const READ_AHEAD: usize = 16;

/// The revision that a request without a handshake is served as.
const OLDEST_REVISION: &str = "2024-11-05";

/// The id of the handshake that is made up for a client that leaves it out; its answer is not sent.
const IMPLIED: &str = "ragmaker-implied-initialize";

/// JSON-RPC: the line is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the JSON is not a message.
const INVALID_REQUEST: i32 = -32600;

/// The transport.
pub(crate) struct Stdio {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Arc<Mutex<Option<Stdout>>>,
}

impl Stdio {
    /// Reads messages from what standard input was.
    pub(crate) fn open() -> io::Result<Self> {
        let input = reader()?;
        let (sender, incoming) = mpsc::channel(READ_AHEAD);
        let output = Arc::new(Mutex::new(Some(tokio::io::stdout())));
        tokio::spawn(read(input, sender, Arc::clone(&output)));
        Ok(Self { incoming, output })
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            if matches!(&message, JsonRpcMessage::Response(response) if is_implied(&response.id)) {
                return Ok(());
            }
            write(&output, &serde_json::to_string(&message)?).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}

fn is_implied(id: &RequestId) -> bool {
    matches!(id, RequestId::String(id) if &**id == IMPLIED)
}

/// A reader of the original standard input.
fn reader() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let input = ragmaker_registry::stdin::take()?;
    // A pipe is read without a thread. It is opened anew, so that other holders of its descriptors keep
    // their blocking mode.
    #[cfg(target_os = "linux")]
    {
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&input));
        if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_receiver(path) {
            return Ok(Box::new(pipe));
        }
    }
    Ok(Box::new(tokio::fs::File::from_std(input)))
}

async fn write(output: &Mutex<Option<Stdout>>, line: &str) -> io::Result<()> {
    let mut output = output.lock().await;
    let Some(output) = output.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
    output.write_all(format!("{line}\n").as_bytes()).await?;
    output.flush().await
}

/// Reads lines until the input ends or nobody takes them.
async fn read(
    input: impl AsyncRead + Unpin,
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    output: Arc<Mutex<Option<Stdout>>>,
) {
    let mut lines = MessageLines { input: BufReader::new(input), line: vec![], too_long: false };
    let mut has_begun = false;
    while let Ok(Some(line)) = lines.next().await {
        let messages = line.and_then(|line| messages(&line, &mut has_begun));
        match messages {
            Ok(messages) => {
                for message in messages {
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            }
            Err(error) => {
                if write(&output, &error.to_string()).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The lines of the input, of which too long ones are skipped.
struct MessageLines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncRead + Unpin> MessageLines<R> {
    /// The next line, an error to answer it with, or `None` at the end. A last line needs no line break.
    async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, Value>>> {
        loop {
            let available = self.input.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let (count, is_end) = (end.map_or(available.len(), |end| end + 1), end.is_some() || available.is_empty());
            let at_end = available.is_empty();
            self.too_long |= self.line.len() + count > MAX_MESSAGE;
            if !self.too_long {
                self.line.extend_from_slice(&available[..count]);
            }
            self.input.consume(count);
            if !is_end {
                continue;
            }
            let (line, too_long) = (std::mem::take(&mut self.line), std::mem::take(&mut self.too_long));
            if too_long {
                return Ok(Some(Err(error(&Value::Null, INVALID_REQUEST, "the message is too long"))));
            }
            if at_end && line.is_empty() {
                return Ok(None);
            }
            return Ok(Some(Ok(line)));
        }
    }
}

/// The messages for a line: none, one, or two if the client omitted the handshake.
fn messages(line: &[u8], has_begun: &mut bool) -> Result<VecDeque<ClientJsonRpcMessage>, Value> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(VecDeque::new());
    }
    let mut json: Value = serde_json::from_slice(line)
        .map_err(|reason| error(&Value::Null, PARSE_ERROR, &format!("the line is not JSON: {reason}")))?;
    duplicate_keys::note(&mut json, line);
    let id = json["id"].clone();
    let is_notification = id.is_null() && json["method"].is_string();
    let message: ClientJsonRpcMessage = match serde_json::from_value(json) {
        Ok(message) => message,
        // The protocol has no answer to a notification; an unknown one is ignored.
        Err(_) if is_notification => return Ok(VecDeque::new()),
        Err(reason) => return Err(error(&id, INVALID_REQUEST, &format!("the JSON is not a message: {reason}"))),
    };
    let mut messages = VecDeque::from([message]);
    if let JsonRpcMessage::Request(request) = &messages[0] {
        let needs_handshake = match &request.request {
            ClientRequest::InitializeRequest(_) => {
                *has_begun = true;
                false
            }
            // Both may come before a handshake.
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => !*has_begun && other.get_meta().protocol_version().is_none(),
        };
        if needs_handshake {
            *has_begun = true;
            messages.extend(implied_handshake());
            messages.rotate_left(1);
        }
    }
    Ok(messages)
}

fn implied_handshake() -> Option<ClientJsonRpcMessage> {
    let request = json!({
        "jsonrpc": "2.0", "id": IMPLIED, "method": "initialize",
        "params": {
            "protocolVersion": OLDEST_REVISION, "capabilities": {},
            "clientInfo": {"name": "unknown", "version": "0"},
        },
    });
    serde_json::from_value(request).ok()
}

pub(crate) fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str, has_begun: &mut bool) -> Result<usize, Value> {
        messages(line.as_bytes(), has_begun).map(|messages| messages.len())
    }

    #[test]
    fn invalid_messages_are_answered() {
        let mut begun = false;
        assert_eq!(parsed("{\"a\"", &mut begun).unwrap_err()["error"]["code"], PARSE_ERROR);
        assert_eq!(parsed("7", &mut begun).unwrap_err()["error"]["code"], INVALID_REQUEST);
        assert_eq!(parsed("  \r", &mut begun), Ok(0));
        assert_eq!(parsed(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[]}"#, &mut begun), Ok(0));
    }

    #[test]
    fn a_handshake_is_implied_once() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let mut begun = false;
        assert_eq!(parsed(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#, &mut begun), Ok(1));
        assert_eq!(parsed(call, &mut begun), Ok(2));
        assert_eq!(parsed(call, &mut begun), Ok(1));
        assert!(implied_handshake().is_some());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped() {
        let long = vec![b'x'; MAX_MESSAGE + 1];
        let input = [&long[..], b"\nnext\nlast"].concat();
        let mut lines = MessageLines { input: BufReader::new(&input[..]), line: vec![], too_long: false };
        assert!(lines.next().await.unwrap().unwrap().is_err());
        assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), b"next\n");
        assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), b"last");
        assert!(lines.next().await.unwrap().is_none());
    }
}
