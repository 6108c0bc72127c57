//! Calls that run in a process of their own: progress, cancelling, standard input, memory.
//!
//! Processes are looked for in `/proc`, which Linux has.

#![cfg(target_os = "linux")]

use super::*;

/// A tree that takes a search longer than any test waits.
fn endless(project: &Project) {
    let line = "a line without what is sought, as there are so many\n".repeat(20_000);
    for number in 0..200 {
        project.write(&format!("tree/{number}.txt"), &line);
    }
}

fn search(client: &Client) -> ragmaker_tests::mcp::Pending {
    let arguments = json!({"pattern": "(?i)(a|b|c|l|i)+.*(sought|none)+ .*x$", "path": "tree"});
    client.send(
        "tools/call",
        json!({"name": "search_file_content", "arguments": arguments, "_meta": {"progressToken": "p"}}),
    )
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + WAIT_TIMEOUT;
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn children(project: &Project) -> usize {
    project.processes().iter().filter(|process| process.command.contains("--run-tool")).count()
}

#[test]
fn long_work_is_reported_and_ends_when_it_is_cancelled() {
    let project = Project::new();
    endless(&project);
    let client = opened(&project);
    let search = search(&client);
    let report = client.unasked(WAIT_TIMEOUT);
    assert_eq!(report[0]["method"], "notifications/progress", "{report:?}");
    assert_eq!(report[0]["params"]["progressToken"], "p");
    assert!(report[0]["params"]["message"].as_str().unwrap().starts_with("search_file_content: "));
    assert_eq!(children(&project), 1);
    client.notify("notifications/cancelled", &json!({"requestId": search.id, "reason": "enough"}));
    wait_for("the process ends", || children(&project) == 0);
    // A cancelled call gets no answer; the server continues.
    assert!(search.within(Duration::from_millis(200)).is_none());
    client.answer("project_info", json!({}));
    assert!(client.close().success());
}

#[test]
fn tools_cannot_read_the_server_s_standard_input() {
    let project = Project::new();
    endless(&project);
    let client = opened(&project);
    let _search = search(&client);
    wait_for("the process starts", || children(&project) == 1);
    let apart = project.processes().into_iter().find(|process| process.command.contains("--run-tool")).unwrap();
    let input = |pid: u32| fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    assert_eq!(input(client.pid()), Path::new("/dev/null"));
    wait_for("it has taken its arguments", || input(apart.pid) == Path::new("/dev/null"));
    assert!(client.close().success());
}

#[test]
fn no_process_outlives_the_server() {
    let project = Project::new();
    endless(&project);
    for is_killed in [true, false] {
        let client = opened(&project);
        let _search = search(&client);
        wait_for("the process starts", || children(&project) == 1);
        if is_killed {
            // Without a chance to end anything.
            drop(client);
        } else {
            assert!(client.close().success());
        }
        wait_for("the process ends", || children(&project) == 0);
    }
    assert!(project.left_running(WAIT_TIMEOUT).is_empty());
}

#[test]
fn memory_does_not_grow_with_the_calls() {
    let project = project_with_files();
    let client = opened(&project);
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().to_owned();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let turns: Vec<usize> = (0..500).collect();
    let round = || drop(at_once(16, &turns, |_| client.answer("read_file", json!({"path": "notes/a.txt"}))));
    round();
    let before = resident();
    for _ in 0..4 {
        round();
    }
    let after = resident();
    assert!(after < before + 4096, "{before} kB, then {after} kB");
}
