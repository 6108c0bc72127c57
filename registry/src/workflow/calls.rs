//! Workflows for a model that has tools and no shell: each command line as a call with JSON arguments.

use ragmaker_tool::Manual;
use serde_json::{Map, Value};

use crate::{Selection, ToolDeclaration, declarations, find, list::Tool, manuals};

/// The first words of the paragraph that explains command lines, and what replaces this paragraph.
const EXPLANATION: &str = "Every step below is written as a command line.";
const CALLS: &str = "Every call below is a tool with its arguments as JSON. Words in capitals stand for values.";

/// `template` with calls of tools in place of command lines, and keys in place of flags.
pub(crate) fn with_calls(template: &str) -> String {
    let tools = (manuals(), declarations(&Selection::default()));
    let mut out = String::with_capacity(template.len());
    let mut is_block = false;
    let mut is_explanation = false;
    for line in template.lines() {
        let text = line.trim_start();
        if text.starts_with(EXPLANATION) {
            is_explanation = true;
            out += CALLS;
            out.push('\n');
        }
        is_explanation &= !text.is_empty();
        if is_explanation {
            continue;
        }
        out += &line[..line.len() - text.len()];
        if text.starts_with("```") {
            is_block = text != "```";
            out += "```";
        } else if is_block {
            out += &call(text, &tools).unwrap_or_else(|| text.to_owned());
        } else {
            out += &with_keys(text, &tools.0);
        }
        out.push('\n');
    }
    out
}

/// The call for the command line `line`, such as `verify {"kb_root":"KB"}`; `None` for another line.
fn call(line: &str, (manuals, declarations): &(Vec<Manual>, Vec<ToolDeclaration>)) -> Option<String> {
    let mut words = words(line).into_iter().peekable();
    let command = words.next()?;
    let manual = manuals.iter().find(|manual| manual.command == command)?;
    let declaration = declarations.iter().find(|declaration| declaration.tool.command == command)?;
    let mut arguments = Map::new();
    while let Some(flag) = words.next() {
        let key = &manual.arguments.iter().find(|argument| argument.flag == flag)?.key;
        let schema = &declaration.parameters()["properties"][key];
        let value = match schema["type"].as_str() {
            Some("boolean") => Value::Bool(!flag.starts_with("--no-")),
            kind => {
                let word = words.next()?;
                let parsed = (kind != Some("string")).then(|| serde_json::from_str(&word).ok()).flatten();
                match (kind, parsed) {
                    (Some("array"), None) => {
                        let mut values = arguments.remove(key).unwrap_or_else(|| Value::Array(vec![]));
                        values.as_array_mut()?.push(word.into());
                        values
                    }
                    (_, parsed) => parsed.unwrap_or_else(|| word.into()),
                }
            }
        };
        arguments.insert(key.clone(), value);
    }
    Some(format!("{} {}", declaration.name(), Value::Object(arguments)))
}

/// The words of a command line; a word in single quotes may have spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// `text` with the names of tools and of arguments in its code spans as JSON has them.
fn with_keys(text: &str, manuals: &[Manual]) -> String {
    let spans = text.split('`').enumerate().map(|(number, span)| {
        let is_code = number % 2 == 1;
        if !is_code {
            return span.to_owned();
        }
        let (name, value) = span.split_once(' ').unwrap_or((span, ""));
        let key = || manuals.iter().flat_map(|manual| &manual.arguments).find(|argument| argument.flag == name);
        if name.starts_with("ragmaker-") && value.is_empty() {
            find(name).map_or_else(|| span.to_owned(), Tool::name)
        } else if name.starts_with("--")
            && let Some(argument) = key()
        {
            let value = if name.starts_with("--no-") { "false" } else { value };
            if value.is_empty() { argument.key.clone() } else { format!("{}: {value}", argument.key) }
        } else {
            span.to_owned()
        }
    });
    spans.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WORKFLOWS;

    #[test]
    fn every_step_is_a_call_that_its_tool_accepts() {
        let tools = declarations(&Selection::default());
        for workflow in &WORKFLOWS {
            let text = workflow.text_with_calls("SOURCE");
            assert!(text.contains(CALLS) && !text.contains("command line"), "{text}");
            let lines = workflow.text("SOURCE").lines().filter(|line| line.trim().starts_with("ragmaker-")).count();
            let mut calls = 0;
            for line in text.lines().map(str::trim) {
                assert!(!line.starts_with("ragmaker-"), "{line}");
                let Some((name, arguments)) = line.split_once(" {").filter(|(name, _)| !name.contains(' ')) else {
                    continue;
                };
                let tool = tools.iter().find(|tool| tool.name() == name).unwrap_or_else(|| panic!("{line}"));
                let arguments: Map<String, Value> = serde_json::from_str(&format!("{{{arguments}")).unwrap();
                let properties = tool.parameters()["properties"].as_object().unwrap();
                assert!(arguments.keys().all(|key| properties.contains_key(key)), "{line}");
                calls += 1;
            }
            assert_eq!(calls, lines, "{text}");
        }
    }

    #[test]
    fn lines_and_spans_are_converted() {
        let text = with_calls(
            "Open it:\n\n  ```sh\n  ragmaker-browser-extract --urls A --urls B --timeout 60 --no-headless\n  \
             ragmaker-ask-directory --title 'Which folder?'\n  ```\n`--match REGEX`, `ragmaker-browser-open`, \
             `--no-headless`, `--allow-root rw=DIR`",
        );
        assert_eq!(
            text,
            "Open it:\n\n  ```\n  browser_extract {\"urls\":[\"A\",\"B\"],\"timeout\":60,\"headless\":false}\n  \
             ask_directory {\"title\":\"Which folder?\"}\n  ```\n`match: REGEX`, `browser_open`, `headless: false`, \
             `--allow-root rw=DIR`\n"
        );
    }
}
