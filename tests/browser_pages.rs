//! What the browser tools make of every page of the site: the plain ones and the hostile ones.
//!
//! Each test opens one browser and leads it through pages of one kind.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use ragmaker_tests::{
    site::Site,
    visitor::{Saved, Visitor, at_once},
};
use serde_json::{Value, json};

/// The most characters that clients take without cutting.
const OUTPUT_LIMIT: usize = 29_000;

/// Goes to a page, which has to succeed.
fn seen(visitor: &Visitor, page: &str) -> Value {
    visitor.navigate(page).run().answer().clone()
}

/// The links of an answer: their texts, and where they lead, the site's own origin left out.
fn links(visitor: &Visitor, answer: &Value) -> Vec<(String, String)> {
    let origin = visitor.site.url("");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let links = answer["links"].as_array().unwrap().iter();
    links.map(|link| (text(&link["text"]), text(&link["href"]).replace(&origin, ""))).collect()
}

/// Where the links of a page lead.
fn hrefs(visitor: &Visitor, page: &str) -> Vec<String> {
    links(visitor, &seen(visitor, page)).into_iter().map(|(_, href)| href).collect()
}

fn owned<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(text, href)| (text.to_owned(), href.to_owned())).to_vec()
}

#[test]
fn links_are_what_a_person_could_follow() {
    let visitor = Visitor::with_browser();
    let of = |page: &str| links(&visitor, &seen(&visitor, page));

    let late = of("/links/late/1200");
    assert_eq!((late.len(), late[19].0.as_str()), (20, "Late entry 20"));
    let hidden = of("/links/hidden");
    assert!(hidden.iter().all(|(text, _)| text.starts_with("Shown")), "{hidden:?}");
    assert_eq!(hidden.len(), 28, "{hidden:?}");
    assert_eq!(
        of("/links/names"),
        owned([
            ("Alternative text", "/page/image"),
            ("Station map", "/page/image-and-text"),
            ("Label of the link", "/page/label"),
            ("Label from two elements", "/page/labelled"),
            ("Title of the link", "/page/title"),
            ("Icon", "/page/icon"),
            ("Title of the image", "/page/icon-alone"),
            ("Decorated", "/page/decorated"),
            ("Rule and link", "/page/by-rule"),
            ("Rule (a kind)", "/page/by-attribute"),
            ("Star of a link", "/page/by-rule-for-readers"),
            ("Glyph", "/page/glyph"),
            ("Title of a glyph", "/page/glyph-alone"),
            ("End of a line", "/page/ends-line"),
            ("Lazy", "/page/lazy"),
            ("Button in a link", "/page/button"),
            ("Own label and two elements", "/page/own-label"),
            ("Label that is hidden", "/page/hidden-label"),
            ("One block another", "/page/blocks"),
            ("Before after", "/page/break"),
            ("Seenin part", "/page/invisible-part"),
            ("Title of the drawing", "/page/vector"),
            ("Text over lines", "/page/spaces"),
            ("Bold and italic", "/page/nested"),
            ("Said: “quoted”", "/page/quotation"),
            ("Kept for later", "/page/kept"),
            ("", "/page/nameless"),
            ("Link in a drawing", "/page/in-vector"),
            ("Area of a map", "/page/area"),
        ])
    );
}

