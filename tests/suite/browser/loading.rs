//! The loaded parts of a page: for its text, everything, and with filter lists.

use std::fs;

use ragmaker_tests::{
    site::LATE,
    visitor::{Saved, Visitor},
};

use super::seen;

#[test]
fn pictures_are_loaded_where_everything_is_asked_for() {
    let visitor = Visitor::with_browser();
    let (page, picture) = ("/slow/image/1", "/slow/image/1/file");
    assert_eq!(seen(&visitor, page)["ready"], "idle");
    assert_eq!(visitor.site.count(picture), 0);
    // The open page has too little: it is loaded again, once.
    for _ in 0..2 {
        visitor.extract(page).args(["--selector", "body", "--load", "everything"]).run().answer();
        assert_eq!((visitor.site.count(page), visitor.site.count(picture)), (2, 1));
    }
    // What is there is more than enough.
    let saved = Saved::by(&visitor.extract(page).args(["--selector", "body"]).run());
    assert_eq!(visitor.site.count(page), 2);
    assert!(saved.markdown.contains(picture), "{}", saved.markdown);
    visitor.navigate(page).args(["--load", "nothing"]).run().error("ARGUMENT_ERROR");
}

#[test]
fn a_filter_list_keeps_requests_from_being_made() {
    let visitor = Visitor::with_browser();
    let rules = "! A list\n||api-other-script.localhost^$script\n/ready/part/json/$xmlhttprequest\n";
    let list = visitor.project.write("list.txt", rules);
    let list = list.to_str().unwrap();
    for (name, part) in [("other-script", "show.js/400"), ("own-request", "json/700")] {
        let page = format!("/ready/{name}");
        for (arguments, asked) in [(vec!["--block-list", list], 0), (vec![], 1)] {
            visitor.navigate(&page).args(&arguments).run().answer();
            let run = visitor.extract(&page).args(["--selector", "body"]).args(&arguments).run();
            assert_eq!(visitor.site.count(&format!("/ready/part/{part}")), asked, "{name}");
            assert_eq!(Saved::by(&run).has_line(LATE), asked == 1, "{name}");
        }
    }
    // The page itself is not blocked.
    fs::write(list, "||127.0.0.1^\n").unwrap();
    assert_eq!(visitor.navigate("/page/shown").args(["--block-list", list]).run().answer()["title"], "shown");
    // By the environment, and for a host's calls; a model does not name one.
    fs::write(list, "/ready/part/json/$xmlhttprequest\n").unwrap();
    let before = visitor.site.count("/ready/part/json/700");
    visitor.navigate("/ready/own-request").env("RAGMAKER_BLOCK_LISTS", list).run().answer();
    assert_eq!(visitor.site.count("/ready/part/json/700"), before);
    let missing = visitor.navigate("/page/shown").args(["--block-list", "none.txt"]).run();
    assert!(missing.error("BLOCK_LIST_NOT_READABLE")["details"]["path"].as_str().unwrap().ends_with("none.txt"));
}

#[test]
fn loading_rules_apply_to_frames_of_other_sites() {
    let visitor = Visitor::with_browser();
    let list = visitor.project.write("list.txt", "/other-site/inner/script$script\n");
    let blocked = ["--block-list", list.to_str().unwrap()];
    // How often image and script have been asked for by then.
    for (arguments, asked) in [(&blocked[..], (0, 0)), (&[], (0, 1)), (&["--load", "everything"], (1, 2))] {
        let run = visitor.navigate("/other-site/framed").args(arguments).run();
        assert_eq!(run.answer()["ready"], "idle");
        let count = |part: &str| visitor.site.count(&format!("/other-site/inner/{part}"));
        assert_eq!((count("picture"), count("script")), asked, "{arguments:?}");
    }
}

#[test]
fn a_list_holds_for_the_requests_of_workers() {
    let visitor = Visitor::with_browser();
    let list = visitor.project.write("list.txt", "/other-site/worker/*/tracker\n");
    let blocked = ["--block-list", list.to_str().unwrap()];
    for (kind, arguments, said, trackers) in [
        ("dedicated", &blocked[..], "text, no tracker", 0),
        ("dedicated", &[], "text, tracker", 1),
        // It is installed once.
        ("service", &blocked, "text, no tracker", 0),
        // It belongs to no tab: there is none where every request is checked.
        ("shared", &blocked, "no shared workers", 0),
        ("shared", &[], "text, tracker", 1),
    ] {
        let page = format!("/other-site/worker/{kind}");
        let shown = ["--selector", "#said", "--wait-for", "#said:not(:empty)", "--reload"];
        let run = visitor.extract(&page).args(shown).args(arguments).run();
        assert!(Saved::by(&run).has_line(said), "{kind} {arguments:?}: {:?}", run.answer());
        assert_eq!(visitor.site.count(&format!("{page}/tracker")), trackers, "{kind} {arguments:?}");
    }
}
