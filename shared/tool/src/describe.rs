//! The description of a tool for agents and hosts: its entry in discovery.json, generated from its types.
//!
//! Names, help and the required arguments come from argh's [`argh::ArgsInfo`]; types, choices and bounds from
//! [`schemars`]; defaults from parsing the shortest command line and serializing the result. Arguments have their JSON
//! names: snake case, and `x` for the switch `--no-x`.

use argh::{FlagInfo, FlagInfoKind, Optionality};
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::transform_subschemas};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    ARGUMENT_ERROR, Code, INTERNAL_ERROR, NOT_ALLOWED_IN_ARGUMENTS, OUTPUT_ERROR, Tool,
    spelling::{field_name, rewritten_for_json, tool_name},
};

/// The properties of a call that a client may rely on, with the names of the Model Context Protocol.
///
/// Clients use them to decide whether a person must approve the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own four hints")]
pub struct Annotations {
    /// The call changes nothing.
    pub read_only_hint: bool,
    /// It may destroy what was there, rather than only add to it.
    pub destructive_hint: bool,
    /// A repeated call with the same arguments has no further effect.
    pub idempotent_hint: bool,
    /// It reaches an open world, such as the web.
    pub open_world_hint: bool,
}

impl Annotations {
    /// It reads what is on this machine.
    pub const READ_ONLY: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    /// The call adds or updates data; a repeated call has no further effect.
    pub const ADDITIVE: Self = Self { read_only_hint: false, ..Self::READ_ONLY };
    /// The call may destroy existing data; a repeated call has no further effect.
    pub const DESTRUCTIVE: Self = Self { destructive_hint: true, ..Self::ADDITIVE };

    /// Changes the annotations to those of a call that uses the web.
    #[must_use]
    pub const fn open_world(self) -> Self {
        Self { open_world_hint: true, ..self }
    }

    /// Changes the annotations to those of a call that has an effect each time.
    #[must_use]
    pub const fn repeating(self) -> Self {
        Self { idempotent_hint: false, ..self }
    }
}

/// How a host runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In the host's own process: the work is short.
    InProcess,
    /// In a subprocess that can be ended: for tools that drive a browser or walk a whole tree.
    Subprocess,
}

/// The author of the text in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentOrigin {
    /// The tool itself.
    Trusted,
    /// The author of the files, which may have been saved from the web.
    Files,
    /// A web page.
    Web,
}

/// An argument in whose place an executable reads standard input. A host that needs standard input itself
/// requires the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stdin {
    /// The argument's name in JSON.
    pub argument: &'static str,
    /// Whether the value `-` also means standard input; otherwise it is ordinary text.
    pub dash: bool,
}

/// The tools for one kind of work, so that a model reads no more declarations than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolProfile {
    /// Gathering web pages into a knowledge base with a browser.
    Gather,
    /// Adding whole sections, repositories and folders to a knowledge base without a browser, and keeping it up to
    /// date.
    Fetch,
    /// Answering questions from knowledge bases.
    Ask,
    /// Reading and changing the files of a project.
    Files,
}

/// The codes that `T` can fail with: those of every tool, then its own.
pub fn codes<T: Tool>() -> impl Iterator<Item = Code> {
    let own = T::ERRORS.iter().copied().flatten().copied();
    [ARGUMENT_ERROR, NOT_ALLOWED_IN_ARGUMENTS, OUTPUT_ERROR, INTERNAL_ERROR].into_iter().chain(own)
}

/// The entry of `T` in discovery.json.
///
/// # Panics
///
/// Where the definition of `T` contradicts itself; a test of the workspace makes every entry.
pub fn entry<T: Tool>() -> Value {
    let info = T::get_args_info();
    let is_own = |option: &str| info.flags.iter().any(|flag| flag.long == option);
    let mut entry = json!({
        "name": tool_name(T::NAME),
        "command": T::NAME,
        "description": plain_text(&rewritten_for_json(info.description, &[], &is_own)),
        "parameters": parameters::<T>(info.flags),
        "output": output::<T>(),
        "errors": error_names::<T>(),
        "annotations": T::ANNOTATIONS,
    });
    // For agents with a shell; schemas do not have them.
    let flags = info.flags.iter().filter(|flag| T::COMMAND_LINE_FLAGS.contains(&flag.long));
    let flags: Map<String, Value> = flags.map(|flag| (flag.long.to_owned(), flag.description.into())).collect();
    if !flags.is_empty() {
        entry["command_line_flags"] = flags.into();
    }
    entry
}

