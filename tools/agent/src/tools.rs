//! The tools that the model is offered, and the execution of their calls.
//!
//! The tools are those of the registry and the external tools of the configuration ([`ragmaker_external_tools`]). Every
//! failure of a call becomes its result: an unknown tool, invalid arguments, an error, a crash, endless output, a
//! person's refusal.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use ragmaker_config::Commands;
use ragmaker_external_tools::TOOL_TIMED_OUT;
use ragmaker_model::{Call, Declaration, Declarations};
use ragmaker_registry::{
    DeclarationFormat, OfferedTools, Selection, Tool, ToolDeclaration, declarations, subprocess, unknown_tool,
};
use ragmaker_tool::{
    ARGUMENT_ERROR, Approval, Code, Error, HostOptions, INTERNAL_ERROR, Isolation, NEEDS_APPROVAL,
    arguments::{Members, nearest},
    json::{self, Charset},
};
use serde_json::Value;

use crate::external_tools::ExternalTool;

/// The call was ended: by a person, or because it took too long.
const CANCELLED: Code = ragmaker_model::CANCELLED;

/// The longest that a call may take: the tools' own limits are far below.
const MAX_CALL_TIME: Duration = Duration::from_mins(15);
/// The time that a call in this process, which cannot be ended, is still waited for after a person ended the step.
const GRACE: Duration = Duration::from_secs(2);
/// The interval at which a wait checks whether to continue.
const POLL: Duration = Duration::from_millis(10);
/// An argument with which a model asks that a call waits for the ones before it. Gemini's models know it.
const WAIT: &str = "wait_for_previous";

/// A tool that is offered.
pub(crate) enum AvailableTool {
    /// One of the registry.
    Registry(ToolDeclaration),
    /// One that the configuration names.
    External(ExternalTool),
}

/// All of them.
pub(crate) struct Tools {
    offered: Vec<AvailableTool>,
    /// Restricts texts to the offered tools of the registry.
    texts: OfferedTools,
    declarations: Declarations,
    own: RegistrySettings,
}

/// The settings for calls of the registry's tools.
pub(crate) struct RegistrySettings {
    /// The host options.
    pub(crate) host: Arc<HostOptions>,
    /// The configuration of commands.
    pub(crate) commands: Commands,
    /// The environment variables with keys, which no tool gets that does not need them.
    pub(crate) without: Vec<String>,
    /// Of these, those with the keys of search engines.
    pub(crate) of_search: Vec<String>,
    /// Of these, the one with the key of the embeddings endpoint, which the search gets.
    pub(crate) of_embeddings: String,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolOutcome {
    /// The answer or the error, as the tools print it.
    pub(crate) text: String,
    /// Whether it is an error.
    pub(crate) is_error: bool,
    /// The code of the error.
    pub(crate) error_code: Option<String>,
    /// The rule by which a shell line was classified.
    pub(crate) rule: Option<String>,
    /// The duration of the call.
    pub(crate) took: Duration,
}

impl Tools {
    /// The selected tools, and the external ones.
    pub(crate) fn new(selection: &Selection, external: Vec<ExternalTool>, own: RegistrySettings) -> Self {
        let selected = declarations(selection);
        let texts = OfferedTools::new(selected.iter().map(|declaration| declaration.tool));
        let offered: Vec<_> = selected
            .into_iter()
            .map(AvailableTool::Registry)
            .chain(external.into_iter().map(AvailableTool::External))
            .collect();
        let declarations = offered.iter().map(AvailableTool::declaration).collect::<Vec<_>>().into();
        Self { offered, texts, declarations, own }
    }

