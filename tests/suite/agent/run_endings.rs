//! The end of a run with `--output json`: always one JSON object, an answer on standard output with exit status 0, or
//! an error on standard error with another status.

use std::{process::Stdio, thread};

use super::*;

/// The run of one request with `--output json`, which [`Tool::run`] checks for its single object.
fn run(project: &Project, endpoint: &Scripted, more: &[&str]) -> Output {
    agent(project, endpoint, WireFormat::OpenAi).args(["When?", "--output", "json"]).args(more).run()
}

fn say(said: &str) -> Reply {
    says(WireFormat::OpenAi, said, &[])
}

fn refused(line: &str, headers: &str, message: &str) -> Reply {
    Reply::status(line, headers, &json!({"error": {"message": message}}).to_string())
}

#[test]
fn every_end_by_the_endpoint_is_one_object() {
    let call = || says(WireFormat::OpenAi, "", &[("", "project_info", "{}")]);
    let cut = || Reply::events([text(WireFormat::OpenAi, "half an ans")]);
    let endless = Reply::events([text(WireFormat::OpenAi, &"tide ".repeat(20_000))]).then(AfterReply::Repeat);
    let now = "Retry-After: 0\r\n";
    let rows: Vec<(&str, Vec<Reply>, &[&str], &str)> = vec![
        ("finished", vec![say("Twice a day.")], &[], ""),
        ("finished with calls", vec![call(), say("Draft."), say("Twice a day.")], &[], ""),
        ("limit of steps", vec![call(), call()], &["--max-steps", "2"], "STEP_LIMIT"),
        ("repeated calls", (0..5).map(|_| call()).collect(), &[], "STEP_LIMIT"),
        ("wrong key", vec![refused("401 No", "", "wrong key")], &[], "MODEL_AUTH_FAILED"),
        ("rate limit", vec![refused("429 Slow", now, "slow"); 5], &[], "MODEL_RATE_LIMITED"),
        ("long rate limit", vec![refused("429 Slow", "Retry-After: 9000\r\n", "")], &[], "MODEL_RATE_LIMITED"),
        ("server errors", vec![refused("500 Oops", now, "down"); 5], &[], "MODEL_UNREACHABLE"),
        ("dropped streams", (0..5).map(|_| cut()).collect(), &[], "MODEL_UNREACHABLE"),
        ("nobody listens", vec![], &[], "MODEL_UNREACHABLE"),
        ("unknown model", vec![refused("404 None", "", "no such model")], &[], "MODEL_ANSWER_INVALID"),
        ("no end", vec![endless], &[], "MODEL_ANSWER_INVALID"),
        ("no text", vec![say(""), say("")], &[], "MODEL_ANSWER_INVALID"),
        ("overflow", vec![refused("400 Long", "", "maximum context length exceeded")], &[], "CONTEXT_TOO_LONG"),
    ];
    // Some wait between their attempts.
    thread::scope(|scope| {
        for (name, replies, more, code) in rows {
            scope.spawn(move || {
                let project = Project::new();
                let run = run(&project, &Scripted::new(replies), more);
                let (session, _) = conversations(&project).pop_first().unwrap();
                if code.is_empty() {
                    assert_eq!((&run.answer()["answer"], run.code), (&json!("Twice a day."), 0), "{name}");
                    assert_eq!(run.answer()["session"], session, "{name}");
                } else {
                    assert_eq!((&run.error(code)["details"]["session"], run.code), (&json!(session), 1), "{name}");
                }
            });
        }
    });
}

