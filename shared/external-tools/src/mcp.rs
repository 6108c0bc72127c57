//! A server of the Model Context Protocol, on the standard streams of its process.
//!
//! The client is part of this project and uses blocking calls: a call waits for one answer, in a host that has threads
//! and no event loop. The SDK would add an async runtime to every start of the agent.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use ragmaker_config::McpServer;
use ragmaker_confine::{Policy, without_secrets};
use ragmaker_tool::Error;
use serde_json::{Value, json};

use crate::{
    Confinement, RunContext, Runner, TOOL_CANCELLED, TOOL_TIMED_OUT, Tool, annotations_of, hidden_files, name_of,
    output::Stream,
    process::{Process, failed, program},
    relay,
    schema::{self, Schema},
};

/// The protocol revision of the request. Servers answer with their own revision; the parts used here are the same in
/// all revisions.
const REVISION: &str = "2025-06-18";
/// The time limit for the start of a server; servers from npm are sometimes installed first.
const START: Duration = Duration::from_secs(30);
/// A message is at most this many bytes long.
const MAX_MESSAGE: u64 = 16 << 20;
/// The maximum number of tools of a server, over all pages of its list.
const TOOLS: usize = 500;
/// The interval at which a wait checks for a cancellation.
const POLL: Duration = Duration::from_millis(5);
/// The time that a server has to end by itself.
const GRACE: Duration = Duration::from_millis(300);
/// The maximum length in characters of a description.
const DESCRIPTION: usize = 2_000;
/// The maximum number of characters that a warning repeats of what the server printed.
const PRINTED: usize = 300;
/// The maximum number of characters that an error repeats of what the server printed.
const MAX_MESSAGE_CHARACTERS: usize = 2_000;

/// A server. If it ended, the next call starts it again.
#[derive(Debug)]
pub(crate) struct Server {
    configured: McpServer,
    context: RunContext,
    confinement: Confinement,
    running: Mutex<Arc<RunningServer>>,
}

/// The process of a server.
#[derive(Debug)]
struct RunningServer {
    process: Mutex<Process>,
    input: Arc<Input>,
    waiting: Arc<Mutex<HashMap<u64, Sender<Value>>>>,
    next: AtomicU64,
    stderr: Stream,
}

/// The messages to a server, which a thread writes: a server that does not read holds up its writer. `None` after the
/// end of the server.
type Input = Mutex<Option<Sender<String>>>;