    /// The declarations of the tools for the model.
    pub(crate) fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// The names, with commas between.
    pub(crate) fn names(&self) -> String {
        self.declarations.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The host options of the calls.
    pub(crate) fn host(&self) -> &HostOptions {
        &self.own.host
    }

    /// Names the conversation whose plan and reflections the calls are about.
    pub(crate) fn name_conversation(&mut self, id: &str) {
        Arc::make_mut(&mut self.own.host).conversation = Some(id.to_owned());
    }

    /// The tool that a model calls, in any spelling of its name.
    pub(crate) fn find(&self, name: &str) -> Result<&AvailableTool, Error> {
        let name = name.trim();
        let command = ragmaker_registry::find(name).map(|tool| tool.command);
        let found = self.offered.iter().find(|offered| match offered {
            AvailableTool::Registry(declaration) => Some(declaration.tool.command) == command,
            AvailableTool::External(external) => external.name() == name,
        });
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let own = self.offered.iter().filter_map(|offered| match offered {
            AvailableTool::Registry(declaration) => Some(declaration.tool),
            AvailableTool::External(_) => None,
        });
        let error = unknown_tool(name, own);
        let external: Vec<_> =
            self.offered.iter().filter(|offered| matches!(offered, AvailableTool::External(_))).collect();
        let names: Vec<_> = external.iter().map(|offered| offered.name()).collect();
        match nearest(name, &names) {
            Some(near) => error.remedy(format!("Did you mean {near}?")),
            None => error,
        }
    }

    /// Adds to a call of a command what the configuration says and the model does not: how long it may take, and
    /// whether it uses the network, which is for those that are approved. Returns whether anything was added.
    pub(crate) fn complete(&self, call: &mut Call, is_approved: bool) -> bool {
        let runs_commands = |tool: &AvailableTool| match tool {
            AvailableTool::Registry(declaration) => declaration.tool.runs_commands,
            AvailableTool::External(_) => false,
        };
        let Value::Object(arguments) = &mut call.arguments else { return false };
        if !self.find(&call.name).is_ok_and(runs_commands) {
            return false;
        }
        let Commands { timeout_s, network, .. } = self.own.commands;
        let mut added = false;
        for (name, value) in
            [("timeout", Some(timeout_s.into())), ("network", (network && is_approved).then_some(true.into()))]
        {
            if let Some(value) = value.filter(|_| arguments.get(name).is_none_or(Value::is_null)) {
                arguments.insert(name.to_owned(), value);
                added = true;
            }
        }
        added
    }

    /// The calls as they may run: those of one group at once, the groups one after the other.
    pub(crate) fn groups<'a>(&self, calls: &'a [Call]) -> Vec<&'a [Call]> {
        let is_alone = |tool: &AvailableTool| !tool.is_read_only() || tool.changes_conversation();
        let runs_alone = |call: &Call| self.find(&call.name).is_ok_and(is_alone);
        let waits = |call: &Call| call.arguments[WAIT] == true;
        calls.chunk_by(|before, call| !runs_alone(before) && !runs_alone(call) && !waits(call)).collect()
    }

    /// Runs a call, with what a person said about it, as long as `goes_on` says so.
    pub(crate) fn run(&self, call: &Call, approval: &Approval, goes_on: &(dyn Fn() -> bool + Sync)) -> ToolOutcome {
        let start = Instant::now();
        let answer = self.find(&call.name).and_then(|tool| {
            let arguments = arguments(call)?;
            let runs = || goes_on() && start.elapsed() < MAX_CALL_TIME;
            let answer = tool.run(arguments, &self.own, approval, &runs).transpose();
            let answer = match tool {
                AvailableTool::Registry(_) => answer.map(|answer| self.texts.answer(answer)),
                AvailableTool::External(_) => answer,
            };
            answer.transpose()?.ok_or_else(|| {
                if goes_on() {
                    TOOL_TIMED_OUT.error(format!("{} did not end within {} s", call.name, MAX_CALL_TIME.as_secs()))
                } else {
                    CANCELLED.error("interrupted by the user")
                }
            })
        });
        ToolOutcome::of(answer, start.elapsed())
    }
}

impl AvailableTool {
    fn declaration(&self) -> Declaration {
        match self {
            Self::Registry(declaration) => {
                let tool = declaration.to(DeclarationFormat::OpenAi);
                let function = &tool["function"];
                Declaration {
                    name: declaration.name().to_owned(),
                    description: function["description"].as_str().unwrap_or_default().to_owned(),
                    parameters: function["parameters"].clone(),
                }
            }
            Self::External(external) => external.declaration(),
        }
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Registry(declaration) => declaration.name(),
            Self::External(external) => external.name(),
        }
    }

    /// Whether a call changes nothing, so that several calls may run at the same time.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Registry(declaration) => declaration.is_read_only(),
            Self::External(external) => external.is_read_only(),
        }
    }

    /// Whether a call changes the state of the conversation, so that the order of calls matters.
    fn changes_conversation(&self) -> bool {
        matches!(self, Self::Registry(declaration) if ["think", "work"].contains(&declaration.tool.name().as_str()))
    }

    /// Whether a call may destroy what was there.
    pub(crate) fn is_destructive(&self) -> bool {
        match self {
            Self::Registry(declaration) => declaration.is_destructive(),
            // What it declares beyond that it changes nothing, nobody checks.
            Self::External(external) => !external.is_read_only(),
        }
    }

    /// The possible effects of a call that need approval, for the question to the person.
    pub(crate) fn risk(&self) -> String {
        match self {
            Self::Registry(_) => "may change or remove what is there".to_owned(),
            Self::External(external) => external.risk(),
        }
    }

    /// Whether the tool itself says which of its calls need approval, by the error `NEEDS_APPROVAL`.
    pub(crate) fn asks_itself(&self) -> bool {
        match self {
            Self::Registry(declaration) => declaration.fails_with(NEEDS_APPROVAL.name()),
            Self::External(_) => false,
        }
    }

    /// The answer; `None` where `goes_on` ended the wait.
    fn run(
        &self,
        arguments: Members,
        own: &RegistrySettings,
        approval: &Approval,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Value>, Error> {
        let tool = match self {
            Self::Registry(declaration) => declaration.tool,
            Self::External(external) => return external.run(arguments, goes_on),
        };
        match tool.isolation {
            Isolation::Subprocess => {
                let without = own.without(&tool.name());
                let (running, lease) = subprocess::start_approved(tool, arguments, &own.host, approval, &without)?;
                running.wait_while(lease, goes_on)
            }
            Isolation::InProcess => in_process(tool, arguments, Arc::clone(&own.host), approval.clone(), goes_on),
        }
    }
}

