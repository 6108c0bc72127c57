//! A scripted model: an HTTP endpoint for agent clients that answers according to the script of the test.
//!
//! It implements the parts of four protocols that are needed for tool calls: Gemini's `generateContent`,
//! Anthropic's messages, `OpenAI`'s responses and chat completions, with streaming. A request is converted to a
//! [`ReceivedConversation`], so that one script works with every client, and a test can check what the model
//! received.

mod anthropic;
mod chat;
mod gemini;
mod responses;
pub mod workflows;

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde_json::{Value, json};

use crate::site::{
    http::{Request, Response},
    server::{Reply, Server},
};

/// The conversation in a request of a client.
#[derive(Clone, Debug, Default)]
pub struct ReceivedConversation {
    /// The offered tools, by the client's names.
    pub tools: Vec<Offered>,
    /// The texts of the person, and the client's own system prompt.
    pub texts: Vec<String>,
    /// The results of the calls, in order.
    pub results: Vec<Received>,
    /// The time at which the request was received, before parsing, because parsing is not part of the client's
    /// time.
    pub arrived: Option<Instant>,
}

/// A tool that a client offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// The name space, if the client has name spaces.
    pub namespace: Option<String>,
}

/// The result of a call, as the model receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The whole text.
    pub text: String,
    /// The media types of its images.
    pub images: Vec<String>,
    /// Whether the client marks it as an error; `None` if the protocol cannot.
    pub is_error: Option<bool>,
}

/// The reply of the model.
#[derive(Clone, Debug)]
pub enum ModelReply {
    /// Calls a tool with these arguments.
    Call(Offered, Value),
    /// Ends the turn.
    Text(String),
}

type Script = dyn Fn(&ReceivedConversation) -> ModelReply + Send + Sync;

/// A running endpoint, which ends when dropped.
pub struct Model {
    server: Server,
    heard: Arc<Mutex<Vec<ReceivedConversation>>>,
}

impl Model {
    /// Starts an endpoint that replies according to `script`.
    ///
    /// A request without tools is one of the client's own, for a title or a summary, and is not passed to the
    /// script.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub fn start(script: impl Fn(&ReceivedConversation) -> ModelReply + Send + Sync + 'static) -> Self {
        let heard = Arc::new(Mutex::new(vec![]));
        let log = Arc::clone(&heard);
        let script: Box<Script> = Box::new(script);
        let answer = move |request: &Request| answer(request, &*script, &log);
        let server = Server::start(None, |_| Box::new(answer)).expect("a port of this machine is free");
        Self { server, heard }
    }

    /// The URL of the endpoint, without a path.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    /// The conversation in the last request.
    pub fn heard(&self) -> ReceivedConversation {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).last().cloned().unwrap_or_default()
    }

    /// Every request, for the diagnosis of a failed test.
    pub fn requests(&self) -> Vec<String> {
        self.server
            .log()
            .iter()
            .map(|request| format!("{} {} ({} bytes)", request.method, request.path, request.body.len()))
            .collect()
    }
}

fn answer(request: &Request, script: &Script, log: &Mutex<Vec<ReceivedConversation>>) -> Reply {
    let arrived = Some(Instant::now());
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let path = request.path.split('?').next().unwrap_or_default();
    let streams = body["stream"] == true || path.ends_with(":streamGenerateContent");
    let say = |heard: ReceivedConversation| {
        if heard.tools.is_empty() {
            return ModelReply::Text("ok".to_owned());
        }
        let heard = ReceivedConversation { arrived, ..heard };
        let said = script(&heard);
        log.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        said
    };
    // Makes the ids of calls unique: a conversation grows. The body was printed again for this number, which was most
    // of the time of a step in `cargo xtask bench agent`.
    let number = request.body.len();
    let response = if path.ends_with("enerateContent") {
        gemini::answer(&say(gemini::heard(&body)), number, streams)
    } else if path.ends_with("/messages") {
        anthropic::answer(&say(anthropic::heard(&body)), number, streams)
    } else if path.ends_with("/responses") {
        responses::answer(&say(responses::heard(&body)), number, streams)
    } else if path.ends_with("/chat/completions") {
        chat::answer(&say(chat::heard(&body)), number, streams)
    } else if path.ends_with("/models") {
        json(&json!({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}))
    } else if path.ends_with("count_tokens") || path.ends_with(":countTokens") {
        json(&json!({"input_tokens": 10, "totalTokens": 10}))
    } else {
        // Clients work without an answer to their other requests.
        json(&json!({}))
    };
    response.into()
}

