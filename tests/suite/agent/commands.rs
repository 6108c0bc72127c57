//! Shell lines through the agent: approvals, the passed approval, and failures.

use super::*;

fn line(command: &str) -> (&'static str, Value) {
    ("run_command", json!({"command": command}))
}

fn configure(project: &Project, text: &str) {
    project.write("config/ragmaker/ragmaker.toml", text);
}

#[test]
fn without_a_person_only_reading_or_allowed_lines_run() {
    let project = Project::new();
    project.write("a.md", "x\n");
    let calls = || vec![line("wc -l a.md"), line("touch b.md"), line("rm -rf /"), line("touch c.md; touch d.md")];
    let codes = |told: &[Value]| {
        told.iter().map(|answer| answer["error_code"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    let refused = told(&project, &[], calls());
    assert_eq!(codes(&refused)[1..4], ["NEEDS_APPROVAL", "COMMAND_BLOCKED", "NEEDS_APPROVAL"], "{refused:?}");
    if confines(&project) {
        assert_eq!(refused[0]["stdout"], "1 a.md\n");
    }
    configure(&project, "[command]\nallow = ['touch b.md']\n");
    assert_eq!(codes(&told(&project, &[], calls()))[1..4], ["", "COMMAND_BLOCKED", "NEEDS_APPROVAL"]);
    assert!(project.path().join("b.md").exists() && !project.path().join("c.md").exists());
    assert_eq!(codes(&told(&project, &["--approve", "read"], calls()))[1], "NEEDS_APPROVAL");
    // Blocked is blocked, whoever approves.
    assert_eq!(codes(&told(&project, &["--approve", "all"], calls()))[1..4], ["", "COMMAND_BLOCKED", ""]);
    assert!(project.path().join("c.md").exists());
    // A project cannot allow itself anything.
    let own = Project::new();
    own.write("ragmaker.toml", "[command]\nallow = ['touch']\n");
    let endpoint = caller(calls());
    agent(&own, &endpoint, WireFormat::OpenAi).arg("Go.").run().error("CONFIG_NOT_TRUSTED");
}

#[test]
fn the_log_has_the_rule_by_which_a_line_ran() {
    let project = Project::new();
    project.write("a.md", "x\n");
    configure(&project, "[command]\nallow = ['touch b.md']\n");
    let calls = vec![line("wc -l a.md"), line("touch b.md"), line("touch c.md"), line("rm -rf /")];
    told(&project, &["--debug"], calls.clone());
    told(&project, &["--debug", "--approve", "all"], calls[2..3].to_vec());
    let log = std::fs::read_to_string(project.path().join(".tmp/cache/logs/agent.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |command: &str| {
        let gates = lines.iter().filter(|line| line["what"] == "gate" && line["command"] == command);
        let fact = |line: &Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
        gates.map(|line| ["rule", "allowed_by", "error_code"].map(|name| fact(line, name))).collect::<Vec<_>>()
    };
    if confines(&project) {
        assert_eq!(of("wc -l a.md"), [["read-only", "rule", "-"]]);
    }
    let rule = &of("touch b.md")[0][0];
    assert_eq!(of("touch b.md"), [[&**rule, "earlier_approval", "-"]]);
    assert_eq!(of("touch c.md"), [[&**rule, "-", "NEEDS_APPROVAL"], [rule, "mode", "-"]]);
    let calls: Vec<_> = lines.iter().filter(|line| line["what"] == "call" && line["tool"] == "run_command").collect();
    assert_eq!((calls.len(), &calls[1]["exit_code"], &calls[1]["state"]), (5, &json!(0), &json!("tool_execution")));
    assert!(calls.iter().all(|line| line["bytes"].as_u64() > Some(100) && line["milliseconds"].is_u64()), "{calls:?}");
    let blocked = &of("rm -rf /")[0];
    assert_eq!((blocked[1].as_str(), blocked[2].as_str()), ("-", "COMMAND_BLOCKED"));
    assert!(blocked[0] != "-" && rule != "-" && *rule != "read-only");
}

#[test]
fn every_end_of_a_command_is_a_result() {
    let project = Project::new();
    let calls = vec![
        line("echo why >&2; exit 3"),
        line("kill -SEGV $$"),
        line("yes 0123456789012345678 | head -n 10000000; echo last"),
        ("run_command", json!({"command": "sleep 600", "timeout": 1})),
        ("run_command", json!({"command": 7})),
        ("run_command", json!({"line": "ls"})),
    ];
    let told = told(&project, &["--approve", "all"], calls);
    assert_eq!((&told[0]["exit_code"], &told[0]["stderr"]), (&json!(3), &json!("why\n")));
    assert_eq!(told[1]["signal"], 11);
    let much = told[2]["stdout"].as_str().unwrap();
    assert!(much.ends_with("last\n") && much.len() < 29_000 && told[2]["truncated"] == true);
    assert_eq!(std::fs::metadata(told[2]["log_file"].as_str().unwrap()).unwrap().len(), 200_000_005);
    assert_eq!((&told[3]["timed_out"], &told[3]["exit_code"]), (&json!(true), &Value::Null));
    assert_eq!((&told[4]["error_code"], &told[5]["error_code"]), (&json!("ARGUMENT_ERROR"), &json!("ARGUMENT_ERROR")));
}

#[cfg(target_os = "linux")]
#[test]
fn time_and_network_are_those_of_the_configuration() {
    let project = Project::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("echo x > /dev/tcp/127.0.0.1/{}", server.local_addr().unwrap().port());
    let connects = |more: Value| {
        let mut arguments = json!({"command": connect, "shell": "bash"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("run_command", arguments)
    };
    let calls = || vec![line("sleep 600"), connects(json!({})), connects(json!({"network": false}))];
    configure(&project, "[command]\ntimeout_s = 1\nnetwork = true\n");
    let reached = told(&project, &["--approve", "all"], calls());
    assert_eq!(reached[0]["timed_out"], true, "{reached:?}");
    assert_eq!(reached[1]["exit_code"], 0, "{reached:?}");
    if confines(&project) {
        assert_ne!(reached[2]["exit_code"], 0);
        // What runs unasked stays without it, so that it runs unasked.
        assert_eq!(told(&project, &[], vec![line("pwd")])[0]["exit_code"], 0);
        configure(&project, "[command]\ntimeout_s = 1\n");
        assert_ne!(told(&project, &["--approve", "all"], calls())[1]["exit_code"], 0);
    }
}

#[cfg(unix)]
#[test]
fn no_key_is_in_the_environment_of_started_processes() {
    let project = Project::new();
    let endpoint = caller(vec![
        line("env"),
        line("tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/$PPID/environ"),
        ("show", json!({})),
    ]);
    ragmaker_testkit::script(project.path(), "config/ragmaker/bin/show", "echo shown; env");
    project.write("config/ragmaker/functions.json", r#"[{"name": "show"}]"#);
    configure(&project, "[tools]\ncatalogs = ['functions.json']\n");
    let request = ["Go.", "--output", "json", "--approve", "all"];
    let run = agent(&project, &endpoint, WireFormat::OpenAi)
        .env("OPENAI_API_KEY", "")
        .env("OWN_VARIABLE", KEY)
        .env("RAGMAKER_API_KEY_ENV", "OWN_VARIABLE")
        .args(request)
        .run();
    assert_eq!(run.answer()["answer"], "Done.");
    let got = endpoint.requests();
    assert!(got[0].head.contains(KEY), "the key is sent to the endpoint");
    let bodies: Vec<_> = got.iter().map(|got| got.body.to_string()).collect();
    assert!(bodies.last().unwrap().contains("shown"));
    // Its value would be redacted, so the name is what shows it.
    for body in bodies {
        assert!(!body.contains(KEY) && !body.contains("OWN_VARIABLE"), "{body}");
    }
}

#[cfg(unix)]
#[test]
fn keys_stay_out_of_commands_and_their_logs() {
    let project = Project::new();
    let own = "own-secret-value-1";
    configure(&project, "[model]\napi_key_env = 'OWN_MODEL'\n[search]\napi_key_env = 'OWN_SEARCH'\n");
    project.write(".env", "OTHER_API_KEY=other-secret-value\n");
    project.write("leak.txt", format!("{own} own-secret-value-2 other-secret-value {KEY}\n"));
    let command = "env; for i in $(seq 4000); do cat leak.txt; done";
    let is_blank = |text: &str| {
        assert!(text.contains("[key]"), "{text}");
        for secret in ["secret-value", "OWN_MODEL", "OWN_SEARCH", "GITHUB_PAT"] {
            assert!(!text.contains(secret), "{secret}");
        }
    };
    let run = project
        .tool("run-command")
        .env("RAGMAKER_APPROVE", "all")
        .env("XDG_CONFIG_HOME", project.path().join("config"));
    let run = run
        .env("OWN_MODEL", own)
        .env("OWN_SEARCH", "own-secret-value-2")
        .env("GITHUB_PAT", "x")
        .args(["--command", command])
        .run();
    let log = run.answer()["log_file"].as_str().unwrap().to_owned();
    is_blank(&std::fs::read_to_string(log).unwrap());
    is_blank(run.answer()["stdout"].as_str().unwrap());
    // Through the agent, also its own key.
    let endpoint = caller(vec![line(command)]);
    let run =
        agent(&project, &endpoint, WireFormat::OpenAi).env("OWN_MODEL", KEY).env("OWN_SEARCH", "own-secret-value-2");
    run.args(["Go.", "--output", "json", "--approve", "all"]).run().answer();
    let logs = std::fs::read_dir(project.path().join(".tmp/cache/commands")).unwrap();
    let logs: Vec<_> = logs.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert!(logs.len() == 2 && logs.iter().any(|log| !log.contains(KEY)));
    for secret in ["own-secret-value-2", "other-secret-value", "OWN_MODEL", "OWN_SEARCH"] {
        assert!(!logs.iter().any(|log| log.contains(secret)), "{secret}");
    }
}
