//! Faults of an endpoint, in each of the three formats, and the results.

mod endpoint;
mod speech;

use std::{collections::HashSet, thread, time::Duration};

use ragmaker_model::{
    Answer, CANCELLED, CONTEXT_TOO_LONG, Call, Cancel, Client, Declaration, Declarations, MODEL_ANSWER_INVALID,
    MODEL_AUTH_FAILED, MODEL_RATE_LIMITED, MODEL_UNREACHABLE, Message, Progress, Protocol, Provider, Request, Usage,
};
use ragmaker_tool::Error;
use serde_json::{Value, json};

use endpoint::{client, client_with};
use ragmaker_testkit::scripted::{AfterReply, Reply, Scripted};
use speech::{FORMATS, answer, text};

fn tools() -> Vec<Declaration> {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    vec![Declaration { name: "read_file".into(), description: "Reads.".into(), parameters }]
}

fn user(text: &str) -> Message {
    Message::User { text: text.to_owned() }
}

/// The outcome, the text that was shown, and the number of repetitions.
fn ask(client: &Client, messages: &[Message], cancel: &Cancel) -> (Result<Answer, Error>, String, u32) {
    let (mut shown, mut retries) = (String::new(), 0);
    let request = Request { system: "Be short.", messages, tools: &tools().into() };
    let outcome = client.complete(&request, cancel, &mut |progress| match progress {
        Progress::Text(text) => shown += text,
        Progress::Retry { .. } => {
            retries += 1;
            shown.clear();
        }
    });
    (outcome, shown, retries)
}

fn asked(client: &Client) -> (Result<Answer, Error>, String, u32) {
    ask(client, &[user("潮?")], &Cancel::default())
}

