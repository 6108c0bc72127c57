//! Steps on controls that are easily confused: options of one name in several lists, names that are a part of others,
//! fields with formats of their own, and rows that come where the page itself cannot look.

use ragmaker_tests::{
    run::Tool,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

/// The answer of a tool with the browser that `with` names.
type With<'a> = &'a dyn Fn(Tool) -> Tool;

#[test]
fn an_option_is_chosen_in_the_list_that_was_named() {
    assert_lists(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn a_field_may_write_a_value_in_another_form() {
    assert_formats(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn a_part_of_a_word_is_no_name() {
    assert_words(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn what_only_a_label_shows_is_listed_and_used() {
    let visitor = Visitor::with_browser();
    assert_labels(&visitor, &|tool| tool);
    assert_label_takes_files(&visitor, &|tool| tool);
}

#[test]
fn every_listed_name_is_that_of_one_element() {
    assert_numbers(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn a_step_is_repeated_while_frames_and_closed_roots_grow() {
    let visitor = Visitor::with_browser();
    assert_framed_rows(&visitor, &|tool| tool);
    let steps = r#"[{"click":"button:More closed","until":"rest"},{"wait":{"text":"Closed row 3"}}]"#;
    let answer = visitor.act("/act/grows", steps).arg("--reload").run().answer().clone();
    assert!((36..80).contains(&added(&answer)), "{answer}");
}

/// The number of added characters.
fn added(answer: &Value) -> u64 {
    answer["changes"]["added_characters"].as_u64().unwrap()
}

fn steps(visitor: &Visitor, with: With<'_>, page: &str, steps: &Value) -> Tool {
    with(visitor.act(page, &steps.to_string())).args(["--reload", "--timeout", "100"])
}

/// The current text of the open page.
fn says(visitor: &Visitor, with: With<'_>) -> String {
    Saved::by(&with(visitor.extract_open().args(["--selector", "body", "--timeout", "100"])).run()).markdown
}

/// Asserts that options are chosen in the list of the element and in no other one.
pub(crate) fn assert_lists(visitor: &Visitor, with: With<'_>) {
    let all = json!([
        {"select": ["Fruit", "Apple"]}, {"select": ["combobox:Tags", "T1", "t3"]}, {"select": ["listbox:To", "Red"]},
        {"select": ["combobox:Port", "Red"]}, {"select": ["Country", "Germany"]}, {"select": ["Fruit", "Pear"]},
    ]);
    let answer = steps(visitor, with, "/act/lists", &all).run().answer().clone();
    assert_eq!(answer["done"][1], "selected T1, t3 in combobox:Tags");
    let said = says(visitor, with);
    let shown = "Shown: Fruit Apple. Shown: Tags T1. Shown: Tags T3. Shown: To Red. Shown: Port Red. Shown: country Germany. Shown: Fruit Pear.";
    assert!(said.contains(shown), "{said}");
    // An option of another list is none of this one; what was chosen before is told.
    let failed = |select: Value| {
        let error =
            steps(visitor, with, "/act/lists", &json!([{"select": select}])).run().error("ELEMENT_NOT_USABLE").clone();
        (error["details"]["options"].clone(), error["details"]["selected"].clone())
    };
    assert_eq!(failed(json!(["Fruit", "Germany"])), (json!(["Apple", "Pear"]), json!([])));
    assert_eq!(failed(json!(["Tags", "T2", "T9"])), (json!(["T1", "T2", "T3"]), json!(["T2"])));
}

/// Asserts that a field which writes a value in another form is filled, and that one which cannot hold it is as it was.
pub(crate) fn assert_formats(visitor: &Visitor, with: With<'_>) {
    let all = json!([
        {"fill": ["Colour", "#FF0000"]}, {"fill": ["When", "2026-01-31 09:30"]}, {"fill": ["Share", 500]},
        {"fill": ["Day", "2026-02-01"]},
    ]);
    let answer = steps(visitor, with, "/act/formats", &all).run().answer().clone();
    let done = json!([
        "filled Colour; its value is now #ff0000",
        "filled When; its value is now 2026-01-31T09:30",
        "filled Share; its value is now 100",
        "filled Day with 2026-02-01",
    ]);
    assert_eq!(answer["done"], done);
    for (field, text, kind) in [("Day", "31.1.2026", "date"), ("Colour", "sea", "color"), ("Share", "most", "range")] {
        let step = json!([{"fill": [field, text]}]).to_string();
        let run = with(visitor.act_open(&step)).args(["--timeout", "100"]).run();
        let error = run.error("ELEMENT_NOT_USABLE");
        assert!(error["message"].as_str().unwrap().ends_with(&format!("({kind})")), "{error}");
        assert!(error["remediation_suggestion"].as_str().unwrap().starts_with("Give a "), "{error}");
    }
    let go = with(visitor.act_open(r#"[{"click":"button:Go"}]"#)).args(["--timeout", "100"]).run();
    assert_eq!(go.answer()["changes"]["title"], "Result");
    let said = says(visitor, with);
    for field in ["colour is #ff0000", "when is 2026-01-31T09:30", "share is 100", "day is 2026-02-01"] {
        assert!(said.contains(field), "{field}: {said}");
    }
}

/// Asserts that a name which is a part of a word is no name, and that a part of a name is told.
pub(crate) fn assert_words(visitor: &Visitor, with: With<'_>) {
    let error = steps(visitor, with, "/act/words", &json!([{"click": "button:Delete"}]))
        .run()
        .error("ELEMENT_NOT_FOUND")
        .clone();
    assert!(error["details"]["candidates"].to_string().contains("button:Undelete"), "{error}");
    // Once it was clicked, it is called Unsubscribe.
    let all = json!([{"click": "button:Subscribe", "until": 4}, {"click": "button:Save"}]);
    let answer = steps(visitor, with, "/act/words", &all).run().answer().clone();
    let done = json!(["clicked button:Subscribe, once until it was gone", "clicked button:Save (button:Save as text)"]);
    assert_eq!(answer["done"], done);
    assert_eq!(says(visitor, with).matches("toggled").count(), 1);
}

/// Asserts that rows in a frame of another site are waited for and counted.
pub(crate) fn assert_framed_rows(visitor: &Visitor, with: With<'_>) {
    let all = json!([{"click": "button:More framed", "until": "rest"}, {"wait": {"text": "Framed row 3"}}]);
    let answer = steps(visitor, with, "/act/grows", &all).run().answer().clone();
    assert!((36..80).contains(&added(&answer)), "{answer}");
}

/// Asserts that controls which their labels represent, and editors without a role, are listed and used.
pub(crate) fn assert_labels(visitor: &Visitor, with: With<'_>) {
    let look = || -> Vec<(Value, Value)> {
        let look = visitor.look().args(["--url", &visitor.site.url("/act/labels"), "--timeout", "100"]);
        let listed = with(look).run().answer()["elements"].as_array().unwrap().clone();
        listed.iter().map(|one| (one["element"].clone(), one["state"].clone())).collect()
    };
    let listed = |checked: &str, side: &str| {
        [
            (json!("checkbox:Styled switch"), json!(checked)),
            (json!("file:Upload notes"), Value::Null),
            (json!("radio:Far side"), json!(side)),
            (json!("textbox: [1]"), Value::Null),
        ]
    };
    assert_eq!(look(), listed("unchecked", "unchecked"));
    let all = json!([
        {"check": "Styled switch"}, {"check": "radio:Far side"}, {"fill": ["textbox: [1]", "New text"]},
    ]);
    steps(visitor, with, "/act/labels", &all).run().answer();
    assert_eq!(look(), listed("checked", "checked"));
    let said = says(visitor, with);
    for shown in ["Shown: drawn true", "Shown: far", "Shown: New text"] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
}

/// Asserts that a field for files which its label represents takes one. A remote browser without a DevTools socket takes none.
pub(crate) fn assert_label_takes_files(visitor: &Visitor, with: With<'_>) {
    visitor.project.write("notes.md", "the notes");
    let all = json!([{"upload": ["file:Upload notes", "notes.md"]}, {"wait": {"text": "Shown: file notes.md"}}]);
    steps(visitor, with, "/act/labels", &all).run().answer();
}

/// Asserts that a name which ends with a number is not taken for that of another element, and that a dialog which covers
/// an element is named.
pub(crate) fn assert_numbers(visitor: &Visitor, with: With<'_>) {
    let look = visitor.look().args(["--url", &visitor.site.url("/act/numbers"), "--timeout", "100"]);
    let listed = with(look).run().answer()["elements"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["element"].as_str().unwrap()).collect();
    assert_eq!(names, ["button:Item [2] [1]", "button:Item [1]", "button:Item [2]"]);
    let all: Value = names.iter().map(|name| json!({"click": name})).collect();
    steps(visitor, with, "/act/numbers", &all).run().answer();
    let said = says(visitor, with);
    assert!(said.contains("Shown: named. Shown: first. Shown: second."), "{said}");
    let run = steps(visitor, with, "/act/modal", &json!([{"click": "#b"}])).run();
    let error = run.error("ELEMENT_NOT_USABLE");
    assert!(
        error["message"].as_str().unwrap().contains("is covered by <dialog#question> \"Keep the draft?"),
        "{error}"
    );
    assert!(error["remediation_suggestion"].as_str().unwrap().contains("Close what covers it"), "{error}");
}
