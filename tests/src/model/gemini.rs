//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::{ModelReply, Offered, Received, ReceivedConversation, Response, each, events, text};

pub(super) fn heard(body: &Value) -> ReceivedConversation {
    let declarations = each(&body["tools"]).flat_map(|tool| each(&tool["functionDeclarations"]));
    let mut heard = ReceivedConversation {
        tools: declarations.filter_map(|tool| Offered::plain(&tool["name"])).collect(),
        texts: each(&body["systemInstruction"]["parts"]).map(|part| text(&part["text"])).collect(),
        ..ReceivedConversation::default()
    };
    for part in each(&body["contents"]).filter(|content| content["role"] == "user").flat_map(|one| each(&one["parts"]))
    {
        if let Some(answer) = part.get("functionResponse") {
            let (output, error) = (&answer["response"]["output"], &answer["response"]["error"]);
            let said = if error.is_null() { output } else { error };
            let images = each(&answer["parts"]).filter_map(image).collect();
            heard.results.push(Received { text: text(said), images, is_error: Some(!error.is_null()) });
        } else if let (Some(image), Some(result)) = (image(part), heard.results.last_mut()) {
            // What is not text follows the answer that it belongs to.
            result.images.push(image);
        } else if let Some(said) = part["text"].as_str() {
            heard.texts.push(said.to_owned());
        }
    }
    heard
}

fn image(part: &Value) -> Option<String> {
    part["inlineData"]["mimeType"].as_str().map(str::to_owned)
}

pub(super) fn answer(say: &ModelReply, number: usize, streams: bool) -> Response {
    let part = match say {
        ModelReply::Call(tool, arguments) => {
            json!({"functionCall": {"id": format!("call{number}"), "name": tool.name, "args": arguments}})
        }
        ModelReply::Text(said) => json!({"text": said}),
    };
    let answer = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10},
        "modelVersion": "scripted",
    });
    if streams { events([(None, answer)]) } else { super::json(&answer) }
}
