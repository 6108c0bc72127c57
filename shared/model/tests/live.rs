//! A real model: SmolLM2-135M in llama.cpp's server, as `cargo xtask test --model` installs it.
//!
//! It is too small to choose tools. What is tested is the plumbing: streaming, cancel, overflow of the context, and the
//! forms in which tools are described and calls are read.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_model::{
    CANCELLED, CONTEXT_TOO_LONG, Cancel, Client, Declaration, Declarations, Endpoint, Key, Message, Progress, Protocol,
    Provider, Request,
};
use serde_json::json;

/// A server with a context of 2,048 tokens; it ends with its standard input.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = Command::new(root.join("target/model/bin/python"));
        command.arg(root.join("tests/model/serve.py"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("cargo xtask test --model installs it");
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
        Self { child, url: url.trim().to_owned() }
    }

    fn client(&self, protocol: Protocol) -> Client {
        let mut endpoint = Endpoint::new(Provider::Compatible, "smollm2", &self.url, Key::default());
        endpoint.protocol = protocol;
        endpoint.temperature = Some(0.0);
        endpoint.max_output_tokens = Some(48);
        Client::new(endpoint)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tools() -> Vec<Declaration> {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false});
    vec![Declaration { name: "read_file".into(), description: "Reads a file.".into(), parameters }]
}

fn user(text: &str) -> [Message; 1] {
    [Message::User { text: text.to_owned() }]
}

#[test]
#[ignore = "needs what cargo xtask test --model installs"]
fn a_real_model_is_understood() {
    let server = Server::start();
    let messages = user("Name three oceans.");
    let request = Request { system: "Answer in short.", messages: &messages, tools: &Declarations::default() };

    // The answer comes in pieces, with the count of its tokens.
    let (mut pieces, mut shown) = (0, String::new());
    let answer = server.client(Protocol::Native).complete(&request, &Cancel::default(), &mut |progress| {
        if let Progress::Text(text) = progress {
            pieces += 1;
            shown += text;
        }
    });
    let answer = answer.unwrap();
    assert!(pieces > 3 && shown == answer.text && !shown.is_empty(), "{pieces}: {shown}");
    assert!(answer.usage.input_tokens > 5 && answer.usage.output_tokens > 3, "{:?}", answer.usage);

    // A person who cancels does not wait for the rest.
    let (client, cancel) = (server.client(Protocol::Native), Cancel::default());
    let other = cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(80));
        other.cancel();
    });
    let long = user("Write a long story about the sea.");
    let start = Instant::now();
    let story = Request { messages: &long, ..request };
    // A fast machine may be done before.
    match client.complete(&story, &cancel, &mut |_| ()) {
        Err(error) => assert!(error.is(CANCELLED), "{error}"),
        Ok(answer) => assert!(answer.usage.output_tokens >= 1),
    }
    canceller.join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20));
    // And continues.
    cancel.reset();
    assert!(client.complete(&request, &cancel, &mut |_| ()).is_ok());

    let huge = user(&"tide ".repeat(6_000));
    let error = client.complete(&Request { messages: &huge, ..request }, &cancel, &mut |_| ()).unwrap_err();
    assert!(error.is(CONTEXT_TOO_LONG), "{error}");

    // Tools in each form; whether this model calls one is its own matter.
    let tools = Declarations::from(tools());
    let messages = user("Read the file notes.md.");
    let request = Request { messages: &messages, tools: &tools, ..request };
    for protocol in [Protocol::Auto, Protocol::Native, Protocol::Text, Protocol::JsonSchema] {
        let answer = server.client(protocol).complete(&request, &cancel, &mut |_| ()).unwrap();
        assert!(!answer.text.is_empty() || !answer.calls.is_empty(), "{protocol:?}");
        let known = answer.calls.iter().all(|call| call.name == "read_file");
        assert!(known, "{protocol:?}: {:?}", answer.calls);
        if protocol == Protocol::JsonSchema && answer.usage.output_tokens < 48 {
            // The server holds the model to the form.
            let is_call = answer.calls.iter().any(|call| call.arguments["path"].is_string());
            assert!(is_call || !answer.text.contains("\"answer\""), "{answer:?}");
        }
    }
}
