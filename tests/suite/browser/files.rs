//! Files in place of pages: PDFs and archives go through the session's cookies into the catalog. And files that are
//! uploaded to browsers of other machines.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, SystemTime},
};

use ragmaker_tests::{
    run::Tool,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

use super::seen;

/// More than a call holds in memory (60 MiB, in kB): a debug build with eight tabs takes 34 MB. A file has 64 MiB.
const MEMORY: u64 = 60 << 10;

/// The SHA-256 of the PDF that the site sends.
const HANDBOOK: &str = "f2f43dbdb7d203894330b08a01a328c812af8922dde05b40cf7c51e4f994dbca";

#[test]
fn a_file_is_saved_as_a_document() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/content/pdf").run();
    let (answer, saved) = (run.answer(), Saved::by(&run));
    let url = visitor.site.url("/content/pdf");
    assert_eq!((&answer["url"], &answer["file"]["content_type"]), (&json!(url), &json!("application/pdf")), "{answer}");
    assert_eq!(answer["file"]["sha256"], HANDBOOK);
    let without = visitor.project.tool("http-fetch").args(["--url", &url]).run();
    let words: Vec<&str> = without.answer()["content"].as_str().unwrap().split_whitespace().collect();
    assert!(words.len() > 5 && words.iter().all(|word| saved.markdown.contains(word)), "{}", saved.markdown);
    assert!(visitor.documents()[0]["url"] == url.as_str());
    // An archive is a document, too: each of its documents has its path as a heading.
    let archive = visitor.save("/content/archive");
    assert_eq!(archive.markdown, "# docs/tides.md\n\n# Tides\n\nTwo high waters a day.\n");
    assert_eq!(archive.field("title"), "tidemark");
    for name in ["rows", "mail.eml"] {
        assert!(visitor.save(&format!("/content/{name}")).markdown.contains(if name == "rows" {
            "Brest"
        } else {
            "Two a day"
        }));
    }
    // In lists as well, beside pages.
    let list = [visitor.site.url("/page/one"), visitor.site.url("/content/pdf"), visitor.site.url("/content/download")];
    let list =
        visitor.extract_open().args(["--urls", &list[0], "--urls", &list[1], "--urls", &list[2]]).arg("--reload").run();
    assert_eq!(
        (&list.answer()["counts"]["added"], &list.answer()["counts"]["unchanged"]),
        (&json!(1), &json!(1)),
        "{}",
        list.answer()
    );
    // There is no screenshot of it, and the next call works.
    let screenshot = visitor.extract("/content/pdf").args(["--screenshot", "a.png"]).run();
    screenshot.error("NOT_A_PAGE");
    assert!(!visitor.project.path().join("a.png").exists());
    visitor.extract("/content/pdf").args(["--allow-domain", "example.com"]).run().error("DOMAIN_NOT_ALLOWED");
    visitor.navigate("/content/pdf").run().error("NOT_A_PAGE");
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}

