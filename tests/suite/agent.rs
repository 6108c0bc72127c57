//! `ragmaker-agent` from outside, with a scripted endpoint in place of a model.

mod ask_workflow;
mod browser;
mod commands;
mod endpoint;
mod external_tools;
mod interrupts;
mod kills;
mod lines;
mod run_endings;
mod start;
mod terminal;
mod tools;

use std::collections::BTreeMap;

use ragmaker_testkit::{
    scripted::{AfterReply, ReceivedRequest, Reply, Scripted},
    speech::{SpokenCall, WireFormat, answer, text},
};
use ragmaker_tests::run::{Output, Project, Tool};
use serde_json::{Value, json};

/// The key, which no file and no output may contain.
const KEY: &str = "sk-scripted-0123456789";

/// The agent in `project`, for the model at `endpoint`.
fn agent(project: &Project, endpoint: &Scripted, wire: WireFormat) -> Tool {
    let (provider, variable) = match wire {
        WireFormat::OpenAi => ("openai", "OPENAI_API_KEY"),
        WireFormat::Gemini => ("gemini", "GEMINI_API_KEY"),
        WireFormat::Anthropic => ("anthropic", "ANTHROPIC_API_KEY"),
    };
    project
        .tool("agent")
        .args(["--provider", provider, "--model", "scripted", "--base-url", &endpoint.url])
        .env(variable, KEY)
        .env("XDG_CONFIG_HOME", project.path().join("config"))
}

/// The answer of one request, as JSON.
fn asked(project: &Project, endpoint: &Scripted, wire: WireFormat, request: &str) -> Output {
    agent(project, endpoint, wire).args([request, "--output", "json"]).run()
}

/// An answer in `wire`.
fn says(wire: WireFormat, said: &str, calls: &[SpokenCall<'_>]) -> Reply {
    let texts: Vec<_> = Some(said).filter(|said| !said.is_empty()).into_iter().collect();
    Reply::events(answer(wire, &texts, calls))
}

/// How often the model was asked in the conversation of this request: the answers that the client sends back.
fn answers(body: &Value) -> usize {
    let messages = body["messages"].as_array().or(body["contents"].as_array());
    let is_answer = |message: &&Value| message["role"] == "assistant" || message["role"] == "model";
    messages.map_or(0, |messages| messages.iter().filter(is_answer).count())
}

/// Every result that the request tells the model, as text.
fn results(body: &Value) -> Vec<String> {
    let mut found = vec![];
    collect(body, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(members) => {
            let result = if value["role"] == "tool" || value["type"] == "tool_result" {
                Some(&value["content"])
            } else {
                members.get("functionResponse").map(|response| &response["response"])
            };
            match result {
                Some(Value::String(text)) => found.push(text.clone()),
                Some(other) => found.push(other.to_string()),
                None => members.values().for_each(|value| collect(value, found)),
            }
        }
        _ => {}
    }
}

/// A model that makes these calls, one after the other, thinks, and answers "Done.".
fn caller(calls: Vec<(&'static str, Value)>) -> Scripted {
    Scripted::with_script(move |got| {
        let step = answers(&got.body);
        match calls.get(step) {
            Some((name, arguments)) => says(WireFormat::OpenAi, "", &[("", name, &arguments.to_string())]),
            None if step == calls.len() => {
                says(WireFormat::OpenAi, "", &[("", "think", r#"{"reflection": "It is so."}"#)])
            }
            None => says(WireFormat::OpenAi, "Done.", &[]),
        }
    })
}

/// The results of its calls that a model received, in order.
fn told(project: &Project, flags: &[&str], calls: Vec<(&'static str, Value)>) -> Vec<Value> {
    let endpoint = caller(calls);
    let run = agent(project, &endpoint, WireFormat::OpenAi).args(["Go.", "--output", "json"]).args(flags).run();
    assert_eq!(run.answer()["answer"], "Done.");
    let all = results(&endpoint.requests().pop().unwrap().body);
    all.iter().map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())).collect()
}

/// Whether files and the network are kept from commands here: some containers have no layer that does.
fn confines(project: &Project) -> bool {
    let run = project.tool("run-command").env("RAGMAKER_APPROVE", "all").args(["--command", "true"]).run();
    !run.answer()["unconfined"].to_string().contains("neither Landlock nor namespaces")
}

/// The conversations of the project, by id: the events of each.
fn conversations(project: &Project) -> BTreeMap<String, Vec<Value>> {
    let folder = project.path().join(".tmp/cache/conversations");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), events)
        })
        .collect()
}

