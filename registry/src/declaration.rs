//! A declaration: a tool as it is declared to a model.

use std::str::FromStr;

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};

use crate::{OfferedTools, Profile, Tool, find, provenance, unknown_tool};

/// discovery.json, which is generated from the tools' definitions and checked against them.
const DISCOVERY: &str = include_str!("../discovery.json");

/// The forms in which clients take tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationFormat {
    /// Gemini: `parametersJsonSchema`.
    Gemini,
    /// The chat completions of `OpenAI`: `{"type": "function", "function": …}`.
    OpenAi,
    /// Anthropic's messages: `input_schema`.
    Anthropic,
    /// The Model Context Protocol.
    Mcp,
}

impl DeclarationFormat {
    /// The names of the forms.
    pub const NAMES: [&str; 4] = ["gemini", "openai", "anthropic", "mcp"];
}

impl FromStr for DeclarationFormat {
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

/// The tools that a host offers; by default all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    profile: Option<Profile>,
    named: Option<Vec<&'static str>>,
    read_only: bool,
    /// Whether tools that run commands are among them.
    commands: bool,
}

impl Selection {
    /// Adds the tools that run commands. They are offered only if a person asked for them.
    #[must_use]
    pub fn with_commands(self, commands: bool) -> Self {
        Self { commands, ..self }
    }

    /// The tools of the [profile](Profile) of this name. With `names`, a comma-separated list, only these;
    /// with `read_only`, only those that change nothing.
    ///
    /// # Errors
    ///
    /// [`ARGUMENT_ERROR`] for a profile or a tool that does not exist.
    pub fn new(profile: Option<&str>, names: Option<&str>, read_only: bool) -> Result<Self, Error> {
        let profile = profile.map(Profile::named).transpose()?;
        let command = |name: &str| {
            find(name).map(|tool| tool.command).ok_or_else(|| {
                let unknown = unknown_tool(name, crate::TOOLS);
                let error = ARGUMENT_ERROR.error(unknown.message()).remedy(unknown.remediation());
                error.detail("argument", "--tools").detail("value", name)
            })
        };
        let listed = |names: &str| {
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(command).collect::<Result<_, _>>()
        };
        Ok(Self { profile, named: names.map(listed).transpose()?, read_only, commands: false })
    }

    fn has(&self, declaration: &ToolDeclaration) -> bool {
        let tool = declaration.tool;
        let is_in_profile = self.profile.is_none_or(|profile| profile.has(tool));
        (if tool.runs_commands { self.commands } else { is_in_profile })
            && self.named.as_ref().is_none_or(|named| named.contains(&tool.command))
            && (!self.read_only || declaration.is_read_only())
    }
}

/// A tool and its description.
#[derive(Debug)]
pub struct ToolDeclaration {
    /// The tool.
    pub tool: &'static Tool,
    entry: Value,
}

/// The selected tools, in the order of discovery.json. Their descriptions name no other tools.
pub fn declarations(selection: &Selection) -> Vec<ToolDeclaration> {
    let Ok(Value::Object(mut file)) = serde_json::from_str(DISCOVERY) else { return vec![] };
    let Some(Value::Array(entries)) = file.remove("tools") else { return vec![] };
    let mut selected: Vec<_> =
        entries.into_iter().filter_map(ToolDeclaration::new).filter(|declaration| selection.has(declaration)).collect();
    let offered = OfferedTools::new(selected.iter().map(|declaration| declaration.tool));
    for declaration in &mut selected {
        offered.restrict_descriptions(&mut declaration.entry);
    }
    selected
}

impl ToolDeclaration {
    fn new(mut entry: Value) -> Option<Self> {
        let tool = find(entry["name"].as_str()?)?;
        if let (Some(stdin), Some(required)) = (tool.stdin, entry["parameters"]["required"].as_array_mut())
            && !required.iter().any(|name| name == stdin.argument)
        {
            required.push(stdin.argument.into());
        }
        provenance::declare(tool.origin, &mut entry["output"]);
        Some(Self { tool, entry })
    }

    /// The name, such as `read_file`.
    pub fn name(&self) -> &str {
        self.entry["name"].as_str().unwrap_or_default()
    }

