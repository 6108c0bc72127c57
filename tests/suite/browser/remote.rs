//! Browsers of another machine: a `ChromeDriver` here stands for one, since it is reached by its address alone.

#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tests::{
    grid::children,
    json::get,
    run::Tool,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

/// How long a session may take to end after the call that used it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A `ChromeDriver` of its own.
pub(super) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// It may lose the race for the port that it chose, so three attempts are made.
    pub(super) fn start() -> Self {
        (0..3).find_map(|_| Self::attempt()).expect("the driver says its port")
    }

    fn attempt() -> Option<Self> {
        let program = std::env::var("RAGMAKER_CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let mut process =
            Command::new(program).arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.strip_prefix("ChromeDriver was started successfully on port ")?.trim_end_matches('.').parse().ok()
        });
        thread::spawn(move || lines.for_each(drop));
        if port.is_none() {
            process.wait().unwrap();
        }
        Some(Self { process, port: port? })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many sessions it has.
    fn sessions(&self) -> usize {
        let list = get(self.port, "/sessions", WAIT_TIMEOUT).unwrap();
        list["value"].as_array().unwrap().len()
    }

    /// Waits until it has as many sessions as `expected`.
    fn has(&self, expected: usize) -> bool {
        let until = Instant::now() + WAIT_TIMEOUT;
        while self.sessions() != expected && Instant::now() < until {
            thread::sleep(Duration::from_millis(100));
        }
        self.sessions() == expected
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn remote(tool: Tool, server: &Server) -> Tool {
    tool.args(["--webdriver-url", &server.url()])
}

/// Asserts that the calls of `visitor` have left neither sessions, nor processes, nor files of theirs.
fn assert_given_back(visitor: &Visitor, server: &Server, after: &str) {
    assert!(server.has(0), "{after}: {} sessions are left", server.sessions());
    let left: Vec<_> = visitor.project.left_running(WAIT_TIMEOUT).into_iter().map(|process| process.command).collect();
    assert!(left.is_empty(), "{after}: {left:#?}");
    let folder = visitor.project.path().join(".tmp/cache/browser_profiles");
    let folders: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    assert!(folders.is_empty(), "{after}: {folders:?}");
}

#[test]
fn a_call_borrows_a_browser_and_gives_it_back() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let here = visitor.navigate("/links/20").run().answer().clone();
    let there = remote(visitor.navigate("/links/20"), &server).run().answer().clone();
    assert_eq!((&there["links"], &there["title"]), (&here["links"], &here["title"]));
    assert_given_back(&visitor, &server, "a success");

    let saved = remote(visitor.extract("/page/one"), &server).run().answer().clone();
    let saved = Saved::read(Path::new(saved["file_path"].as_str().unwrap()));
    assert_eq!(visitor.save("/page/one").markdown, saved.markdown, "the same as of this machine");

    for (page, code) in [
        ("/status/404", "HTTP_ERROR"),
        ("/content/crash", "PAGE_CRASHED"),
        ("/slow/first-byte", "TIMEOUT"),
        ("http://127.0.0.1:9/", "NAVIGATION_FAILED"),
        ("http://nowhere.invalid/", "NAVIGATION_FAILED"),
        ("/members/report", "LOGIN_REQUIRED"),
    ] {
        let run = remote(visitor.extract(page), &server).args(["--timeout", "15"]).run();
        run.error(code);
        assert_given_back(&visitor, &server, page);
    }
    // What does not save a file does not name itself for it.
    let error = remote(visitor.extract("/content/pdf"), &server).run().error("NOT_A_PAGE").clone();
    let remedy = error["remediation_suggestion"].as_str().unwrap();
    assert!(remedy.contains("ragmaker-http-fetch") && !remedy.contains("browser-extract"), "{error}");
}

#[test]
fn a_browser_of_another_machine_receives_copies_of_uploaded_files() {
    let (visitor, server) = (Visitor::new(), Server::start());
    super::files::assert_copied(&visitor, &|tool: Tool| remote(tool, &server).args(["--timeout", "60"]));
    assert_given_back(&visitor, &server, "uploads");
}

#[test]
fn a_browser_is_given_back_however_the_call_ends() {
    let (visitor, server) = (Visitor::new(), Server::start());
    for signal in ["-INT", "-TERM", "-KILL"] {
        for page in ["/slow/first-byte", "/slow/loop/0"] {
            let mut command = remote(visitor.navigate(page), &server).into_command();
            let mut call = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            assert!(server.has(1), "{signal} {page}: it has a browser");
            assert!(visitor.site.wait_for(page, WAIT_TIMEOUT), "{page} is asked for");
            assert!(Command::new("kill").args([signal, &call.id().to_string()]).status().unwrap().success());
            assert!(!call.wait().unwrap().success(), "{signal} {page}");
            assert_given_back(&visitor, &server, &format!("{signal} {page}"));
        }
    }
}

