//! A conversation at a terminal: approvals, editing, Ctrl-C, and continuing.
//!
//! `script` of util-linux gives the agent a terminal of its own; what is typed goes through a pipe to it.

#![cfg(target_os = "linux")]

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tests::{tabs::tabs, visitor::Visitor};

use super::*;

const TIMEOUT: Duration = Duration::from_secs(30);

/// An agent at a terminal.
pub(super) struct Person {
    child: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<String>>,
    /// How much of the screen has been read.
    read: usize,
}

impl Person {
    pub(super) fn start(project: &Project, endpoint: &Scripted, flags: &str) -> Self {
        let command = agent(project, endpoint, WireFormat::OpenAi).into_command();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let line = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect::<Vec<_>>().join(" ");
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &format!("{line} {flags}"), "/dev/null"]);
        script.current_dir(project.path()).env("TERM", "xterm");
        for (name, value) in command.get_envs() {
            script.env(name, value.unwrap_or_default());
        }
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux has script");
        let (keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let screen = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&screen);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                written.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Self { child, keyboard, screen, read: 0 }
    }

    /// Waits until `text` is shown, after what was waited for before.
    pub(super) fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + TIMEOUT;
        loop {
            let screen = self.screen.lock().unwrap();
            if let Some(at) = screen[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            assert!(Instant::now() < until, "{text:?} is not shown:\n{}", &screen[self.read..]);
            drop(screen);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Ends the conversation; all that was shown.
    pub(super) fn end(mut self) -> String {
        // One that ended already reads no more.
        let _ = self.keyboard.write_all(b"\x04");
        let until = Instant::now() + TIMEOUT;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not end:\n{}", self.screen.lock().unwrap());
            thread::sleep(Duration::from_millis(5));
        }
        self.screen.lock().unwrap().clone()
    }
}

/// A model that writes a file for every message, and then repeats what the tool said.
fn writer(body: &Value) -> Reply {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    match last["role"].as_str().unwrap() {
        "user" if !last["content"].as_str().unwrap().contains("<note>") => {
            let turn = messages.iter().filter(|message| message["role"] == "user").count();
            let arguments = json!({"path": format!("note-{turn}.md"), "content": "\u{1b}]0;owned\u{7}tide"});
            says(WireFormat::OpenAi, "", &[("", "write_file", &arguments.to_string())])
        }
        _ => {
            let told = results(body).pop().unwrap_or_default();
            let told: Value = serde_json::from_str(&told).unwrap_or_default();
            let said = told["message"].as_str().or(told["path"].as_str()).unwrap_or_default().to_owned();
            says(WireFormat::OpenAi, &format!("**Told**: {said}\u{1b}[2J\n"), &[])
        }
    }
}

