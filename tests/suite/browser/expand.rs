//! Content that a page shows only on a click or on scrolling.

use ragmaker_tests::{
    run::Tool,
    site::folded_sentences,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

/// On a busy machine, a thousand rows take their time.
const ALL: [&str; 4] = ["--expand", "--scroll-to-end", "--timeout", "120"];

#[test]
fn every_sentence_is_saved_once_where_all_is_expanded() {
    let visitor = Visitor::with_browser();
    let plain = Saved::by(&visitor.extract("/folded").run());
    // Twice: what is expanded is there, and the page is as it was left.
    for _ in 0..2 {
        let run = visitor.extract("/folded").args(ALL).run();
        let expanded = &run.answer()["expanded"];
        assert_eq!(expanded["complete"], true, "{expanded}");
        // Three sections are in another one.
        assert_eq!((&expanded["sections"], &expanded["tabs"], &expanded["more"]), (&json!(33), &json!(10), &json!(1)));
        let markdown = Saved::by(&run).markdown;
        let mut after = 0;
        for sentence in folded_sentences() {
            let count = markdown.matches(&sentence).count();
            assert_eq!(count, 1, "{sentence}");
            // Tabs and rows come in their order.
            if !sentence.contains("section") && !sentence.contains("rest") {
                let at = markdown.find(&sentence).unwrap();
                assert!(at > after || sentence.contains("row number 0"), "{sentence}");
                after = at;
            }
        }
        // The button that unfolds a section is its heading.
        assert!(markdown.contains("\n### Station 1\n") && markdown.contains("\n### Station 2\n"), "{markdown}");
        assert!(!plain.markdown.contains("row number 100 ") && !plain.markdown.contains("tab number 8 "));
    }
}

#[test]
fn a_refresh_expands_as_the_first_call_did() {
    let visitor = Visitor::with_browser();
    // Rows that come on clicks.
    let url = visitor.site.url("/act/links/20");
    let page = visitor.project.tool("browser-extract").args(["--url", &url, "--kb-root", "kb", "--selector", "main"]);
    assert_eq!(page.arg("--expand").run().answer()["expanded"]["more"], 4);
    let refresh = visitor.project.tool("refresh-knowledge-base").args(["--kb-root", "kb", "--allow-private"]);
    assert_eq!(refresh.run().answer()["counts"]["unchanged"], 1);
    // For a list, the same page without what is folded is another document.
    let list =
        || visitor.project.tool("browser-extract").args(["--urls", &url, "--kb-root", "kb", "--selector", "main"]);
    assert_eq!(list().arg("--expand").run().answer()["counts"]["unchanged"], 1);
    assert_eq!(list().arg("--reload").run().answer()["counts"]["changed"], 1);
}

#[test]
fn each_panel_of_a_strip_has_the_label_of_its_tab() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/folded/pressed-tabs").arg("--expand").run();
    let markdown = Saved::by(&run).markdown;
    for name in ["Spring", "Neap", "Storm"] {
        let expected = format!("**{name}**\n\nThe {name} tide is drawn in the chart on the wall.");
        assert!(markdown.contains(&expected), "{markdown}");
    }
}

#[test]
fn what_is_in_a_tab_is_opened_before_the_next_tab() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/folded/nested-tabs").arg("--expand").run();
    assert_eq!(run.answer()["expanded"]["complete"], true);
    let markdown = Saved::by(&run).markdown;
    let mut after = 0;
    for name in ["Ebb", "Flood", "Rise", "Slack", "Fall", "North", "South"] {
        let sentence = format!("The {name} gauge is read at the lower gate.");
        assert_eq!(markdown.matches(&sentence).count(), 1, "{name}: {markdown}");
        let at = markdown.find(&sentence).unwrap();
        assert!(after < at, "{name}: {markdown}");
        after = at;
    }
    // A panel is saved once, whatever was open in it.
    for name in ["Harbour", "River", "Coast"] {
        assert_eq!(markdown.matches(&format!("\n{name} gauges\n")).count(), 1, "{name}: {markdown}");
    }
}

#[test]
fn sections_that_close_each_other_and_are_drawn_anew_are_all_saved() {
    let visitor = Visitor::with_browser();
    let run = visitor.extract("/folded/redrawn-sections").arg("--expand").run();
    assert_eq!(run.answer()["expanded"]["complete"], true);
    let markdown = Saved::by(&run).markdown;
    let mut after = 0;
    for name in ["Ebb", "Flood", "Slack", "Rise", "North", "South", "East", "First", "Second", "Third"] {
        let sentence = format!("The {name} gauge is read at the lower gate.");
        assert_eq!(markdown.matches(&sentence).count(), 1, "{name}: {markdown}");
        // Each under its own heading, and all in their order.
        let heading = markdown.find(&format!("### {name}")).unwrap();
        let at = markdown.find(&sentence).unwrap();
        assert!(after < heading && !markdown[heading + 3..at].contains("###") && heading < at, "{name}: {markdown}");
        after = at;
    }
}