#[test]
fn links_are_taken_from_everywhere_and_each_page_once() {
    let visitor = Visitor::with_browser();
    let of = |page: &str| links(&visitor, &seen(&visitor, page));
    assert_eq!(
        of("/links/schemes"),
        owned([("Relative", "/page/relative"), ("Elsewhere", "https://example.org/elsewhere")])
    );
    assert_eq!(
        of("/links/rtl"),
        owned([("Shown", "/page/plain"), ("Shown after scrolling to the left", "/page/left")])
    );
    assert_eq!(of("/links/duplicates"), owned([("One", "/page/one"), ("Two", "/page/two")]));
    assert_eq!(
        of("/links/base"),
        owned([
            ("Below the base", "/page/below/child"),
            ("Beside it", "/page/sibling"),
            ("From the root", "/page/root"),
            ("With a query", "/page/below/?query"),
        ])
    );
    assert_eq!(
        of("/links/shadow"),
        owned([
            ("Link outside of shadow roots", "/page/light"),
            ("Link in an open shadow root", "/page/open"),
            ("Link in a nested shadow root", "/page/nested"),
            ("Before the slot", "/page/before"),
            ("Slotted by name", "/page/named"),
            ("Slotted", "/page/slotted"),
            ("After the slot", "/page/after"),
            ("Link in a declared shadow root", "/page/declared"),
        ])
    );
    assert_eq!(
        of("/links/frames"),
        owned([
            ("Link outside of the frames", "/page/outside"),
            ("Link in the same frame", "/page/same"),
            ("Link in a srcdoc frame", "/page/srcdoc"),
            ("Link in the object frame", "/page/object"),
        ])
    );
    assert_eq!(of("/links/windows"), owned([("Opens a tab", "/page/blank"), ("Opens a named tab", "/page/named")]));
    let odd = of("/links/odd");
    assert_eq!(
        odd[..8],
        owned([
            (
                "CJK as it is",
                "/page/%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%83%9A%E3%83%BC%E3%82%B8?q=%E6%9D%B1%E4%BA%AC&x=%2F#%E7%AF%80"
            ),
            ("CJK escaped", "/page/%E6%97%A5%E6%9C%AC?q=%E6%9D%B1%E4%BA%AC"),
            ("Spaces", "/page/with%20space%20and%20'quotes'"),
            ("Escaped delimiters", "/page/a%2Fb%3Fc%23d"),
            ("A query", "/page/query?a=1&b=2&a=3&empty="),
            ("Dots", "/page/dots/here"),
            ("Emoji", "/page/emoji-%F0%9F%8C%8A"),
            ("Padded", "/page/padded"),
        ])
    );
    // Each of them can be followed as it is.
    for (text, href) in &odd {
        assert_eq!(seen(&visitor, href)["http_status"], 200, "{text}");
        visitor.save(href);
    }
    assert_eq!(visitor.documents().len(), odd.len());
}

#[test]
fn what_comes_late_is_waited_for() {
    let visitor = Visitor::with_browser();
    let ways = [
        "import",
        "script",
        "body",
        "stream",
        "slow",
        "many",
        "parts",
        "again",
        "animation",
        "database",
        "shadow",
        "transition",
        "slide",
        "looked-for",
        "slices",
        "reopened",
        "request",
        "frame",
        "inner",
        "interval",
        "picture",
        "worker",
        "told",
        "cipher",
        "task",
        "rejection",
    ];
    at_once(3, &ways, |way| {
        let answer = seen(&visitor, &format!("/late/{way}"));
        assert_eq!(answer["ready"], "idle", "{way}");
        assert_eq!(links(&visitor, &answer), owned([("What came late", "/page/late")]), "{way}");
    });
    for page in ["/late/text", "/late/countdown", "/late/pause"] {
        assert_eq!(seen(&visitor, page)["url"], visitor.site.url("/links/1"), "{page}");
    }
}

#[test]
fn a_page_can_not_get_in_the_way_of_its_reader() {
    let visitor = Visitor::with_browser();
    let clobbered = seen(&visitor, "/hostile/clobbered");
    assert_eq!((&clobbered["title"], &clobbered["http_status"]), (&"Clobbered".into(), &200.into()));
    assert_eq!(
        links(&visitor, &clobbered),
        owned([("Seen", "/page/seen"), ("Area", "/page/area"), ("Field", "/page/field")])
    );
    assert_eq!(visitor.save("/hostile/clobbered").field("title"), "Clobbered");
    assert_eq!(hrefs(&visitor, "/hostile/sandboxed"), ["/page/out"]);
    seen(&visitor, "/hostile/usher");
    assert_eq!(seen(&visitor, "/slow/answer/170")["title"], "Slow answer");
    for (page, title) in [("closing", "Closing"), ("talkative", "Talkative"), ("farewell", "Farewell")] {
        let answer = seen(&visitor, &format!("/hostile/{page}"));
        assert_eq!((&answer["title"], &answer["ready"]), (&title.into(), &"idle".into()));
    }
    visitor.refuse("/hostile/rootless", "EMPTY_CONTENT");
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}

