//! The wire format of Anthropic's messages API.

use ragmaker_tool::Error;
use serde_json::{Value, json};

use crate::{
    Declaration, Endpoint, Message, Request, Stop,
    answer::{EventOutcome, PartialAnswer, PartialCall, reported},
    message::as_object,
};

/// The maximum number of tokens of an answer if the configuration has none; the format requires a value.
const MAX_TOKENS: u64 = 8_192;

pub(crate) fn body(endpoint: &Endpoint, request: &Request<'_>) -> Value {
    let mut messages: Vec<Value> = vec![];
    for message in request.messages {
        let (role, blocks) = blocks(message);
        // Roles alternate, and the results of one answer stand in one message.
        match messages.last_mut() {
            Some(last) if last["role"] == role => {
                if let Some(all) = last["content"].as_array_mut() {
                    all.extend(blocks);
                }
            }
            _ => messages.push(json!({"role": role, "content": blocks})),
        }
    }
    let mut body = json!({
        "model": endpoint.model,
        "max_tokens": endpoint.max_output_tokens.unwrap_or(MAX_TOKENS),
        "system": [{"type": "text", "text": request.system}],
        "messages": messages,
        "stream": true,
    });
    if let Some(temperature) = endpoint.temperature {
        body["temperature"] = temperature.into();
    }
    body
}

pub(crate) fn tools(tools: &[Declaration]) -> Value {
    let tool = |tool: &Declaration| {
        let mut schema = tool.parameters.clone();
        // The API refuses these at the top.
        for name in ["oneOf", "anyOf", "allOf"] {
            schema.as_object_mut().and_then(|members| members.shift_remove(name));
        }
        json!({"name": tool.name, "description": tool.description, "input_schema": schema})
    };
    tools.iter().map(tool).collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
        Message::Assistant { text, calls, .. } => {
            // Empty text is refused; an answer without any still needs a block.
            let said = if text.trim().is_empty() && calls.is_empty() { "(no answer)" } else { text.as_str() };
            let said = (!said.trim().is_empty()).then(|| json!({"type": "text", "text": said}));
            let calls = calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": as_object(&call.arguments)})
            });
            ("assistant", said.into_iter().chain(calls).collect())
        }
        Message::Result { id, text, is_error, .. } => {
            ("user", vec![json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error})])
        }
    }
}

pub(crate) fn feed(
    event: &Value,
    answer: &mut PartialAnswer,
    show: &mut dyn FnMut(&str),
) -> Result<EventOutcome, Error> {
    if let Some(message) = reported(event) {
        return Ok(EventOutcome::Failed(message));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => count(&event["message"]["usage"], answer),
        // A server that does not stream sends the whole message.
        "message" => {
            count(&event["usage"], answer);
            for (at, block) in event["content"].as_array().into_iter().flatten().enumerate() {
                start(at as u64, block, answer, show)?;
            }
            stop(&event["stop_reason"], answer);
        }
        "content_block_start" => {
            start(event["index"].as_u64().unwrap_or_default(), &event["content_block"], answer, show)?;
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            answer.say(&text(&delta["text"]), show)?;
            if let Some(json) = delta["partial_json"].as_str() {
                answer.grow(json.len())?;
                let key = event["index"].as_u64().unwrap_or_default();
                if let Some(draft) = answer.drafts.iter_mut().rev().find(|draft| draft.key == key) {
                    draft.arguments += json;
                }
            }
        }
        "message_delta" => {
            count(&event["usage"], answer);
            stop(&event["delta"]["stop_reason"], answer);
        }
        _ => {}
    }
    Ok(EventOutcome::Taken)
}

fn start(key: u64, block: &Value, answer: &mut PartialAnswer, show: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    answer.say(&text(&block["text"]), show)?;
    if block["type"] == "tool_use" {
        let given = block["input"].as_object().filter(|input| !input.is_empty());
        let arguments = given.map(|input| json!(input).to_string()).unwrap_or_default();
        answer.grow(arguments.len())?;
        answer.drafts.push(PartialCall {
            key,
            id: text(&block["id"]),
            name: text(&block["name"]),
            arguments,
            signature: None,
        });
    }
    Ok(())
}

fn stop(reason: &Value, answer: &mut PartialAnswer) {
    match reason.as_str() {
        None => {}
        Some("max_tokens") => answer.stop = Some(Stop::Length),
        Some("refusal") => answer.stop = Some(Stop::Filtered),
        Some(_) => answer.stop = Some(Stop::End),
    }
}

fn count(usage: &Value, answer: &mut PartialAnswer) {
    if let Some(tokens) = usage["input_tokens"].as_u64() {
        answer.usage.input_tokens = tokens;
    }
    if let Some(tokens) = usage["output_tokens"].as_u64() {
        answer.usage.output_tokens = tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;

    #[test]
    fn results_of_one_answer_stand_in_one_message() {
        let call = |id: &str| Call { id: id.into(), name: "think".into(), arguments: json!("broken"), signature: None };
        let result =
            |id: &str| Message::Result { id: id.into(), name: "think".into(), text: "{}".into(), is_error: true };
        let assistant =
            Message::Assistant { text: String::new(), signatures: vec![], calls: vec![call("a"), call("b")] };
        let all: Vec<_> = [assistant, result("a"), result("b")].iter().map(blocks).collect();
        assert_eq!(all.iter().map(|(role, _)| *role).collect::<Vec<_>>(), ["assistant", "user", "user"]);
        // No block of text where there is none, and arguments that are an object.
        assert_eq!(all[0].1.len(), 2);
        assert_eq!(all[0].1[0]["input"], json!({"unreadable_arguments": "broken"}));
        assert_eq!(all[1].1[0]["is_error"], true);
        let empty = Message::Assistant { text: " ".into(), signatures: vec![], calls: vec![] };
        assert_eq!(blocks(&empty).1[0]["text"], "(no answer)");
    }

    #[test]
    fn schemas_have_no_union_at_the_top() {
        let parameters = json!({"type": "object", "oneOf": [], "properties": {"a": {"oneOf": []}}});
        let tool = Declaration { name: "a".into(), description: "b".into(), parameters };
        let expected = json!({"type": "object", "properties": {"a": {"oneOf": []}}});
        assert_eq!(tools(&[tool])[0]["input_schema"], expected);
    }

    #[test]
    fn events_become_text_and_calls() {
        let mut answer = PartialAnswer::default();
        for event in [
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 5}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"text": "Hi"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "think", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"partial_json": "{\"a\""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"partial_json": ": 1}"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
            json!({"type": "ping"}),
        ] {
            assert_eq!(feed(&event, &mut answer, &mut |_| ()).unwrap(), EventOutcome::Taken);
        }
        assert_eq!((answer.text.as_str(), answer.drafts[0].arguments.as_str()), ("Hi", "{\"a\": 1}"));
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens, answer.stop), (5, 9, Some(Stop::End)));
    }
}
