//! Replies of a model, as events in each of the three wire formats.

use serde_json::{Value, json};

/// A call: id, name, and the text of its arguments.
pub type SpokenCall<'a> = (&'a str, &'a str, &'a str);

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// `OpenAI`'s chat completions.
    OpenAi,
    /// Gemini's `generateContent`.
    Gemini,
    /// Anthropic's messages.
    Anthropic,
}

impl WireFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Gemini, Self::Anthropic];
}

fn event(data: &Value) -> Vec<u8> {
    format!("event: x\r\ndata: {data}\r\n\r\n").into_bytes()
}

/// The events of an answer of several texts and calls.
pub fn answer(wire: WireFormat, texts: &[&str], calls: &[SpokenCall<'_>]) -> Vec<Vec<u8>> {
    let mut events = texts.iter().map(|said| text(wire, said)).collect::<Vec<_>>();
    for (at, said) in calls.iter().enumerate() {
        events.extend(call(wire, at + 1, *said));
    }
    events.extend(end(wire));
    events
}

/// The event of a piece of text.
pub fn text(wire: WireFormat, text: &str) -> Vec<u8> {
    event(&match wire {
        WireFormat::Gemini => json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}),
        WireFormat::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
        WireFormat::OpenAi => json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}),
    })
}

fn call(wire: WireFormat, index: usize, (id, name, arguments): SpokenCall<'_>) -> Vec<Vec<u8>> {
    let halves = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
    let all = match wire {
        WireFormat::Gemini => {
            let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
            let mut call = json!({"functionCall": {"name": name, "args": args}, "thoughtSignature": "sig"});
            if !id.is_empty() {
                call["functionCall"]["id"] = id.into();
            }
            vec![json!({"candidates": [{"content": {"role": "model", "parts": [call]}}]})]
        }
        WireFormat::Anthropic => {
            let delta = |part: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": part}});
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let start = json!({"type": "content_block_start", "index": index, "content_block": block});
            vec![start, delta(halves.0), delta(halves.1)]
        }
        WireFormat::OpenAi => {
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

/// The events that end an answer, with its cost: 5 tokens in, 3 out.
pub fn end(wire: WireFormat) -> Vec<Vec<u8>> {
    match wire {
        WireFormat::Gemini => {
            let usage = json!({"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 1});
            vec![event(&json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}))]
        }
        WireFormat::Anthropic => vec![
            event(
                &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 5, "output_tokens": 3}}),
            ),
            event(&json!({"type": "message_stop"})),
        ],
        WireFormat::OpenAi => vec![
            event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
            event(&json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}})),
            b"data: [DONE]\n\n".to_vec(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of events, without `[DONE]`.
    fn data(events: &[Vec<u8>]) -> Vec<Value> {
        let text = String::from_utf8(events.concat()).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        lines.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    #[test]
    fn an_answer_has_its_texts_calls_and_cost_in_every_format() {
        let call = ("id-1", "read_file", "{\"path\":\"\u{6f6e}\u{6c50}\u{6f6e}\"}");
        for wire in WireFormat::ALL {
            let events = data(&answer(wire, &["one\n", "two \u{6f6e}"], &[call]));
            let joined = |at: &str| events.iter().filter_map(|event| event.pointer(at)?.as_str()).collect::<String>();
            let (text, arguments, input) = match wire {
                WireFormat::Gemini => {
                    let args = "/candidates/0/content/parts/0/functionCall/args";
                    let args = events.iter().find_map(|event| event.pointer(args)).unwrap().to_string();
                    (joined("/candidates/0/content/parts/0/text"), args, "/usageMetadata/promptTokenCount")
                }
                WireFormat::Anthropic => (joined("/delta/text"), joined("/delta/partial_json"), "/usage/input_tokens"),
                WireFormat::OpenAi => {
                    let arguments = joined("/choices/0/delta/tool_calls/0/function/arguments");
                    (joined("/choices/0/delta/content"), arguments, "/usage/prompt_tokens")
                }
            };
            assert_eq!((text.as_str(), arguments.as_str()), ("one\ntwo \u{6f6e}", call.2), "{wire:?}");
            assert_eq!(events.iter().find_map(|event| event.pointer(input)?.as_u64()), Some(5), "{wire:?}");
        }
    }
}