#[test]
fn a_file_to_which_a_step_leads_is_named_and_the_page_stays() {
    let visitor = Visitor::with_browser();
    for (page, step, file, name) in [
        ("/act/leads-to-a-pdf", r#"{"click":"link:Press"}"#, "/content/pdf", "pdf"),
        ("/act/leads-to-a-pdf", r#"{"click":"link:Tab"}"#, "/content/pdf", "pdf"),
        ("/act/leads-to-a-pdf", r#"{"click":"link:Redirect"}"#, "/content/pdf", "pdf"),
        ("/act/leads-to-a-pdf", r#"{"click":"button:Script"}"#, "/content/pdf", "pdf"),
        ("/act/leads-to-a-pdf", r#"{"click":"button:Form"}"#, "/content/pdf?", "pdf"),
        ("/act/page", r#"{"click":"link:Archive"}"#, "/content/download", "tidemark-0.9.tar.gz"),
    ] {
        // What a step has changed is there afterwards, as the next step shows.
        let steps = format!(r#"[{step},{{"scroll":"end"}}]"#);
        let answer = visitor.act(page, &steps).run().answer().clone();
        let download = json!({"url": visitor.url(file), "file_name": name});
        assert_eq!(answer["changes"]["download"], download, "{step}: {answer}");
        // The page is still the session's.
        let shown = visitor.project.tool("browser-navigate").run().answer().clone();
        assert_eq!((&answer["url"], &shown["url"]), (&json!(visitor.url(page)), &json!(visitor.url(page))), "{answer}");
    }
    let steps = r#"[{"fill":["textbox:Note","kept"]},{"click":"link:Press"}]"#;
    visitor.act("/act/leads-to-a-pdf", steps).run().answer();
    let look = visitor.project.tool("browser-look").run().answer().clone();
    assert!(
        look["elements"].as_array().unwrap().contains(&json!({"element": "textbox:Note", "value": "kept"})),
        "{look}"
    );
    // A PDF in a frame does not replace the page, and a page that is shown later is not held up.
    let answer = visitor
        .act("/act/leads-to-a-pdf", r#"[{"click":"button:Frame"},{"click":"link:Page"}]"#)
        .run()
        .answer()
        .clone();
    assert_eq!((&answer["url"], &answer["changes"]["download"]), (&json!(visitor.url("/page/one")), &Value::Null));
    assert_eq!(visitor.extract("/content/pdf").run().answer()["file"]["sha256"], HANDBOOK);
}

#[test]
fn a_file_behind_a_login_is_received_with_the_cookies_of_the_session() {
    let visitor = Visitor::with_browser();
    visitor.refuse("/account/report.pdf", "LOGIN_REQUIRED");
    let steps = r#"[{"fill":["textbox:Name","ada"]},{"fill":["textbox:Password","x"]},{"click":"button:Sign in"}]"#;
    visitor.act("/login", steps).run().answer();
    let run = visitor.extract("/account/report.pdf").run();
    assert_eq!(run.answer()["file"]["sha256"], HANDBOOK);
    assert!(Saved::by(&run).markdown.contains("How to keep a tide gauge"));
}

#[test]
fn a_file_without_an_end_is_given_up_at_the_limit_and_costs_the_other_pages_of_a_list_nothing() {
    let visitor = Visitor::with_browser();
    let endless: Vec<String> = (0..4).map(|number| format!("/content/endless/file?{number}")).collect();
    let others = ["/content/endless/announced", "/content/endless/text", "/page/three", "/content/pdf"];
    let pages = endless.iter().map(String::as_str).chain(others);
    let list: Vec<String> = pages.map(|page| visitor.url(page)).collect();
    visitor.project.write("list.txt", list.join("\n"));
    let tool = visitor.extract_open().args(["--urls-file", "list.txt", "--jsonl", "--per-host", "8"]);
    let mut command = tool.args(["--timeout", "240"]).into_command();
    let mut call = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut peak = 0;
    while call.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", call.id())).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = held.unwrap_or(0).max(peak);
        thread::sleep(Duration::from_millis(20));
    }
    let output = call.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let records: Vec<Value> =
        output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(records.len(), list.len(), "{records:?}");
    for record in &records {
        let is_endless = record["requested_url"].as_str().unwrap().contains("/endless/");
        let expected = if is_endless { json!("FILE_TOO_LARGE") } else { Value::Null };
        assert_eq!(record["error_code"], expected, "{record}");
    }
    assert!(peak < MEMORY, "{peak} kB were held in memory");
    // The single call gives up as well, and the next one works.
    let error = visitor.extract("/content/endless/announced").run().error("FILE_TOO_LARGE").clone();
    assert_eq!(error["details"]["url"], visitor.url("/content/endless/announced"));
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}

/// Asserts that a browser of another machine receives copies of uploaded files: it reads none of this one.
pub(crate) fn assert_copied(visitor: &Visitor, with: &dyn Fn(Tool) -> Tool) {
    for (name, text) in [("tide \u{6f6e}.md", "two a day"), ("wind.md", "none")] {
        let path = visitor.project.write(name, text);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    }
    let steps = json!([
        {"upload": ["file:Attachments", ["tide \u{6f6e}.md", "wind.md"]]},
        {"wait": {"text": "Shown: copy of tide \u{6f6e}.md, which says two a day."}},
        {"wait": {"text": "Shown: copy of wind.md, which says none."}},
    ]);
    with(visitor.act("/act/attachments", &steps.to_string())).run().answer();
    let large = fs::File::create(visitor.project.path().join("large.md")).unwrap();
    large.set_len(65 << 20).unwrap();
    let step = r#"[{"upload":["file:Attachments","large.md"]}]"#;
    let error = with(visitor.act("/act/attachments", step)).run().error("ARGUMENT_ERROR").clone();
    assert!(error["message"].as_str().unwrap().contains("more than 67108864 bytes"), "{error}");
}