    /// Whether a call of the tool changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.entry["annotations"]["readOnlyHint"] == true
    }

    /// Whether a call may destroy what was there.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.entry["annotations"]["destructiveHint"] != false
    }

    /// Whether a call can fail with the code `name`.
    pub fn fails_with(&self, name: &str) -> bool {
        self.entry["errors"].as_array().is_some_and(|codes| codes.iter().any(|code| code == name))
    }

    /// The tool in the form that `format` names.
    pub fn to(&self, format: DeclarationFormat) -> Value {
        let Self { entry, .. } = self;
        let (name, description) = (&entry["name"], &entry["description"]);
        let mut parameters = entry["parameters"].clone();
        // Nothing is required where the list is missing, too, and every declaration costs tokens.
        if let Some(members) = parameters.as_object_mut()
            && members["required"].as_array().is_some_and(Vec::is_empty)
        {
            members.remove("required");
        }
        match format {
            DeclarationFormat::Gemini => {
                json!({"name": name, "description": description, "parametersJsonSchema": parameters})
            }
            DeclarationFormat::OpenAi => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": parameters},
            }),
            DeclarationFormat::Anthropic => {
                json!({"name": name, "description": description, "input_schema": parameters})
            }
            DeclarationFormat::Mcp => json!({
                "name": name,
                "title": self.title(),
                "description": description,
                "inputSchema": parameters,
                "annotations": self.hints(),
            }),
        }
    }

    /// The schema of the arguments.
    pub(crate) fn parameters(&self) -> &Value {
        &self.entry["parameters"]
    }

    /// The schema of the answer.
    pub fn output_schema(&self) -> &Value {
        &self.entry["output"]
    }

    /// The annotations that differ from what the protocol takes for granted where they are left out.
    fn hints(&self) -> Value {
        let defaults =
            [("readOnlyHint", false), ("destructiveHint", true), ("idempotentHint", false), ("openWorldHint", true)];
        let own = |(name, default): &(&str, bool)| self.entry["annotations"][*name] != *default;
        Value::Object(
            defaults.into_iter().filter(own).map(|(name, default)| (name.to_owned(), (!default).into())).collect(),
        )
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
    use crate::TOOLS;
    use ragmaker_tool::Isolation;

    #[test]
    fn every_tool_is_offered_in_order() {
        let declarations = declarations(&Selection::default().with_commands(true));
        assert!(
            declarations.iter().map(|declaration| declaration.tool.command).eq(TOOLS.iter().map(|tool| tool.command))
        );
        for declaration in &declarations {
            let [gemini, openai, anthropic, mcp] = [
                DeclarationFormat::Gemini,
                DeclarationFormat::OpenAi,
                DeclarationFormat::Anthropic,
                DeclarationFormat::Mcp,
            ]
            .map(|format| declaration.to(format));
            assert_eq!(gemini["parametersJsonSchema"]["type"], "object");
            assert_eq!(openai["function"]["parameters"], gemini["parametersJsonSchema"]);
            assert_eq!(anthropic["input_schema"], gemini["parametersJsonSchema"]);
            assert_eq!(mcp["inputSchema"], gemini["parametersJsonSchema"]);
            assert_eq!(declaration.output_schema()["type"], "object");
            let required = gemini["parametersJsonSchema"]["required"].as_array();
            assert!(required.is_none_or(|names| !names.is_empty()), "{}", declaration.name());
            let has = |name: &str| required.is_some_and(|names| names.contains(&name.into()));
            assert!(declaration.tool.stdin.is_none_or(|stdin| has(stdin.argument)), "{}", declaration.name());
            // A call that reaches the web can take for ever.
            assert!(
                declaration.entry["annotations"]["openWorldHint"] == false
                    || declaration.tool.isolation == Isolation::Subprocess,
                "{}",
                declaration.name()
            );
        }
        let close = declarations.iter().find(|declaration| declaration.name() == "browser_close").unwrap();
        assert_eq!(close.to(DeclarationFormat::Mcp)["title"], "Browser close");
    }

    #[test]
    fn declarations_are_short() {
        let size = |profile: &str, format: DeclarationFormat| {
            let selection = Selection::new(Some(profile), None, false).unwrap();
            let declarations = declarations(&selection);
            assert!(!declarations.is_empty());
            Value::Array(declarations.iter().map(|declaration| declaration.to(format)).collect()).to_string().len()
        };
        // Bytes: a model reads all of it with every request. All tools together have 1,000 and 1,500 for each.
        let tools = declarations(&Selection::default()).len();
        for (profile, format, most) in [
            ("all", DeclarationFormat::Gemini, 1_000 * tools),
            ("all", DeclarationFormat::Mcp, 1_500 * tools),
            ("gather", DeclarationFormat::Gemini, 9_000),
            ("gather", DeclarationFormat::Mcp, 9_000),
            ("fetch", DeclarationFormat::Gemini, 9_000),
            ("fetch", DeclarationFormat::Mcp, 9_000),
            ("ask", DeclarationFormat::Gemini, 9_000),
            ("ask", DeclarationFormat::Mcp, 9_000),
        ] {
            let size = size(profile, format);
            assert!(size <= most, "{profile} as {format:?}: {size} bytes");
        }
    }

    /// The descriptions in `schema`, at any depth.
    fn descriptions<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
        match schema {
            Value::Object(members) => {
                found.extend(members.get("description").and_then(Value::as_str));
                members.values().for_each(|member| descriptions(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| descriptions(item, found)),
            _ => {}
        }
    }

    #[test]
    fn schemas_speak_of_json_not_of_a_command_line() {
        for declaration in declarations(&Selection::default().with_commands(true)) {
            let mut found = vec![declaration.entry["description"].as_str().unwrap()];
            descriptions(&declaration.entry["parameters"], &mut found);
            descriptions(&declaration.entry["output"], &mut found);
            for text in found {
                let names =
                    text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'));
                let is_flag = |word: &str| word.starts_with("--") && word.len() > 2;
                assert!(names.into_iter().all(|word| !is_flag(word)), "{}: {text}", declaration.name());
                let is_stdin = text.split("; ").any(|clause| clause.trim_end_matches('.').ends_with("standard input"));
                assert!(!is_stdin && !text.contains("ragmaker-"), "{}: {text}", declaration.name());
            }
        }
    }

    /// Whether `schema` has a member or a choice of this name, at any depth.
    fn declares(schema: &Value, name: &str) -> bool {
        let is_choice = schema["const"] == name
            || schema["enum"].as_array().is_some_and(|choices| choices.iter().any(|choice| choice == name));
        let is_member = schema["properties"].as_object().is_some_and(|members| members.contains_key(name));
        let within = match schema {
            Value::Array(parts) => parts.iter().any(|part| declares(part, name)),
            Value::Object(parts) => parts.values().any(|part| declares(part, name)),
            _ => false,
        };
        is_choice || is_member || within
    }

    #[test]
    fn a_description_says_what_for_and_what_comes_back() {
        let declarations = declarations(&Selection::default());
        let names: Vec<_> = declarations.iter().map(ToolDeclaration::name).collect();
        for declaration in &declarations {
            let description = declaration.entry["description"].as_str().unwrap();
            let length = description.chars().count();
            assert!((100..=300).contains(&length), "{}: {length} characters", declaration.name());
            // It names tools, or its own arguments, members of its answer and their choices.
            for word in
                description.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.contains('_'))
            {
                let is_own = ["parameters", "output"].iter().any(|schema| declares(&declaration.entry[schema], word));
                let is_known = names.contains(&word) || is_own;
                assert!(is_known, "{}: {word}", declaration.name());
            }
        }
    }

    #[test]
    fn a_selection_is_of_tools_that_exist() {
        assert_eq!(declarations(&Selection::new(None, Some("read-file, project_info"), true).unwrap()).len(), 2);
        assert!(declarations(&Selection::new(None, Some("write_file"), true).unwrap()).is_empty());
        let error = Selection::new(None, Some("read_fil"), false).unwrap_err();
        assert!(error.is(ARGUMENT_ERROR) && error.remediation() == "Did you mean read_file?", "{error}");
        assert!(Selection::new(Some("most"), None, false).unwrap_err().is(ARGUMENT_ERROR));
    }
}