/// The tools of a server, which is started for them.
pub(crate) fn tools(
    configured: &McpServer,
    context: &RunContext,
    confinement: &Confinement,
    timeout: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Result<Tool, String>>, String> {
    let server = RunningServer::start(configured, context, confinement, is_cancelled)?;
    let (mut entries, mut cursor) = (vec![], Value::Null);
    loop {
        let page = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let list = server.request("tools/list", &page, START, is_cancelled).map_err(|error| reason(&error))?;
        entries.extend(list["tools"].as_array().into_iter().flatten().cloned());
        cursor = list["nextCursor"].clone();
        if !cursor.is_string() || entries.len() > TOOLS {
            break;
        }
    }
    let server = Arc::new(Server {
        configured: configured.clone(),
        context: context.clone(),
        confinement: confinement.clone(),
        running: Mutex::new(Arc::new(server)),
    });
    let made = |entry: &Value| {
        let own = entry["name"].as_str().unwrap_or_default();
        made(&server, &configured.name, entry, confinement, timeout)
            .map_err(|reason| format!("MCP server {}: the tool {own:?} is left out: {reason}", configured.name))
    };
    Ok(entries.iter().map(made).collect())
}

/// Why a server cannot be used, with what it printed last.
fn reason(error: &Error) -> String {
    let printed = error.details().get("stderr").and_then(Value::as_str).unwrap_or_default().trim();
    let last: String = printed.chars().rev().take(PRINTED).collect();
    let last: String = last.chars().rev().collect();
    if last.is_empty() { error.message().to_owned() } else { format!("{}: {last}", error.message()) }
}

/// The start of the names of a server's tools: servers do not know each other, so two may have a tool of one name.
pub(crate) fn prefix(server: &str) -> String {
    format!("{server}_")
}

fn made(
    server: &Arc<Server>,
    of: &str,
    entry: &Value,
    confinement: &Confinement,
    timeout: Duration,
) -> Result<Tool, String> {
    let own = entry["name"].as_str().unwrap_or_default();
    if own.is_empty() {
        return Err("it has no name".to_owned());
    }
    let parameters = schema::parameters(&entry["inputSchema"])?;
    Ok(Tool {
        name: name_of(&(prefix(of) + own))?,
        description: entry["description"].as_str().unwrap_or_default().chars().take(DESCRIPTION).collect(),
        schema: Schema::new(&parameters)?,
        parameters,
        annotations: annotations_of(entry),
        is_held: true,
        unconfined: confinement.missing.clone(),
        runs: Runner::Mcp { server: Arc::clone(server), tool: own.to_owned() },
        timeout,
    })
}

impl Server {
    /// The answer of a tool.
    pub(crate) fn call(
        &self,
        tool: &str,
        arguments: &Value,
        timeout: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Value, Error> {
        let parameters = json!({"name": tool, "arguments": arguments});
        let running = self.running(is_cancelled)?;
        Ok(answer(&running.request("tools/call", &parameters, timeout, is_cancelled)?))
    }

    /// The process of the server. One that ended is replaced.
    fn running(&self, is_cancelled: &dyn Fn() -> bool) -> Result<Arc<RunningServer>, Error> {
        let mut running = locked(&self.running);
        if running.has_ended() {
            let started = RunningServer::start(&self.configured, &self.context, &self.confinement, is_cancelled);
            let again = |reason| failed(&format!("the server has ended and cannot be started again: {reason}"));
            *running = Arc::new(started.map_err(again)?);
        }
        Ok(Arc::clone(&running))
    }
}

impl RunningServer {
    /// Starts the server, and waits until it is ready.
    fn start(
        configured: &McpServer,
        context: &RunContext,
        confinement: &Confinement,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, String> {
        let server = Self::spawn(configured, context, confinement)?;
        let client = json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        server.request("initialize", &hello, START, is_cancelled).map_err(|error| reason(&error))?;
        send(&server.input, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Ok(server)
    }

    fn spawn(configured: &McpServer, context: &RunContext, confinement: &Confinement) -> Result<Self, String> {
        let program = program(&configured.command, &context.root)?;
        let does_not_start = |error: std::io::Error| format!("it does not start: {error}");
        let set_up = |command: &mut Command| {
            context.set_up(command);
            command.stdin(Stdio::piped()).envs(configured.env.iter().cloned());
        };
        let mut process = if confinement.applies {
            let policy = policy(&program, context, confinement).map_err(does_not_start)?;
            let arguments: Vec<_> = configured.args.iter().map(Into::into).collect();
            let mut confined = policy.command(program.as_os_str(), &arguments).map_err(does_not_start)?;
            set_up(&mut confined.command);
            Process::Confined(confined.spawn().map_err(does_not_start)?)
        } else {
            let mut command = if context.restarts {
                relay::of_server(program.as_os_str(), &configured.args).map_err(does_not_start)?
            } else {
                let mut command = Command::new(&program);
                command.args(&configured.args);
                command
            };
            command.env_clear().envs(without_secrets());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            set_up(&mut command);
            Process::Free(command.spawn().map_err(does_not_start)?)
        };
        let child = process.child();
        let stderr = Stream::of(child.stderr.take());
        let (sender, messages) = channel();
        let input = Arc::new(Mutex::new(Some(sender)));
        let waiting = Arc::new(Mutex::new(HashMap::new()));
        if let Some(pipe) = child.stdin.take() {
            let input = Arc::clone(&input);
            thread::spawn(move || {
                write(pipe, &messages);
                // It does not read any more.
                locked(&input).take();
            });
        }
        if let Some(output) = child.stdout.take() {
            let (input, waiting) = (Arc::clone(&input), Arc::clone(&waiting));
            thread::spawn(move || {
                read(BufReader::new(output), &input, &waiting);
                // Nobody is left to answer.
                locked(&waiting).clear();
                locked(&input).take();
            });
        }
        Ok(Self { process: Mutex::new(process), input, waiting, next: AtomicU64::new(1), stderr })
    }

    /// Whether it ended, or sent something that is not a message.
    fn has_ended(&self) -> bool {
        locked(&self.input).is_none()
    }

    fn request(
        &self,
        method: &str,
        parameters: &Value,
        timeout: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Value, Error> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel();
        locked(&self.waiting).insert(id, sender);
        send(&self.input, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let outcome = self.wait(&receiver, timeout, is_cancelled);
        locked(&self.waiting).remove(&id);
        let response = outcome.inspect_err(|_| {
            let gone = json!({"requestId": id, "reason": "given up"});
            send(&self.input, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}));
        })?;
        match response.get("error") {
            Some(error) if !error.is_null() => {
                let said = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
                Err(failed(&format!("the server refuses the call: {said}")))
            }
            _ => Ok(response["result"].clone()),
        }
    }

    fn wait(
        &self,
        receiver: &Receiver<Value>,
        timeout: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Value, Error> {
        let deadline = Instant::now() + timeout;
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(response) => return Ok(response),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if is_cancelled() => {
                    return Err(TOOL_CANCELLED.error("the call was cancelled"));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    let seconds = timeout.as_secs_f32();
                    return Err(TOOL_TIMED_OUT.error(format!("the server did not answer within {seconds} s")));
                }
                Err(RecvTimeoutError::Timeout) if self.has_ended() => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn ended(&self) -> Error {
        failed("the server has ended").detail("stderr", self.stderr.finish_before(GRACE).text(MAX_MESSAGE_CHARACTERS).0)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // The end of its input asks a server to end.
        locked(&self.input).take();
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let end = Instant::now() + GRACE;
        while matches!(process.child().try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(POLL);
        }
        let _ = process.end();
    }
}

/// The policy of a confined server: it is one process for all its tools, so it may write in the project and use the
/// network.
///
/// # Errors
/// [`hidden_files`].
fn policy(program: &Path, context: &RunContext, confinement: &Confinement) -> std::io::Result<Policy> {
    let root = ragmaker_fs::canonicalize(&context.root).unwrap_or_else(|_| context.root.clone());
    let hidden = hidden_files(ragmaker_confine::secret_files(&root), &context.cache, confinement.holds)?;
    let folder = program.parent().and_then(|folder| ragmaker_fs::canonicalize(folder).ok());
    Ok(Policy {
        roots: folder.into_iter().chain([root.clone()]).collect(),
        writable: vec![root],
        hidden,
        network: true,
        must_hide: false,
        strict: confinement.holds,
        without: vec![],
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a message. One to a server that ended is lost.
fn send(input: &Input, message: &Value) {
    if let Some(sender) = locked(input).as_ref() {
        let _ = sender.send(message.to_string() + "\n");
    }
}

/// Writes the messages to their end, or as long as the server reads.
fn write(mut pipe: ChildStdin, messages: &Receiver<String>) {
    for message in messages {
        if pipe.write_all(message.as_bytes()).and_then(|()| pipe.flush()).is_err() {
            return;
        }
    }
}

/// Reads the server's messages to their end: hands over responses, and answers what it asks.
fn read(mut output: impl BufRead, input: &Input, waiting: &Mutex<HashMap<u64, Sender<Value>>>) {
    loop {
        let mut line = vec![];
        match (&mut output).take(MAX_MESSAGE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            // What follows would be read as a message of its own.
            Ok(_) if !line.ends_with(b"\n") && line.len() as u64 >= MAX_MESSAGE => return,
            Ok(_) => {}
        }
        // Servers print other things, too.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        let id = &message["id"];
        match message["method"].as_str() {
            None => {
                let sender = id.as_u64().and_then(|id| locked(waiting).remove(&id));
                if let Some(sender) = sender {
                    let _ = sender.send(message);
                }
            }
            Some("ping") => send(input, &json!({"jsonrpc": "2.0", "id": id, "result": {}})),
            Some(_) if id.is_null() => {}
            Some(method) => {
                let error = json!({"code": -32601, "message": format!("{method} is not offered")});
                send(input, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        }
    }
}

/// The result of a call as one value.
fn answer(result: &Value) -> Value {
    let mut texts = vec![];
    for block in result["content"].as_array().into_iter().flatten() {
        let kind = block["type"].as_str().unwrap_or_default();
        match (block["text"].as_str(), block["resource"]["text"].as_str()) {
            (Some(text), _) | (None, Some(text)) => texts.push(text.to_owned()),
            (None, None) => {
                let what = block["mimeType"].as_str().or(block["uri"].as_str()).unwrap_or_default();
                texts.push(format!("[{kind} {what}]"));
            }
        }
    }
    let text = texts.join("\n");
    if result["isError"] == true {
        // Our own servers put the code before the JSON of the error.
        let own = text.split_once('\n').and_then(|(_, rest)| serde_json::from_str::<Value>(rest).ok());
        let own = own.or_else(|| serde_json::from_str(&text).ok()).filter(|value| value["status"] == "error");
        return own.unwrap_or_else(|| json!({"status": "error", "error_code": "TOOL_FAILED", "message": text}));
    }
    if result["structuredContent"].is_object() {
        return result["structuredContent"].clone();
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(object @ Value::Object(_)) => object,
        _ => json!({"status": "success", "output": text}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_becomes_one_value() {
        let text = |text: &str| json!({"type": "text", "text": text});
        for (result, expected) in [
            (json!({"content": [text("a"), text("b")]}), json!({"status": "success", "output": "a\nb"})),
            (json!({"content": [text("{\"a\": 1}")]}), json!({"a": 1})),
            (json!({"content": [text("x")], "structuredContent": {"b": 2}}), json!({"b": 2})),
            (
                json!({"content": [{"type": "image", "mimeType": "image/png", "data": "…"}]}),
                json!({"status": "success", "output": "[image image/png]"}),
            ),
            (
                json!({"content": [text("X\n{\"status\": \"error\", \"error_code\": \"X\"}")], "isError": true}),
                json!({"status": "error", "error_code": "X"}),
            ),
            (
                json!({"content": [text("broken")], "isError": true}),
                json!({"status": "error", "error_code": "TOOL_FAILED", "message": "broken"}),
            ),
            (json!({}), json!({"status": "success", "output": ""})),
        ] {
            assert_eq!(answer(&result), expected);
        }
    }
}