#[test]
fn what_frames_and_shadow_roots_show_is_saved_with_the_page() {
    let visitor = Visitor::with_browser();
    let frames = visitor.save_whole("/links/frames").markdown;
    assert!(frames.contains("Link outside of the frames"), "{frames}");
    assert!(frames.contains("Link in the same frame") && frames.contains("Link in a srcdoc frame"), "{frames}");
    assert!(!frames.contains("hidden frame"), "{frames}");
    let shadow = visitor.save_whole("/links/shadow").markdown;
    for text in ["outside of shadow roots", "an open shadow root", "a nested shadow root", "a declared shadow root"] {
        assert!(
            shadow.contains(&format!("Link {}{text}", if text.starts_with("out") { "" } else { "in " })),
            "{shadow}"
        );
    }
}

#[test]
fn applications_are_their_routes() {
    let visitor = Visitor::with_browser();
    assert_eq!(hrefs(&visitor, "/app/"), ["/app/overview", "/app/stations", "/app/reports"]);
    assert_eq!(hrefs(&visitor, "/hash/"), ["/hash/#/overview", "/hash/#/stations", "/hash/#/reports"]);
    // One after another in the same tab: a route of a fragment loads no document.
    for page in ["/hash/#/overview", "/hash/#/stations", "/hash/#/reports", "/app/stations"] {
        let answer = seen(&visitor, page);
        let route = page.rsplit('/').next().unwrap();
        assert_eq!(answer["title"], format!("App: {route}"), "{answer}");
        assert_eq!(answer["url"], visitor.site.url(page));
    }
    let saved: Vec<_> = ["/hash/#/overview", "/hash/#/stations", "/app/stations"].map(|page| visitor.save(page)).into();
    assert!(saved[0].markdown.contains("What the application shows when it starts."), "{}", saved[0].markdown);
    assert!(saved[1].markdown.contains("Eleven stations"), "{}", saved[1].markdown);
    assert!(saved[2].markdown.contains("Eleven stations"), "{}", saved[2].markdown);
    assert_eq!(visitor.documents().len(), 3);
    assert_eq!(visitor.saved().len(), 3);

    let endless = hrefs(&visitor, "/endless");
    assert!(endless.len() >= 10 && endless[0] == "/page/endless-1", "{endless:?}");

    visitor.navigate("/worker").args(["--timeout", "20"]).run().answer();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !visitor.save("/worker").markdown.contains("Registered.") {
        assert!(Instant::now() < deadline, "the service worker is registered");
    }
    assert!(visitor.save("/worker/from-cache").markdown.contains("No server sent this page."));
    assert_eq!(visitor.site.count("/worker/from-cache"), 0);
}

#[test]
fn a_place_on_the_page_that_is_shown_is_loaded_like_any_other() {
    let visitor = Visitor::with_browser();
    for (loads, page) in ["/page/shown", "/page/shown#a", "/page/shown#b"].into_iter().enumerate() {
        assert_eq!(visitor.navigate(page).run().answer()["url"], visitor.site.url(page));
        assert_eq!(visitor.site.count("/page/shown"), loads + 1, "{page}");
    }
}

