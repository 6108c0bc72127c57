//! Readiness of a page: late content, endless activity, dialogs, pages that hang or crash.

use std::time::Duration;

use ragmaker_tests::{
    site::{END, FIXTURES, LATE},
    visitor::{Saved, Visitor, at_once},
};

use serde_json::{Value, json};

use super::{hrefs, links, owned, seen};

#[test]
fn late_content_is_waited_for() {
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
fn page_scripts_cannot_interfere_with_reading() {
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
fn a_place_on_the_page_that_is_shown_is_loaded_like_any_other() {
    let visitor = Visitor::with_browser();
    for (loads, page) in ["/page/shown", "/page/shown#a", "/page/shown#b"].into_iter().enumerate() {
        assert_eq!(visitor.navigate(page).run().answer()["url"], visitor.site.url(page));
        assert_eq!(visitor.site.count("/page/shown"), loads + 1, "{page}");
    }
}

#[test]
fn pages_with_endless_activity_become_ready() {
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
        ("/slow/socket", "WebSocket", "content"),
        ("/slow/events", "Event stream", "content"),
        ("/slow/fetch", "Hanging request", "cap"),
        ("/slow/clock/20", "Clock", "idle"),
        ("/slow/image/1500", "Slow image", "idle"),
        ("/slow/image/100000", "Slow image", "content"),
        ("/slow/style/1500", "Slow style sheet", "idle"),
        ("/slow/answer/3000", "Slow answer", "idle"),
        ("/slow/body", "Trickled page", "cap"),
        ("/slow/style/100000", "Slow style sheet", "content"),
    ];
    at_once(3, &pages, |&(page, title, ready)| {
        let arguments = ["--load", "everything", "--timeout", "60"];
        let answer = visitor.navigate(page).args(arguments).run().answer().clone();
        assert_eq!((answer["title"].as_str(), answer["ready"].as_str()), (Some(title), Some(ready)), "{page}");
        assert_eq!(answer["http_status"], 200, "{page}");
        let extracted = visitor.extract(page).args(arguments).run();
        assert_eq!(
            (&extracted.answer()["ready"], &extracted.answer()["pending"]),
            (&answer["ready"], &answer["pending"]),
            "{page}"
        );
        assert_eq!(answer["pending"].is_null(), ready == "idle", "{page}: {answer}");
        if !page.contains("image") && !page.contains("body") {
            assert!(answer["total"].as_u64() > Some(0), "{page}: {answer}");
        }
        assert!(visitor.save_whole(page).has_line(&format!("# {title}")), "{page}");
    });
}

#[test]
fn unanswered_requests_to_other_sites_cost_no_content() {
    let visitor = Visitor::with_browser();
    let pages = [
        ("fetch", "content", "The end of the page."),
        ("script", "content", "The end of the page."),
        ("frame", "content", "The end of the page."),
        ("image", "content", "The end of the page."),
        ("blocking", "idle", "The end of the page."),
        ("style", "idle", "The end of the page."),
        ("late", "idle", "Words that another site brings"),
    ];
    at_once(3, &pages, |&(name, ready, line)| {
        let page = format!("/other-site/{name}");
        let everything = ["--load", "everything"];
        let answer = visitor.navigate(&page).args(["--timeout", "60"]).args(everything).run().answer().clone();
        let extracted = visitor.extract(&page).args(["--selector", "body"]).args(everything).run();
        let pending = if ready == "content" { json!([format!("{name}.localhost")]) } else { Value::Null };
        for answer in [&answer, extracted.answer()] {
            assert_eq!((&answer["ready"], &answer["pending"]), (&json!(ready), &pending), "{name}");
        }
        let saved = Saved::by(&extracted);
        assert!(saved.has_line("# Other site") && saved.has_line(line), "{name}: {}", saved.markdown);
    });
}

#[test]
fn late_content_is_saved_and_noise_is_not_waited_for() {
    assert!(FIXTURES.len() >= 40 && FIXTURES.iter().filter(|fixture| fixture.is_late()).count() >= 20);
    let visitor = Visitor::with_browser();
    let whole = FIXTURES.iter().filter(|fixture| fixture.assets).map(|fixture| (fixture, "everything"));
    let calls: Vec<_> = FIXTURES.iter().map(|fixture| (fixture, "text")).chain(whole).collect();
    let wrong = at_once(3, &calls, |&(fixture, load)| {
        let page = format!("/ready/{}", fixture.name);
        let run = visitor.extract(&page).args(["--selector", "body", "--load", load, "--timeout", "60"]).run();
        let (answer, saved) = (run.answer(), Saved::by(&run));
        let pending = answer["pending"].as_array().map_or(0, Vec::len);
        let ready = if fixture.assets && load == "text" { "idle" } else { fixture.ready };
        let right = answer["ready"] == ready
            && (pending == 0) == (ready == "idle")
            && (fixture.thin || saved.has_line(END))
            && (!fixture.is_late() || saved.has_line(LATE));
        (!right).then(|| format!("{} with {load}: {answer}\n{}", fixture.name, saved.markdown))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sparse_page_reports_pending_hosts() {
    let visitor = Visitor::with_browser();
    let answer = visitor.navigate("/other-site/thin").args(["--timeout", "60"]).run().answer().clone();
    assert_eq!((&answer["ready"], &answer["pending"]), (&json!("cap"), &json!(["thin.localhost"])));
}

#[test]
fn a_host_that_held_up_the_parser_is_not_asked_for_the_next_page() {
    let visitor = Visitor::with_browser();
    let page = "/other-site/blocking";
    // What is waited for comes after the script that holds up the parser.
    let waited = visitor.navigate(page).args(["--wait-for", "main > p:nth-of-type(20)", "--timeout", "60"]).run();
    assert_eq!(waited.answer()["ready"], "selector");
    let asked = visitor.site.count("/other-site/silent");
    assert_eq!(visitor.navigate(page).args(["--timeout", "60"]).run().answer()["ready"], "idle");
    assert_eq!((asked, visitor.site.count("/other-site/silent")), (1, 1));
}

#[test]
fn a_page_that_does_not_answer_ends_in_time_and_the_next_call_works() {
    let visitor = Visitor::with_browser();
    for page in ["/slow/first-byte", "/slow/loop/0", "/slow/loop/500"] {
        for tool in [visitor.navigate(page), visitor.extract(page)] {
            // Without its own timeout the call would take 30 seconds.
            let run = tool.args(["--timeout", "3"]).within(Duration::from_secs(25)).run();
            // The loop that begins late may begin when the page was already taken.
            if page != "/slow/loop/500" || run.stdout_json.is_none() {
                let error = run.error("TIMEOUT");
                assert_eq!(error["details"]["url"], visitor.site.url(page));
            }
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
fn an_element_can_be_waited_for() {
    let visitor = Visitor::with_browser();
    for (page, selector) in
        [("/page/there", "article h1"), ("/links/late/2500", "#list a[href$='20']"), ("/slow/body", "h1")]
    {
        let run = visitor.navigate(page).args(["--wait-for", selector]).run();
        assert_eq!(run.answer()["ready"], "selector", "{page}");
    }
    let waited = visitor.navigate("/links/late/2500").args(["--wait-for", "#list a"]).run();
    assert_eq!(waited.answer()["total"], 20);
    for tool in [visitor.navigate("/page/never"), visitor.extract("/page/never")] {
        let run = tool.args(["--wait-for", ".never", "--timeout", "2"]).within(Duration::from_secs(25)).run();
        assert_eq!(run.error("SELECTOR_NOT_FOUND")["details"]["selector"], ".never");
    }
    for tool in [visitor.navigate("/page/bad"), visitor.extract("/page/bad")] {
        let error = tool.args(["--wait-for", "a[[b"]).run();
        assert_eq!(error.error("ARGUMENT_ERROR")["details"]["argument"], "--wait-for");
    }
    assert!(visitor.saved().is_empty());
    Saved::by(&visitor.extract("/links/late/2500").args(["--wait-for", "#list a"]).run());
}