#[test]
fn every_end_before_the_first_request_is_one_object() {
    let endpoint = Scripted::with_script(|_| say("Twice a day."));
    let broken = [
        ("no such conversation", "", &["--resume", "20000101-000000-0000"][..], "SESSION_NOT_FOUND", 1),
        ("no conversation", "", &["--continue"], "SESSION_NOT_FOUND", 1),
        ("unknown key", "[agent]\nmax_step = 3\n", &[], "CONFIG_INVALID", 1),
        ("no TOML", "agent = [\n", &[], "CONFIG_INVALID", 1),
        ("no file", "", &["--config", "none.toml"], "CONFIG_INVALID", 1),
        ("no confirmation", "[command]\nallow = ['touch']\n", &[], "CONFIG_NOT_TRUSTED", 1),
        ("no tool", "", &["--tools", "write_file", "--read-only"], "ARGUMENT_ERROR", 2),
        ("unknown tool", "", &["--tools", "unheard_of"], "ARGUMENT_ERROR", 2),
        ("unknown flag", "", &["--unheard-of"], "ARGUMENT_ERROR", 2),
    ];
    for (name, configuration, more, code, exit) in broken {
        let project = Project::new();
        project.write("ragmaker.toml", configuration);
        let run = run(&project, &endpoint, more);
        run.error(code);
        assert_eq!(run.code, exit, "{name}");
    }
    let project = Project::new();
    let tool = |key: &str| agent(&project, &endpoint, WireFormat::OpenAi).env("OPENAI_API_KEY", key);
    tool("").args(["?", "--output", "json"]).run().error("MODEL_NOT_CONFIGURED");
    tool(KEY).args(["--output", "json"]).run().error("ARGUMENT_ERROR");
    tool(KEY).args(["?", "--output", "json"]).stdin(vec![b'x'; (1 << 20) + 1]).run().error("INPUT_TOO_LARGE");
    // Where the conversations should be is a file.
    project.write(".tmp", "");
    tool(KEY).args(["?", "--output", "json"]).run().error("SESSION_FAILED");
    assert!(endpoint.requests().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_printed_is_an_error() {
    for form in ["json", "jsonl", "text"] {
        let project = Project::new();
        let endpoint = Scripted::with_script(|_| say("Twice a day."));
        let mut command = agent(&project, &endpoint, WireFormat::OpenAi).args(["?", "--output", form]).into_command();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ended = command.stdin(Stdio::null()).stdout(full).output().unwrap();
        let error: Value = serde_json::from_slice(&ended.stderr).unwrap();
        assert_eq!((ended.status.code(), &error["error_code"]), (Some(1), &json!("OUTPUT_ERROR")), "{form}");
    }
}

#[test]
fn an_answer_that_nobody_reads_is_no_error() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|_| say("Twice a day."));
    let mut command = agent(&project, &endpoint, WireFormat::OpenAi).arg("?").into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}

