//! An agent for the tests of its parts, and tests of its driver.

use std::path::Path;

use ragmaker_config::{Approve, Commands, Key, Provider};
use ragmaker_model::{Endpoint, Message, Usage};
use ragmaker_registry::Selection;
use ragmaker_testkit::{
    folder,
    scripted::{Reply, Scripted},
    speech::{self, WireFormat},
    write,
};
use ragmaker_tool::HostOptions;

use super::*;
use crate::{screen::Form, tools::RegistrySettings};

/// The key of the configuration.
pub(crate) const KEY: &str = "sk-configured-1";

/// An agent in the project `root` without a terminal, whose model is at `url`.
pub(crate) fn agent(root: &Path, url: &str) -> Agent {
    let project_root = root.to_str().map(str::to_owned);
    let project = Project::discover(project_root.as_deref()).unwrap();
    let session = Session::create(&project.cache_folder()).unwrap();
    let conversation = Some(session.id().to_owned());
    let host = HostOptions { project_root, conversation, ..HostOptions::default() };
    let mut redactor = ragmaker_config::Redactor::default();
    redactor.add(KEY);
    let keys = KnownKeys::new(redactor);
    let blank = keys.clone();
    let cancel = Cancel::default();
    Agent {
        project,
        state: State::default(),
        rules: Rules { think_required: false, ..Rules::default() },
        session,
        client: Client::new(Endpoint::new(Provider::Compatible, "m", url, Key::new(""))),
        language: Language::English,
        tools: Arc::new(Tools::new(&Selection::new(None, None, false).unwrap(), vec![], RegistrySettings::of(host))),
        approvals: Approvals::new(Approve::Ask, false, &Commands { allow: vec![], timeout_s: 120, network: false }),
        terminal: Terminal::absent(),
        screen: Screen::new(Form::Json, cancel.clone()),
        log: Log::default(),
        cancel,
        blank: Box::new(move |text| blank.redacted(text)),
        keys,
        calls_with_keys: vec![],
        request: String::new(),
        calls: vec![],
        failure: None,
        ended_by: None,
        warnings: vec![],
    }
}