#[test]
fn a_person_approves_denies_edits_and_comes_back() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|got| writer(&got.body));
    let exists = |name: &str| project.path().join(name).exists();
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("Write one.\r");
    person.wait_for("path: note-1.md");
    person.wait_for("[y] yes");
    assert!(!exists("note-1.md"));
    person.type_keys("y\r");
    person.wait_for("note-1.md");
    person.wait_for("> ");
    assert!(exists("note-1.md"));

    person.type_keys("Write two.\r");
    person.wait_for("[y] yes");
    person.type_keys("n\r");
    person.wait_for("why (optional)");
    person.type_keys("wrong folder\r");
    person.wait_for("DENIED_BY_USER");
    person.wait_for("wrong folder");
    person.wait_for("> ");
    let denied = endpoint.requests().into_iter().rev().find_map(|got| results(&got.body).pop()).unwrap();
    assert!(denied.contains("DENIED_BY_USER") && denied.contains("wrong folder"), "{denied}");

    person.type_keys("Write three.\r");
    person.wait_for("[y] yes");
    person.type_keys("e\r");
    person.wait_for("edit: ");
    // The line is replaced as a whole. Invalid JSON is edited again.
    person.type_keys("\u{5}\u{15}{\"path\": \r");
    person.wait_for("not JSON");
    person.wait_for("edit: ");
    person.type_keys("\u{5}\u{15}{\"path\": \"edited.md\", \"content\": \"mine\"}\r");
    person.wait_for("edited.md");
    person.wait_for("> ");
    assert_eq!(std::fs::read_to_string(project.path().join("edited.md")).unwrap(), "mine");

    // Ctrl-C at a question ends the step, and the conversation continues.
    person.type_keys("Write four.\r");
    person.wait_for("[y] yes");
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    person.type_keys("/help\r");
    person.wait_for("/memos");
    person.type_keys("Write five.\r");
    person.wait_for("[a] always write_file");
    person.type_keys("a\r");
    person.wait_for("> ");
    person.type_keys("Write six.\r");
    person.wait_for("Told");
    person.wait_for("> ");
    let shown = person.end();
    for name in ["note-2.md", "note-3.md"] {
        assert!(!exists(name), "{name}");
    }
    let written = std::fs::read_dir(project.path()).unwrap().flatten().count();
    assert!(written >= 5, "{shown}");
    assert!(shown.contains("\u{1b}[1mTold\u{1b}[0m"), "Markdown is rendered: {shown}");
    assert!(!shown.contains("owned\u{7}") && !shown.contains("\u{1b}[2J"), "what steers a terminal is shown: {shown}");

    let mut again = Person::start(&project, &endpoint, "--continue");
    again.wait_for("Told");
    again.wait_for("> ");
    again.type_keys("Write seven.\r");
    // What was approved for the last conversation is not for this one.
    again.wait_for("[y] yes");
    again.type_keys("n\r");
    again.wait_for("why");
    again.type_keys("\r");
    again.wait_for("DENIED_BY_USER");
    again.wait_for("> ");
    let shown = again.end();
    assert!(shown.contains("--resume"), "{shown}");
}

#[test]
fn ctrl_c_ends_a_stream_and_a_tool_with_its_processes() {
    let project = Project::new();
    let line = "a line without what is sought, as there are so many\n".repeat(20_000);
    for number in 0..200 {
        project.write(&format!("tree/{number}.txt"), &line);
    }
    let endpoint = Scripted::with_script(|got| {
        let messages = got.body["messages"].as_array().unwrap();
        match messages.last().unwrap()["content"].as_str().unwrap_or_default() {
            "Speak." => Reply::events([text(WireFormat::OpenAi, "First line.\nand then ")]).then(AfterReply::Hang),
            "Search." => {
                let arguments = json!({"pattern": "(?i)(a|b|c|l|i)+.*(sought|none)+ .*x$", "path": "tree"});
                says(WireFormat::OpenAi, "", &[("", "search_file_content", &arguments.to_string())])
            }
            _ => says(WireFormat::OpenAi, "Here I am.\n", &[]),
        }
    });
    let tools = || project.processes().iter().filter(|process| process.command.contains("--run-tool")).count();
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("Speak.\r");
    person.wait_for("and then");
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    person.type_keys("Search.\r");
    let until = Instant::now() + TIMEOUT;
    while tools() == 0 {
        assert!(Instant::now() < until, "the search does not start");
        thread::sleep(Duration::from_millis(5));
    }
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    assert_eq!(tools(), 0);
    person.wait_for("> ");
    person.type_keys("Are you there?\r");
    person.wait_for("Here I am.");
    person.wait_for("> ");
    // Twice the program.
    person.type_keys("\u{3}");
    person.wait_for("once more");
    person.type_keys("\u{3}");
    let until = Instant::now() + TIMEOUT;
    while person.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(5));
    }
    let events = conversations(&project).into_values().next().unwrap();
    let interrupted = events.iter().filter(|event| event["type"] == "interrupted").count();
    assert_eq!(interrupted, 2);
}

