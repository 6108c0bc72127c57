//! Many pages in one call of `browser-extract`: verdicts, repetitions, and pages that must not delay others.

use std::fs;

use ragmaker_tests::{site::Site, visitor::Visitor};
use serde_json::{Value, json};

/// A file with the addresses of `pages`, and what else it has.
fn listed(visitor: &Visitor, pages: &[&str]) -> String {
    let lines: Vec<String> = pages.iter().map(|page| visitor.url(page)).collect();
    visitor.project.write("list.txt", format!("\u{feff}# chosen\r\n\r\n{}\r\n", lines.join("\r\n")));
    "list.txt".to_owned()
}

/// The lines of `--jsonl`.
fn records(output: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(output.to_vec()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one record of the address `url`, as it was asked for.
fn of<'a>(records: &'a [Value], url: &str) -> &'a Value {
    let mut found = records.iter().filter(|record| record["requested_url"] == url);
    let record = found.next().unwrap_or_else(|| panic!("{url} is not in {records:?}"));
    assert!(found.next().is_none(), "{url} is there twice");
    record
}

#[test]
fn many_pages_have_a_verdict_each_and_known_ones_are_not_loaded() {
    let visitor = Visitor::with_browser();
    let site = &visitor.site;
    let pages = ["/page/one", "/page/two", "/page/one#part", "/status/404", "/content/blank", "/redirect/chain/2"];
    let file = listed(&visitor, &pages);
    let run = visitor.extract_open().args(["--urls-file", &file]).run();
    let answer = run.answer();
    assert_eq!((&answer["counts"]["added"], &answer["counts"]["failed"]), (&json!(3), &json!(2)), "{answer}");
    assert_eq!((visitor.saved().len(), visitor.documents().len(), site.count("/page/one")), (3, 3, 1));
    let report = fs::read_to_string(answer["report_file"].as_str().unwrap()).unwrap();
    assert_eq!(report.lines().count(), 5, "{report}");
    let reason = |answer: &Value, page: &str| {
        let pages = answer["pages"].as_array().unwrap().iter();
        let found = pages.clone().find(|one| one["url"] == site.url(page));
        found.unwrap_or_else(|| panic!("{page} is not in {answer}"))["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason(answer, "/status/404").starts_with("HTTP_ERROR"), "{answer}");
    assert!(reason(answer, "/content/blank").starts_with("EMPTY_CONTENT"), "{answer}");

    // What went wrong is named first.
    assert_eq!(answer["pages"][0]["verdict"], "failed", "{answer}");

    // Again: what the catalog has is not asked for, unless it is to be.
    let again = visitor.extract_open().args(["--urls", &site.url("/page/one"), "--urls", &site.url("/page/two")]);
    let again = again.run().answer().clone();
    assert_eq!((&again["counts"]["unchanged"], site.count("/page/one")), (&json!(2), 1), "{again}");
    // Its line has the words and the confidence of the document that there is.
    let line = |arguments: &[&str]| {
        let url = site.url("/page/one");
        let tool = visitor.extract_open().args(["--urls", &url, "--jsonl"]).args(arguments.iter().copied());
        of(&records(&tool.run_raw().stdout), &url).clone()
    };
    let (known, loaded) = (line(&[]), line(&["--reload"]));
    assert_eq!((&known["verdict"], known["words"].as_u64() > Some(0)), (&json!("unchanged"), true), "{known}");
    assert_eq!((&known["words"], &known["confidence"]), (&loaded["words"], &loaded["confidence"]), "{loaded}");
    assert_eq!(site.count("/page/one"), 2);
    let reload = visitor.extract_open().args(["--urls", &site.url("/page/one"), "--reload"]).run().answer().clone();
    assert_eq!((&reload["counts"]["unchanged"], site.count("/page/one")), (&json!(1), 3), "{reload}");
    // An address that redirects to a known page is known as well.
    let redirected = site.url("/redirect/chain/2");
    let again = visitor.extract_open().args(["--urls", &redirected]).run().answer().clone();
    assert_eq!((&again["counts"]["unchanged"], site.count("/redirect/chain/2")), (&json!(1), 1), "{again}");
    // The single call gives the same file.
    let before = visitor.saved();
    visitor.save("/page/one");
    assert_eq!(visitor.saved(), before);
}

#[test]
fn records_equal_single_answers_and_hostile_pages_delay_no_others() {
    let visitor = Visitor::with_browser();
    let site = &visitor.site;
    let pages = [
        "/slow/first-byte",
        "/content/crash",
        "/slow/loop/0",
        "/hostile/closing",
        "/content/download",
        "/busy/1/tides",
        "/page/three",
        "/page/four",
        "/links/odd",
    ];
    let file = listed(&visitor, &pages);
    let busy = Site::start();
    let text = fs::read_to_string(visitor.project.path().join(&file)).unwrap();
    visitor.project.write(&file, format!("{text}{}\nnot an address\n", busy.url("/status/429")));
    let tool = visitor.extract_open().args(["--urls-file", &file, "--jsonl", "--timeout", "6", "--per-host", "4"]);
    let output = tool.run_raw();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let records = records(&output.stdout);
    assert_eq!(records.len(), 11, "{records:?}");
    for page in ["/page/three", "/page/four", "/links/odd", "/busy/1/tides"] {
        let record = of(&records, &site.url(page));
        assert_eq!((&record["status"], &record["verdict"]), (&json!("success"), &json!("added")), "{record}");
        assert!(record["words"].as_u64() > Some(0) && record["ready"].is_string(), "{record}");
        assert!(fs::exists(record["file_path"].as_str().unwrap()).unwrap(), "{record}");
    }
    assert_eq!(site.count("/busy/1/tides"), 2);
    for (page, code) in
        [("/slow/first-byte", "TIMEOUT"), ("/content/crash", "PAGE_CRASHED"), ("/content/download", "NOT_A_PAGE")]
    {
        assert_eq!(of(&records, &site.url(page))["error_code"], code, "{page}");
    }
    // The site asks for two minutes, which nobody waits for.
    assert_eq!(of(&records, &busy.url("/status/429"))["details"]["retry_after"], "120");
    assert_eq!(of(&records, "not an address")["status"], "error");
    // The next call works.
    visitor.save("/page/five");
}

#[test]
fn a_list_that_cannot_be_used_is_refused() {
    let visitor = Visitor::new();
    let url = visitor.site.url("/page/one");
    let with = |arguments: &[&str]| visitor.extract_open().args(arguments.iter().copied()).run();
    for (arguments, argument) in [
        (&["--urls", &*url, "--url", &*url][..], "--url"),
        (&["--urls", &*url, "--no-headless"], "--no-headless"),
        (&["--url", &*url, "--jsonl"], "--jsonl"),
        (&["--url", &*url, "--tabs", "2"], "--tabs"),
        (&["--reload"], "--reload"),
    ] {
        assert_eq!(with(arguments).error("ARGUMENT_ERROR")["details"]["argument"], argument);
    }
    with(&["--urls-file", "missing.txt"]).error("FILE_NOT_FOUND");
    visitor.project.write("binary", [0xff, 0xfe, 0x00]);
    with(&["--urls-file", "binary"]).error("NOT_TEXT");
    let model =
        visitor.project.tool("browser-extract").args(["--arguments", r#"{"urls_file": "/etc/hostname"}"#]).run();
    model.error("PATH_NOT_ALLOWED");
    let model = visitor.project.tool("browser-extract").args(["--arguments", r#"{"urls_file": "-"}"#]).run();
    assert_eq!(model.error("ARGUMENT_ERROR")["details"]["argument"], "urls_file");
    // Nothing to load needs no browser.
    visitor.project.write("empty.txt", "# none\n");
    let answer = with(&["--urls-file", "empty.txt"]).answer().clone();
    assert_eq!((&answer["counts"]["added"], &answer["total"]), (&json!(0), &json!(0)));
}
