//! `browser-look` and `browser-act`: interactive elements, every kind of step, and pages that interfere with steps.

use ragmaker_tests::{
    tabs::tabs,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

use super::hrefs;

/// The results and changes of steps in a page.
fn acted(visitor: &Visitor, page: &str, steps: &Value) -> Value {
    // On a busy machine, many steps take their time.
    visitor.act(page, &steps.to_string()).args(["--timeout", "100"]).run().answer().clone()
}

/// Steps with the controls of `/act/page`.
pub(crate) fn control_steps() -> Value {
    json!([
        {"fill": ["textbox:Search", "tides"]}, {"press": ["textbox:Search", "ArrowDown"]},
        {"fill": ["date:Day", "2026-01-31"]}, {"fill": ["Count", 12]}, {"fill": ["textbox:Notes", "one\ntwo"]},
        {"fill": ["textbox:Editor", "New text"]},
        {"select": ["combobox:Version", "3.2"]}, {"select": ["listbox:Topics", "Tides", "Ice"]},
        {"select": ["combobox:Station", "Basalt"]},
        {"check": "checkbox:All"}, {"check": "checkbox:Styled"}, {"check": "radio:Feet"}, {"check": "switch:Alarm"},
        {"uncheck": "checkbox:Styled"},
        {"hover": "link:Guides"}, {"wait": {"text": "A menu that opens"}},
        {"click": "button:Edit [2]"}, {"click": "More about it"}, {"click": "#alarm"},
    ])
}

/// The steps `first`, then the steps `then`.
pub(crate) fn followed_by(first: Value, then: Value) -> Value {
    [first, then].iter().flat_map(|steps| steps.as_array().unwrap().clone()).collect()
}

/// The current text of the open page.
fn says(visitor: &Visitor) -> String {
    Saved::by(&visitor.extract_open().args(["--selector", "body"]).run()).markdown
}

fn elements(answer: &Value) -> Vec<&str> {
    answer["elements"].as_array().unwrap().iter().map(|listed| listed["element"].as_str().unwrap()).collect()
}

#[test]
fn elements_are_listed_by_role_and_name_within_bounds() {
    let visitor = Visitor::with_browser();
    let look = |args: &[&str]| visitor.look().args(args).run().answer().clone();
    let page = visitor.site.url("/act/page");
    let answer = look(&["--url", &page]);
    assert!(answer["within"] == "main" && answer["elsewhere"].as_u64() >= Some(2), "{answer}");
    let found = elements(&answer);
    for element in [
        "button:Load more",
        "textbox:Search",
        "date:Day",
        "spinbutton:Count",
        "combobox:Version",
        "checkbox:All",
        "radio:Feet",
        "file:Attachment",
        "textbox:Editor",
        "switch:Alarm",
        "button:Edit [1]",
        "button:Edit [2]",
        "link:Guides",
        "button:More about it",
    ] {
        assert!(found.contains(&element), "{element}: {found:?}");
    }
    let of =
        |element: &str| answer["elements"].as_array().unwrap().iter().find(|one| one["element"] == element).unwrap();
    assert_eq!(of("checkbox:All")["state"], "unchecked");
    assert_eq!(of("textbox:Fixed")["value"], "never");
    assert_eq!(of("button:Edit [2]")["under"], "Second part");
    // All of it, with what is in frames of this site and of another.
    let whole = look(&["--selector", "body"]);
    let found = elements(&whole);
    assert!(found.contains(&"button:Inside localhost") && found.contains(&"textbox:Field 127.0.0.1"), "{found:?}");
    let form = look(&["--selector", "form"]);
    assert!(!elements(&form).contains(&"button:Load more") && form["within"] == "selector", "{form}");
    visitor.look().args(["--selector", ".none"]).run().error("SELECTOR_NOT_FOUND");
    assert_eq!(
        visitor.look().args(["--selector", "a["]).run().error("ARGUMENT_ERROR")["details"]["argument"],
        "--selector"
    );

    // A long list in pages of at most 6,000 characters.
    let many = visitor.site.url("/act/links/500");
    let (mut all, mut offset) = (vec![], "0".to_owned());
    loop {
        let run = visitor.look().args(["--url", &many, "--offset", &offset]).run();
        assert!(run.raw.stdout.len() <= 6_000, "{}", run.raw.stdout.len());
        all.extend(elements(run.answer()).into_iter().map(str::to_owned));
        let Some(next) = run.answer()["next"]["offset"].as_u64() else { break };
        offset = next.to_string();
    }
    assert_eq!((all.len(), all[500].as_str()), (501, "link:Link 499"));
}

#[test]
fn every_kind_of_step_has_the_effect_of_a_person() {
    let visitor = Visitor::with_browser();
    visitor.project.write("notes.md", "the notes");
    visitor.project.write("more.md", "more notes");
    let answer = acted(
        &visitor,
        "/act/page",
        &followed_by(
            control_steps(),
            json!([
            {"upload": ["file:Attachment", "notes.md"]}, {"wait": {"text": "with the notes"}},
            {"upload": ["button:Choose a file", "more.md"]}, {"wait": {"text": "with more notes"}},
            {"scroll": ["listbox:Long list", "end"]}, {"scroll": "end"}, {"wait": {"text": "Shown: bottom"}}, {"scroll": "top"},
            {"wait": {"gone": "No such text"}}, {"wait": {"selector": "#end"}}, {"wait": {"ms": 1}},
            {"click": "button:Inside localhost"}, {"wait": {"text": "Hit localhost"}}, {"fill": ["textbox:Field localhost", "abc"]},
            {"wait": {"text": "abc"}}, {"click": "Inside 127.0.0.1"}, {"fill": ["textbox:Field 127.0.0.1", "xyz"]},
            ]),
        ),
    );
    assert_eq!(answer["done"].as_array().unwrap().len(), 36, "{answer}");
    assert_eq!(answer["changes"]["title"], "Searching tides");
    assert!(
        answer["changes"]["loaded"].is_null() && answer["changes"]["added_characters"].as_u64() > Some(100),
        "{answer}"
    );
    let text = says(&visitor);
    for shown in [
        "Shown: down",
        "Shown: station Basalt",
        "Shown: alarm",
        "Shown: edit 2",
        "What was folded",
        "New text",
        "notes.md with the notes",
        "more.md with more notes",
        "Shown: bottom",
        "Hit 127.0.0.1",
        "xyz",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    // The form as it was filled in; the page that a click leads to is the page that is open.
    let answer = visitor.act_open(r#"[{"click":"button:Go"}]"#).run().answer().clone();
    assert_eq!(
        (&answer["changes"]["loaded"], &answer["changes"]["title"]),
        (&json!(true), &json!("Result")),
        "{answer}"
    );
    let text = says(&visitor);
    for field in [
        "q is tides",
        "day is 2026-01-31",
        "count is 12",
        "notes is one",
        "version is 3.2",
        "topic is Tides",
        "topic is Ice",
        "all is on",
        "unit is foot",
    ] {
        assert!(text.contains(field), "{field}: {text}");
    }
    assert!(!text.contains("styled is on") && !text.contains("topic is Winds"), "{text}");
}

#[test]
fn a_look_at_what_has_changed_lists_nothing_else() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/act/page").run().answer();
    let look = |args: &[&str]| {
        let answer = visitor.look().arg("--changed").args(args).run().answer().clone();
        let names: Vec<_> = answer["elements"].as_array().unwrap().iter().map(|one| one["element"].clone()).collect();
        (names, answer)
    };
    // Without an earlier look, everything is listed.
    let (names, answer) = look(&[]);
    assert!(names.len() > 20 && answer["compared"] == false && answer["gone"] == 0, "{answer}");
    let (names, answer) = look(&[]);
    assert!(names.is_empty() && answer["compared"] == true && answer["total"] == 0, "{answer}");
    let steps =
        json!([{"click": "button:Load more"}, {"check": "checkbox:All"}, {"fill": ["textbox:Search", "tides"]}]);
    visitor.act_open(&steps.to_string()).run().answer();
    // Another state, and what is new; a value is neither.
    let (names, answer) = look(&["--limit", "2"]);
    assert_eq!(
        (names, &answer["total"], &answer["gone"]),
        (vec![json!("link:Row 0"), json!("link:Row 1")], &json!(4), &json!(1)),
        "{answer}"
    );
    let offset = answer["next"]["offset"].to_string();
    let (names, answer) = look(&["--offset", &offset]);
    assert_eq!(names, [json!("link:Row 2"), json!("checkbox:All")], "{answer}");
    assert_eq!(answer["elements"][1]["state"], "checked");
    // A look at everything is the last one as well; a page that is loaded again is compared, too.
    visitor.act_open(r#"[{"click":"button:Load more"}]"#).run().answer();
    assert!(visitor.look().run().answer()["total"].as_u64() > Some(20));
    assert!(look(&[]).0.is_empty());
    visitor.navigate("/act/page").arg("--reload").run().answer();
    let (names, answer) = look(&[]);
    assert_eq!((names, &answer["gone"]), (vec![json!("checkbox:All")], &json!(7)), "{answer}");
    // What is outside of the main content was there, and was never listed.
    let (names, _) = look(&["--selector", "header"]);
    assert!(!names.is_empty() && look(&["--selector", "header"]).0.is_empty(), "{names:?}");
    // Another page has a last look of its own, and so has another session.
    visitor.navigate("/act/links/3").run().answer();
    assert_eq!(look(&[]).1["compared"], false);
    let other = visitor.look().args(["--changed", "--session", "other", "--url", &visitor.site.url("/act/page")]).run();
    assert_eq!(other.answer()["compared"], false);
}

#[test]
fn equal_names_in_a_frame_are_told_apart_by_their_place() {
    super::webdriver_only::assert_same_names(&Visitor::with_browser(), &|tool| tool);
}

#[test]
fn changes_by_act_are_visible_to_later_calls() {
    let visitor = Visitor::with_browser();
    let rows = |page: &str| hrefs(&visitor, page).iter().filter(|href| href.starts_with("/page/row-")).count();
    let answer = acted(&visitor, "/act/page", &json!([{"click": "button:Load more"}]));
    assert_eq!(
        (&answer["changes"]["added_links"], &answer["changes"]["links"][0]["text"]),
        (&json!(3), &json!("Row 0"))
    );
    assert_eq!((rows("/act/page"), visitor.site.count("/act/page")), (3, 1));
    let again = visitor.project.tool("browser-navigate").run();
    assert!(again.answer()["links"].to_string().contains("row-2"), "{}", again.answer());
    // Until the text is unchanged, or so many times.
    let answer = acted(&visitor, "/act/page", &json!([{"click": "button:Load more", "until": 2}]));
    assert!(answer["done"][0].as_str().unwrap().ends_with("2 times"), "{answer}");
    assert_eq!(rows("/act/page"), 9);
    acted(&visitor, "/act/page", &json!([{"click": "Load more", "until": "rest"}]));
    assert_eq!((rows("/act/page"), visitor.site.count("/act/page")), (12, 1));
    assert!(visitor.save_whole("/act/page").markdown.contains("Row 11"));
    assert_eq!(visitor.site.count("/act/page"), 1);
    // Loaded anew, it is as it was; from then on, too.
    let fresh = visitor.navigate("/act/page").arg("--reload").run();
    assert!(!fresh.answer()["links"].to_string().contains("row-"), "{}", fresh.answer());
    assert_eq!(rows("/act/page"), 0);
    // Where steps lead to another page, its own address is what it is asked for by.
    acted(&visitor, "/act/page", &json!([{"press": ["textbox:Search", "Enter"]}]));
    let result = visitor.project.tool("browser-navigate").run().answer().clone();
    assert_eq!(result["title"], "Result");
    let loads = visitor.site.count("/act/result");
    assert_eq!(visitor.navigate(result["url"].as_str().unwrap()).run().answer()["title"], "Result");
    assert_eq!(visitor.site.count("/act/result"), loads);
    assert_eq!(visitor.navigate("/act/page").run().answer()["title"], "Controls");
}

#[test]
fn a_repeated_step_ends_with_the_time_and_the_page_stays() {
    let visitor = Visitor::with_browser();
    let steps = json!([{"click": "Button 1"}, {"click": "Button 0", "until": 500}]).to_string();
    let run = visitor.act("/act/buttons/2", &steps).args(["--timeout", "6"]).run();
    let details = &run.error("TIMEOUT")["details"];
    assert!(details["times"].as_u64() > Some(1) && details["done"] == json!(["clicked Button 1"]), "{details}");
    assert_eq!(visitor.look().run().answer()["total"], 2);
}

#[test]
fn a_failed_step_is_reported_with_the_steps_before() {
    let visitor = Visitor::with_browser();
    let failed = |steps: &Value, code: &str| {
        let error = visitor.act("/act/page", &steps.to_string()).run().error(code).clone();
        (error["details"].clone(), error["message"].as_str().unwrap().to_owned())
    };
    let (details, message) =
        failed(&json!([{"click": "button:Load more"}, {"click": "button:Edit"}]), "ELEMENT_AMBIGUOUS");
    assert_eq!(
        (&details["step"], &details["action"], &details["done"]),
        (&json!(2), &json!("click button:Edit"), &json!(["clicked button:Load more"]))
    );
    assert_eq!(details["candidates"][1], json!({"element": "button:Edit [2]", "under": "Second part"}), "{message}");
    // What was done stays done, and the next call works in it.
    assert!(says(&visitor).contains("Row 2"));
    let (details, _) = failed(&json!([{"click": "button:Load mote"}]), "ELEMENT_NOT_FOUND");
    assert!(details["candidates"].to_string().contains("button:Load more"), "{details}");
    let (details, _) = failed(&json!([{"select": ["combobox:Version", "9"]}]), "ELEMENT_NOT_USABLE");
    assert_eq!(details["options"], json!(["3.1", "3.2", "4.0"]));
    failed(&json!([{"select": ["combobox:Version", "4.0"]}]), "ELEMENT_NOT_USABLE");
    failed(&json!([{"fill": ["textbox:Fixed", "x"]}]), "ELEMENT_NOT_USABLE");
    failed(&json!([{"fill": ["button:Go", "x"]}]), "ELEMENT_NOT_USABLE");
    failed(&json!([{"fill": ["date:Day", "tomorrow"]}]), "ELEMENT_NOT_USABLE");
    failed(&json!([{"check": "button:Go"}]), "ELEMENT_NOT_USABLE");
    let error = visitor.act("/act/page", r#"[{"wait":{"text":"Never"}}]"#).args(["--timeout", "3"]).run();
    assert_eq!(error.error("TIMEOUT")["details"]["step"], 1);
    let error = visitor.act_open(r#"[{"click":"a"},{"tap":"b"}]"#).run();
    assert_eq!((error.code, &error.error("ARGUMENT_ERROR")["details"]["step"]), (2, &json!(2)));
    // Nothing was changed by a list of steps that cannot be read.
    let before = visitor.site.requests().len();
    visitor.act("/act/links/1", "[]").run().error("ARGUMENT_ERROR");
    assert_eq!(visitor.site.requests().len(), before);
    // Steps that are too long are refused, not cut.
    visitor.project.write("steps.json", format!("[{{\"click\":\"a\"}}]{}", " ".repeat(1 << 20)));
    let error = visitor.act("/act/links/1", "@steps.json").run();
    let error = error.error("ARGUMENT_ERROR");
    assert!(error["message"].as_str().unwrap().contains("more than 1048576 bytes"), "{error}");
    assert_eq!(visitor.site.requests().len(), before);
}

#[test]
fn files_are_uploaded_from_allowed_folders_only() {
    let visitor = Visitor::with_browser();
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("secret.txt"), "the secret").unwrap();
    let path = other.path().join("secret.txt").to_str().unwrap().to_owned();
    let steps = json!([{"upload": ["file:Attachment", path]}]).to_string();
    let before = visitor.site.requests().len();
    let error = visitor.act("/act/page", &steps).run();
    assert_eq!(error.error("PATH_NOT_ALLOWED")["details"]["step"], 1);
    visitor
        .act("/act/page", r#"[{"upload":["file:Attachment",".tmp/cache/browser_profile/ragmaker/session.json"]}]"#)
        .run()
        .error("PATH_NOT_ALLOWED");
    visitor.act("/act/page", r#"[{"upload":["file:Attachment","none.md"]}]"#).run().error("FILE_NOT_FOUND");
    visitor.project.write("folder/file", "x");
    visitor.act("/act/page", r#"[{"upload":["file:Attachment","folder"]}]"#).run().error("NOT_A_REGULAR_FILE");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(other.path(), visitor.project.path().join("link")).unwrap();
        visitor
            .act("/act/page", r#"[{"upload":["file:Attachment","link/secret.txt"]}]"#)
            .run()
            .error("PATH_NOT_ALLOWED");
    }
    assert_eq!(visitor.site.requests().len(), before);
    visitor.act("/act/page", &steps).args(["--allow-root", other.path().to_str().unwrap()]).run().answer();
    assert!(says(&visitor).contains("secret.txt with the secret"));
    visitor.act("/act/page", "@steps.json").run().error("FILE_NOT_FOUND");
    visitor.project.write("steps.json", r#"[{"click":"button:Edit [1]"}]"#);
    assert_eq!(visitor.act("/act/page", "@steps.json").run().answer()["done"][0], "clicked button:Edit [1]");
    let piped = visitor.act("/act/page", "-").stdin(r#"[{"click":"button:Edit [2]"}]"#.to_owned()).run();
    assert_eq!(piped.answer()["done"][0], "clicked button:Edit [2]");
}

/// Each hostile page, a step in it, and the result: a text that the page shows then, or an error code.
const HOSTILE: [(&str, &str, Result<&str, &str>); 21] = [
    ("moves", "button:Press", Ok("Shown: pressed")),
    ("jumps", "button:Press", Err("ELEMENT_NOT_USABLE")),
    ("covered", "button:Press", Err("ELEMENT_NOT_USABLE")),
    ("uncovers", "button:Press", Ok("Shown: pressed")),
    ("sticky", "button:Press", Ok("Shown: pressed")),
    ("replaced", "button:Press", Ok("Shown: pressed")),
    ("generated", "button:Press", Err("ELEMENT_AMBIGUOUS")),
    ("vanishes", "button:Press", Err("ELEMENT_NOT_USABLE")),
    ("disabled", "button:Press", Err("ELEMENT_NOT_USABLE")),
    ("enables", "button:Press", Ok("Shown: pressed")),
    ("hidden", "button:Press", Err("ELEMENT_NOT_FOUND")),
    ("hidden", "#b", Err("ELEMENT_NOT_USABLE")),
    ("dialogs", "button:Press", Ok("Shown: true. Shown: null")),
    ("frame-dialog", "button:Inside", Ok("Acting")),
    ("unload", "link:Press", Ok("after")),
    ("navigates", "button:Press", Ok("after")),
    ("detaches", "button:Press", Ok("Shown: detached")),
    ("detaches-other", "button:Inside localhost", Ok("Shown: detached")),
    ("tampers", "button:Press", Ok("Acting")),
    ("clobbers", "button:Press", Ok("Shown: pressed")),
    ("hangs", "button:Press", Err("TIMEOUT")),
];

#[test]
fn a_hostile_page_gives_a_clear_result_and_the_next_call_works() {
    let visitor = Visitor::with_browser();
    for (page, element, expected) in HOSTILE {
        let steps = json!([{"click": element}]).to_string();
        let run = visitor.act(&format!("/act/{page}"), &steps).args(["--reload", "--timeout", "12"]).run();
        match expected {
            Ok(text) => {
                assert_eq!(run.answer()["done"].as_array().unwrap().len(), 1, "{page}: {}", run.answer());
                let said = says(&visitor);
                assert!(said.contains(text), "{page}: {said}");
            }
            Err(code) => assert_eq!(run.error(code)["details"]["step"], 1, "{page}"),
        }
        assert_eq!(visitor.navigate("/page/next").run().answer()["title"], "next", "{page}");
    }
    let told = |page: &str, element: &str| {
        let steps = json!([{"click": element}]).to_string();
        visitor.act(page, &steps).arg("--reload").run().answer()["changes"].clone()
    };
    let dialogs = told("/act/dialogs", "button:Press")["dialogs"].clone();
    assert_eq!(
        dialogs,
        json!([{"kind": "alert", "text": "First"}, {"kind": "confirm", "text": "Second?"}, {"kind": "prompt", "text": "Third?"}])
    );
    let dialogs = told("/act/frame-dialog", "button:Inside")["dialogs"].clone();
    assert_eq!(dialogs[1], json!({"kind": "confirm", "text": "Sure?"}));
    assert_eq!(told("/act/unload", "link:Press")["dialogs"][0]["kind"], "beforeunload");
    assert_eq!(told("/act/page", "link:Archive")["download"]["url"], visitor.site.url("/content/download"));
}

#[test]
fn a_field_that_takes_single_keys_is_filled_key_by_key() {
    let visitor = Visitor::with_browser();
    for page in ["/act/page", "/act/single-keys"] {
        let field = if page == "/act/page" { "textbox:Search" } else { "textbox:Code" };
        let answer = acted(&visitor, page, &json!([{"fill": [field, "AB12"]}, {"fill": [field, "CD34"]}]));
        assert_eq!(answer["done"][1], format!("filled {field} with CD34"), "{answer}");
    }
    acted(&visitor, "/act/single-keys", &json!([{"wait": {"text": "Shown: CD34"}}]));
}

#[test]
fn shadow_roots_open_and_closed_are_acted_in() {
    let visitor = Visitor::with_browser();
    let steps = json!([
        {"click": "button:Press the open one"}, {"click": "Press the closed one"},
        {"fill": ["textbox:Field in the closed one", "a"]}, {"fill": ["textbox:Field in the open one", "b"]},
    ]);
    acted(&visitor, "/act/shadows", &steps);
    let said = says(&visitor);
    for text in ["open pressed", "closed pressed", "closed has a", "open has b"] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn one_of_very_many_buttons_is_clicked() {
    let visitor = Visitor::with_browser();
    acted(&visitor, "/act/buttons/20000", &json!([{"click": "button:Button 15000"}]));
    assert!(says(&visitor).contains("Pressed 15000"));
}

#[test]
fn a_wait_sees_closed_shadow_roots() {
    let visitor = Visitor::with_browser();
    let steps = r#"[{"wait":{"text":"The gate is closed."}},{"wait":{"text":"The lock is open now."}},
        {"wait":{"gone":"The lock is open now."}},{"wait":{"selector":".later"}}]"#;
    let run = visitor.act("/act/hidden-roots", steps).args(["--timeout", "20"]).run();
    assert_eq!(run.answer()["done"].as_array().unwrap().len(), 4);
    // What is there is not gone.
    let steps = r#"[{"wait":{"gone":"The lock is shut again."}}]"#;
    visitor.act_open(steps).args(["--timeout", "3"]).run().error("TIMEOUT");
}

#[test]
fn tabs_opened_by_a_page_are_closed() {
    let visitor = Visitor::with_browser();
    let address = visitor.site.url("/page/window");
    let answer = acted(&visitor, "/act/windows", &json!([{"click": "button:Press"}]));
    assert_eq!(answer["changes"]["opened"], json!([address]));
    let answer = acted(&visitor, "/act/windows", &json!([{"click": "link:A link of its own"}]));
    assert_eq!(answer["url"], visitor.site.url("/page/blank"));
    let before = tabs(visitor.project.path()).len();
    let answer = acted(&visitor, "/act/frame-window", &json!([{"click": "button:Inside"}]));
    let opened = answer["changes"]["opened"][0].as_str().unwrap();
    assert!(opened.ends_with("/page/from-frame"), "{answer}");
    assert!(tabs(visitor.project.path()).len() <= before, "{:?}", tabs(visitor.project.path()));
    assert_eq!(visitor.site.count("/page/window"), 0);
}

#[test]
fn host_restrictions_apply_to_steps() {
    let visitor = Visitor::with_browser();
    let here = ["--allow-domain", "127.0.0.1"];
    let away = visitor.act("/act/leads-away", r#"[{"click":"link:Press"}]"#).args(here).run();
    assert_eq!(away.error("DOMAIN_NOT_ALLOWED")["details"]["step"], 1);
    visitor
        .act("/act/page", r#"[{"click":"button:Go"}]"#)
        .args(["--allow-domain", "example.com"])
        .run()
        .error("DOMAIN_NOT_ALLOWED");
    for tool in [visitor.act_open(r#"[{"click":"button:Go"}]"#), visitor.look()] {
        visitor.navigate("/act/page").run().answer();
        tool.arg("--public-only").run().error("ADDRESS_NOT_ALLOWED");
    }
    assert_eq!(visitor.site.count("/act/result"), 0);
    let none = Visitor::with_browser();
    none.look().run().error("NO_PAGE");
    none.act_open(r#"[{"press":"Enter"}]"#).run().error("NO_PAGE");
}