/// A model that runs the line after "Run: ", and then says how it ended.
fn runner(body: &Value) -> Reply {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let said = last["content"].as_str().unwrap_or_default();
    if let Some(line) = said.strip_prefix("Run: ") {
        return says(WireFormat::OpenAi, "", &[("", "run_command", &json!({"command": line}).to_string())]);
    }
    let told: Value = serde_json::from_str(&results(body).pop().unwrap_or_default()).unwrap_or_default();
    let end = told["error_code"].as_str().map_or_else(|| told["exit_code"].to_string(), str::to_owned);
    says(WireFormat::OpenAi, &format!("It ended with {end}.\n"), &[])
}

#[test]
fn a_line_is_approved_denied_edited_and_approved_for_good() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|got| runner(&got.body));
    let exists = |name: &str| project.path().join(name).exists();
    project.write("config/ragmaker/ragmaker.toml", "[agent]\nthink_required = false\n");
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    let mut asked = |line: &str, questions: &[(&str, &str)], end: &str| {
        person.type_keys(&format!("Run: {line}\r"));
        for (wait_for, type_keys) in questions {
            person.wait_for(wait_for);
            person.type_keys(type_keys);
        }
        person.wait_for(&format!("It ended with {end}."));
        person.wait_for("> ");
    };
    asked(
        "touch one",
        &[("a person has to approve", ""), ("command: touch one", ""), ("[a] always touch one", "y\r")],
        "0",
    );
    assert!(exists("one"));
    let denies = [("[a] always this line", "n\r"), ("why (optional)", "not now\r")];
    asked("touch two; touch three", &denies, "DENIED_BY_USER");
    assert!(!exists("two"));
    asked("touch four", &[("[y] yes", "e\r"), ("edit: ", "\u{5}\u{15}touch five\r")], "0");
    assert!(!exists("four") && exists("five"));
    asked("mkdir -p a", &[("[a] always this line", "a\r")], "0");
    // The same line runs unasked now, and another does not.
    asked("mkdir -p a", &[], "0");
    asked("mkdir -p b", &denies, "DENIED_BY_USER");
    asked("touch six seven", &[("[a] always touch six", "a\r")], "0");
    asked("touch six eight", &[], "0");
    assert!(exists("eight"));
    // Whoever would approve it.
    asked("rm -rf ~", &[], "COMMAND_BLOCKED");

    // Ctrl-C while a command runs ends it with all that it started.
    person.type_keys("Run: touch begun; sleep 977 & sleep 978\r");
    person.wait_for("[y] yes");
    person.type_keys("y\r");
    let until = Instant::now() + TIMEOUT;
    while !exists("begun") {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(5));
    }
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    let sleeps = || {
        let list = Command::new("ps").args(["-eo", "args"]).output().unwrap();
        String::from_utf8_lossy(&list.stdout).lines().filter(|line| line.starts_with("sleep 97")).count()
    };
    while sleeps() > 0 {
        assert!(Instant::now() < until, "{} processes are left", sleeps());
        thread::sleep(Duration::from_millis(20));
    }
    person.end();
}

