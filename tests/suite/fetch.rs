//! `ragmaker-http-fetch` with one page: what is returned of pages of each kind, and what is refused.

use ragmaker_tests::{
    run::{Output, Project},
    site::Site,
};
use serde_json::{Value, json};

fn fetch(project: &Project, url: &str) -> Output {
    project.tool("http-fetch").args(["--url", url, "--browser", "never"]).run()
}

#[test]
fn pages_of_each_kind_are_read_by_their_body() {
    let (project, site) = (Project::new(), Site::start());
    let page = |path: &str| fetch(&project, &site.url(path)).answer().clone();
    let text = |page: &Value| page["content"].as_str().unwrap().to_owned();

    let tides = page("/wiki/tides");
    assert_eq!(tides["title"], "How tides work | Tidemark");
    assert!(text(&tides).starts_with("# How tides work\n") && !text(&tides).contains("Getting started"), "{tides}");
    assert_eq!((&tides["content_from"], &tides["via"]), (&json!("extracted"), &json!("http")));

    assert!(text(&page("/content/shift-jis")).contains("シフトJISのページ"));
    assert_eq!(page("/content/shift-jis")["charset"], "Shift_JIS");
    assert_eq!(page("/content/wrong-charset")["charset"], "UTF-8");
    assert_eq!(text(&page("/content/json")), "{\"title\": \"JSON\", \"items\": [1, 2, 3]}\n");
    assert!(text(&page("/content/text")).contains("<b>no markup</b>"));
    let markdown = page("/content/markdown");
    assert_eq!((&markdown["content_from"], &markdown["media_type"]), (&json!("publisher"), &json!("text/markdown")));
    let pdf = page("/content/pdf");
    assert_eq!((&pdf["media_type"], &pdf["content_from"]), (&json!("application/pdf"), &json!("file")));
    assert!(pdf["total"].as_u64().unwrap() > 50, "{pdf}");
    assert_eq!(page("/redirect/chain/9")["http_status"], 200);
}

#[test]
fn what_is_no_content_is_an_error() {
    let (project, site) = (Project::new(), Site::start());
    for (path, code) in [
        ("/status/404", "HTTP_ERROR"),
        ("/status/500", "HTTP_ERROR"),
        ("/status/401", "LOGIN_REQUIRED"),
        ("/members/refused", "LOGIN_REQUIRED"),
        ("/members/en", "LOGIN_REQUIRED"),
        ("/members/ja", "LOGIN_REQUIRED"),
        ("/challenge/cloudflare", "BOT_DETECTED"),
        ("/challenge/aws-waf", "BOT_DETECTED"),
        ("/challenge/datadome", "BOT_DETECTED"),
        ("/content/image", "NOT_A_PAGE"),
        ("/content/download", "NOT_A_PAGE"),
        ("/content/empty", "EMPTY_CONTENT"),
        ("/status/204", "EMPTY_CONTENT"),
        ("/redirect/loop", "NAVIGATION_FAILED"),
        ("/redirect/file", "URL_NOT_ALLOWED"),
        ("/redirect/host", "ADDRESS_NOT_ALLOWED"),
        ("/redirect/long", "URL_NOT_ALLOWED"),
    ] {
        fetch(&project, &site.url(path)).error(code);
    }
    assert_eq!(fetch(&project, &site.url("/status/429")).error("HTTP_ERROR")["details"]["retry_after_s"], 120);
    // An article about challenges is none.
    for path in ["/innocent/article", "/innocent/badge", "/members/wiki", "/members/article"] {
        assert!(fetch(&project, &site.url(path)).answer()["total"].as_u64() > Some(100), "{path}");
    }
    for (url, code) in [
        ("http://169.254.169.254/latest/meta-data/", "ADDRESS_NOT_ALLOWED"),
        ("http://[fe80::1]/", "ADDRESS_NOT_ALLOWED"),
        ("file:///etc/passwd", "URL_NOT_ALLOWED"),
        ("example.com", "ARGUMENT_ERROR"),
    ] {
        fetch(&project, url).error(code);
    }
    let site_url = site.url("/wiki/");
    let narrowed = ["--url", &site_url, "--allow-domain", "example.com"];
    project.tool("http-fetch").args(narrowed).run().error("DOMAIN_NOT_ALLOWED");
    let small = ["--url", &site_url, "--max-bytes", "100"];
    project.tool("http-fetch").args(small).run().error("RESPONSE_TOO_LARGE");
}
