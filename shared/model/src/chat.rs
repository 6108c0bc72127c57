//! The wire format of `OpenAI`'s chat completions API.

use ragmaker_tool::Error;
use serde_json::{Value, json};

use crate::{
    Declaration, Endpoint, Message, Provider, Request, Stop,
    answer::{EventOutcome, PartialAnswer, PartialCall, reported},
};

pub(crate) fn body(endpoint: &Endpoint, request: &Request<'_>, schema: Option<&Value>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    messages.extend(request.messages.iter().map(message));
    let mut body = json!({
        "model": endpoint.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(schema) = schema {
        body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "step", "schema": schema}});
    }
    if let Some(temperature) = endpoint.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(most) = endpoint.max_output_tokens {
        // Newer models refuse the old name, other servers know it alone.
        let name = if endpoint.provider == Provider::Compatible { "max_tokens" } else { "max_completion_tokens" };
        body[name] = most.into();
    }
    body
}

pub(crate) fn tools(tools: &[Declaration]) -> Value {
    let tool = |tool: &Declaration| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}});
    tools.iter().map(tool).collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls, .. } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls, .. } => {
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            let calls: Vec<_> = calls
                .iter()
                .map(|call| {
                    // Servers parse the arguments again, and fail as a whole if they are not an object.
                    let arguments = crate::message::as_object(&call.arguments).to_string();
                    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
                })
                .collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Result { id, text, .. } => json!({"role": "tool", "tool_call_id": id, "content": text}),
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
    let usage = &event["usage"];
    if usage.is_object() {
        answer.usage.input_tokens = usage["prompt_tokens"].as_u64().unwrap_or_default();
        answer.usage.output_tokens = usage["completion_tokens"].as_u64().unwrap_or_default();
    }
    let Some(choice) = event["choices"].as_array().and_then(|choices| choices.first()) else {
        return Ok(EventOutcome::Taken);
    };
    // A server that does not stream sends the whole message.
    let delta = if choice["message"].is_object() { &choice["message"] } else { &choice["delta"] };
    match &delta["content"] {
        // Some servers send a list of parts.
        Value::Array(parts) => {
            for part in parts {
                answer.say(part["text"].as_str().unwrap_or_default(), show)?;
            }
        }
        text => answer.say(text.as_str().unwrap_or_default(), show)?,
    }
    // The words with which a model refuses have a member of their own.
    answer.say(delta["refusal"].as_str().unwrap_or_default(), show)?;
    for (at, call) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let function = &call["function"];
        let (id, name) = (call["id"].as_str().unwrap_or_default(), function["name"].as_str().unwrap_or_default());
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Ollama once sent the object itself.
            other => other.to_string(),
        };
        let key = call["index"].as_u64();
        let is_of = |draft: &PartialCall| match key {
            // Some servers give every call the index 0, but a new id.
            Some(key) => {
                draft.key == key
                    && (id.is_empty() || draft.id == id || draft.id.is_empty())
                    && (name.is_empty() || draft.name == name && draft.id == id && !id.is_empty())
            }
            None => !id.is_empty() && draft.id == id,
        };
        answer.grow(arguments.len() + name.len())?;
        // A name may come in parts, before the arguments.
        let continues_name = |draft: &&mut PartialCall| {
            key == Some(draft.key) && id.is_empty() && !draft.id.is_empty() && draft.arguments.is_empty()
        };
        if !name.is_empty()
            && let Some(draft) = answer.drafts.last_mut().filter(continues_name)
        {
            // Some servers repeat the whole name.
            if draft.name != name {
                draft.name += name;
            }
            draft.arguments += &arguments;
        } else if let Some(draft) = answer.drafts.iter_mut().rev().find(|draft| is_of(draft)) {
            draft.arguments += &arguments;
        } else {
            let key = key.unwrap_or(at as u64);
            let draft = PartialCall { key, id: id.to_owned(), name: name.to_owned(), arguments, signature: None };
            answer.drafts.push(draft);
        }
    }
    match choice["finish_reason"].as_str() {
        None => {}
        Some("length") => answer.stop = Some(Stop::Length),
        Some("content_filter") => answer.stop = Some(Stop::Filtered),
        Some(_) => answer.stop = Some(Stop::End),
    }
    Ok(EventOutcome::Taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(events: &[Value]) -> PartialAnswer {
        let mut answer = PartialAnswer::default();
        for event in events {
            assert_eq!(feed(event, &mut answer, &mut |_| ()).unwrap(), EventOutcome::Taken, "{event}");
        }
        answer
    }

    fn call(call: &Value) -> Value {
        json!({"choices": [{"delta": {"tool_calls": [call]}}]})
    }

    #[test]
    fn parts_of_a_call_are_joined() {
        let answer = answer(&[
            call(&json!({"index": 0, "id": "a", "function": {"name": "read_file", "arguments": "{\"pa"}})),
            call(&json!({"index": 0, "function": {"arguments": "th\": \"x\"}"}})),
            call(&json!({"index": 1, "id": "b", "function": {"name": "think", "arguments": "{}"}})),
        ]);
        let drafts: Vec<_> =
            answer.drafts.iter().map(|draft| (draft.name.as_str(), draft.arguments.as_str())).collect();
        assert_eq!(drafts, [("read_file", "{\"path\": \"x\"}"), ("think", "{}")]);
    }

    #[test]
    fn calls_with_one_index_are_told_apart_by_their_ids() {
        let part = |id: &str| call(&json!({"index": 0, "id": id, "function": {"name": "think", "arguments": "{}"}}));
        assert_eq!(answer(&[part("a"), part("b")]).drafts.len(), 2);
        // Ollama once sent an object in place of text.
        let object = call(&json!({"id": "a", "function": {"name": "think", "arguments": {"a": 1}}}));
        assert_eq!(answer(&[object]).drafts[0].arguments, "{\"a\":1}");
    }

    #[test]
    fn the_end_has_a_reason_and_the_tokens_are_counted() {
        for (reason, stop) in [("stop", Stop::End), ("length", Stop::Length), ("content_filter", Stop::Filtered)] {
            let end = json!({"choices": [{"delta": {}, "finish_reason": reason}]});
            assert_eq!(answer(&[end]).stop, Some(stop));
        }
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
        let usage = answer(&[usage]).usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 3));
    }

    #[test]
    fn a_whole_message_and_a_refusal_are_text() {
        let whole = json!({"choices": [{"message": {"content": "a", "refusal": "b"}, "finish_reason": "stop"}]});
        assert_eq!(answer(&[whole]).text, "ab");
        let failed = json!({"error": {"message": "overloaded"}});
        let outcome = feed(&failed, &mut PartialAnswer::default(), &mut |_| ()).unwrap();
        assert_eq!(outcome, EventOutcome::Failed("overloaded".into()));
    }

    #[test]
    fn a_name_in_parts_is_joined_and_a_repeated_one_is_not() {
        let part = |id: Option<&str>, name: &str, arguments: &str| {
            call(&json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}))
        };
        for parts in [["read_", "file"], ["read_file", "read_file"], ["read_file", ""]] {
            let answer = answer(&[part(Some("a"), parts[0], ""), part(None, parts[1], ""), part(None, "", "{}")]);
            let drafts: Vec<_> = answer.drafts.iter().map(|draft| (&*draft.name, &*draft.arguments)).collect();
            assert_eq!(drafts, [("read_file", "{}")], "{parts:?}");
        }
    }

    #[test]
    fn content_may_be_a_list_of_parts() {
        let delta = |content: Value| json!({"choices": [{"delta": {"content": content}}]});
        let parts = json!([{"type": "text", "text": "high "}, {"type": "text", "text": "water"}]);
        assert_eq!(answer(&[delta(parts), delta(json!("."))]).text, "high water.");
    }
}
