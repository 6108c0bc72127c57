//! A line-level MCP client. A test sees every message; an output line that is not a message fails the test.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The time limit for a request.
const TIMEOUT: Duration = Duration::from_mins(3);

/// The time limit for the end of a server.
const FAREWELL: Duration = Duration::from_secs(20);

/// A server and the connection to it. Several threads may send requests at once.
pub struct Client {
    server: Child,
    input: Mutex<Option<ChildStdin>>,
    waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>>,
    unasked: Mutex<Receiver<Result<Value, String>>>,
    next: AtomicU64,
}

/// A request without an answer yet.
pub struct Pending {
    /// Its id.
    pub id: u64,
    answer: Receiver<Value>,
}

#[expect(clippy::needless_pass_by_value, reason = "tests make what they ask where they ask it")]
impl Client {
    /// Starts a server without sending anything.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(mut command: Command) -> Self {
        let server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut server = server.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = Mutex::new(server.stdin.take());
        let output = BufReader::new(server.stdout.take().expect("it is a pipe"));
        let waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>> = Arc::default();
        let (unasked, received) = mpsc::channel();
        let asked = Arc::clone(&waiting);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message: Value = match serde_json::from_str(&line) {
                    Ok(message) => message,
                    Err(error) => {
                        // After the end of the test, the receiver is gone.
                        let _ = unasked.send(Err(format!("{error}: {line}")));
                        continue;
                    }
                };
                let id = message["id"].as_u64().filter(|_| message.get("method").is_none());
                match id.and_then(|id| locked(&asked).remove(&id)) {
                    Some(sender) => drop(sender.send(message)),
                    None => drop(unasked.send(Ok(message))),
                }
            }
            // Pending requests will not be answered.
            locked(&asked).clear();
        });
        Self { server, input, waiting, unasked: Mutex::new(received), next: AtomicU64::new(1) }
    }

    /// Starts a server and initializes a session, as in revisions up to 2025-11-25.
    ///
    /// # Panics
    ///
    /// If the answer is wrong.
    pub fn open(command: Command) -> Self {
        let client = Self::start(command);
        let answer = client.initialize("2025-11-25");
        assert_eq!(answer["protocolVersion"], "2025-11-25", "{answer}");
        client
    }

    /// Initializes a session in revision `version`, and returns the result.
    pub fn initialize(&self, version: &str) -> Value {
        let client = json!({"name": "tests", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Sends a line unchanged.
    ///
    /// # Panics
    ///
    /// If the server does not read it.
    pub fn line(&self, line: &str) {
        let mut input = locked(&self.input);
        let input = input.as_mut().expect("the input is open");
        input.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request.
    pub fn send(&self, method: &str, params: Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = mpsc::channel();
        locked(&self.waiting).insert(id, sender);
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        Pending { id, answer }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub fn request(&self, method: &str, params: Value) -> Value {
        self.send(method, params).answer()
    }

    /// Calls a tool, and returns the result of the call.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The answer of a call that must succeed.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn answer(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The error of a call that has to fail with `code`.
    ///
    /// # Panics
    ///
    /// If it succeeds or fails with another code.
    pub fn error(&self, tool: &str, arguments: Value, code: &str) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let (first, error) = text(&result).split_once('\n').expect("an error has its code first");
        assert_eq!(first, code, "{tool}: {error}");
        let error: Value = serde_json::from_str(error).expect("an error is JSON");
        assert_eq!(error["error_code"], code, "{tool}: {error}");
        error
    }

    /// The notifications and requests of the server so far; waits up to `patience` for the first.
    ///
    /// # Panics
    ///
    /// If a line is not a message.
    pub fn unasked(&self, patience: Duration) -> Vec<Value> {
        let received = locked(&self.unasked);
        let first = received.recv_timeout(patience).ok();
        let messages = first.into_iter().chain(received.try_iter());
        messages.map(|message| message.unwrap_or_else(|line| panic!("no message: {line}"))).collect()
    }

    /// Closes the server's input and waits for its end.
    ///
    /// # Panics
    ///
    /// If the server does not end, or if it printed an invalid line or anything on standard error.
    pub fn close(mut self) -> ExitStatus {
        drop(locked(&self.input).take());
        let deadline = Instant::now() + FAREWELL;
        let status = loop {
            match self.server.try_wait().expect("a child can be waited for") {
                Some(status) => break status,
                None if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                None => panic!("the server does not end with its input"),
            }
        };
        self.unasked(Duration::ZERO);
        let said = self.server.stderr.take().map(std::io::read_to_string);
        assert!(matches!(said.as_ref(), Some(Ok(said)) if said.is_empty()), "standard error: {said:?}");
        status
    }
}

impl Pending {
    /// Waits for the answer.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub fn answer(self) -> Value {
        self.within(TIMEOUT).unwrap_or_else(|| panic!("request {} is not answered", self.id))
    }

    /// Waits for the answer, at most for `patience`.
    pub fn within(&self, patience: Duration) -> Option<Value> {
        self.answer.recv_timeout(patience).ok()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The text of a call's result.
///
/// # Panics
///
/// If it has no text or more than one.
pub fn text(result: &Value) -> &str {
    let blocks = result["content"].as_array().expect("a result has content");
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(texts.len(), 1, "{result}");
    texts[0]
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