/// The replies of a model that reads a file, thinks and answers.
fn reader(wire: WireFormat, body: &Value) -> Reply {
    match answers(body) {
        0 => says(wire, "", &[("a", "read_file", r#"{"path": "tides.md"}"#)]),
        1 => says(wire, "", &[("b", "think", r#"{"reflection": "The file says it."}"#)]),
        _ => says(wire, "Spring tides follow the new moon (tides.md).", &[]),
    }
}

#[test]
fn a_question_is_answered_with_tools_in_every_format() {
    for wire in WireFormat::ALL {
        let project = Project::new();
        project.write("tides.md", "Spring tides follow the new moon.\n");
        let endpoint = Scripted::with_script(move |got| reader(wire, &got.body));
        let run = asked(&project, &endpoint, wire, "When are spring tides?");
        let answer = run.answer();
        assert_eq!(answer["answer"], "Spring tides follow the new moon (tides.md).");
        assert_eq!((&answer["steps"], &answer["usage"]), (&json!(3), &json!({"input_tokens": 15, "output_tokens": 9})));
        let calls: Vec<_> = answer["tool_calls"].as_array().unwrap().iter().map(|call| &call["name"]).collect();
        assert_eq!(calls, ["read_file", "think"]);
        let got = endpoint.requests();
        let told = results(&got[1].body);
        assert!(told[0].contains("Spring tides follow the new moon."), "{wire:?}: {told:?}");
        assert!(got[0].head.contains(KEY), "the key is sent to the endpoint");
        let conversations = conversations(&project);
        let events = &conversations[answer["session"].as_str().unwrap()];
        let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["session", "user", "assistant", "tool_result", "assistant", "tool_result", "assistant"]);
    }
}

#[test]
fn only_the_answer_is_on_standard_output() {
    let project = Project::new();
    project.write("tides.md", "x");
    let endpoint = Scripted::with_script(|got| reader(WireFormat::OpenAi, &got.body));
    let run = agent(&project, &endpoint, WireFormat::OpenAi).arg("When?").stdin("a log\n").run_raw();
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stdout), "Spring tides follow the new moon (tides.md).\n");
    let said = endpoint.requests()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert_eq!(said, "When?\n\n<stdin>\na log\n</stdin>");
}

#[test]
fn jsonl_has_all_events_and_ends_with_the_answer() {
    let project = Project::new();
    project.write("tides.md", "x");
    let endpoint = Scripted::with_script(|got| reader(WireFormat::OpenAi, &got.body));
    let run = agent(&project, &endpoint, WireFormat::OpenAi).args(["When?", "--output", "jsonl"]).run_raw();
    let lines: Vec<Value> =
        String::from_utf8(run.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let step = ["assistant", "tool_call", "tool_result"];
    assert_eq!(kinds, [&["session", "user"][..], &step, &step, &["assistant", "answer"]].concat());
    assert_eq!(lines[0]["id"], *conversations(&project).keys().next().unwrap());
}

#[test]
fn a_conversation_is_continued() {
    let project = Project::new();
    let endpoint =
        Scripted::with_script(|got| says(WireFormat::OpenAi, &format!("Answer {}.", answers(&got.body) + 1), &[]));
    let first = asked(&project, &endpoint, WireFormat::OpenAi, "One?").answer().clone();
    let again = agent(&project, &endpoint, WireFormat::OpenAi).args(["Two?", "--continue", "--output", "json"]).run();
    assert_eq!((&again.answer()["answer"], &again.answer()["session"]), (&json!("Answer 2."), &first["session"]));
    let id = first["session"].as_str().unwrap();
    let third =
        agent(&project, &endpoint, WireFormat::OpenAi).args(["Three?", "--resume", id, "--output", "json"]).run();
    assert_eq!(third.answer()["answer"], "Answer 3.");
    let unknown = agent(&project, &endpoint, WireFormat::OpenAi).args(["?", "--resume", "20000101-000000-0000"]).run();
    unknown.error("SESSION_NOT_FOUND");
    let nothing = Project::new();
    agent(&nothing, &endpoint, WireFormat::OpenAi).args(["?", "--continue"]).run().error("SESSION_NOT_FOUND");
    // No turn is open that could continue without a request.
    agent(&project, &endpoint, WireFormat::OpenAi).arg("--continue").run().error("ARGUMENT_ERROR");
}

#[test]
fn the_workflows_are_those_of_the_other_clients() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    for (words, begins) in [
        (&["rag", "https://a.example/"][..], "Gather a knowledge base from https://a.example/:"),
        (
            &["ask", "Why", "tides?"][..],
            "Answer this from the knowledge bases of this project, and from nothing else: Why tides?",
        ),
    ] {
        assert!(agent(&project, &endpoint, WireFormat::OpenAi).args(words).run_raw().status.success());
        let said = endpoint.requests()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
        assert!(said.starts_with(begins), "{said}");
    }
    agent(&project, &endpoint, WireFormat::OpenAi).args(["two", "words"]).run().error("ARGUMENT_ERROR");
}

#[test]
fn missing_settings_are_reported_before_any_request() {
    let project = Project::new();
    let bare = || project.tool("agent").env("XDG_CONFIG_HOME", project.path()).arg("?");
    assert_eq!(bare().run().error("MODEL_NOT_CONFIGURED")["details"]["key"], "model.name");
    let error = bare().args(["--provider", "openai", "--model", "m"]).run().error("MODEL_NOT_CONFIGURED").clone();
    assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
    project.write("ragmaker.toml", "[model]\nnane = \"x\"\n");
    let error = bare().run().error("CONFIG_INVALID").clone();
    assert!(error.to_string().contains("nane") && error["details"]["line"] == 2, "{error}");
    assert!(conversations(&project).is_empty());
    // What a project's files decide about keys has to be confirmed by a person.
    project.write("ragmaker.toml", "[model]\nname = \"x\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9\"\n");
    bare().env("OPENAI_API_KEY", KEY).run().error("CONFIG_NOT_TRUSTED");
}

#[test]
fn every_provider_of_the_documentation_answers() {
    let page = std::fs::read_to_string(ragmaker_tests::discovery::workspace().join("docs/agent.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.split_once("| `RAGMAKER_PROVIDER="));
    let mut seen = vec![];
    for (name, rest) in rows {
        let typed = format!("RAGMAKER_PROVIDER={}", rest.trim_end_matches("` |"));
        let project = Project::new();
        let wire = match typed.split(['=', ' ']).nth(1).unwrap() {
            "gemini" => WireFormat::Gemini,
            "anthropic" => WireFormat::Anthropic,
            _ => WireFormat::OpenAi,
        };
        let endpoint = Scripted::with_script(move |_| says(wire, "A folder.", &[]));
        let mut tool = project.tool("agent").env("XDG_CONFIG_HOME", project.path());
        let mut has_endpoint = false;
        for variable in typed.split_whitespace() {
            let (variable, value) = variable.split_once('=').unwrap();
            // What a person fills in: the key, and the address of the endpoint.
            let value = value.replace('…', KEY);
            let is_endpoint = variable == "AZURE_OPENAI_ENDPOINT" || variable == "RAGMAKER_BASE_URL";
            has_endpoint |= is_endpoint;
            tool = tool.env(variable, if is_endpoint { &endpoint.url } else { &value });
        }
        if !has_endpoint {
            tool = tool.env("RAGMAKER_BASE_URL", &endpoint.url);
        }
        let run = tool.arg("What is in this folder?").run_raw();
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(String::from_utf8_lossy(&run.stdout), "A folder.\n", "{name}");
        let head = endpoint.requests()[0].head.to_lowercase();
        let (path, key) = match name.trim_matches([' ', '|']) {
            "Gemini" => ("/v1beta/models/gemini-2.5-flash:streamgeneratecontent?alt=sse", "x-goog-api-key: sk-"),
            "OpenAI" => ("/v1/chat/completions", "authorization: bearer sk-"),
            "Azure" => ("/openai/deployments/deployment/chat/completions?api-version=", "api-key: sk-"),
            "Anthropic" => ("/v1/messages", "x-api-key: sk-"),
            _ => ("/v1/chat/completions", "post"),
        };
        assert!(head.contains(path) && head.contains(key), "{name}: {head}");
        seen.push(name.to_owned());
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn the_log_has_no_keys_and_is_readable_by_its_owner_only() {
    let project = Project::new();
    project.write("tides.md", format!("The key is {KEY}.\n"));
    let endpoint = Scripted::with_script(|got| reader(WireFormat::OpenAi, &got.body));
    let request = format!("Is {KEY} in tides.md?");
    let run = agent(&project, &endpoint, WireFormat::OpenAi).args([&request, "--debug", "--output", "jsonl"]).run_raw();
    assert!(run.status.success() && !String::from_utf8_lossy(&run.stdout).contains(KEY));
    let log = project.path().join(".tmp/cache/logs/agent.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<_> = lines.iter().filter(|line| line["what"] == "request").collect();
    assert_eq!((requests.len(), &requests[0]["step"]), (3, &json!(0)), "{text}");
    // Each message is written once, and the requests name it.
    let contents: Vec<_> = lines.iter().filter(|line| line["what"] == "message").map(|line| &line["content"]).collect();
    assert_eq!(contents[0], &json!({"role": "user", "text": "Is [key] in tides.md?"}));
    let numbers: Vec<_> = lines.iter().filter(|line| line["what"] == "message").map(|line| &line["number"]).collect();
    assert_eq!(requests[0]["messages"], json!([[numbers[0], numbers[0]]]));
    assert_eq!(requests[1]["messages"].as_array().unwrap().len(), 1, "{text}");
    assert_eq!(requests[1]["messages"][0], json!([numbers[0], numbers[2]]));
    let told = contents[2]["text"].as_str().unwrap();
    assert!(told.contains("The key is [key]."), "{told}");
    assert!(requests[0]["tools"].as_array().unwrap().contains(&json!("read_file")));
    assert!(!text.contains(KEY) && text.contains("[key]"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    for events in conversations(&project).values() {
        assert!(!json!(events).to_string().contains(KEY));
    }
    // The endpoint is not told it either, but for the header.
    assert!(endpoint.requests().iter().all(|got| !got.body.to_string().contains(KEY)));
}

#[test]
fn too_much_input_is_refused() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| says(WireFormat::OpenAi, "Done.", &[]));
    let run = agent(&project, &endpoint, WireFormat::OpenAi).arg("?").stdin(vec![b'x'; (1 << 20) + 1]).run();
    run.error("INPUT_TOO_LARGE");
    assert!(endpoint.requests().is_empty() && conversations(&project).is_empty());
}