fn good(provider: Provider) -> Reply {
    Reply::events(answer(provider, &["Spring ", "tide 潮🌊"], &[("a", "read_file", r#"{"path": "潮.md"}"#)]))
}

fn is_good(answer: &Answer) {
    assert_eq!(answer.text, "Spring tide 潮🌊");
    assert_eq!(answer.calls.len(), 1);
    assert_eq!((answer.calls[0].id.as_str(), answer.calls[0].name.as_str()), ("a", "read_file"));
    assert_eq!(answer.calls[0].arguments, json!({"path": "潮.md"}));
    assert_eq!(answer.usage, Usage { input_tokens: 5, output_tokens: 3 });
}

#[test]
fn an_answer_streams_wherever_its_bytes_are_split() {
    for provider in FORMATS {
        let whole = good(provider);
        let bytes: Vec<u8> = whole.pieces.concat();
        for size in [1, 7, bytes.len()] {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let scripted = Scripted::new(vec![Reply { pieces, ..whole.clone() }]);
            let (outcome, shown, retries) = asked(&client(&scripted, provider));
            is_good(&outcome.unwrap());
            assert_eq!((shown.as_str(), retries), ("Spring tide 潮🌊", 0));
        }
    }
}

#[test]
fn a_conversation_is_sent_in_the_format_of_the_provider() {
    let call = |id: &str, arguments| Call {
        id: id.into(),
        name: "read_file".into(),
        arguments,
        signature: Some("sig".into()),
    };
    let result =
        |id: &str, is_error| Message::Result { id: id.into(), name: "read_file".into(), text: "{}".into(), is_error };
    let calls = vec![call("a", json!({"path": "x"})), call("b", json!("{broken"))];
    let messages = [
        user("?"),
        Message::Assistant { text: String::new(), signatures: vec![], calls },
        result("a", false),
        result("b", true),
        user("go on"),
    ];
    for provider in FORMATS {
        let scripted = Scripted::new(vec![good(provider)]);
        // The id of an earlier call is not given again.
        let answered = ask(&client(&scripted, provider), &messages, &Cancel::default()).0.unwrap();
        assert_ne!(answered.calls[0].id, "a");
        let got = scripted.requests().remove(0);
        let (head, body) = (got.head.to_lowercase(), got.body);
        match provider {
            Provider::Gemini => {
                assert!(head.contains("x-goog-api-key: secret-key"));
                let roles: Vec<_> = body["contents"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
                assert_eq!(roles, ["user", "model", "user"]);
                assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "sig");
                assert_eq!(body["contents"][2]["parts"][1]["functionResponse"]["response"]["error"], "{}");
                assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "read_file");
            }
            Provider::Anthropic => {
                assert!(head.contains("x-api-key: secret-key") && head.contains("anthropic-version"));
                assert_eq!(body["messages"].as_array().unwrap().len(), 3);
                assert_eq!(body["messages"][1]["content"][1]["input"], json!({"unreadable_arguments": "{broken"}));
                assert_eq!(body["messages"][2]["content"][1]["is_error"], true);
                assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
            }
            _ => {
                assert!(head.contains("authorization: bearer secret-key"));
                let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
                assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
                assert_eq!(body["messages"][3]["tool_call_id"], "a");
                assert_eq!(body["tools"][0]["function"]["name"], "read_file");
            }
        }
    }
}

#[test]
fn signatures_of_texts_are_sent_back_with_their_parts() {
    let part = |part: Value| {
        let candidate = json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
        format!("data: {candidate}\n\n").into_bytes()
    };
    let pieces = [
        part(json!({"text": "a thought", "thought": true, "thoughtSignature": "none"})),
        part(json!({"text": "Spring "})),
        part(json!({"text": "tide 潮", "thoughtSignature": "one"})),
        part(json!({"text": "."})),
        part(json!({"text": "", "thoughtSignature": "two"})),
    ];
    let end = answer(Provider::Gemini, &[], &[]);
    let first = Reply::events(pieces.into_iter().chain(end));
    let scripted = Scripted::new(vec![first, good(Provider::Gemini)]);
    let asker = client(&scripted, Provider::Gemini);
    let first = asked(&asker).0.unwrap();
    assert_eq!(first.text, "Spring tide 潮.");
    let said = Message::Assistant { text: first.text, signatures: first.signatures, calls: first.calls };
    let line = serde_json::to_string(&said).unwrap();
    let messages = [user("?"), serde_json::from_str(&line).unwrap(), user("And?")];
    ask(&asker, &messages, &Cancel::default()).0.unwrap();
    let expected = json!([
        {"text": "Spring "}, {"text": "tide 潮", "thoughtSignature": "one"}, {"text": "."},
        {"text": "", "thoughtSignature": "two"},
    ]);
    assert_eq!(scripted.requests()[1].body["contents"][1]["parts"], expected);
}

#[test]
fn failures_that_pass_are_tried_again() {
    for provider in FORMATS {
        let down = || Reply::status("500 Oops", "", r#"{"error": {"message": "down"}}"#);
        let cut = || Reply::events([text(provider, "half an ans")]);
        let reset = || {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n".to_owned();
            Reply { head, ..cut() }
        };
        let reported = || {
            Reply::events([
                br#"data: {"type": "error", "error": {"message": "Overloaded"}}"#.to_vec(),
                b"\n\n".to_vec(),
            ])
        };
        for (replies, expected) in [
            (vec![down(), down(), down(), good(provider)], 3),
            (vec![cut(), reset(), good(provider)], 2),
            (vec![reported(), good(provider)], 1),
            (
                vec![
                    Reply::status("429 Slow", "", "{}"),
                    Reply::status("429 Slow", "Retry-After: 0\r\n", "{}"),
                    good(provider),
                ],
                2,
            ),
        ] {
            let scripted = Scripted::new(replies);
            let (outcome, shown, retries) = asked(&client(&scripted, provider));
            is_good(&outcome.unwrap());
            assert_eq!((shown.as_str(), retries), ("Spring tide 潮🌊", expected));
        }
        let scripted = Scripted::new(vec![down(); 5]);
        let (outcome, _, retries) = asked(&client(&scripted, provider));
        assert!(outcome.unwrap_err().is(MODEL_UNREACHABLE) && retries == 4);
    }
}

#[test]
fn retry_after_is_obeyed_or_ends_the_request() {
    let later = |seconds: u32| Reply::status("429 Slow", &format!("Retry-After: {seconds}\r\n"), "{}");
    let scripted = Scripted::new(vec![later(1), good(Provider::OpenAi)]);
    let mut waits = vec![];
    let request = Request { system: "", messages: &[user("?")], tools: &Declarations::default() };
    let asker = client(&scripted, Provider::OpenAi);
    let outcome = asker.complete(&request, &Cancel::default(), &mut |progress| {
        if let Progress::Retry { wait, .. } = progress {
            waits.push(wait);
        }
    });
    is_good(&outcome.unwrap());
    assert_eq!(waits, [Duration::from_secs(1)]);
    let scripted = Scripted::new(vec![later(86_400)]);
    let error = asked(&client(&scripted, Provider::OpenAi)).0.unwrap_err();
    assert!(error.is(MODEL_RATE_LIMITED) && error.details()["retry_after_s"] == 86_400, "{error}");
    let told = serde_json::to_value(&error).unwrap();
    assert!(
        told["message"].as_str().unwrap().contains("asks to wait 86400 s, more than the maximum of 120 s"),
        "{told}"
    );
    assert!(told["remediation_suggestion"].as_str().unwrap().starts_with("Ask again in 86400 s"), "{told}");
}

#[test]
fn permanent_errors_are_not_retried() {
    let said = |message: &str| json!({"error": {"message": message}}).to_string();
    let refused = |line: &str, message: &str| Reply::status(line, "", &said(message));
    let long = "This model's maximum context length is 8192 tokens.";
    for (reply, code) in [
        (refused("401 No", "Incorrect API key provided: secret-key."), MODEL_AUTH_FAILED),
        (refused("403 No", "secret-key may not"), MODEL_AUTH_FAILED),
        (refused("400 No", "API key not valid. Please pass a valid API key."), MODEL_AUTH_FAILED),
        (refused("400 Bad", long), CONTEXT_TOO_LONG),
        (refused("413 Big", "too large"), CONTEXT_TOO_LONG),
        (refused("404 None", "no such model"), MODEL_ANSWER_INVALID),
        (Reply::status("302 Found", "Location: http://127.0.0.1:1/\r\n", ""), MODEL_ANSWER_INVALID),
        (Reply::status("200 OK", "", "<html>secret-key</html>"), MODEL_ANSWER_INVALID),
        (Reply::events([b"<html>\n\n".to_vec()]), MODEL_ANSWER_INVALID),
        (Reply::events([b"data: {broken\n\n".to_vec()]), MODEL_ANSWER_INVALID),
    ] {
        for provider in FORMATS {
            let scripted = Scripted::new(vec![reply.clone()]);
            let (outcome, _, retries) = asked(&client(&scripted, provider));
            let error = outcome.unwrap_err();
            assert!(error.is(code) && retries == 0, "{provider:?}: {error}");
            assert!(!serde_json::to_string(&error).unwrap().contains("secret-key"), "{error}");
        }
    }
}

#[test]
fn an_endpoint_that_is_not_there_or_silent_is_unreachable() {
    let nowhere = Scripted::new(vec![]);
    let error = asked(&client_with(&nowhere, Provider::OpenAi, |endpoint| {
        "http://127.0.0.1:1".clone_into(&mut endpoint.base_url);
    }));
    assert!(error.0.unwrap_err().is(MODEL_UNREACHABLE) && error.2 == 2);
    let silent = Scripted::new(vec![Reply::default().then(AfterReply::Hang); 5]);
    let outcome =
        asked(&client_with(&silent, Provider::Gemini, |endpoint| endpoint.timeout = Duration::from_millis(80)));
    assert!(outcome.0.unwrap_err().is(MODEL_UNREACHABLE) && outcome.2 == 4);
}

#[test]
fn an_event_or_an_answer_without_an_end_is_refused() {
    for provider in FORMATS {
        let huge = vec![b"data: ".to_vec(), vec![b'x'; 20 << 20]];
        let scripted = Scripted::new(vec![Reply::events(huge)]);
        assert!(asked(&client(&scripted, provider)).0.unwrap_err().is(MODEL_ANSWER_INVALID));
        let endless = Reply::events([text(provider, &"tide ".repeat(20_000))]).then(AfterReply::Repeat);
        let (outcome, shown, retries) = asked(&client(&Scripted::new(vec![endless]), provider));
        assert!(outcome.unwrap_err().is(MODEL_ANSWER_INVALID) && retries == 0);
        assert!(shown.len() <= 8 << 20);
    }
}

#[test]
fn every_call_has_an_id_of_its_own() {
    for provider in FORMATS {
        for id in ["", "same"] {
            let forty = vec![(id, "read_file", r#"{"path": "a"}"#); 40];
            let scripted = Scripted::new(vec![Reply::events(answer(provider, &[], &forty))]);
            let answered = asked(&client(&scripted, provider)).0.unwrap();
            assert_eq!(answered.calls.len(), 40, "{provider:?} {id:?}");
            let ids: HashSet<_> = answered.calls.iter().map(|call| &call.id).collect();
            assert!(ids.len() == 40 && !ids.contains(&String::new()));
            assert!(answered.calls.iter().all(|call| call.arguments == json!({"path": "a"})));
        }
    }
}

#[test]
fn broken_arguments_and_empty_answers_are_handed_over_as_they_are() {
    for provider in FORMATS {
        for broken in ["{\"path\": ", "[1]", "\"x\""] {
            let scripted = Scripted::new(vec![Reply::events(answer(provider, &[], &[("a", "read_file", broken)]))]);
            let answered = asked(&client(&scripted, provider)).0.unwrap();
            assert!(answered.calls[0].arguments.is_string(), "{provider:?}: {:?}", answered.calls);
        }
        let scripted = Scripted::new(vec![Reply::events(answer(provider, &[], &[("a", "read_file", "")]))]);
        let answered = asked(&client(&scripted, provider)).0.unwrap();
        assert!(provider == Provider::Gemini || answered.calls[0].arguments == json!({}));
        let scripted = Scripted::new(vec![Reply::events(answer(provider, &[], &[]))]);
        let answered = asked(&client(&scripted, provider)).0.unwrap();
        assert!(answered.text.is_empty() && answered.calls.is_empty());
    }
}

#[test]
fn a_cancelled_request_ends_whatever_the_endpoint_does() {
    for provider in FORMATS {
        for reply in [
            Reply::default().then(AfterReply::Hang),
            Reply::events([text(provider, "half")]).then(AfterReply::Hang),
            Reply::events([b": alive\n\n".to_vec()]).then(AfterReply::Repeat),
            Reply::status("429 Slow", "Retry-After: 100\r\n", "{}"),
        ] {
            let scripted = Scripted::new(vec![reply]);
            let cancel = Cancel::default();
            let other = cancel.clone();
            let canceller = thread::spawn(move || {
                thread::sleep(Duration::from_millis(60));
                other.cancel();
            });
            let (outcome, _, _) = ask(&client(&scripted, provider), &[user("?")], &cancel);
            assert!(outcome.unwrap_err().is(CANCELLED));
            canceller.join().unwrap();
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let message = json!({"content": "tide", "tool_calls": [{"id": "a", "function": {"name": "read_file", "arguments": {"path": "x"}}}]});
    let parts = json!([{"text": "tide"}, {"functionCall": {"name": "read_file", "args": {"path": "x"}}}]);
    let blocks = json!([{"type": "text", "text": "tide"}, {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "x"}}]);
    for (provider, body) in [
        (Provider::Compatible, json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]})),
        (Provider::Gemini, json!([{"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}])),
        (Provider::Anthropic, json!({"type": "message", "content": blocks, "stop_reason": "tool_use"})),
    ] {
        let scripted = Scripted::new(vec![Reply::status("200 OK", "", &body.to_string())]);
        let answered = asked(&client(&scripted, provider)).0.unwrap();
        assert_eq!((answered.text.as_str(), &answered.calls[0].arguments), ("tide", &json!({"path": "x"})));
    }
}

#[test]
fn a_call_in_text_changes_the_protocol() {
    for provider in FORMATS {
        let call = "```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n```";
        let say = |text: &str| Reply::events(answer(provider, &[text], &[]));
        let scripted = Scripted::new(vec![say(call), say("It is high water.")]);
        let asker = client(&scripted, provider);
        let first = asked(&asker).0.unwrap();
        assert_eq!((first.text.as_str(), &first.calls[0].arguments), ("", &json!({"path": "x"})));
        let id = first.calls[0].id.clone();
        let messages = [
            user("?"),
            Message::Assistant { text: first.text, signatures: first.signatures, calls: first.calls },
            Message::Result { id, name: "read_file".into(), text: "{\"content\": 1}".into(), is_error: false },
        ];
        let (second, shown, _) = ask(&asker, &messages, &Cancel::default());
        assert_eq!((second.unwrap().text.as_str(), shown.as_str()), ("It is high water.", "It is high water."));
        let got = scripted.requests();
        assert!(got[0].body["tools"].is_array() && got[1].body["tools"].is_null());
        let sent = got[1].body.to_string();
        assert!(sent.contains("Result of read_file") && sent.contains("To call a tool"), "{sent}");
    }
}

#[test]
fn no_text_holds_a_key() {
    let long = format!("{} secret-key and header-secret, query-secret", "x".repeat(495));
    let said = |message: &str| json!({"error": {"message": message}});
    let context = format!("maximum context length: {long}");
    for provider in FORMATS {
        for (replies, code) in [
            // Cut at 500 characters, in the middle of the key.
            (vec![Reply::status("404 None", "", &said(&long).to_string())], MODEL_ANSWER_INVALID),
            (vec![Reply::status("500 Oops", "", &said(&long).to_string()); 5], MODEL_UNREACHABLE),
            (vec![Reply::events([format!("data: {}\n\n", said(&context)).into_bytes()])], CONTEXT_TOO_LONG),
            (vec![Reply::events([format!("data: {}\n\n", said(&long)).into_bytes()]); 5], MODEL_UNREACHABLE),
            (vec![Reply::status("400 No", "", &said("header-secret, query-secret").to_string())], MODEL_ANSWER_INVALID),
        ] {
            let scripted = Scripted::new(replies);
            let client = client_with(&scripted, provider, |endpoint| {
                endpoint.headers = vec![("x-gateway".to_owned(), "Token header-secret".to_owned())];
                endpoint.query = vec![("sig".to_owned(), "query-secret".to_owned())];
            });
            let mut reasons = String::new();
            let request = Request { system: "", messages: &[user("?")], tools: &Declarations::default() };
            let outcome = client.complete(&request, &Cancel::default(), &mut |progress| {
                if let Progress::Retry { reason, .. } = progress {
                    reasons += reason;
                }
            });
            let error = outcome.unwrap_err();
            assert!(error.is(code), "{provider:?}: {error}");
            let all = format!("{reasons} {}", serde_json::to_string(&error).unwrap());
            for part in ["secr", "query-s", "header-s"] {
                assert!(!all.contains(part), "{provider:?}: {all}");
            }
        }
    }
}

#[test]
fn a_request_that_is_given_up_closes_its_connection() {
    for provider in FORMATS {
        let scripted =
            Scripted::new(vec![Reply::events([text(provider, "half")]).then(AfterReply::Hang), good(provider)]);
        let (client, cancel) = (client(&scripted, provider), Cancel::default());
        let other = cancel.clone();
        let (outcome, ..) = thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(60));
                other.cancel();
            });
            ask(&client, &[user("?")], &cancel)
        });
        assert!(outcome.unwrap_err().is(CANCELLED));
        // The endpoint waits until the client closes its end.
        assert!(scripted.disconnects_within(Duration::from_secs(10)), "{provider:?}");
        // The client continues with a new connection.
        cancel.reset();
        is_good(&ask(&client, &[user("?")], &cancel).0.unwrap());
    }
}

#[test]
fn an_endpoint_with_a_temperature_of_its_own_is_asked_without_one() {
    let refusal = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model."}});
    let refused = || Reply::status("400 Bad", "", &refusal.to_string());
    let scripted = Scripted::new(vec![refused(), good(Provider::OpenAi), refused()]);
    let client = client_with(&scripted, Provider::OpenAi, |endpoint| endpoint.temperature = Some(0.0));
    is_good(&asked(&client).0.unwrap());
    // Once: what is refused without it is refused.
    assert!(asked(&client).0.unwrap_err().is(MODEL_ANSWER_INVALID));
    let temperatures: Vec<_> = scripted.requests().into_iter().map(|got| got.body["temperature"].clone()).collect();
    assert_eq!(temperatures, [json!(0.0), json!(null), json!(null)]);
}

#[test]
fn an_answer_is_held_to_a_schema() {
    for provider in FORMATS {
        let say = |text: &str| Reply::events(answer(provider, &[text], &[]));
        let call = json!({"tool": "read_file", "arguments": {"path": "x"}}).to_string();
        let said = json!({"answer": "It is {high} water."}).to_string();
        let cut = Reply::events(answer(provider, &["{\"answer\": \"It is", " cut"], &[]));
        let scripted = Scripted::new(vec![say(&call), say(&said), say("cut off {"), cut]);
        let client = client_with(&scripted, provider, |endpoint| endpoint.protocol = Protocol::JsonSchema);
        let (first, shown, _) = asked(&client);
        let first = first.unwrap();
        assert_eq!((first.calls[0].name.as_str(), &first.calls[0].arguments), ("read_file", &json!({"path": "x"})));
        assert_eq!((first.text.as_str(), shown.as_str()), ("", ""));
        let (second, shown, _) = asked(&client);
        assert_eq!((second.unwrap().text.as_str(), shown.as_str()), ("It is {high} water.", "It is {high} water."));
        assert_eq!(asked(&client).0.unwrap().text, "cut off {");
        let (cut, shown, _) = asked(&client);
        assert_eq!((cut.unwrap().text.as_str(), shown.as_str()), ("It is cut", "It is cut"));
        let body = &scripted.requests()[0].body;
        let schema = match provider {
            Provider::Gemini => &body["generationConfig"]["responseJsonSchema"],
            Provider::Anthropic => continue,
            _ => &body["response_format"]["json_schema"]["schema"],
        };
        assert_eq!(schema["anyOf"][0]["properties"]["tool"]["enum"], json!(["read_file"]), "{body}");
        assert!(body["tools"].is_null());
    }
}