#[test]
fn an_external_tool_needs_approval_with_its_permissions() {
    let project = Project::new();
    ragmaker_testkit::script(project.path(), "config/ragmaker/bin/stamp", "touch stamped");
    project.write("config/ragmaker/functions.json", r#"[{"name": "stamp"}]"#);
    project.write(
        "config/ragmaker/ragmaker.toml",
        "[agent]\nthink_required = false\n[tools]\ncatalogs = ['functions.json']\n",
    );
    let endpoint = Scripted::with_script(|got| {
        let messages = got.body["messages"].as_array().unwrap();
        match messages.last().unwrap()["role"].as_str() {
            Some("user") => says(WireFormat::OpenAi, "", &[("", "stamp", "{}")]),
            _ => says(WireFormat::OpenAi, "Told.\n", &[]),
        }
    });
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("Stamp it.\r");
    person.wait_for("stamp is not a tool of RAGMaker: may change the project; may use the network");
    person.wait_for("[a] always stamp");
    person.type_keys("n\r");
    person.wait_for("why (optional)");
    person.type_keys("\r");
    person.wait_for("DENIED_BY_USER");
    person.wait_for("> ");
    assert!(!project.path().join("stamped").exists());
    person.type_keys("Stamp it.\r");
    person.wait_for("[a] always stamp");
    person.type_keys("a\r");
    person.wait_for("Told.");
    person.wait_for("> ");
    assert!(project.path().join("stamped").exists());
    person.type_keys("Stamp it.\r");
    person.wait_for("Told.");
    // Ctrl-D before the prompt would be lost: the terminal is not in raw mode yet.
    person.wait_for("> ");
    person.end();
}

/// A model that runs `line`, and then says "Done.".
pub(super) fn runs(line: &'static str) -> Scripted {
    Scripted::with_script(move |got| match got.body["messages"].as_array().unwrap().last().unwrap()["role"].as_str() {
        Some("user") => says(WireFormat::OpenAi, "", &[("", "run_command", &json!({"command": line}).to_string())]),
        _ => says(WireFormat::OpenAi, "Done.\n", &[]),
    })
}

#[test]
fn a_question_hides_nothing_of_a_line() {
    let project = Project::new();
    project.write("config/ragmaker/ragmaker.toml", "[agent]\nthink_required = false\n");
    let line = "touch one \u{1b}]0;two;\u{7}\u{1b}[8mthree\u{1b}[2K\u{9b}1A four\u{202e}\u{200b}\r; touch five";
    let endpoint = runs(line);
    let mut person = Person::start(&project, &endpoint, "2>errors");
    person.wait_for("> ");
    person.type_keys("Go.\r");
    let shown = r"command: touch one \x1b]0;two;\x07\x1b[8mthree\x1b[2K\x9b1A four\u{202e}\u{200b}\x0d; touch five";
    person.wait_for(shown);
    person.wait_for("[y] yes");
    // The edited text is shown as it is, without control sequences.
    person.type_keys("e\r");
    person.wait_for(r"edit: touch one \x1b]0;two");
    person.type_keys("\u{5}\u{15}touch six\r");
    person.wait_for("Done.");
    person.wait_for("> ");
    let screen = person.end();
    assert!(!screen.contains("\u{1b}]0;two") && !screen.contains("\u{1b}[8m"), "{screen}");
    assert!(project.path().join("six").exists() && !project.path().join("five").exists());
    // A program that reads standard error gets no question, but nothing or one object.
    let mut person = Person::start(&project, &endpoint, "Go. --output json 2>errors");
    person.wait_for(shown);
    person.wait_for("[y] yes");
    person.type_keys("n\r");
    person.wait_for("why");
    person.type_keys("\r");
    person.wait_for("\"answer\": \"Done.\\n\"");
    person.end();
    assert_eq!(std::fs::read_to_string(project.path().join("errors")).unwrap(), "");
}

#[test]
fn a_signal_ends_the_prompt_and_a_question() {
    let project = Project::new();
    let endpoint = runs("touch one");
    for (signal, at_question) in [("TERM", false), ("TERM", true), ("INT", true)] {
        // Their ids begin with the second, so the last one need not be the newest.
        let before = conversations(&project);
        let mut person = Person::start(&project, &endpoint, "");
        person.wait_for("> ");
        if at_question {
            person.type_keys("Go.\r");
            person.wait_for("[y] yes");
        }
        let is_agent = |command: &str| command.split(' ').next().unwrap().ends_with("ragmaker-agent");
        let agent = project.processes().into_iter().find(|process| is_agent(&process.command)).unwrap();
        let sent = Command::new("kill").args([&format!("-{signal}"), &agent.pid.to_string()]).status().unwrap();
        assert!(sent.success());
        if signal == "INT" {
            // As Ctrl-C: the step ends, and the conversation continues.
            person.wait_for("CANCELLED");
            person.wait_for("> ");
            assert!(person.end().contains("--resume"));
        } else {
            person.wait_for("--resume");
            assert_eq!(person.child.wait().unwrap().code(), Some(143));
        }
        let mut new = conversations(&project).into_iter().filter(|(id, _)| !before.contains_key(id));
        let last = new.next().unwrap().1.pop().unwrap();
        assert_eq!(last["type"], if at_question { "interrupted" } else { "session" }, "{last}");
        assert!(!project.path().join("one").exists());
    }
    assert_eq!(project.left_running(Duration::from_secs(10)).len(), 0);
}

#[test]
fn plan_and_memos_are_shown() {
    let project = Project::new();
    project.write("config/ragmaker/ragmaker.toml", "[agent]\nthink_required = false\n");
    let endpoint = Scripted::with_script(|got| match got.body["messages"].as_array().unwrap().last().unwrap()["role"]
        .as_str()
    {
        Some("user") => {
            let todo = json!([{"id": "1", "task": "measure the tide", "status": "in_progress"}]);
            let work = json!({"work_plan": "Read, then write.\u{1b}[2J", "memos": "Brest: 7.4 m", "todo_list": todo});
            says(WireFormat::OpenAi, "", &[("", "work", &work.to_string())])
        }
        _ => says(WireFormat::OpenAi, "Planned.\n", &[]),
    });
    let mut person = Person::start(&project, &endpoint, "");
    person.wait_for("> ");
    for command in ["/state", "/memos"] {
        person.type_keys(&format!("{command}\r"));
        person.wait_for("(nothing yet)");
        person.wait_for("> ");
    }
    person.type_keys("Plan it.\r");
    person.wait_for("Planned.");
    person.wait_for("> ");
    person.type_keys("/state\r");
    for shown in ["Read, then write.", "measure the tide"] {
        person.wait_for(shown);
    }
    person.wait_for("> ");
    person.type_keys("/memos\r");
    person.wait_for("Brest: 7.4 m");
    person.wait_for("> ");
    // A new conversation has a state of its own.
    person.type_keys("/reset\r");
    person.wait_for("a new conversation");
    person.wait_for("> ");
    person.type_keys("/memos\r");
    person.wait_for("(nothing yet)");
    person.wait_for("> ");
    let screen = person.end();
    assert!(!screen.contains("\u{1b}[2J"), "{screen}");
    let asked = endpoint.requests();
    assert_eq!(asked.len(), 2, "a command is not sent to the model");
}

#[test]
fn ctrl_c_closes_the_tab_of_a_page_that_loads() {
    let visitor = Visitor::with_browser();
    let before = tabs(visitor.project.path()).len();
    let page = visitor.url("/slow/first-byte");
    let endpoint = Scripted::with_script(move |got| {
        match got.body["messages"].as_array().unwrap().last().unwrap()["role"].as_str() {
            Some("user") => {
                says(WireFormat::OpenAi, "", &[("", "browser_navigate", &json!({"url": page}).to_string())])
            }
            _ => says(WireFormat::OpenAi, "Done.\n", &[]),
        }
    });
    let mut person = Person::start(&visitor.project, &endpoint, "");
    person.wait_for("> ");
    person.type_keys("Go.\r");
    assert!(visitor.site.wait_for("/slow/first-byte", TIMEOUT));
    person.type_keys("\u{3}");
    person.wait_for("CANCELLED");
    person.wait_for("> ");
    let until = Instant::now() + TIMEOUT;
    while tabs(visitor.project.path()).len() > before {
        assert!(Instant::now() < until, "{:?}", tabs(visitor.project.path()));
        thread::sleep(Duration::from_millis(20));
    }
    person.end();
    visitor.close().run().answer();
}