/// The arguments of a call as an object.
fn arguments(call: &Call) -> Result<Members, Error> {
    let Value::Object(arguments) = &call.arguments else {
        return Err(ARGUMENT_ERROR
            .error(format!("the arguments of {} are not a JSON object: {}", call.name, call.arguments))
            .remedy("Call it again with one JSON object that fits its schema."));
    };
    let own = |(name, _): &(&String, &Value)| *name != WAIT;
    Ok(arguments.iter().filter(own).map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn in_process(
    tool: &'static Tool,
    arguments: Members,
    host: Arc<HostOptions>,
    approval: Approval,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Value>, Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let work = move || {
        let answer = tool.call_approved(arguments, &host, &approval);
        // Nobody waits for a call that was given up.
        let _ = sender.send(answer);
    };
    let failed = |what: &str| INTERNAL_ERROR.error(format!("{} {what}", tool.command));
    thread::Builder::new().name(tool.name()).spawn(work).map_err(|error| failed(&format!("has no thread: {error}")))?;
    let mut ended: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(answer) => return answer.map(Some),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(failed("ended without an answer")),
            Err(mpsc::RecvTimeoutError::Timeout) if goes_on() => {}
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if ended.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    return Ok(None);
                }
            }
        }
    }
}

impl RegistrySettings {
    /// The environment variables that `tool` does not get.
    fn without(&self, tool: &str) -> Vec<String> {
        let is_needed = |name: &&String| match tool {
            "search_knowledge_base" => **name == self.of_embeddings,
            "web_search" => self.of_search.contains(name),
            // It takes them from the environment of commands, and blanks their values in what it keeps of the output.
            "run_command" => true,
            _ => false,
        };
        self.without.iter().filter(|name| !is_needed(name)).cloned().collect()
    }
}

#[cfg(test)]
impl RegistrySettings {
    /// The registry's tools without external tools.
    pub(crate) fn of(host: HostOptions) -> Self {
        let commands = Commands { allow: vec![], timeout_s: 120, network: false };
        Self { host: Arc::new(host), commands, without: vec![], of_search: vec![], of_embeddings: String::new() }
    }
}

impl ToolOutcome {
    /// The outcome of a call that ended so.
    pub(crate) fn of(answer: Result<Value, Error>, took: Duration) -> Self {
        let mut value = answer.unwrap_or_else(|error| serde_json::to_value(error).unwrap_or_default());
        let is_error = value["status"] == "error";
        without_image(&mut value);
        let error_code = value["error_code"].as_str().filter(|_| is_error).map(str::to_owned);
        let rule = if is_error { &value["details"]["rule"] } else { &value["rule"] };
        let rule = rule.as_str().map(str::to_owned);
        Self { text: json::text(&value, Charset::Utf8), is_error, error_code, rule, took }
    }

    /// Tells the model one fact more.
    pub(crate) fn add(&mut self, name: &str, value: &Value) {
        if let Ok(Value::Object(mut members)) = serde_json::from_str(&self.text) {
            members.insert(name.to_owned(), value.clone());
            self.text = json::text(&Value::Object(members), Charset::Utf8);
        }
    }

    /// The outcome of a call that the limit of tokens cut off.
    pub(crate) fn cut_off(call: &Call) -> Self {
        let error = ARGUMENT_ERROR
            .error(format!(
                "the call of {} was cut off in its arguments: your answer reached the limit of its tokens \
                 (max_output_tokens); nothing was done",
                call.name
            ))
            .remedy(if call.name == "write_file" {
                "Do not repeat it as it was. Write the file in several calls: the first with its beginning, each further \
                 one with append: true."
            } else {
                "Do not repeat it as it was. Write less in one answer."
            })
            .detail("tool", call.name.as_str());
        Self::refused(error)
    }