#[test]
fn pages_that_are_never_quiet_are_ready_all_the_same() {
    let visitor = Visitor::with_browser();
    let pages = [
        ("/slow/poll/100", "Endless polling", "idle"),
        ("/slow/again/fetch", "Again and again", "idle"),
        ("/slow/again/request", "Again and again", "idle"),
        ("/slow/again/socket", "Again and again", "idle"),
        ("/slow/again/sleep", "Again and again", "idle"),
        ("/slow/again/list", "Again and again", "idle"),
        ("/slow/again/cleared", "Again and again", "idle"),
        ("/slow/again/slides", "Slides", "idle"),
        ("/slow/socket", "WebSocket", "idle"),
        ("/slow/events", "Event stream", "idle"),
        ("/slow/fetch", "Hanging request", "cap"),
        ("/slow/clock/20", "Clock", "idle"),
        ("/slow/image/1500", "Slow image", "idle"),
        ("/slow/image/100000", "Slow image", "cap"),
        ("/slow/style/1500", "Slow style sheet", "idle"),
        ("/slow/answer/3000", "Slow answer", "idle"),
        ("/slow/body", "Trickled page", "cap"),
        ("/slow/style/100000", "Slow style sheet", "cap"),
    ];
    at_once(3, &pages, |&(page, title, ready)| {
        let answer = visitor.navigate(page).args(["--timeout", "60"]).run().answer().clone();
        assert_eq!((answer["title"].as_str(), answer["ready"].as_str()), (Some(title), Some(ready)), "{page}");
        assert_eq!(answer["http_status"], 200, "{page}");
        let extracted = visitor.extract(page).args(["--timeout", "60"]).run();
        assert_eq!(extracted.answer()["ready"], ready, "{page}");
        if !page.contains("image") && !page.contains("body") {
            assert!(answer["links_total"].as_u64() > Some(0), "{page}: {answer}");
        }
        assert!(visitor.save_whole(page).has_line(&format!("# {title}")), "{page}");
    });
}

#[test]
fn a_page_that_does_not_answer_ends_in_time_and_the_next_call_works() {
    let visitor = Visitor::with_browser();
    for page in ["/slow/first-byte", "/slow/loop/0", "/slow/loop/500"] {
        for tool in [visitor.navigate(page), visitor.extract(page)] {
            let start = Instant::now();
            let run = tool.args(["--timeout", "3"]).within(Duration::from_secs(40)).run();
            // The loop that begins late may begin when the page was already taken.
            if page != "/slow/loop/500" || run.stdout_json.is_none() {
                let error = run.error("TIMEOUT");
                assert_eq!(error["details"]["url"], visitor.site.url(page));
            }
            // Three seconds, and what a busy machine needs to end it.
            assert!(start.elapsed() < Duration::from_secs(15), "{page} took {:?}", start.elapsed());
            let next = seen(&visitor, "/page/next");
            assert_eq!(next["title"], "next", "after {page}");
        }
    }
}

#[test]
fn a_crashed_page_is_an_error_and_the_next_call_works() {
    let visitor = Visitor::with_browser();
    for _ in 0..2 {
        visitor.refuse("/content/crash", "PAGE_CRASHED");
        visitor.navigate("/content/crash").run().error("PAGE_CRASHED");
        assert_eq!(seen(&visitor, "/page/next")["title"], "next");
    }
    // Without an open browser, too.
    visitor.close().run().answer();
    visitor.refuse("/content/crash", "PAGE_CRASHED");
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
    assert!(visitor.project.left_running(Duration::from_secs(10)).is_empty());
}

#[test]
fn dialogs_do_not_stop_a_page() {
    let visitor = Visitor::with_browser();
    for (page, shown) in [
        ("/dialog/alert", ""),
        ("/dialog/confirm", "Answer: true."),
        ("/dialog/prompt", "Answer: null."),
        ("/dialog/chain", "Answer: true. Answer: null."),
        ("/dialog/frame", ""),
        ("/dialog/sandbox", ""),
        ("/dialog/unload", ""),
    ] {
        assert_eq!(hrefs(&visitor, page), ["/page/after"], "{page}");
        let saved = visitor.save_whole(page);
        assert!(saved.has_line("# Dialogs") && saved.markdown.contains(shown), "{page}: {}", saved.markdown);
        assert_eq!(seen(&visitor, "/page/next")["title"], "next", "after {page}");
    }
}

