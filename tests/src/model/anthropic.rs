//! Anthropic's messages.

use serde_json::{Value, json};

use super::{ModelReply, Offered, Received, ReceivedConversation, Response, each, events, text};

pub(super) fn heard(body: &Value) -> ReceivedConversation {
    let mut heard = ReceivedConversation {
        tools: each(&body["tools"]).filter_map(|tool| Offered::plain(&tool["name"])).collect(),
        texts: each(&body["system"]).map(|block| text(&block["text"])).collect(),
        ..ReceivedConversation::default()
    };
    for message in each(&body["messages"]).filter(|message| message["role"] == "user") {
        heard.texts.extend(message["content"].as_str().map(str::to_owned));
        for block in each(&message["content"]) {
            match block["type"].as_str() {
                Some("text") => heard.texts.push(text(&block["text"])),
                Some("tool_result") => heard.results.push(result(block)),
                _ => {}
            }
        }
    }
    heard
}

fn result(block: &Value) -> Received {
    let mut result =
        Received { text: text(&block["content"]), is_error: Some(block["is_error"] == true), ..Received::default() };
    for part in each(&block["content"]) {
        result.text += part["text"].as_str().unwrap_or_default();
        result.images.extend(part["source"]["media_type"].as_str().map(str::to_owned));
    }
    result
}

pub(super) fn answer(say: &ModelReply, number: usize, streams: bool) -> Response {
    let (block, reason) = match say {
        ModelReply::Call(tool, arguments) => (
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool.name, "input": arguments}),
            "tool_use",
        ),
        ModelReply::Text(said) => (json!({"type": "text", "text": said}), "end_turn"),
    };
    let mut message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "scripted",
        "content": [block], "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 5},
    });
    if !streams {
        return super::json(&message);
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let (empty, delta) = match say {
        ModelReply::Call(tool, arguments) => (
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
        ),
        ModelReply::Text(said) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": said})),
    };
    let stop = json!({"stop_reason": reason, "stop_sequence": null});
    let all = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    events(all.iter().map(|event| (event["type"].as_str(), event.clone())))
}