#[test]
fn links_that_come_on_a_click_are_listed() {
    let visitor = Visitor::with_browser();
    let total = |arguments: &[&str]| {
        let run = visitor.navigate("/act/links/20").args(arguments).run();
        run.answer()["total"].as_u64().unwrap()
    };
    let plain = total(&[]);
    assert_eq!(total(&["--expand"]), plain + 12);
}

#[test]
fn a_page_without_anything_folded_stays_as_it_is() {
    let visitor = Visitor::with_browser();
    let plain = Saved::by(&visitor.extract("/page/amber").run());
    let run = visitor.extract("/page/amber").args(ALL).arg("--reload").run();
    let expanded = json!({"sections": 0, "tabs": 0, "more": 0, "rows": 0, "complete": true});
    let mut counted = run.answer()["expanded"].clone();
    counted.as_object_mut().unwrap().remove("screens");
    assert_eq!(counted, expanded);
    assert_eq!(Saved::by(&run).markdown, plain.markdown);
}

#[test]
fn a_page_stays_the_requested_one_whatever_its_controls_do() {
    assert_kept(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn a_list_of_addresses_has_the_pages_that_were_asked_for() {
    let visitor = Visitor::with_browser();
    let url = visitor.site.url("/folded/navigates");
    let run = visitor.project.tool("browser-extract").args(["--urls", &url, "--kb-root", "kb", "--expand"]).run();
    assert_eq!(run.answer()["counts"]["added"], 1);
    assert_eq!(visitor.documents()[0]["url"], url);
}

/// Asserts that a page whose controls lead elsewhere is saved itself, with what its other controls show; that a control
/// which brings nothing is clicked no more, and what a control hides again is shown; and that tabs count if they opened,
/// also where the page draws them anew.
pub(crate) fn assert_kept(visitor: &Visitor, with: &dyn Fn(Tool) -> Tool) {
    const FOLD: &str = "The lead line hangs in the wheelhouse";
    let expanded = |page: &str| -> (Value, String) {
        let arguments = ["--expand", "--timeout", "120", "--selector", "body"];
        let run = with(visitor.extract(page).args(arguments)).run();
        assert_eq!(run.answer()["url"], visitor.url(page));
        (run.answer()["expanded"].clone(), Saved::by(&run).markdown)
    };
    let counts = |sections: u64, tabs: u64, more: u64, complete: bool| json!({"sections": sections, "tabs": tabs, "more": more, "screens": 0, "rows": 0, "complete": complete});
    for (page, counted, shown) in [
        ("/folded/navigates", counts(2, 0, 0, true), vec!["The ferry leaves from the northern pier"]),
        ("/folded/app", counts(1, 0, 0, false), vec!["Show all news"]),
        (
            "/folded/toggles",
            counts(1, 0, 4, true),
            vec!["The bore of the river", "row number 0 ", "row number 1 ", "row number 2 "],
        ),
        ("/folded/pressed-tabs", counts(1, 2, 0, true), vec!["The Spring tide", "The Neap tide", "The Storm tide"]),
        ("/folded/dead-tabs", counts(1, 0, 0, false), vec!["The spring tide"]),
        (
            "/folded/redrawn",
            counts(1, 2, 1, true),
            vec!["The Spring tide", "The Neap tide", "The Storm tide", "The lock opens"],
        ),
        ("/folded/header", counts(1, 0, 0, true), vec![]),
    ] {
        let (expanded, markdown) = expanded(page);
        assert_eq!(expanded, counted, "{page}");
        for shown in shown.iter().chain([&FOLD]) {
            assert!(markdown.contains(shown), "{page}: {shown}: {markdown}");
        }
        assert!(!markdown.contains("covers the page"), "{markdown}");
    }
    for (path, most) in [("/folded/part/dead/1", 3), ("/folded/part/row/3", 3), ("/page/all", 0)] {
        assert!(visitor.site.count(path) <= most, "{path}: {}", visitor.site.count(path));
    }
    // The page may be left again.
    let steps = r#"[{"click":"button:Show all news"}]"#;
    let left = with(visitor.act("/folded/navigates", steps).args(["--timeout", "60"])).run();
    assert_eq!(left.answer()["url"], visitor.url("/page/all"));
}
