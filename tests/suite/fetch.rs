//! `ragmaker-http-fetch` with one page: the answers for pages of each kind, and the refusals.

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
    let notebook = page("/content/notebook.ipynb");
    assert_eq!(text(&notebook), "# Harmonics\n\nOf the tide.\n\n```python\nheight = 7.2\n```\n");
    assert_eq!(notebook["content_from"], "file");
    let rows = text(&page("/content/rows"));
    assert!(rows.contains("| place | height |") && rows.contains("| Brest | 7.2 |"), "{rows}");
    assert!(text(&page("/content/mail.eml")).starts_with("# Tides\n"), "{}", page("/content/mail.eml"));
}

#[test]
fn a_long_page_is_paged() {
    let (project, site) = (Project::new(), Site::start());
    let url = site.url("/content/long");
    let page = |offset: &Value| {
        let offset = offset.to_string();
        let run = project.tool("http-fetch").args(["--url", &url, "--browser", "never", "--offset", &offset]).run();
        assert!(run.raw.stdout.len() < 40_000, "{}", run.raw.stdout.len());
        run.answer().clone()
    };
    let first = page(&json!(0));
    let total = first["total"].as_u64().unwrap() as usize;
    assert!(total > 60_000 && first["truncated"] == true, "{total}");
    let second = page(&first["next"]["offset"]);
    let both = [&first, &second].map(|page| page["content"].as_str().unwrap());
    let whole = project.tool("http-fetch").args(["--url", &url, "--browser", "never", "--offset", "100"]).run();
    let shifted = whole.answer()["content"].as_str().unwrap().to_owned();
    // What follows a page begins where it ended, to the character.
    assert!(both.concat().chars().skip(100).collect::<String>().starts_with(&shifted));
    let last = page(&json!(total - 5));
    assert_eq!((last["content"].as_str().unwrap().chars().count(), &last["next"]), (5, &Value::Null));
    let beyond = ["--url", &url, "--browser", "never", "--offset", &total.to_string()];
    project.tool("http-fetch").args(beyond).run().error("OFFSET_BEYOND_END");
}

#[test]
fn a_response_without_content_is_an_error() {
    let (project, site) = (Project::new(), Site::start());
    for (path, code) in [
        ("/status/404", "HTTP_ERROR"),
        ("/status/500", "HTTP_ERROR"),
        ("/status/401", "LOGIN_REQUIRED"),
        ("/members/refused", "LOGIN_REQUIRED"),
        ("/members/en", "LOGIN_REQUIRED"),
        ("/members/described", "LOGIN_REQUIRED"),
        ("/members/ja", "LOGIN_REQUIRED"),
        ("/members/de", "LOGIN_REQUIRED"),
        ("/members/buttons", "LOGIN_REQUIRED"),
        ("/members/link", "LOGIN_REQUIRED"),
        ("/members/loginfmt", "LOGIN_REQUIRED"),
        ("/members/username", "LOGIN_REQUIRED"),
        ("/members/services", "LOGIN_REQUIRED"),
        ("/members/first-step", "LOGIN_REQUIRED"),
        ("/members/connexion", "LOGIN_REQUIRED"),
        ("/members/blocked", "BOT_DETECTED"),
        ("/challenge/cloudflare", "BOT_DETECTED"),
        ("/challenge/aws-waf", "BOT_DETECTED"),
        ("/challenge/datadome", "BOT_DETECTED"),
        ("/challenge/anubis", "BOT_DETECTED"),
        ("/challenge/vercel", "BOT_DETECTED"),
        ("/challenge/ddos-guard", "BOT_DETECTED"),
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
    for (path, status) in [
        ("/members/blocked", 200),
        ("/challenge/cloudflare-block", 200),
        ("/challenge/cloudflare-block-403", 403),
        ("/challenge/cloudflare-block-503", 503),
    ] {
        let blocked = fetch(&project, &site.url(path));
        let error = blocked.error("BOT_DETECTED");
        assert!(error["remediation_suggestion"].as_str().unwrap().starts_with("Skip this page"), "{error}");
        assert_eq!(
            (&error["details"]["vendor"], &error["details"]["http_status"]),
            (&"cloudflare".into(), &status.into())
        );
    }
    assert_eq!(fetch(&project, &site.url("/status/429")).error("HTTP_ERROR")["details"]["retry_after_s"], 120);
    // An article about challenges is none, nor is a page with a form that is no sign-in.
    for path in [
        "/innocent/article",
        "/innocent/badge",
        "/members/wiki",
        "/members/note",
        "/members/reference",
        "/members/console-manual",
        "/members/article",
        "/members/newsletter",
        "/members/providers",
        "/members/forum",
        "/members/sign-up",
        "/members/wifi",
    ] {
        assert!(fetch(&project, &site.url(path)).answer()["total"].as_u64() > Some(20), "{path}");
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
