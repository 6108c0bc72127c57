//! `OpenAI`'s responses.

use serde_json::{Value, json};

use super::{ModelReply, Offered, Received, ReceivedConversation, Response, data_type, each, events, text};

pub(super) fn heard(body: &Value) -> ReceivedConversation {
    let mut heard =
        ReceivedConversation { texts: vec![text(&body["instructions"])], ..ReceivedConversation::default() };
    for tool in each(&body["tools"]) {
        heard.tools.extend(Offered::plain(&tool["name"]).filter(|_| tool["type"] == "function"));
        let namespace = tool["name"].as_str().map(str::to_owned);
        let grouped = each(&tool["tools"]).filter_map(|tool| Offered::plain(&tool["name"]));
        heard.tools.extend(grouped.map(|tool| Offered { namespace: namespace.clone(), ..tool }));
    }
    for item in each(&body["input"]) {
        match item["type"].as_str() {
            Some("function_call_output") => heard.results.push(result(&item["output"])),
            Some("message") => heard.texts.extend(each(&item["content"]).map(|part| text(&part["text"]))),
            _ => {}
        }
    }
    heard
}

fn result(output: &Value) -> Received {
    let mut result = Received { text: text(output), ..Received::default() };
    for part in each(output) {
        result.text += part["text"].as_str().unwrap_or_default();
        result.images.extend(part["image_url"].as_str().and_then(data_type));
    }
    result
}

pub(super) fn answer(say: &ModelReply, number: usize, streams: bool) -> Response {
    let item = match say {
        ModelReply::Call(tool, arguments) => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                "name": tool.name, "arguments": arguments.to_string(), "status": "completed",
            });
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = namespace.as_str().into();
            }
            item
        }
        ModelReply::Text(said) => json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": said, "annotations": []}],
        }),
    };
    let response = json!({
        "id": format!("resp_{number}"), "object": "response", "created_at": 1, "status": "completed", "model": "scripted",
        "output": [item],
        "usage": {
            "input_tokens": 5, "output_tokens": 5, "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    });
    if !streams {
        return super::json(&response);
    }
    let mut created = response.clone();
    created["status"] = "in_progress".into();
    created["output"] = json!([]);
    let all = [
        json!({"type": "response.created", "response": created}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ];
    events(all.iter().map(|event| (event["type"].as_str(), event.clone())))
}