#[test]
fn redirects_are_followed_as_far_as_they_lead_to_pages() {
    let visitor = Visitor::with_browser();
    for (page, end) in [
        ("/redirect/chain/7", "/page/the%20end%20of%20the%20chain"),
        ("/redirect/meta", "/page/after%20the%20refresh"),
        ("/redirect/meta/20", "/page/after%20the%20refresh"),
        ("/redirect/header", "/page/refreshed"),
        ("/redirect/header-later", "/page/refreshed"),
        ("/redirect/script/0", "/page/after%20the%20script"),
        ("/redirect/script/400", "/page/after%20the%20script"),
    ] {
        let answer = seen(&visitor, page);
        assert_eq!(answer["url"], visitor.site.url(end), "{page}");
        assert_eq!(answer["http_status"], 200, "{page}");
        // The saved page is named by what it is, wherever one came from.
        assert_eq!(visitor.save(page).path, visitor.save(end).path, "{page}");
    }
    assert_eq!(visitor.documents().len(), 4);
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
fn nothing_but_the_web_is_opened_wherever_a_page_leads() {
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
fn an_error_page_is_seen_and_not_saved() {
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
        ("hcaptcha", "captcha"),
        ("recaptcha", "captcha"),
        ("datadome", "datadome"),
        ("perimeterx", "perimeterx"),
        ("akamai", "akamai"),
        ("akamai-crypto", "akamai"),
        ("aws-waf", "aws-waf"),
        ("aws-waf-captcha", "aws-waf"),
    ];
    // At once, because each is given time to clear itself.
    at_once(3, &vendors, |(vendor, recognized)| {
        let page = format!("/challenge/{vendor}");
        let answer = visitor.navigate(&page).args(["--timeout", "60"]).run().answer().clone();
        assert_eq!(answer["is_bot_detected"], true, "{vendor}");
        let error = visitor.extract(&page).args(["--timeout", "60"]).run();
        assert_eq!(error.error("BOT_DETECTED")["details"]["vendor"], *recognized, "{vendor}");
    });
    assert!(visitor.saved().is_empty() && !visitor.catalog_file().exists());
}

#[test]
fn a_challenge_that_clears_itself_ends_as_the_page() {
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
        "/content/login-form",
    ] {
        let answer = seen(&visitor, page);
        assert_eq!((&answer["is_bot_detected"], &answer["http_status"]), (&false.into(), &200.into()), "{page}");
        assert!(!visitor.save(page).markdown.trim().is_empty(), "{page}");
    }
    let answer = seen(&visitor, "/innocent/forbidden");
    assert_eq!((&answer["is_bot_detected"], &answer["http_status"]), (&false.into(), &403.into()), "{answer}");
    visitor.refuse("/innocent/forbidden", "HTTP_ERROR");
}