#[cfg(unix)]
mod signals {
    use std::{
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn send(signal: &str, child: &Child) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Starts a run whose standard input stays open if `waits`.
    fn start(tool: Tool, form: &str, waits: bool) -> Child {
        let mut command = tool.args(["Go.", "--approve", "all", "--output", form]).into_command();
        command.stdin(if waits { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Checks that `signal` ends the run in order.
    fn ends(mut child: Child, project: &Project, (signal, exit): (&str, i32), form: &str) {
        send(signal, &child);
        let input = child.stdin.take();
        let ended = child.wait_with_output().unwrap();
        drop(input);
        let error: Value = serde_json::from_slice(&ended.stderr).unwrap();
        assert_eq!((ended.status.code(), &error["error_code"]), (Some(exit), &json!("CANCELLED")), "{error}");
        let shown = String::from_utf8(ended.stdout).unwrap();
        match shown.lines().last() {
            None => assert_eq!(form, "json"),
            Some(last) => {
                let last: Value = serde_json::from_str(last).unwrap();
                assert_eq!((form, &last["type"], &last["error_code"]), ("jsonl", &json!("error"), &json!("CANCELLED")));
            }
        }
        assert_eq!(project.left_running(Duration::from_secs(10)).len(), 0);
    }

    const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

    #[test]
    fn a_signal_ends_a_request_and_its_conversation_goes_on() {
        for (signal, form) in SIGNALS.into_iter().zip(["json", "jsonl", "json"]) {
            let project = Project::new();
            let endpoint = Scripted::with_script(|_| Reply::default().then(AfterReply::Hang));
            let child = start(agent(&project, &endpoint, WireFormat::OpenAi), form, false);
            wait_until("the model is not asked", || !endpoint.requests().is_empty());
            ends(child, &project, signal, form);
            let events = conversations(&project).into_values().next().unwrap();
            let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["session", "user", "interrupted"]);
            let good = Scripted::with_script(|_| say("Here again."));
            let later = run(&project, &good, &["--continue"]);
            assert_eq!(later.answer()["answer"], "Here again.");
            assert!(good.requests()[0].body.to_string().contains("Go."));
        }
    }

    #[test]
    fn a_signal_ends_a_tool_and_a_wait_for_a_retry() {
        for signal in SIGNALS {
            let project = Project::new();
            let line = json!({"command": "touch begun; sleep 600 & sleep 600"}).to_string();
            let endpoint = Scripted::with_script(move |_| says(WireFormat::OpenAi, "", &[("", "run_command", &line)]));
            let child = start(agent(&project, &endpoint, WireFormat::OpenAi), "json", false);
            wait_until("the command does not start", || project.path().join("begun").exists());
            ends(child, &project, signal, "json");
            let events = conversations(&project).into_values().next().unwrap();
            assert_eq!(events.last().unwrap()["type"], "interrupted");
            let project = Project::new();
            let endpoint = Scripted::with_script(|_| refused("429 Slow", "Retry-After: 100\r\n", ""));
            let child = start(agent(&project, &endpoint, WireFormat::OpenAi), "json", false);
            wait_until("the model is not asked", || !endpoint.requests().is_empty());
            ends(child, &project, signal, "json");
        }
    }

    #[test]
    fn a_signal_before_the_first_request_ends_the_run() {
        for signal in SIGNALS {
            let project = Project::new();
            let endpoint = Scripted::with_script(|_| say("Done."));
            // It waits for the end of its input.
            let child = start(agent(&project, &endpoint, WireFormat::OpenAi), "json", true);
            let threads = format!("/proc/{}/task", child.id());
            wait_until("it does not read", || {
                !cfg!(target_os = "linux") || std::fs::read_dir(&threads).is_ok_and(|tasks| tasks.count() >= 3)
            });
            ends(child, &project, signal, "json");
            assert!(conversations(&project).is_empty());
            // It waits for a server.
            let script = "touch begun; exec sleep 600";
            let configuration = format!("[mcp.servers.slow]\ncommand = 'sh'\nargs = ['-c', '{script}']\n");
            project.write("config/ragmaker/ragmaker.toml", configuration);
            let child = start(agent(&project, &endpoint, WireFormat::OpenAi), "json", false);
            wait_until("the server does not start", || project.path().join("begun").exists());
            ends(child, &project, signal, "json");
            assert!(conversations(&project).is_empty() && endpoint.requests().is_empty());
        }
    }

    #[test]
    fn the_same_signal_again_ends_the_run_at_once() {
        let project = Project::new();
        // The server does not end when asked to, so the first signal leads to a wait.
        let script = "touch begun; trap \"\" TERM; exec sleep 600";
        let configuration = format!("[mcp.servers.slow]\ncommand = 'sh'\nargs = ['-c', '{script}']\n");
        project.write("config/ragmaker/ragmaker.toml", configuration);
        let endpoint = Scripted::with_script(|_| say("Done."));
        let child = start(agent(&project, &endpoint, WireFormat::OpenAi), "json", false);
        wait_until("the server does not start", || project.path().join("begun").exists());
        send("TERM", &child);
        ends(child, &project, ("TERM", 143), "json");
    }
}

#[test]
fn a_run_whose_output_nobody_reads_ends() {
    let project = Project::new();
    let endpoint = Scripted::with_script(|got| {
        let arguments = json!({"reflection": format!("Step {}.", answers(&got.body))});
        says(WireFormat::OpenAi, "", &[("", "think", &arguments.to_string())])
    });
    let run = agent(&project, &endpoint, WireFormat::OpenAi);
    let mut command = run.args(["Think.", "--output", "jsonl", "--max-steps", "100000"]).into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut first).unwrap();
    assert!(first.contains("\"session\""), "{first}");
    let ended = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("CANCELLED"), "{ended:?}");
}

#[test]
fn a_turn_that_was_killed_in_its_last_step_says_so() {
    let project = Project::new();
    project.write("tides.md", "Spring tides follow the new moon.\n");
    let endpoint = Scripted::with_script(|got| reader(WireFormat::OpenAi, &got.body));
    let run = |flags: &[&str]| {
        agent(&project, &endpoint, WireFormat::OpenAi).args(["--max-steps", "1", "--output", "json"]).args(flags).run()
    };
    run(&["When?"]).error("STEP_LIMIT");
    let (id, events) = conversations(&project).into_iter().next().unwrap();
    // Killed in the call.
    let kept = events.iter().take_while(|event| event["type"] != "tool_result").map(|event| format!("{event}\n"));
    project.write(&format!(".tmp/cache/conversations/{id}.jsonl"), kept.collect::<String>());
    run(&["--resume", &id]).error("STEP_LIMIT");
    let (_, events) = conversations(&project).into_iter().next().unwrap();
    assert!(events.last().unwrap()["text"].as_str().unwrap().contains("interrupted by the user"), "{events:?}");
}
