//! The wire format of Gemini's `streamGenerateContent`.

use ragmaker_tool::Error;
use serde_json::{Map, Value, json};

use crate::{
    Declaration, Endpoint, Message, Request, Stop, TextSignature,
    answer::{EventOutcome, PartialAnswer, PartialCall, reported},
    message::as_object,
};

/// The members of a JSON Schema that the API takes.
const KEYWORDS: [&str; 20] = [
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "$ref",
    "$defs",
    "$id",
    "$anchor",
];

pub(crate) fn body(endpoint: &Endpoint, request: &Request<'_>, schema: Option<&Value>) -> Value {
    let mut contents: Vec<Value> = vec![];
    for message in request.messages {
        let (role, parts) = parts(message);
        // The results of one answer belong to one content.
        match contents.last_mut() {
            Some(last) if last["role"] == role => {
                if let Some(all) = last["parts"].as_array_mut() {
                    all.extend(parts);
                }
            }
            _ => contents.push(json!({"role": role, "parts": parts})),
        }
    }
    let mut body = json!({"systemInstruction": {"parts": [{"text": request.system}]}, "contents": contents});
    if let Some(schema) = schema {
        body["generationConfig"]["responseMimeType"] = "application/json".into();
        body["generationConfig"]["responseJsonSchema"] = reduced(schema);
    }
    if let Some(temperature) = endpoint.temperature {
        body["generationConfig"]["temperature"] = temperature.into();
    }
    if let Some(most) = endpoint.max_output_tokens {
        body["generationConfig"]["maxOutputTokens"] = most.into();
    }
    body
}

pub(crate) fn tools(tools: &[Declaration]) -> Value {
    let tool = |tool: &Declaration| json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": reduced(&tool.parameters)});
    json!([{"functionDeclarations": tools.iter().map(tool).collect::<Vec<_>>()}])
}

fn parts(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", vec![json!({"text": text})]),
        Message::Assistant { text, signatures, calls } => {
            let mut texts = text_parts(text, signatures);
            if texts.is_empty() && calls.is_empty() {
                texts.push(json!({"text": text}));
            }
            let calls = calls.iter().map(|call| {
                let mut part =
                    json!({"functionCall": {"id": call.id, "name": call.name, "args": as_object(&call.arguments)}});
                if let Some(signature) = &call.signature {
                    part["thoughtSignature"] = signature.as_str().into();
                }
                part
            });
            ("model", texts.into_iter().chain(calls).collect())
        }
        Message::Result { id, name, text, is_error } => {
            let response = if *is_error { json!({"error": text}) } else { json!({"output": text}) };
            ("user", vec![json!({"functionResponse": {"id": id, "name": name, "response": response}})])
        }
    }
}

/// The parts of a text. Only those with a signature are kept apart.
fn text_parts(text: &str, signatures: &[TextSignature]) -> Vec<Value> {
    let (mut parts, mut end) = (vec![], 0);
    for signed in signatures {
        let (Some(before), Some(part)) = (text.get(end..signed.start), text.get(signed.start..signed.end)) else {
            break;
        };
        if !before.is_empty() {
            parts.push(json!({"text": before}));
        }
        parts.push(json!({"text": part, "thoughtSignature": signed.signature}));
        end = signed.end;
    }
    if !text[end..].is_empty() {
        parts.push(json!({"text": text[end..]}));
    }
    parts
}

/// The schema with those of its members that the API takes.
fn reduced(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (name, value) in members.iter().filter(|(name, _)| KEYWORDS.contains(&name.as_str())) {
        let value = match (name.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), reduced(schema))).collect())
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().map(reduced).collect(),
            ("items" | "additionalProperties", schema) => reduced(schema),
            _ => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    Value::Object(kept)
}

pub(crate) fn feed(
    event: &Value,
    answer: &mut PartialAnswer,
    show: &mut dyn FnMut(&str),
) -> Result<EventOutcome, Error> {
    if let Some(message) = reported(event) {
        return Ok(EventOutcome::Failed(message));
    }
    let usage = &event["usageMetadata"];
    if usage.is_object() {
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        answer.usage.input_tokens = count("promptTokenCount");
        answer.usage.output_tokens = count("candidatesTokenCount") + count("thoughtsTokenCount");
    }
    if event["promptFeedback"]["blockReason"].is_string() {
        answer.stop = Some(Stop::Filtered);
    }
    let Some(candidate) = event["candidates"].as_array().and_then(|all| all.first()) else {
        return Ok(EventOutcome::Taken);
    };
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        if part["thought"] == true {
            continue;
        }
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").filter(|args| !args.is_null()).map(Value::to_string).unwrap_or_default();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            answer.grow(arguments.len())?;
            answer.drafts.push(PartialCall {
                key: 0,
                id: text(&call["id"]),
                name: text(&call["name"]),
                arguments,
                signature: part["thoughtSignature"].as_str().map(str::to_owned),
            });
        } else {
            let start = answer.text.len();
            answer.say(part["text"].as_str().unwrap_or_default(), show)?;
            if let Some(signature) = part["thoughtSignature"].as_str() {
                answer.grow(signature.len())?;
                let (end, signature) = (answer.text.len(), signature.to_owned());
                answer.signatures.push(TextSignature { start, end, signature });
            }
        }
    }
    match candidate["finishReason"].as_str() {
        None => {}
        Some("MAX_TOKENS") => answer.stop = Some(Stop::Length),
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            answer.stop = Some(Stop::Filtered);
        }
        Some(_) => answer.stop = Some(Stop::End),
    }
    Ok(EventOutcome::Taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_what_the_api_takes() {
        let schema = json!({
            "$schema": "x", "type": "object", "required": ["a"],
            "properties": {"pattern": {"type": "string", "pattern": "x", "default": 1}, "a": {"items": {"const": 1}}},
        });
        let expected = json!({
            "type": "object", "required": ["a"],
            "properties": {"pattern": {"type": "string"}, "a": {"items": {}}},
        });
        assert_eq!(reduced(&schema), expected);
    }
}
