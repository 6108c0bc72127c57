//! `ragmaker-github-fetch` when it is killed.
#![cfg(target_os = "linux")]

use std::{
    fs,
    net::TcpListener,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_testkit::Tree;

/// The tool's executable.
const TOOL: &str = env!("CARGO_BIN_EXE_ragmaker-github-fetch");

/// A server that never answers keeps Git waiting: it ends with the tool, even if that is killed.
#[test]
fn git_does_not_outlive_a_killed_call() {
    let tree = Tree::new(TOOL);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/repository.git", silent.local_addr().unwrap());
    let mut call = Command::new(TOOL)
        .args(["--repo-url", &url, "--kb-root", "kb"])
        .current_dir(&tree.root)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _connection = silent.accept().unwrap();
    // The tool, Git, and the programs with which Git speaks HTTP.
    let running = || {
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
        processes.filter(|line| String::from_utf8_lossy(line).contains(&url)).count()
    };
    assert!(running() > 2);
    call.kill().unwrap();
    call.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while running() > 0 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(running(), 0);
}