    /// The outcome of a call that was refused.
    pub(crate) fn refused(error: Error) -> Self {
        Self::of(Err(error), Duration::ZERO)
    }
}

/// Takes the bytes of an image out of an answer: as base64 in text, no model sees it.
fn without_image(answer: &mut Value) {
    let is_image =
        answer["mime_type"].as_str().is_some_and(|kind| kind.starts_with("image/") && kind != "image/svg+xml");
    if let Value::Object(members) = answer
        && is_image
        && members.shift_remove("data").is_some()
    {
        members.insert("note".to_owned(), "The image itself cannot be shown to you.".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, arguments: Value) -> Call {
        Call { id: "a".into(), name: name.into(), arguments, signature: None }
    }

    fn tools(folder: &std::path::Path) -> Tools {
        let host = HostOptions { project_root: folder.to_str().map(str::to_owned), ..HostOptions::default() };
        Tools::new(&Selection::new(None, None, false).unwrap().with_commands(true), vec![], RegistrySettings::of(host))
    }

    #[test]
    fn a_command_gets_what_is_configured() {
        let mut tools = tools(std::path::Path::new("."));
        tools.own.commands = Commands { allow: vec![], timeout_s: 7, network: true };
        for (given, is_approved, expected) in [
            (json!({"command": "ls"}), false, json!({"command": "ls", "timeout": 7})),
            (json!({"command": "ls"}), true, json!({"command": "ls", "timeout": 7, "network": true})),
            (json!({"timeout": 9, "network": false}), true, json!({"timeout": 9, "network": false})),
            (json!("ls"), true, json!("ls")),
        ] {
            let mut call = call("run_command", given);
            tools.complete(&mut call, is_approved);
            assert_eq!(call.arguments, expected);
            assert!(!tools.complete(&mut call, is_approved));
        }
        let mut other = call("read_file", json!({}));
        assert!(!tools.complete(&mut other, true) && other.arguments == json!({}));
    }

    #[test]
    fn every_failure_is_an_outcome() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(folder.path());
        let run = |name: &str, arguments: Value| tools.run(&call(name, arguments), &Approval::Pending, &|| true);
        for (name, arguments, code) in [
            ("unheard_of", json!({}), "TOOL_NOT_FOUND"),
            ("read_file", json!("{broken"), "ARGUMENT_ERROR"),
            ("read_file", json!({"path": 7}), "ARGUMENT_ERROR"),
            ("read_file", json!({"pth": "a"}), "ARGUMENT_ERROR"),
            ("read_file", json!({"path": "none.md"}), "FILE_NOT_FOUND"),
            ("read_file", json!({"path": "a", "allow_root": ["/"]}), "NOT_ALLOWED_IN_ARGUMENTS"),
        ] {
            let outcome = run(name, arguments.clone());
            assert_eq!((outcome.is_error, outcome.error_code.as_deref()), (true, Some(code)), "{name} {arguments}");
            assert!(serde_json::from_str::<Value>(&outcome.text).unwrap()["remediation_suggestion"].is_string());
        }
        std::fs::write(folder.path().join("a.md"), "spring tide").unwrap();
        let outcome = run("ragmaker-read-file", json!({"path": "a.md", "wait_for_previous": true}));
        assert!(!outcome.is_error && outcome.text.contains("spring tide"), "{}", outcome.text);
    }

    #[test]
    fn calls_that_change_nothing_run_at_once() {
        let tools = tools(std::path::Path::new("."));
        let read = || call("read_file", json!({"path": "a"}));
        let calls = [
            read(),
            call("unheard_of", json!({})),
            call("write_file", json!({})),
            call("write_file", json!({})),
            read(),
            read(),
            call("read_file", json!({"wait_for_previous": true})),
        ];
        let sizes: Vec<_> = tools.groups(&calls).iter().map(|group| group.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 2, 1]);
        // These change the state of the conversation.
        let calls =
            [read(), call("work", json!({})), call("work", json!({})), call("think", json!({})), read(), read()];
        let sizes: Vec<_> = tools.groups(&calls).iter().map(|group| group.len()).collect();
        assert_eq!(sizes, [1, 1, 1, 1, 2]);
    }

    #[test]
    fn an_image_is_not_told_as_text() {
        let answer = json!({"status": "success", "mime_type": "image/png", "data": "AAAA", "width": 1});
        let outcome = ToolOutcome::of(Ok(answer), Duration::ZERO);
        assert!(!outcome.text.contains("AAAA") && outcome.text.contains("width"));
    }
}
