//! Which links `browser-navigate` lists, and how they are filtered and paged.

use std::time::{Duration, Instant};

use ragmaker_tests::visitor::Visitor;
use serde_json::Value;

use super::{OUTPUT_LIMIT, hrefs, links, owned, seen};

#[test]
fn links_are_what_a_person_could_follow() {
    let visitor = Visitor::with_browser();
    let of = |page: &str| links(&visitor, &seen(&visitor, page));

    let late = of("/links/late/1200");
    assert_eq!((late.len(), late[19].0.as_str()), (20, "Late entry 20"));
    let hidden = of("/links/hidden");
    assert!(hidden.iter().all(|(text, _)| text.starts_with("Shown")), "{hidden:?}");
    assert_eq!(hidden.len(), 28, "{hidden:?}");
    let unstyled = of("/links/unstyled");
    assert!(unstyled.iter().all(|(text, _)| text.starts_with("Shown")), "{unstyled:?}");
    assert_eq!(unstyled.len(), 4, "{unstyled:?}");
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
fn links_of_frames_and_shadow_roots_are_listed_once() {
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
fn paging_gives_every_link_once_within_the_output() {
    let visitor = Visitor::with_browser();
    let mut found = vec![];
    let mut offset = Value::from(0);
    while !offset.is_null() {
        let run = visitor.navigate("/links/5000").args(["--offset", &offset.to_string()]).run();
        assert!(String::from_utf8_lossy(&run.raw.stdout).chars().count() < OUTPUT_LIMIT);
        let answer = run.answer();
        assert_eq!(answer["total"], 5000);
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
        assert_eq!(run.error("OFFSET_BEYOND_END")["details"]["total"], 5000);
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
        let count = run.answer()["total"].as_u64().unwrap() as usize;
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
