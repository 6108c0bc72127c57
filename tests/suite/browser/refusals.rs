//! Pages that are not saved, with the reasons: redirects that fail, HTTP errors, bot challenges, other media types,
//! broken connections; and pages that only look like these.

use std::net::TcpListener;

use ragmaker_tests::{
    site::Site,
    visitor::{Visitor, at_once},
};
use serde_json::json;

use super::{hrefs, links, owned, seen};

#[test]
fn redirects_are_followed_as_far_as_they_lead_to_pages() {
    let visitor = Visitor::with_browser();
    for (page, end) in [
        ("/redirect/chain/7", "/page/the%20end%20of%20the%20chain"),
        ("/redirect/meta", "/page/after%20the%20refresh"),
        ("/redirect/meta/20", "/page/after%20the%20refresh"),
        ("/redirect/header", "/page/refreshed"),
        ("/redirect/header-later", "/page/refreshed"),
        ("/redirect/onload", "/page/loaded"),
        ("/redirect/script/0", "/page/after%20the%20script"),
        ("/redirect/script/400", "/page/after%20the%20script"),
    ] {
        let answer = seen(&visitor, page);
        assert_eq!(answer["url"], visitor.site.url(end), "{page}");
        assert_eq!(answer["http_status"], 200, "{page}");
        // The saved page is named by what it is, wherever one came from.
        assert_eq!(visitor.save(page).path, visitor.save(end).path, "{page}");
    }
    assert_eq!(visitor.documents().len(), 5);
    // What leads to no page leaves the page that is there.
    for (page, ready) in [
        ("/redirect/script-nothing", "idle"),
        ("/redirect/script-download", "idle"),
        ("/redirect/script-hang", "cap"),
        ("/redirect/script-back", "idle"),
        ("/redirect/script-back-at-once", "idle"),
    ] {
        let answer = seen(&visitor, page);
        assert_eq!((&answer["url"], &answer["ready"]), (&visitor.site.url(page).into(), &ready.into()), "{answer}");
        assert_eq!(answer["http_status"], 200, "{page}");
    }
    // What fails is named, and why, where it is not the page that was asked for.
    let error = visitor.refuse("/redirect/script-refused", "NAVIGATION_FAILED");
    assert_eq!(error["details"], json!({"url": "http://127.0.0.1:1/", "net_error": "net::ERR_UNSAFE_PORT"}), "{error}");
    for page in ["/redirect/loop", "/redirect/chain/30"] {
        let error = visitor.refuse(page, "NAVIGATION_FAILED");
        assert_eq!(error["details"]["net_error"], "net::ERR_TOO_MANY_REDIRECTS", "{error}");
        visitor.navigate(page).run().error("NAVIGATION_FAILED");
    }
}

#[test]
fn only_web_pages_are_opened_after_redirects() {
    let visitor = Visitor::with_browser();
    for (page, net_error) in [
        ("/redirect/file", "net::ERR_UNSAFE_REDIRECT"),
        ("/redirect/data", "net::ERR_UNSAFE_REDIRECT"),
        ("/redirect/chrome", "net::ERR_UNSAFE_REDIRECT"),
        ("/redirect/javascript", "net::ERR_ABORTED"),
    ] {
        let error = visitor.refuse(page, "NAVIGATION_FAILED");
        assert_eq!(error["details"]["net_error"], net_error, "{page}: {error}");
        visitor.navigate(page).run().error("NAVIGATION_FAILED");
    }
    // The browser itself refuses to leave the page for these.
    for page in ["/redirect/script-file", "/redirect/script-data"] {
        let answer = seen(&visitor, page);
        assert_eq!((&answer["url"], &answer["title"]), (&visitor.site.url(page).into(), &"Moving".into()), "{page}");
    }
    visitor.refuse("/redirect/script-blank", "URL_NOT_ALLOWED");
    visitor.navigate("/redirect/script-blank").run().error("URL_NOT_ALLOWED");
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
    assert_eq!(visitor.saved().len(), 0);
}

