//! `OpenAI`'s chat completions.

use serde_json::{Value, json};

use super::{ModelReply, Offered, Received, ReceivedConversation, Response, data_type, each, events, text};

pub(super) fn heard(body: &Value) -> ReceivedConversation {
    let tools = each(&body["tools"]).filter_map(|tool| Offered::plain(&tool["function"]["name"]));
    let mut heard = ReceivedConversation { tools: tools.collect(), ..ReceivedConversation::default() };
    for message in each(&body["messages"]) {
        let content = &message["content"];
        if message["role"] == "tool" {
            let parts: String = each(content).map(|part| text(&part["text"])).collect();
            heard.results.push(Received { text: text(content) + &parts, ..Received::default() });
        } else if message["role"] != "assistant" {
            heard.texts.extend(content.as_str().map(str::to_owned));
            for part in each(content) {
                heard.texts.extend(part["text"].as_str().map(str::to_owned));
                // A result has text alone here: an image of it follows as if the person had sent it.
                if let (Some(image), Some(result)) =
                    (part["image_url"]["url"].as_str().and_then(data_type), heard.results.last_mut())
                {
                    result.images.push(image);
                }
            }
        }
    }
    heard
}

pub(super) fn answer(say: &ModelReply, number: usize, streams: bool) -> Response {
    let (message, reason) = match say {
        ModelReply::Call(tool, arguments) => {
            let call = json!({
                "index": 0, "id": format!("call_{number}"), "type": "function",
                "function": {"name": tool.name, "arguments": arguments.to_string()},
            });
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        ModelReply::Text(said) => (json!({"role": "assistant", "content": said}), "stop"),
    };
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10});
    let with = |object: &str, choices: Value| json!({"id": format!("chat_{number}"), "object": object, "created": 1, "model": "scripted", "choices": choices});
    if !streams {
        let mut whole = with("chat.completion", json!([{"index": 0, "message": message, "finish_reason": reason}]));
        whole["usage"] = usage;
        return super::json(&whole);
    }
    let chunk = |choices| with("chat.completion.chunk", choices);
    let mut last = chunk(json!([]));
    last["usage"] = usage;
    let all = [
        chunk(json!([{"index": 0, "delta": message, "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])),
        last,
    ];
    // Some clients run a call only after this.
    let done = "[DONE]".to_owned();
    events(all.iter().map(Value::to_string).chain([done]).map(|event| (None, event)))
}