#[test]
fn what_is_no_page_is_said_and_what_is_text_is_saved() {
    let visitor = Visitor::with_browser();
    for (page, media) in [("download", "application/gzip"), ("pdf", "application/pdf"), ("image", "image/svg+xml")] {
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
        assert_eq!(seen(&visitor, page)["links_total"], 0, "{page}");
    }
    for (page, markdown) in [
        ("text", "```text\nPlain text\n\n  with an indented line, <b>no markup</b>\nand 日本語.\n```\n"),
        ("markdown", "# Markdown\n\nServed *as it is*, with a [link](/page/one).\n"),
        ("json", "```json\n{\"title\": \"JSON\", \"items\": [1, 2, 3]}\n```\n"),
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
fn a_page_is_read_in_its_own_encoding() {
    let visitor = Visitor::with_browser();
    for (page, title) in [("shift-jis", "シフトJISのページ"), ("euc-jp", "EUC-JPのページ")] {
        let saved = visitor.save(&format!("/content/{page}"));
        assert_eq!(saved.field("title"), title);
        assert!(saved.markdown.contains("潮位は六分ごとに記録されます。") && saved.markdown.contains('①'), "{page}");
        assert!(saved.markdown.contains(&format!("[潮汐の仕組み]({})", visitor.site.url("/page/tides"))), "{page}");
    }
    // The server's word counts, as it does in every browser; the address and the file are whole.
    let wrong = visitor.save("/content/wrong-charset");
    assert!(wrong.field("title").contains("UTF-8"), "{}", wrong.field("title"));
    for (page, text) in [
        ("/wiki/ja/introduction", "# Tidemark 入門"),
        ("/wiki/ja/glossary", "# 潮汐用語集"),
        ("/wiki/ja/history", "# 験潮の歴史"),
    ] {
        let saved = visitor.save(page);
        assert!(saved.has_line(text), "{page}: {}", saved.markdown);
        assert!(!saved.markdown.contains('\u{fffd}'), "{page}");
    }
}

#[test]
fn deep_huge_and_broken_documents_are_saved_whole() {
    let visitor = Visitor::with_browser();
    for page in ["deep", "deep-script"] {
        let page = format!("/content/{page}");
        // What the parser flattens comes out of its order, but all of it is there.
        let saved = visitor.save_whole(&page);
        assert!(saved.markdown.contains("The bottom, with a "), "{page}: {}", saved.markdown);
        assert!(hrefs(&visitor, &page).contains(&"/page/bottom".to_owned()), "{page}");
    }
    let run = visitor.extract("/content/huge").args(["--timeout", "100"]).run();
    assert!(run.answer()["words"].as_u64() > Some(1_000_000), "{}", run.answer());
    assert!(Saved::by(&run).markdown.len() > 7_000_000);

    let saved = visitor.save("/content/surrogates");
    assert_eq!(saved.field("title"), "Half \u{fffd} a title");
    assert!(saved.markdown.contains("Half \u{fffd} a character."), "{}", saved.markdown);
    let answer = seen(&visitor, "/content/surrogates");
    assert_eq!(links(&visitor, &answer), owned([("Link with \u{fffd} half a character", "/page/whole")]));
}

#[test]
fn titles_of_any_kind_are_front_matter_that_parses() {
    let visitor = Visitor::with_browser();
    let title = "--- title: \"It's\" # 50% of {a: [b]} & *all* | > --- emoji 🌊 end:";
    let saved = visitor.save("/content/title");
    assert_eq!(saved.field("title").split_whitespace().collect::<Vec<_>>().join(" "), title);
    assert_eq!(saved.field("source_url"), visitor.site.url("/content/title"));
    assert_eq!(visitor.documents()[0]["title"], saved.field("title"));
    let answer = seen(&visitor, "/content/long-title");
    assert!(answer.to_string().chars().count() < OUTPUT_LIMIT);
    let long = visitor.save("/content/long-title");
    assert!(long.field("title").starts_with("Long title Long title"), "{}", long.field("title"));
}

#[test]
fn banners_and_navigation_are_not_content() {
    let visitor = Visitor::with_browser();
    let markdown = visitor.save("/content/banner").markdown;
    for text in ["A box with a shadow", "A download, which belongs to it too"] {
        assert!(markdown.contains(text), "{text}: {markdown}");
    }
    for text in ["cookies", "Accept all", "newsletter", "No, thanks", "rubber boots", "Advertisement"] {
        assert!(!markdown.contains(text), "{text}: {markdown}");
    }
    let markdown = visitor.save("/wiki/tides").markdown;
    for text in
        ["Skip to content", "Main", "Copy link", "Was this page helpful", "one cookie", "addEventListener", "Footer"]
    {
        assert!(!markdown.lines().any(|line| line.contains(text)), "{text}: {markdown}");
    }
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
        ("http://127.0.0.1:6000/".to_owned(), "net::ERR_UNSAFE_PORT", "opens no page on that port"),
        ("http://no-such-host.invalid/".to_owned(), "net::ERR_NAME_NOT_RESOLVED", "name is not known"),
    ] {
        let error = visitor.refuse(&page, "NAVIGATION_FAILED");
        assert_eq!(error["details"]["net_error"], net_error, "{page}: {error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{page}: {error}");
        visitor.navigate(&page).run().error("NAVIGATION_FAILED");
    }
    assert_eq!(seen(&visitor, "/page/next")["title"], "next");
}

#[test]
fn paging_gives_every_link_once_within_the_output() {
    let visitor = Visitor::with_browser();
    let mut found = vec![];
    let mut offset = Value::from(0);
    while !offset.is_null() {
        let run = visitor.navigate("/links/5000").args(["--offset", &offset.to_string()]).run();
        assert!(String::from_utf8_lossy(&run.raw.stdout).chars().count() < OUTPUT_LIMIT);
        let answer = run.answer();
        assert_eq!(answer["links_total"], 5000);
        found.extend(links(&visitor, answer).into_iter().map(|(_, href)| href));
        offset = answer["next"]["offset"].clone();
        assert!(answer["next"].is_null() || offset == found.len(), "{}", answer["next"]);
    }
    let all: Vec<_> = (1..=5000).map(|n| format!("/page/{n}")).collect();
    assert!(found == all, "{} links", found.len());
    // The rest of a list is the rest of the page that was loaded, but for the first look.
    assert_eq!(visitor.site.count("/links/5000"), 1);

    for past in ["5000", "9999"] {
        let run = visitor.navigate("/links/5000").args(["--offset", past]).run();
        assert_eq!(run.error("OFFSET_BEYOND_END")["details"]["links_total"], 5000);
    }
    // A limit is kept as it was given.
    let run = visitor.navigate("/links/5000").args(["--limit", "2000", "--offset", "100"]).run();
    assert_eq!(run.answer()["links"].as_array().unwrap().len(), 2000);
    assert_eq!(run.answer()["next"]["offset"], 2100);
}

#[test]
fn links_can_be_chosen() {
    let visitor = Visitor::with_browser();
    let chosen = |page: &str, arguments: &[&str]| {
        let run = visitor.navigate(page).args(arguments).run();
        let count = run.answer()["links_total"].as_u64().unwrap() as usize;
        (count, links(&visitor, run.answer()))
    };
    // By address, and by text, with Unicode.
    let (count, by_address) = chosen("/links/200", &["--match", r"/page/1\d$"]);
    assert_eq!((count, by_address[0].1.as_str(), by_address[9].1.as_str()), (10, "/page/10", "/page/19"));
    let (count, by_text) = chosen("/links/200", &["--match", r"^Entry (3|77):"]);
    assert_eq!((count, by_text.len()), (2, 2));
    let (count, page) = chosen("/links/200", &["--match", r"/page/1\d$", "--limit", "3", "--offset", "6"]);
    assert_eq!((count, page.len(), page[0].1.as_str()), (10, 3, "/page/16"));
    assert_eq!(chosen("/links/200", &["--match", "no link has this"]), (0, vec![]));
    visitor.navigate("/links/20").args(["--match", "("]).run().error("ARGUMENT_ERROR");

    let (_, same) = chosen("/links/schemes", &["--same-site"]);
    assert_eq!(same, owned([("Relative", "/page/relative")]));
}

#[test]
fn an_element_can_be_waited_for() {
    let visitor = Visitor::with_browser();
    for (page, selector) in
        [("/page/there", "article h1"), ("/links/late/2500", "#list a[href$='20']"), ("/slow/body", "h1")]
    {
        let run = visitor.navigate(page).args(["--wait-for", selector]).run();
        assert_eq!(run.answer()["ready"], "selector", "{page}");
    }
    let waited = visitor.navigate("/links/late/2500").args(["--wait-for", "#list a"]).run();
    assert_eq!(waited.answer()["links_total"], 20);
    for tool in [visitor.navigate("/page/never"), visitor.extract("/page/never")] {
        let start = Instant::now();
        let run = tool.args(["--wait-for", ".never", "--timeout", "2"]).run();
        assert_eq!(run.error("SELECTOR_NOT_FOUND")["details"]["selector"], ".never");
        assert!(start.elapsed() < Duration::from_secs(14), "it took {:?}", start.elapsed());
    }
    for tool in [visitor.navigate("/page/bad"), visitor.extract("/page/bad")] {
        let error = tool.args(["--wait-for", "a[[b"]).run();
        assert_eq!(error.error("ARGUMENT_ERROR")["details"]["argument"], "--wait-for");
    }
    assert!(visitor.saved().is_empty());
    Saved::by(&visitor.extract("/links/late/2500").args(["--wait-for", "#list a"]).run());
}

#[test]
fn an_element_can_be_saved_alone() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/wiki/installation").args(["--selector", "#platforms, table"]).run();
    let saved = Saved::by(&run);
    assert!(saved.markdown.contains("Debian 12") && !saved.markdown.contains("As a service"), "{}", saved.markdown);
    assert_eq!(saved.field("title"), "Installation | Tidemark");
    // What is no content otherwise is content when it is asked for.
    let sidebar = Saved::by(&visitor.extract("/wiki/faq").args(["--selector", "nav.sidebar"]).run());
    assert!(sidebar.markdown.contains("Harmonic analysis"), "{}", sidebar.markdown);
    let before = visitor.saved();
    let none = visitor.extract("/wiki/tides").args(["--selector", ".never"]).run();
    assert_eq!(none.error("SELECTOR_NOT_FOUND")["details"]["selector"], ".never");
    let bad = visitor.extract("/wiki/tides").args(["--selector", "a[[b"]).run();
    assert_eq!(bad.error("ARGUMENT_ERROR")["details"]["argument"], "--selector");
    assert_eq!(visitor.saved(), before);
}