#[test]
fn an_error_page_is_reported_and_not_saved() {
    let visitor = Visitor::with_browser();
    for status in [400, 404, 410, 429, 500, 503] {
        let page = format!("/status/{status}");
        let answer = seen(&visitor, &page);
        assert_eq!((&answer["http_status"], &answer["is_bot_detected"]), (&status.into(), &false.into()), "{answer}");
        assert_eq!(links(&visitor, &answer), owned([("Home", "/page/home")]));
        let error = visitor.refuse(&page, "HTTP_ERROR");
        assert_eq!(error["details"]["http_status"], status, "{error}");
    }
    for (page, status) in [("/hostile/password", 401), ("/hostile/failed", 500)] {
        assert_eq!(seen(&visitor, page)["http_status"], status);
        assert_eq!(visitor.refuse(page, "HTTP_ERROR")["details"]["http_status"], status);
    }
    let error = visitor.refuse("/status/204", "NOT_A_PAGE");
    assert_eq!(error["details"]["http_status"], 204, "{error}");
    visitor.navigate("/status/204").run().error("NOT_A_PAGE");
}

#[test]
fn challenges_are_recognized_and_not_saved() {
    let visitor = Visitor::with_browser();
    let vendors = [
        ("cloudflare", "cloudflare"),
        ("cloudflare-block", "cloudflare"),
        ("hcaptcha", "captcha"),
        ("recaptcha", "captcha"),
        ("datadome", "datadome"),
        ("perimeterx", "perimeterx"),
        ("akamai", "akamai"),
        ("akamai-crypto", "akamai"),
        ("aws-waf", "aws-waf"),
        ("aws-waf-captcha", "aws-waf"),
        ("anubis", "anubis"),
        ("amazon", "amazon"),
        ("vercel", "vercel"),
        ("ddos-guard", "ddos-guard"),
    ];
    // At once, because each is given time to clear itself.
    at_once(3, &vendors, |(vendor, recognized)| {
        let page = format!("/challenge/{vendor}");
        let answer = visitor.navigate(&page).args(["--timeout", "60"]).run().answer().clone();
        assert_eq!(
            (&answer["is_bot_detected"], &answer["obstacle"]),
            (&true.into(), &"BOT_DETECTED".into()),
            "{vendor}"
        );
        let error = visitor.extract(&page).args(["--timeout", "60"]).run();
        assert_eq!(error.error("BOT_DETECTED")["details"]["vendor"], *recognized, "{vendor}");
    });
    assert!(visitor.saved().is_empty() && !visitor.catalog_file().exists());
}

#[test]
fn a_challenge_that_clears_itself_gives_the_page() {
    let visitor = Visitor::with_browser();
    let saved = visitor.save("/challenge/cloudflare-clearing");
    assert_eq!(saved.field("title"), "Behind the challenge");
    // The clearance is kept.
    let answer = seen(&visitor, "/challenge/cloudflare-clearing");
    assert_eq!((&answer["is_bot_detected"], &answer["title"]), (&false.into(), &"Behind the challenge".into()));
    assert_eq!(answer["http_status"], 200);
}

#[test]
fn pages_that_only_look_like_challenges_are_pages() {
    let visitor = Visitor::with_browser();
    for page in [
        "/innocent/article",
        "/innocent/badge",
        "/innocent/turnstile",
        "/innocent/folded",
        "/innocent/tool",
        "/innocent/comments",
    ] {
        let answer = seen(&visitor, page);
        assert_eq!((&answer["is_bot_detected"], &answer["http_status"]), (&false.into(), &200.into()), "{page}");
        assert!(answer["obstacle"].is_null(), "{page}");
        assert!(!visitor.save(page).markdown.trim().is_empty(), "{page}");
    }
    let answer = seen(&visitor, "/innocent/forbidden");
    assert_eq!((&answer["is_bot_detected"], &answer["http_status"]), (&false.into(), &403.into()), "{answer}");
    assert_eq!(answer["obstacle"], "HTTP_ERROR", "{answer}");
    visitor.refuse("/innocent/forbidden", "HTTP_ERROR");
}

#[test]
fn a_sign_in_page_is_reported_and_not_saved() {
    let visitor = Visitor::with_browser();
    for page in [
        "/members/en",
        "/members/ja",
        "/members/de",
        "/members/zh",
        "/members/refused",
        "/members/report",
        "/members/buttons",
        "/members/link",
        "/members/loginfmt",
        "/members/username",
        "/members/described",
        "/members/services",
        "/members/first-step",
        "/members/connexion",
        "/content/login-form",
        "/account",
    ] {
        let answer = seen(&visitor, page);
        assert_eq!(
            (&answer["obstacle"], &answer["is_bot_detected"]),
            (&"LOGIN_REQUIRED".into(), &false.into()),
            "{page}"
        );
        let error = visitor.refuse(page, "LOGIN_REQUIRED");
        let remedy = error["remediation_suggestion"].as_str().unwrap();
        assert!(remedy.contains("ragmaker-browser-open --no-headless"), "{error}");
        assert_eq!(error["details"]["url"], answer["url"], "{error}");
    }
    for page in [
        "/members/wiki",
        "/members/note",
        "/members/reference",
        "/members/article",
        "/members/join",
        "/members/newsletter",
        "/members/providers",
        "/members/console-manual",
        "/members/forum",
        "/members/sign-up",
        "/members/wifi",
    ] {
        assert!(seen(&visitor, page)["obstacle"].is_null(), "{page}");
        assert!(!visitor.save(page).markdown.trim().is_empty(), "{page}");
    }
}

