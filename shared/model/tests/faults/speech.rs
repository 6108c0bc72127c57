//! What a model says, in each of the three formats.

use ragmaker_model::Provider;
use serde_json::{Value, json};

/// A call: id, name, and the text of its arguments.
pub(crate) type Said<'a> = (&'a str, &'a str, &'a str);

pub(crate) const FORMATS: [Provider; 3] = [Provider::OpenAi, Provider::Gemini, Provider::Anthropic];

fn event(data: &Value) -> Vec<u8> {
    format!("event: x\r\ndata: {data}\r\n\r\n").into_bytes()
}

/// The events of an answer of several texts and calls.
pub(crate) fn answer(provider: Provider, texts: &[&str], calls: &[Said<'_>]) -> Vec<Vec<u8>> {
    let mut events = texts.iter().map(|said| text(provider, said)).collect::<Vec<_>>();
    for (at, said) in calls.iter().enumerate() {
        events.extend(call(provider, at + 1, *said));
    }
    events.extend(end(provider));
    events
}

pub(crate) fn text(provider: Provider, text: &str) -> Vec<u8> {
    event(&match provider {
        Provider::Gemini => json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}),
        Provider::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
        _ => json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}),
    })
}

fn call(provider: Provider, index: usize, (id, name, arguments): Said<'_>) -> Vec<Vec<u8>> {
    let halves = arguments.split_at(arguments.len() / 2);
    let all = match provider {
        Provider::Gemini => {
            let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
            let mut call = json!({"functionCall": {"name": name, "args": args}, "thoughtSignature": "sig"});
            if !id.is_empty() {
                call["functionCall"]["id"] = id.into();
            }
            vec![json!({"candidates": [{"content": {"role": "model", "parts": [call]}}]})]
        }
        Provider::Anthropic => {
            let delta = |part: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": part}});
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let start = json!({"type": "content_block_start", "index": index, "content_block": block});
            vec![start, delta(halves.0), delta(halves.1)]
        }
        _ => {
            let delta = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            let mut first =
                json!({"index": index, "type": "function", "function": {"name": name, "arguments": halves.0}});
            if !id.is_empty() {
                first["id"] = id.into();
            }
            vec![delta(first), delta(json!({"index": index, "function": {"arguments": halves.1}}))]
        }
    };
    all.iter().map(event).collect()
}

pub(crate) fn end(provider: Provider) -> Vec<Vec<u8>> {
    match provider {
        Provider::Gemini => {
            let usage = json!({"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 1});
            vec![event(&json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}))]
        }
        Provider::Anthropic => vec![
            event(
                &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 5, "output_tokens": 3}}),
            ),
            event(&json!({"type": "message_stop"})),
        ],
        _ => vec![
            event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
            event(&json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}})),
            b"data: [DONE]\n\n".to_vec(),
        ],
    }
}