/// The names of the codes, each once: groups may overlap.
fn error_names<T: Tool>() -> Vec<&'static str> {
    let mut names = vec![];
    for code in codes::<T>() {
        if !names.contains(&code.name()) {
            names.push(code.name());
        }
    }
    names
}

/// The schema of the arguments.
pub(crate) fn parameters<T: Tool>(flags: &[FlagInfo<'_>]) -> Value {
    let types = schema::<T>(SchemaSettings::draft2020_12());
    let of_json =
        |flag: &&FlagInfo<'_>| flag.long != "--help" && !flag.hidden && !T::COMMAND_LINE_FLAGS.contains(&flag.long);
    let flags: Vec<_> = flags.iter().filter(of_json).collect();
    let of = |flag: &FlagInfo<'_>| {
        let name = field_name(flag.long);
        let schema = types.pointer(&format!("/properties/{name}"));
        let schema = schema.unwrap_or_else(|| panic!("{}: serde does not know {name}", T::NAME)).clone();
        (name, schema)
    };
    let shortest: Vec<String> = flags
        .iter()
        .filter(|flag| matches!(flag.optionality, Optionality::Required))
        .flat_map(|flag| [flag.long.to_owned(), sample(&of(flag).1)])
        .collect();
    let shortest: Vec<&str> = shortest.iter().map(String::as_str).collect();
    let parsed = T::from_args(&[T::NAME], &shortest).unwrap_or_else(|early| panic!("{}: {}", T::NAME, early.output));
    let defaults = serde_json::to_value(parsed).unwrap_or_default();

    let is_own = |option: &str| flags.iter().any(|flag| flag.long == option);
    let (mut properties, mut required) = (Map::new(), vec![]);
    for flag in &flags {
        let (name, mut schema) = of(flag);
        let description = without_standard_input(&plain_text(&rewritten_for_json(flag.description, &[], &is_own)));
        schema["description"] = description.as_str().into();
        if matches!(flag.kind, FlagInfoKind::Switch) {
            // A switch that is off needs no default: models leave it out.
            schema = json!({"type": "boolean", "description": description});
            if let Some(positive) = name.strip_prefix("no_") {
                let description = format!("false: {description}");
                schema = json!({"type": "boolean", "description": description, "default": true});
                properties.insert(positive.to_owned(), schema);
                continue;
            }
        }
        match flag.optionality {
            Optionality::Required => required.push(name.clone()),
            Optionality::Optional if !defaults[&name].is_null() && !defaults[&name].is_boolean() => {
                schema["default"] = defaults[&name].clone();
            }
            _ => {}
        }
        properties.insert(name, schema);
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// A doc comment without backticks, which cost tokens and have no meaning for a model.
pub(crate) fn plain_text(comment: &str) -> String {
    single_braces(comment).replace('`', "")
}

/// `description` for a model, without what it says of standard input, which no call in JSON has: the clauses that end
/// with these words, and such a default.
fn without_standard_input(description: &str) -> String {
    const STDIN: &str = "standard input";
    let description = description.replace(&format!(" (default: {STDIN})"), "");
    let (text, end) = description.strip_suffix('.').map_or((&*description, ""), |text| (text, "."));
    let clauses: Vec<_> = text.split("; ").filter(|clause| !clause.ends_with(STDIN)).collect();
    if clauses.is_empty() { description } else { clauses.join("; ") + end }
}

/// Puts the descriptions of an answer's members in the words of a caller who writes JSON.
fn describe_for_json(schema: &mut Value, is_own: &impl Fn(&str) -> bool) {
    match schema {
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| match member {
            Value::String(text) if name == "description" => {
                *text = without_standard_input(&rewritten_for_json(text, &[], is_own));
            }
            member => describe_for_json(member, is_own),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| describe_for_json(item, is_own)),
        _ => {}
    }
}

/// A description of `argh`, which doubles the braces of a doc comment, as it was written.
pub(crate) fn single_braces(description: &str) -> String {
    description.replace("{{", "{").replace("}}", "}")
}

fn output<T: Tool>() -> Value {
    let mut answer = schema::<T::Answer>(SchemaSettings::draft2020_12().for_serialize());
    let mut properties = Map::from_iter([("status".to_owned(), json!({"const": "success"}))]);
    let mut required = vec![Value::from("status")];
    // An answer of several forms has the members of all, and requires those that each of them has.
    let forms = match answer.get_mut("anyOf").map(Value::take) {
        Some(Value::Array(forms)) => forms,
        _ => vec![answer],
    };
    let has = |form: &Value, name: &Value| form["required"].as_array().is_some_and(|names| names.contains(name));
    let names = forms[0]["required"].as_array().cloned().unwrap_or_default();
    required.extend(names.into_iter().filter(|name| forms.iter().all(|form| has(form, name))));
    for form in forms {
        for (name, schema) in form["properties"].as_object().into_iter().flatten() {
            properties.entry(name).or_insert_with(|| schema.clone());
        }
    }
    let mut properties = Value::Object(properties);
    let flags = T::get_args_info().flags;
    describe_for_json(&mut properties, &|option| flags.iter().any(|flag| flag.long == option));
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of `S` in the form that models handle best: without references, without unions for nullable values, and
/// with only the formats of JSON Schema.
fn schema<S: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let for_arguments = matches!(settings.contract, schemars::generate::Contract::Deserialize);
    let mut schema = settings
        .with_transform(move |schema: &mut Schema| plain(schema, for_arguments))
        .into_generator()
        .into_root_schema_for::<S>();
    schema.remove("title");
    schema.to_value()
}

fn plain(schema: &mut Schema, for_arguments: bool) {
    // Rust's own widths (uint64, double) are not formats of JSON Schema.
    if schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint") || format.starts_with("int") || format == "double")
    {
        schema.remove("format");
    }
    // An option that is left out is left out: `null` is not one of its values.
    if for_arguments {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(choices)) = schema.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
            any.retain(|one| one["type"] != "null");
            if let [only] = any.as_slice()
                && let Ok(only) = Schema::try_from(only.clone())
            {
                *schema = only;
            }
        }
    }
    // Choices that have descriptions come as a union of constants; models take a plain list better.
    if let Some(Value::Array(any)) = schema.get("oneOf")
        && let Some(names) = any.iter().map(|one| one.get("const").cloned()).collect::<Option<Vec<_>>>()
    {
        schema.remove("oneOf");
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), names.into());
    }
    transform_subschemas(&mut |inner: &mut Schema| plain(inner, for_arguments), schema);
}