fn json(value: &Value) -> Response {
    Response::new("application/json", value.to_string())
}

/// A stream of events; an event may have a name.
fn events<'a, D: Display>(events: impl IntoIterator<Item = (Option<&'a str>, D)>) -> Response {
    let mut text = String::new();
    for (name, data) in events {
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        text.extend([name, format!("data: {data}\n\n")]);
    }
    Response::new("text/event-stream", text)
}

/// The elements of an array; none for other values.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The media type of a `data:` URL.
fn data_type(url: &str) -> Option<String> {
    Some(url.strip_prefix("data:")?.split([';', ',']).next()?.to_owned())
}

impl Offered {
    fn plain(name: &Value) -> Option<Self> {
        Some(Self { name: name.as_str()?.to_owned(), namespace: None })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream,
    };

    use super::*;

    /// The same conversation in every protocol: a question, a tool, its result with an image.
    fn conversations() -> [(&'static str, ReceivedConversation, Value); 4] {
        let gemini = json!({
            "systemInstruction": {"parts": [{"text": "system"}]},
            "tools": [{"functionDeclarations": [{"name": "look"}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look"}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "look", "response": {"output": "seen"}}},
                    {"inlineData": {"mimeType": "image/png", "data": ""}},
                ]},
            ],
        });
        let anthropic = json!({
            "system": [{"type": "text", "text": "system"}],
            "tools": [{"name": "look"}],
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "look"}]},
                {"role": "user", "content": [{"type": "tool_result", "content": [
                    {"type": "text", "text": "seen"},
                    {"type": "image", "source": {"media_type": "image/png"}},
                ]}]},
            ],
        });
        let responses = json!({
            "instructions": "system",
            "tools": [{"type": "function", "name": "look"}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
                {"type": "function_call", "name": "look"},
                {"type": "function_call_output", "output": [
                    {"type": "input_text", "text": "seen"},
                    {"type": "input_image", "image_url": "data:image/png;base64,"},
                ]},
            ],
        });
        let chat = json!({
            "tools": [{"type": "function", "function": {"name": "look"}}],
            "messages": [
                {"role": "system", "content": "system"},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": "thinking"},
                {"role": "tool", "content": "seen"},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]},
            ],
        });
        [
            ("/v1beta/models/m:streamGenerateContent?alt=sse", gemini::heard(&gemini), gemini),
            ("/v1/messages", anthropic::heard(&anthropic), anthropic),
            ("/v1/responses", responses::heard(&responses), responses),
            ("/v1/chat/completions", chat::heard(&chat), chat),
        ]
    }

    #[test]
    fn every_protocol_gives_the_same_conversation() {
        for (path, heard, _) in conversations() {
            assert_eq!(heard.tools, [Offered { name: "look".into(), namespace: None }], "{path}");
            assert_eq!(heard.texts, ["system", "go"], "{path}");
            let [result] = &heard.results[..] else { panic!("{path}: {heard:?}") };
            assert_eq!((result.text.as_str(), &result.images[..]), ("seen", &["image/png".to_owned()][..]), "{path}");
            assert_ne!(result.is_error, Some(true), "{path}");
        }
    }

    #[test]
    fn a_tool_in_a_name_space_keeps_it() {
        let body =
            json!({"tools": [{"type": "namespace", "name": "group", "tools": [{"type": "function", "name": "look"}]}]});
        let expected = Offered { name: "look".into(), namespace: Some("group".into()) };
        assert_eq!(responses::heard(&body).tools, [expected]);
    }

    #[test]
    fn the_script_answers_in_every_protocol() {
        let model = Model::start(|heard| ModelReply::Call(heard.tools[0].clone(), json!({"at": heard.results.len()})));
        for (path, _, mut body) in conversations() {
            body["stream"] = true.into();
            let (body, mut answer) = (body.to_string(), String::new());
            let mut connection = TcpStream::connect(model.url().trim_start_matches("http://")).unwrap();
            write!(
                connection,
                "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            connection.read_to_string(&mut answer).unwrap();
            assert!(answer.contains("text/event-stream") && answer.contains("look"), "{path}: {answer}");
            assert!(answer.replace('\\', "").contains("{\"at\":1}"), "{path}: {answer}");
        }
        assert_eq!(model.heard().results.len(), 1);
    }
}
