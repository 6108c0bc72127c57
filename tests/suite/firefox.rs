//! The browser tools with Firefox on this machine.
//!
//! `cargo xtask test --firefox` installs Firefox and geckodriver and runs these tests; a plain `cargo test` ignores
//! them.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use ragmaker_tests::{
    discovery::workspace,
    grid::{Grid, SESSION_TIMEOUT, children},
    run::Tool,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

use crate::browser::{
    controls::{
        assert_formats, assert_framed_rows, assert_label_takes_files, assert_labels, assert_lists, assert_numbers,
        assert_words,
    },
    webdriver_only::{
        assert_captures, assert_declined, assert_expanded, assert_frames, assert_json, assert_refusals,
        assert_same_names, assert_state, assert_steps,
    },
};

/// How long Firefox may take to end.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// A call with Firefox in place of Chromium.
fn firefox(tool: Tool) -> Tool {
    let tool = tool.env("RAGMAKER_BROWSER", "firefox");
    if driver().is_absolute() { tool.env("RAGMAKER_GECKODRIVER", driver()) } else { tool }
}

/// Where `cargo xtask test --firefox` puts geckodriver, or the one on PATH.
fn driver() -> PathBuf {
    let installed = workspace().join("target/geckodriver/bin/geckodriver");
    if installed.is_file() { installed } else { "geckodriver".into() }
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn a_page_is_the_same_as_in_chromium() {
    let visitor = Visitor::with_browser();
    firefox(visitor.open()).run().answer();
    let mut different = vec![];
    for &page in PAGES {
        let chromium = visitor.navigate(page).run().answer().clone();
        let run = firefox(visitor.navigate(page)).run_raw();
        let Ok(answer) = serde_json::from_slice::<Value>(&run.stdout) else {
            different.push(format!("{page}: {}", String::from_utf8_lossy(&run.stderr)));
            continue;
        };
        for member in ["links", "title", "url", "http_status", "obstacle"] {
            if answer[member] != chromium[member] {
                different.push(format!("{page}: {member}: {} {}", answer[member], chromium[member]));
            }
        }
        if chromium["obstacle"].is_null() {
            let here = visitor.save(page).markdown;
            let run = firefox(visitor.extract(page)).run_raw();
            let Ok(answer) = serde_json::from_slice::<Value>(&run.stdout) else {
                different.push(format!("{page}: {}", String::from_utf8_lossy(&run.stderr)));
                continue;
            };
            let there = Saved::read(Path::new(answer["file_path"].as_str().unwrap())).markdown;
            if here != there {
                different.push(format!("{page}:\n{here}\n-----\n{there}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn errors_of_pages_have_the_same_codes() {
    let visitor = Visitor::new();
    firefox(visitor.open()).run().answer();
    for (page, code) in [
        ("/status/404", "HTTP_ERROR"),
        ("/slow/first-byte", "TIMEOUT"),
        ("http://127.0.0.1:9/", "NAVIGATION_FAILED"),
        ("http://nowhere.invalid/", "NAVIGATION_FAILED"),
        ("/members/report", "LOGIN_REQUIRED"),
        ("/content/blank", "EMPTY_CONTENT"),
    ] {
        firefox(visitor.extract(page)).args(["--timeout", "8"]).run().error(code);
    }
    firefox(visitor.extract("/page/one")).run().answer();
    assert_captures(&visitor, &firefox);
    // What only a DevTools socket can do is refused.
    let refused = [
        firefox(visitor.navigate("http://1.1.1.1/")).arg("--public-only"),
        firefox(visitor.navigate("/page/one")).args(["--screenshot", "a.webp"]),
        firefox(visitor.navigate("/page/one")).args(["--screenshot", "a.png", "--full-page"]),
    ];
    for tool in refused {
        let error = tool.run().error("ARGUMENT_ERROR").clone();
        assert_eq!(error["details"]["argument"], "RAGMAKER_BROWSER", "{error}");
    }
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn firefox_ends_with_its_call_or_when_it_is_closed() {
    let visitor = Visitor::new();
    let left =
        || visitor.project.left_running(WAIT_TIMEOUT).into_iter().map(|process| process.command).collect::<Vec<_>>();
    firefox(visitor.navigate("/page/one")).run().answer();
    assert!(left().is_empty(), "{:?}", left());
    for signal in ["-INT", "-TERM", "-KILL"] {
        let mut command = firefox(visitor.navigate("/slow/first-byte")).into_command();
        let mut call = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let asked = visitor.site.count("/slow/first-byte");
        while visitor.site.count("/slow/first-byte") == asked {
            assert!(call.try_wait().unwrap().is_none(), "{signal}: it asks for the page");
            thread::sleep(Duration::from_millis(50));
        }
        assert!(Command::new("kill").args([signal, &call.id().to_string()]).status().unwrap().success());
        call.wait().unwrap();
        assert!(left().is_empty(), "{signal}: {:?}", left());
    }

    // Chromium has the session's name as well, and cookies of its own.
    visitor.open().run().answer();
    let opened = firefox(visitor.open()).run().answer().clone();
    assert!(opened["browser"].as_str().unwrap().starts_with("firefox "), "{opened}");
    firefox(visitor.navigate("/page/one")).run().answer();
    assert_eq!(firefox(visitor.extract_open()).run().answer()["url"], visitor.url("/page/one"));
    assert_eq!(visitor.site.count("/page/one"), 2, "one of them by the first call");
    // A Firefox that is gone is replaced by the next call.
    let pid = opened["pid"].as_u64().unwrap().to_string();
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    firefox(visitor.navigate("/page/two")).run().answer();
    assert_eq!(visitor.close().run().answer()["closed"], json!(["default"]));
    assert!(left().is_empty(), "{:?}", left());

    // A list has its pages one after the other, in one browser.
    let pages: Vec<String> = (0..6).map(|page| visitor.url(&format!("/page/{page}"))).collect();
    visitor.project.write("list.txt", pages.join("\n"));
    let list = visitor.extract_open().args(["--urls-file", "list.txt", "--tabs", "3", "--per-host", "3"]);
    let answer = firefox(list).run().answer().clone();
    assert_eq!((&answer["counts"]["added"], &answer["counts"]["failed"]), (&json!(6), &json!(0)), "{answer}");
    assert!(left().is_empty(), "{:?}", left());
    firefox(visitor.navigate("/page/one")).env("RAGMAKER_BROWSER", "safari").run().error("ARGUMENT_ERROR");
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn steps_are_taken_and_elements_listed_as_in_chromium() {
    let visitor = Visitor::new();
    firefox(visitor.open()).run().answer();
    assert_steps(&visitor, &firefox);
    assert_frames(&visitor, &firefox);
    assert_same_names(&visitor, &firefox);
    assert_refusals(&visitor, &firefox);
    visitor.close().run().answer();
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn controls_are_told_apart() {
    let visitor = Visitor::new();
    firefox(visitor.open()).run().answer();
    assert_lists(&visitor, &firefox);
    assert_formats(&visitor, &firefox);
    assert_words(&visitor, &firefox);
    assert_framed_rows(&visitor, &firefox);
    assert_labels(&visitor, &firefox);
    assert_label_takes_files(&visitor, &firefox);
    assert_numbers(&visitor, &firefox);
    visitor.close().run().answer();
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn a_page_is_expanded_and_its_banner_declined() {
    let visitor = Visitor::new();
    firefox(visitor.open()).run().answer();
    assert_json(&visitor, &firefox);
    assert_expanded(&visitor, &firefox);
    crate::browser::expand::assert_kept(&visitor, &firefox);
    assert_declined(&visitor, &firefox);
    visitor.close().run().answer();
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn a_login_is_taken_to_another_profile() {
    assert_state(&Visitor::new(), &firefox);
}

#[test]
#[ignore = "needs Firefox and geckodriver: cargo xtask test --firefox"]
fn a_machine_may_lend_a_firefox() {
    let visitor = Visitor::new();
    let mut server = Command::new(driver()).args(["--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut listening = lines.filter_map(|line| Some(line.split_once("Listening on ")?.1.to_owned()));
    let url = format!("http://{}", listening.next().unwrap());
    let here = visitor.navigate("/links/20").run().answer().clone();
    let tool = firefox(visitor.navigate("/links/20")).args(["--webdriver-url", &url]);
    assert_eq!(tool.run().answer()["links"], here["links"]);
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
    let left = children(server.id());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(left.is_empty(), "it was released: {left:?}");
}

#[test]
#[ignore = "needs Firefox, geckodriver and a grid: cargo xtask test --firefox"]
fn a_node_of_a_grid_lends_a_firefox_and_no_chromium() {
    let visitor = Visitor::new();
    let grid = Grid::of_firefox(&driver()).unwrap();
    let remote = |tool: Tool| tool.args(["--webdriver-url", &grid.url(), "--timeout", "60"]);
    let answer = remote(firefox(visitor.navigate("/links/20"))).run().answer().clone();
    assert_eq!(answer["total"], 20, "{answer}");
    let steps = r#"[{"click":"button:Load more"},{"fill":["textbox:Search","tides"]}]"#;
    let answer = remote(firefox(visitor.act("/act/page", steps))).run().answer().clone();
    assert_eq!(
        (&answer["done"][1], &answer["changes"]["added_links"]),
        (&json!("filled textbox:Search with tides"), &json!(3))
    );
    crate::browser::files::assert_copied(&visitor, &|tool: Tool| remote(firefox(tool)));
    let pages: Vec<String> = (0..4).map(|page| visitor.url(&format!("/page/{page}"))).collect();
    visitor.project.write("list.txt", pages.join("\n"));
    let list = visitor.extract_open().args(["--urls-file", "list.txt", "--tabs", "2", "--per-host", "2"]);
    let answer = remote(firefox(list)).run().answer().clone();
    assert_eq!(answer["counts"]["added"], 4, "{answer}");
    // A browser that no node has is refused at once.
    let error = remote(visitor.navigate("/page/one")).run().error("WEBDRIVER_FAILED").clone();
    assert_eq!(error["details"]["reason"], "no-node", "{error}");
    assert!(grid.has(0, Duration::from_secs(SESSION_TIMEOUT)), "each browser is given back");
}

const PAGES: &[&str] = &[
    "/page/one",
    "/links/20",
    "/links/shadow",
    "/links/frames",
    "/late/request",
    "/other-site/late",
    "/content/banner",
    "/content/shift-jis",
    "/content/deep",
    "/wiki/",
    "/wiki/ja/history",
    "/status/404",
    "/status/500",
    "/members/report",
    "/redirect/3",
    "/content/surrogates",
    "/links/names",
    "/late/text",
    "/content/title",
    "/content/long-title",
    "/content/feed",
    "/content/wrong-charset",
    "/content/login-form",
    "/links/late/1200",
    "/links/odd",
    "/links/hidden",
    "/links/duplicates",
    "/links/base",
    "/links/rtl",
    "/links/windows",
    "/redirect/chain/2",
    "/redirect/meta",
    "/redirect/script/400",
    "/slow/answer/170",
    "/slow/style/1500",
    "/hostile/clobbered",
    "/links/schemes",
];