#[test]
fn a_session_is_kept_until_it_is_closed_or_idle() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let opened = remote(visitor.open(), &server).run().answer().clone();
    assert!(opened["browser"].as_str().unwrap().ends_with(&format!("on 127.0.0.1:{}", server.port)), "{opened}");
    assert!(server.sessions() == 1 && opened["pid"].is_null());
    remote(visitor.open(), &server).run().answer();
    remote(visitor.navigate("/page/one"), &server).run().answer();
    // The session's name says where its browser is.
    let saved = visitor.extract_open().run().answer().clone();
    assert_eq!((&saved["url"], visitor.site.count("/page/one")), (&json!(visitor.url("/page/one")), 1));
    assert_eq!(server.sessions(), 1);
    // A browser of this machine and one of another do not share a session.
    visitor.open().args(["--session", "here"]).run().answer();
    remote(visitor.open(), &server).args(["--session", "here"]).run().error("PROFILE_IN_USE");
    visitor.close().args(["--session", "here"]).run().answer();
    assert_eq!(visitor.close().run().answer()["closed"], json!(["default"]));
    assert!(server.has(0));

    remote(visitor.open(), &server).args(["--idle-timeout", "1"]).run().answer();
    assert!(server.has(0), "it is idle");
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
}

#[test]
fn a_session_of_a_machine_that_is_gone_is_not_continued_on_this_one() {
    let (visitor, server) = (Visitor::new(), Server::start());
    remote(visitor.open(), &server).run().answer();
    visitor.navigate("/page/one").run().answer();
    drop(server);
    // The supervisor may be giving the browser back to that machine meanwhile: then the session is busy.
    for page in ["/page/two", "/page/three"] {
        let run = visitor.navigate(page).run();
        assert!(!run.raw.status.success() && visitor.site.count(page) == 0, "{:?}", run.raw);
    }
}

#[test]
fn many_pages_share_browsers_and_what_is_lost_is_loaded_by_another() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let pages: Vec<String> = (0..24).map(|page| visitor.url(&format!("/page/{page}"))).collect();
    visitor.project.write("list.txt", pages.join("\n"));
    let tool = visitor.extract_open().args(["--urls-file", "list.txt", "--tabs", "3", "--per-host", "3"]);
    let mut command = remote(tool, &server).into_command();
    let call = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(server.has(3), "{} browsers", server.sessions());
    // One of the browsers is killed.
    assert!(visitor.site.wait_for("/page/3", WAIT_TIMEOUT));
    let browser = children(server.process.id())[0].to_string();
    assert!(Command::new("kill").args(["-KILL", &browser]).status().unwrap().success());
    let output = call.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((&answer["counts"]["added"], &answer["counts"]["failed"]), (&json!(24), &json!(0)), "{answer}");
    assert_given_back(&visitor, &server, "a list");
}

#[test]
fn an_endpoint_that_lends_nothing_is_said_at_once() {
    let visitor = Visitor::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let with = |url: &str| visitor.navigate("/page/one").args(["--webdriver-url", url]);
    let error = with(&format!("http://me:secret@127.0.0.1:{free}")).run().error("WEBDRIVER_FAILED").clone();
    assert_eq!(error["details"]["endpoint"], format!("127.0.0.1:{free}"));
    assert!(!error.to_string().contains("secret"), "{error}");
    // A server that is not a WebDriver server.
    let error = with(&visitor.url("/")).run().error("WEBDRIVER_FAILED").clone();
    assert_eq!(error["details"]["reason"], "refused", "{error}");
    assert!(error["message"].as_str().unwrap().ends_with("is not a WebDriver server"), "{error}");
    let error = with("https://me:secret@grid.example").run().error("ARGUMENT_ERROR").clone();
    assert!(!error.to_string().contains("secret"), "{error}");
    // In the environment it is a person's choice as well; what cannot be kept there is refused.
    let server = Server::start();
    let tool = visitor.navigate("http://1.1.1.1/").arg("--public-only").env("RAGMAKER_WEBDRIVER_URL", server.url());
    let error = tool.run().error("ARGUMENT_ERROR").clone();
    assert_eq!(error["details"]["argument"], "--webdriver-url", "{error}");
    assert_given_back(&visitor, &server, "a refusal");
}

#[test]
fn the_state_of_a_browser_that_ends_with_its_call_is_refused() {
    let (visitor, server) = (Visitor::new(), Server::start());
    visitor.project.write("state.json", r#"{"cookies": []}"#);
    for args in [&["--list"][..], &["--clear"], &["--import", "state.json"], &["--export", "exported.json"]] {
        let run = remote(visitor.project.tool("browser-state"), &server).args(args).run();
        let error = run.error("ARGUMENT_ERROR").clone();
        assert_eq!(error["details"]["argument"], "--webdriver-url", "{error}");
        assert!(error["remediation_suggestion"].as_str().unwrap().contains("browser-open"), "{error}");
    }
    assert!(!visitor.project.path().join("exported.json").exists());
    assert_given_back(&visitor, &server, "a refusal");
}