#[test]
fn a_page_that_refuses_the_visitor_is_no_content() {
    let visitor = Visitor::with_browser();
    assert_eq!(seen(&visitor, "/members/blocked")["obstacle"], "BOT_DETECTED");
    let error = visitor.refuse("/members/blocked", "BOT_DETECTED");
    let remedy = error["remediation_suggestion"].as_str().unwrap();
    assert!(error["message"].as_str().unwrap().contains("blocks access") && !remedy.contains("window"), "{error}");
}

#[test]
fn other_media_types_are_errors_and_text_is_saved() {
    let visitor = Visitor::with_browser();
    for (page, media) in [("download", "application/gzip"), ("image", "image/svg+xml")] {
        let page = format!("/content/{page}");
        let error = visitor.refuse(&page, "NOT_A_PAGE");
        assert_eq!(error["details"]["content_type"], media, "{error}");
    }
    assert_eq!(hrefs(&visitor, "/content/feed"), ["/page/one"]);
    let feed = visitor.save_whole("/content/feed").markdown;
    assert_eq!(feed, format!("# Feed\n\n[The first entry of the feed]({})\n", visitor.site.url("/page/one")));
    for page in ["/content/broken-xml", "/content/broken-xhtml"] {
        let message = visitor.refuse(page, "NOT_A_PAGE")["message"].to_string();
        assert!(message.contains("error on line 1"), "{message}");
        assert_eq!(seen(&visitor, page)["http_status"], 200);
    }
    visitor.navigate("/content/download").run().error("NOT_A_PAGE");
    for page in ["/content/empty", "/content/blank"] {
        visitor.refuse(page, "EMPTY_CONTENT");
        assert_eq!(seen(&visitor, page)["total"], 0, "{page}");
    }
    for (page, markdown) in [
        ("text", "```text\nPlain text\n\n  with an indented line, <b>no markup</b>\nand 日本語.\n```\n"),
        ("markdown", "# Markdown\n\nServed *as it is*, with a [link](/page/one).\n"),
        ("json", "```json\n{\n  \"title\": \"JSON\",\n  \"items\": [\n    1,\n    2,\n    3\n  ]\n}\n```\n"),
    ] {
        let saved = visitor.save(&format!("/content/{page}"));
        assert_eq!(saved.markdown, markdown, "{page}");
        assert_eq!(saved.field("title"), page);
    }
    let xml = visitor.save("/content/xml").markdown;
    assert_eq!(xml, "```xml\n<notes><note id=\"1\">XML</note></notes>\n```\n");
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}

#[test]
fn a_broken_connection_is_an_error_that_names_its_cause() {
    let visitor = Visitor::with_browser();
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let untrusted = Site::start_https();
    for (page, net_error, message) in [
        ("/broken/reset".to_owned(), "net::ERR_CONNECTION_RESET", "broke the connection"),
        ("/broken/short".to_owned(), "net::ERR_CONTENT_LENGTH_MISMATCH", "broke the connection"),
        ("/broken/nothing".to_owned(), "net::ERR_EMPTY_RESPONSE", "broke the connection"),
        ("/broken/invalid".to_owned(), "net::ERR_INVALID_HTTP_RESPONSE", "does not speak HTTP"),
        (untrusted.url("/wiki/"), "net::ERR_CERT_AUTHORITY_INVALID", "certificate is not trusted"),
        (format!("http://{refused}/"), "net::ERR_CONNECTION_REFUSED", "refused the connection"),
        ("http://127.0.0.1:6000/".to_owned(), "net::ERR_UNSAFE_PORT", "does not open pages on that port"),
        ("http://no-such-host.invalid/".to_owned(), "net::ERR_NAME_NOT_RESOLVED", "host name cannot be resolved"),
    ] {
        let error = visitor.refuse(&page, "NAVIGATION_FAILED");
        assert_eq!(error["details"]["net_error"], net_error, "{page}: {error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{page}: {error}");
        visitor.navigate(&page).run().error("NAVIGATION_FAILED");
    }
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}
