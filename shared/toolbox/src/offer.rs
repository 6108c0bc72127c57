//! A tool as a client's model sees it.

use std::str::FromStr;

use serde_json::{Value, json};

use crate::{Tool, find, untrusted};

/// discovery.json, which is generated from the tools' definitions and checked against them.
const DISCOVERY: &str = include_str!("../../../discovery.json");

/// The forms in which clients take tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Gemini: `parametersJsonSchema`.
    Gemini,
    /// The chat completions of `OpenAI`: `{"type": "function", "function": …}`.
    OpenAi,
    /// Anthropic's messages: `input_schema`.
    Anthropic,
    /// The Model Context Protocol.
    Mcp,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "gemini" => Ok(Self::Gemini),
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "mcp" => Ok(Self::Mcp),
            _ => Err("expected gemini, openai, anthropic or mcp".to_owned()),
        }
    }
}

/// A tool, and what is said of it.
#[derive(Debug)]
pub struct Offer {
    /// The tool.
    pub tool: &'static Tool,
    entry: Value,
}

/// Every tool, in the order of discovery.json.
pub fn offers() -> Vec<Offer> {
    let Ok(Value::Object(mut file)) = serde_json::from_str(DISCOVERY) else { return vec![] };
    let Some(Value::Array(entries)) = file.remove("tools") else { return vec![] };
    entries.into_iter().filter_map(Offer::new).collect()
}

impl Offer {
    fn new(mut entry: Value) -> Option<Self> {
        let tool = find(entry["name"].as_str()?)?;
        if let (Some(needed), Some(required)) = (tool.needs, entry["parameters"]["required"].as_array_mut())
            && !required.iter().any(|name| name == needed)
        {
            required.push(needed.into());
        }
        untrusted::declare(tool.speaks, &mut entry["output"]);
        Some(Self { tool, entry })
    }

    /// The name, such as `read_file`.
    pub fn name(&self) -> &str {
        self.entry["name"].as_str().unwrap_or_default()
    }

    /// Whether a call changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.entry["annotations"]["readOnlyHint"] == true
    }

    /// The tool in the form that `format` names.
    pub fn to(&self, format: Format) -> Value {
        let Self { entry, .. } = self;
        let (name, description, parameters) = (&entry["name"], &entry["description"], &entry["parameters"]);
        match format {
            Format::Gemini => json!({"name": name, "description": description, "parametersJsonSchema": parameters}),
            Format::OpenAi => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": parameters},
            }),
            Format::Anthropic => json!({"name": name, "description": description, "input_schema": parameters}),
            Format::Mcp => json!({
                "name": name,
                "title": self.title(),
                "description": description,
                "inputSchema": parameters,
                "outputSchema": entry["output"],
                "annotations": entry["annotations"],
            }),
        }
    }

    /// The name as people write it: `Read file`.
    fn title(&self) -> String {
        let mut title = self.name().replace('_', " ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        title
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Runs, TOOLS};

    #[test]
    fn every_tool_is_offered_in_order() {
        let offers = offers();
        assert!(offers.iter().map(|offer| offer.tool.command).eq(TOOLS.iter().map(|tool| tool.command)));
        for offer in &offers {
            let [gemini, openai, anthropic, mcp] =
                [Format::Gemini, Format::OpenAi, Format::Anthropic, Format::Mcp].map(|format| offer.to(format));
            assert_eq!(gemini["parametersJsonSchema"]["type"], "object");
            assert_eq!(openai["function"]["parameters"], gemini["parametersJsonSchema"]);
            assert_eq!(anthropic["input_schema"], gemini["parametersJsonSchema"]);
            assert_eq!(mcp["inputSchema"], gemini["parametersJsonSchema"]);
            assert_eq!(mcp["outputSchema"]["type"], "object");
            let required = gemini["parametersJsonSchema"]["required"].as_array().unwrap();
            assert!(offer.tool.needs.is_none_or(|needed| required.contains(&needed.into())), "{}", offer.name());
            // What reaches into the open can take for ever.
            assert!(mcp["annotations"]["openWorldHint"] == false || offer.tool.runs == Runs::Apart, "{}", offer.name());
        }
        assert_eq!(offers[0].to(Format::Mcp)["title"], "Browser close");
    }
}
