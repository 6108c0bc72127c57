//! Every kind of step on pages that are hostile to all of them: a clear result or error, and the next call works.

use ragmaker_tests::visitor::{Saved, Visitor};
use serde_json::{Value, json};

/// The kinds of steps.
const KINDS: [&str; 9] = ["click", "fill", "select", "check", "press", "hover", "upload", "scroll", "wait"];

/// The step of a kind, and what the page says once it was taken.
fn step(kind: &str) -> (Value, Option<&'static str>) {
    match kind {
        "click" => (json!({"click": "button:Press"}), Some("Did: click.")),
        "fill" => (json!({"fill": ["textbox:Field", "abc"]}), Some("Did: fill abc.")),
        "select" => (json!({"select": ["combobox:Choice", "Two"]}), Some("Did: select Two.")),
        "check" => (json!({"check": "checkbox:Box"}), Some("Did: check true.")),
        "press" => (json!({"press": ["textbox:Field", "Enter"]}), Some("Did: press Enter.")),
        "hover" => (json!({"hover": "button:Press"}), Some("Did: hover.")),
        "upload" => (json!({"upload": ["file:File", "notes.md"]}), Some("Did: upload notes.md.")),
        "scroll" => (json!({"scroll": "button:Press"}), None),
        _ => (json!({"wait": {"text": "Ready now"}}), None),
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// It is taken, and the page says so.
    Done,
    /// It is taken; what the page said of it is gone.
    Gone,
    /// It fails.
    Fails(&'static str),
}

use Expected::{Done, Fails, Gone};

const NOT_USABLE: Expected = Fails("ELEMENT_NOT_USABLE");
const TIMES_OUT: Expected = Fails("TIMEOUT");
const VANISHED: Expected = Fails("ELEMENT_NOT_FOUND");

/// The results on each page, in the order of [`KINDS`].
const TABLE: [(&str, [Expected; 9]); 13] = [
    ("moves", [Done, Done, Done, Done, Done, Done, Done, Done, Done]),
    ("covered", [NOT_USABLE, Done, Done, NOT_USABLE, Done, NOT_USABLE, Done, Done, Done]),
    ("vanishes", [NOT_USABLE, Gone, Gone, NOT_USABLE, Gone, Gone, Gone, Done, Done]),
    ("dialog", [Done, Done, Done, Done, Done, Done, Done, Done, Done]),
    ("navigates", [Gone, Gone, Gone, Gone, Gone, Gone, Gone, Done, Done]),
    ("redraws", [Done, Gone, Done, Done, Gone, Done, Done, Done, Done]),
    ("disabled", [NOT_USABLE, NOT_USABLE, NOT_USABLE, NOT_USABLE, NOT_USABLE, Done, NOT_USABLE, Done, Done]),
    ("open", [Done, Done, Done, Done, Done, Done, Done, Done, Done]),
    ("closed", [Done, Done, Done, Done, Done, Done, Done, Done, Done]),
    ("other-site", [Done, Done, Done, Done, Done, Done, Done, Done, Done]),
    ("detaches", [Gone, VANISHED, VANISHED, Gone, VANISHED, Gone, Gone, Done, Done]),
    ("other-site-detaches", [Gone, Gone, Gone, Gone, Gone, Gone, Gone, Done, Done]),
    ("hangs", [TIMES_OUT, TIMES_OUT, TIMES_OUT, TIMES_OUT, TIMES_OUT, TIMES_OUT, TIMES_OUT, Done, Done]),
];

/// Takes each kind of step on the pages `of` the table.
fn check(of: &[&str]) {
    let visitor = Visitor::with_browser();
    visitor.project.write("notes.md", "the notes");
    let mut wrong = vec![];
    for (page, expected) in TABLE.iter().filter(|(page, _)| of.contains(page)) {
        for (kind, expected) in KINDS.iter().zip(expected) {
            let (step, says) = step(kind);
            let mut steps = vec![step];
            steps.extend(says.filter(|_| *expected == Done).map(|text| json!({"wait": {"text": text}})));
            let timeout = if *expected == TIMES_OUT { "5" } else { "20" };
            let path = format!("/act/kinds/{page}");
            let run = visitor.act(&path, &json!(steps).to_string()).args(["--reload", "--timeout", timeout]).run();
            let told = if run.code == 0 { run.raw.stdout.clone() } else { run.raw.stderr.clone() };
            let told: Value = serde_json::from_slice(&told).unwrap_or_default();
            let is_as_expected = match expected {
                Done | Gone => run.code == 0 && told["done"].as_array().map(Vec::len) == Some(steps.len()),
                Fails(code) => {
                    let names_step = told["details"]["step"] == 1 && told["remediation_suggestion"].is_string();
                    run.code == 1 && told["error_code"] == *code && names_step
                }
            };
            if !is_as_expected {
                wrong.push(format!("{kind} on {page} is not {expected:?}: {told}"));
            }
            if visitor.navigate("/page/next").run().answer()["title"] != "next" {
                wrong.push(format!("{kind} on {page} left the session unusable"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_of_step_on_controls_that_change() {
    check(&["moves", "covered", "vanishes", "dialog", "navigates", "redraws", "disabled"]);
}

#[test]
fn every_kind_of_step_in_frames_and_shadow_roots() {
    check(&["open", "closed", "other-site", "detaches", "other-site-detaches"]);
}

#[test]
fn every_kind_of_step_on_controls_that_hang() {
    check(&["hangs"]);
}

/// The error names where the step led, and the page can be acted in again.
#[test]
fn a_step_to_a_page_that_never_answers_leaves_the_page_as_it_is() {
    let visitor = Visitor::with_browser();
    let steps = r#"[{"click":"button:Press"},{"click":"link:Never"},{"click":"button:Press"}]"#;
    let run = visitor.act("/act/never", steps).args(["--timeout", "8"]).run();
    let details = &run.error("TIMEOUT")["details"];
    assert_eq!(
        (&details["led_to"], &details["url"], &details["done"]),
        (&json!(visitor.url("/slow/first-byte")), &json!(visitor.url("/act/never")), &json!(["clicked button:Press"]))
    );
    visitor.act_open(r#"[{"click":"button:Press"}]"#).run().answer();
    let said = Saved::by(&visitor.extract_open().args(["--selector", "body"]).run()).markdown;
    assert!(said.contains("Shown: pressed. Shown: pressed."), "{said}");
}

/// What every step requests and begins is waited for, also if the page has sent the same request often.
#[test]
fn a_step_is_waited_for_each_time() {
    let visitor = Visitor::with_browser();
    for (button, way) in [("button:Request", "request"), ("button:Timer", "timer")] {
        let steps = json!([{"click": button, "until": 6}]).to_string();
        visitor.act("/act/repeats", &steps).args(["--timeout", "60"]).run().answer();
        let said = Saved::by(&visitor.extract_open().args(["--selector", "body"]).run()).markdown;
        for click in 1..=6 {
            let expected = format!("{way} {click} after {}.", click - 1);
            assert!(said.contains(&expected), "{expected}: {said}");
        }
    }
}