/// A text that parses as a value of `schema`.
fn sample(schema: &Value) -> String {
    match (schema["enum"].get(0), schema["minimum"].as_u64()) {
        (Some(Value::String(first)), _) => first.clone(),
        (_, Some(minimum)) => minimum.to_string(),
        _ => "x".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pick;

    #[test]
    fn an_entry_says_everything_once() {
        let expected = json!({
            "name": "pick", "command": "ragmaker-pick", "description": "Pick fruit. For seeds use plant; with peeled: false, leaves the peel on.",
            "parameters": {
                "type": "object",
                "properties": {
                    "basket": {"type": "string", "description": "where the fruit goes"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 8, "description": "how many"},
                    "ripe": {"type": "boolean", "description": "only ripe ones"},
                    "fruit": {"type": "string", "enum": ["pear", "red-apple"], "description": "which kind", "default": "pear"},
                    "peeled": {"type": "boolean", "description": "false: leave the peel on", "default": true},
                    "tag": {"type": "array", "items": {"type": "string"}, "description": "labels"},
                },
                "required": ["basket"],
                "additionalProperties": false,
            },
            "output": {
                "type": "object",
                "properties": {
                    "status": {"const": "success"},
                    "picked": {"type": "array", "items": {"type": "string"}, "description": "The picked fruit."},
                    "next": {"type": ["integer", "null"], "minimum": 0, "description": "The start of the next page."},
                },
                "required": ["status", "picked", "next"],
            },
            "errors": ["ARGUMENT_ERROR", "NOT_ALLOWED_IN_ARGUMENTS", "OUTPUT_ERROR", "INTERNAL_ERROR", "NO_FRUIT"],
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false},
        });
        assert_eq!(entry::<Pick>(), expected);
    }
}