#[test]
fn the_wiki_becomes_markdown() {
    let visitor = Visitor::with_browser();
    let at = |page: &str| visitor.site.url(page);

    let saved = visitor.save("/wiki/installation");
    assert_eq!(saved.field("source_url"), at("/wiki/installation"));
    assert!(saved.field("fetched_at").ends_with('Z'), "{}", saved.field("fetched_at"));
    assert_eq!(saved.field("lang"), "en");
    for line in ["# Installation", "## Platforms", "## From source", "```bash", "```ini", "[Unit]", "Restart=always"] {
        assert!(saved.has_line(line), "{line}: {}", saved.markdown);
    }
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table: Vec<_> = saved.markdown.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(table[0], ["System", "Processor", "Size (MB)", "How"]);
    assert_eq!(table[2], ["Debian 12", "x86-64, arm64", "3.1", "`apt install tidemark`"]);
    assert_eq!(table[4][3], format!("the [archive]({}), unpacked anywhere", at("/wiki/tidemark-0.9.tar.gz")));
    assert!(saved.has_line("cargo build --release && sudo install target/release/tidemark /usr/local/bin/"));
    assert!(saved.has_line("2. Load it with `systemctl daemon-reload`."), "{}", saved.markdown);

    // Highlighted code, copy buttons and anchors around it.
    let rust = visitor.save("/wiki/rust-library").markdown;
    assert!(
        rust.contains(
            "```rust\nuse tidemark::{Station, Time};\n\nfn main() -> tidemark::Result<()> {\n    let station"
        ),
        "{rust}"
    );
    assert!(!rust.contains("Link to this section"), "{rust}");

    // Rendered by script from what it fetched.
    let stations = visitor.save("/wiki/stations").markdown;
    assert!(stations.contains("Mean range (m)") && !stations.contains("Loading stations"), "{stations}");

    // Every article, with an absolute address for each of its links.
    for (_, page) in links(&visitor, &seen(&visitor, "/wiki/")) {
        // The handbook and the archive are no pages.
        if !page.starts_with("/wiki/") || page.contains(".pdf") || page.contains(".tar") {
            continue;
        }
        let saved = visitor.save(&page);
        assert!(!saved.markdown.trim().is_empty(), "{page}");
        for target in saved.markdown.split("](").skip(1) {
            let absolute = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
            assert!(absolute, "{page}: {}", target.chars().take(60).collect::<String>());
        }
    }
    assert_eq!(visitor.documents().len(), visitor.saved().len());
    assert!(visitor.saved().len() >= 17);
}

#[test]
fn the_heading_of_a_short_article_is_kept() {
    let visitor = Visitor::with_browser();
    for (page, heading) in
        [("/content/banner", "# Under a banner"), ("/page/one", "# one"), ("/wiki/gauges", "# Tide gauges")]
    {
        let saved = visitor.save(page);
        assert!(saved.has_line(heading), "{page}: {}", saved.markdown);
    }
}

#[test]
fn breadcrumbs_in_navigation_are_not_content() {
    let visitor = Visitor::with_browser();
    for page in ["/wiki/rust-library", "/wiki/tides", "/wiki/faq"] {
        let saved = visitor.save(page);
        // The trail stands before the heading.
        assert!(saved.markdown.starts_with("# "), "{page}: {}", saved.markdown);
    }
}

#[test]
fn what_buttons_say_is_not_content() {
    let visitor = Visitor::with_browser();
    let markdown = visitor.save("/wiki/rust-library").markdown;
    for label in ["Copy", "Copy link", "Print", "Yes", "No", "Accept", "Decline"] {
        assert!(!markdown.lines().any(|line| line.trim() == label), "{label}: {markdown}");
    }
}