/// A model that gives these answers, one to each request.
pub(crate) fn model(answers: &[&str]) -> Scripted {
    let reply = |answer: &&str| Reply::events(speech::answer(WireFormat::OpenAi, &[answer], &[]));
    Scripted::new(answers.iter().map(reply).collect())
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Call {
    Call { id: id.into(), name: name.into(), arguments, signature: None }
}

/// The answer of a model with these calls.
pub(crate) fn calls(calls: &[Call]) -> Event {
    let (text, usage, stop) = (String::new(), Usage::default(), ragmaker_model::Stop::End);
    Event::Assistant { text, signatures: vec![], calls: calls.to_vec(), usage, stop }
}

/// An agent that waits for the results of these calls.
fn agent_with(root: &Path, of_answer: &[Call]) -> Agent {
    let mut agent = agent(root, "http://127.0.0.1:9");
    agent.take(Event::User { text: "go".into() }).unwrap();
    assert_eq!(agent.take(calls(of_answer)).unwrap().len(), 1);
    agent
}

/// The results in the conversation, with their ids.
fn results(agent: &Agent) -> Vec<(&str, &str)> {
    let messages = agent.state.history.messages().iter();
    let results = messages.filter_map(|message| match message {
        Message::Result { id, text, .. } => Some((id.as_str(), text.as_str())),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_long_result_is_shortened_for_the_model_and_kept_in_a_file() {
    let (_holder, root) = folder("project");
    let both = [call("1", "think", json!({})), call("2", "think", json!({}))];
    let mut agent = agent_with(&root, &both);
    let of = |text: String| ToolOutcome { text, ..ToolOutcome::refused(CANCELLED.error("")) };
    let fits = "\u{6f6e}".repeat(RESULT);
    agent.ended(&both[0], &of(fits.clone())).unwrap();
    let long = format!("{}{}", fits, "end");
    agent.ended(&both[1], &of(long.clone())).unwrap();
    let results = results(&agent);
    assert_eq!(results[0], ("1", fits.as_str()));
    let shown = results[1].1;
    assert!(shown.chars().count() < ENDS.0 + ENDS.1 + 500 && shown.ends_with("\u{6f6e}end"), "{}", shown.len());
    let path = shown.split_once(WHOLE).unwrap().1.split_once(" …]").unwrap().0.trim();
    assert_eq!(std::fs::read_to_string(path).unwrap(), long);
}

#[test]
fn a_call_runs_with_its_key_and_is_recorded_without() {
    let (_holder, root) = folder("project");
    write(&root, "ragmaker.toml", "");
    let all = [
        call("1", "write_file", json!({"path": "a.txt", "content": KEY})),
        call("2", "read_file", json!({"path": "a.txt"})),
    ];
    let mut agent = agent(&root, "http://127.0.0.1:9");
    agent.approvals = Approvals::new(Approve::All, false, &Commands { allow: vec![], timeout_s: 1, network: false });
    agent.take(Event::User { text: "go".into() }).unwrap();
    let effects = agent.take(calls(&all)).unwrap();
    let [Effect::Run(redacted)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(redacted[0].arguments, json!({"path": "a.txt", "content": "[key]"}));
    assert_eq!(agent.run(redacted).unwrap(), [Effect::Decide]);
    assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), KEY);
    assert!(results(&agent)[1].1.contains("[key]"), "{:?}", results(&agent));
    assert_eq!(agent.calls[0]["arguments"]["content"], "[key]");
    let file = agent.project.cache_folder().join("conversations").join(agent.session.id()).with_extension("jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("[key]") && !text.contains(KEY), "{text}");
}

#[test]
fn each_call_gets_a_result_also_where_it_cannot_run() {
    let (_holder, root) = folder("project");
    let all = [
        call("1", "no_such_tool", json!({})),
        call("2", "read_file", json!("{\"path\": \"a")),
        call("3", "read_file", json!({"path": "none.txt"})),
        call("4", "delete_file", json!({"path": "kept.txt"})),
    ];
    write(&root, "kept.txt", "kept");
    let mut agent = agent_with(&root, &all);
    agent.run(&all).unwrap();
    let codes: Vec<_> = agent.calls.iter().map(|call| call["error_code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["TOOL_NOT_FOUND", "ARGUMENT_ERROR", "FILE_NOT_FOUND", "NEEDS_APPROVAL"]);
    assert_eq!(results(&agent).iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    assert!(root.join("kept.txt").is_file());
    assert!(agent.state.history.broken().is_none());
}

#[test]
fn calls_of_a_cancelled_step_are_not_run() {
    let (_holder, root) = folder("project");
    let all =
        [call("1", "read_file", json!({"path": "a"})), call("2", "write_file", json!({"path": "b", "content": ""}))];
    let mut agent = agent_with(&root, &all);
    agent.cancel.cancel();
    let effects = agent.run(&all).unwrap();
    assert_eq!(effects, [Effect::Stop(Stop::Interrupted)]);
    assert!(!root.join("b").exists() && agent.state.history.broken().is_none());
    assert!(agent.why(Stop::Interrupted).is(CANCELLED));
}

#[test]
fn calls_that_a_crash_left_open_are_closed_when_the_conversation_is_resumed() {
    let (_holder, root) = folder("project");
    let all = [call("1", "think", json!({})), call("2", "think", json!({}))];
    let mut agent = agent_with(&root, &all);
    agent.recover().unwrap();
    assert_eq!(results(&agent), [("1", INTERRUPTED), ("2", INTERRUPTED)]);
    assert_eq!(agent.state.unfinished(), Some(Effect::Decide));
}

#[test]
fn a_turn_ends_with_the_error_that_explains_it() {
    let (_holder, root) = folder("project");
    let unauthorized = Reply::status("401 Unauthorized", "", r#"{"error": {"message": "bad key"}}"#);
    let server = Scripted::new(vec![unauthorized]);
    let mut agent = agent(&root, &server.url);
    let error = agent.say("go").unwrap_err();
    assert!(error.is(ragmaker_model::MODEL_AUTH_FAILED), "{error}");
    // It is reported once.
    assert!(agent.failure.is_none() && agent.why(Stop::Failed).is(INTERNAL_ERROR));
    assert!(agent.why(Stop::Steps(7)).message().contains("7 requests"));
    assert!(agent.why(Stop::Repeats("read_file".into())).is(STEP_LIMIT));
    assert!(agent.why(Stop::Empty).is(MODEL_ANSWER_INVALID));
}

#[test]
fn a_new_conversation_has_nothing_of_the_one_before() {
    let (_holder, root) = folder("project");
    let mut agent = agent_with(&root, &[call("1", "think", json!({}))]);
    agent.request = "go".into();
    agent.calls.push(json!({}));
    let session = Session::create(&agent.project.cache_folder()).unwrap();
    let id = session.id().to_owned();
    agent.begin(session);
    assert_eq!((agent.described(false)["id"].as_str(), agent.state.history.messages().len()), (Some(&*id), 0));
    assert_eq!(agent.tools.host().conversation.as_deref(), Some(&*id));
    assert!(agent.request.is_empty() && agent.calls.is_empty());
}
