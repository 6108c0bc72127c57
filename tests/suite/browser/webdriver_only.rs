//! `browser-look` and `browser-act` by WebDriver commands alone, as for Firefox: here with a `ChromeDriver` without a
//! DevTools socket.

use ragmaker_tests::{
    run::Tool,
    site::folded_sentences,
    visitor::{Saved, Visitor},
};
use serde_json::{Value, json};

use super::{
    act::{control_steps, followed_by},
    controls::{assert_formats, assert_framed_rows, assert_labels, assert_lists, assert_numbers, assert_words},
    remote::{Server, remote},
};

/// The answer of a tool with the browser that `with` names.
type With<'a> = &'a dyn Fn(Tool) -> Tool;

#[test]
fn steps_are_taken_and_elements_listed_without_a_devtools_socket() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let with = |tool: Tool| remote(tool, &server);
    with(visitor.open()).run().answer();
    assert_steps(&visitor, &with);
    assert_frames(&visitor, &with);
    assert_same_names(&visitor, &with);
    assert_refusals(&visitor, &with);
    visitor.close().run().answer();
}

#[test]
fn controls_are_told_apart_without_a_devtools_socket() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let with = |tool: Tool| remote(tool, &server);
    with(visitor.open()).run().answer();
    assert_lists(&visitor, &with);
    assert_formats(&visitor, &with);
    assert_words(&visitor, &with);
    assert_framed_rows(&visitor, &with);
    assert_labels(&visitor, &with);
    assert_numbers(&visitor, &with);
    visitor.close().run().answer();
}

#[test]
fn pictures_and_prints_are_taken_without_a_devtools_socket() {
    let (visitor, server) = (Visitor::new(), Server::start());
    assert_captures(&visitor, &|tool: Tool| remote(tool, &server));
}

#[test]
fn a_page_is_expanded_and_its_banner_declined_without_a_devtools_socket() {
    let (visitor, server) = (Visitor::new(), Server::start());
    let with = |tool: Tool| remote(tool, &server);
    with(visitor.open()).run().answer();
    assert_json(&visitor, &with);
    assert_expanded(&visitor, &with);
    super::expand::assert_kept(&visitor, &with);
    assert_declined(&visitor, &with);
    visitor.close().run().answer();
}

#[test]
fn a_login_is_taken_to_another_profile_without_a_devtools_socket() {
    let (visitor, server) = (Visitor::new(), Server::start());
    assert_state(&visitor, &|tool: Tool| remote(tool, &server));
}

/// Asserts that each sentence of a folded page is saved once.
pub(crate) fn assert_expanded(visitor: &Visitor, with: With<'_>) {
    let expanded = ["--expand", "--scroll-to-end", "--timeout", "240"];
    let run = with(visitor.extract("/folded").args(expanded)).run();
    let counts = &run.answer()["expanded"];
    assert_eq!((&counts["complete"], &counts["sections"], &counts["tabs"]), (&json!(true), &json!(33), &json!(10)));
    let markdown = Saved::by(&run).markdown;
    for sentence in folded_sentences() {
        assert_eq!(markdown.matches(&sentence).count(), 1, "{sentence}");
    }
}

/// Asserts that banners are declined, in the page and in a frame of another site.
pub(crate) fn assert_declined(visitor: &Visitor, with: With<'_>) {
    for (page, platform) in
        [("onetrust-choices", "OneTrust"), ("usercentrics", "Usercentrics"), ("sourcepoint", "Sourcepoint")]
    {
        let page = format!("/consent/{page}");
        let answer =
            with(visitor.navigate(&page)).args(["--dismiss-consent", "--timeout", "60"]).run().answer().clone();
        assert_eq!(
            (&answer["consent"]["outcome"], &answer["consent"]["platform"]),
            (&json!("declined"), &json!(platform))
        );
    }
}

/// Asserts that a session's sign-in, its cookie and its item are taken to another session, and removed.
pub(crate) fn assert_state(visitor: &Visitor, with: With<'_>) {
    let of = |tool: Tool, session: &str| with(tool).args(["--session", session]).run();
    let state = |session: &str, args: &[&str]| of(visitor.project.tool("browser-state").args(args), session);
    for session in ["from", "to"] {
        of(visitor.open(), session).answer();
    }
    let steps = r#"[{"fill":["textbox:Name","ada"]},{"fill":["textbox:Password","x"]},{"click":"button:Sign in"}]"#;
    of(visitor.act("/login", steps).args(["--timeout", "60"]), "from").answer();
    of(visitor.navigate("/cookie/set?lasting=yes"), "from").answer();
    of(visitor.navigate("/storage/set?kept=secret-item"), "from").answer();
    let exported = state("from", &["--export", "state.json"]).answer().clone();
    assert_eq!((&exported["cookies"], &exported["origins"]), (&json!(2), &json!(1)), "{exported}");
    state("to", &["--import", "state.json"]).answer();
    let says = |tool: Tool| Saved::by(&of(tool.args(["--selector", "body", "--reload"]), "to")).markdown;
    assert!(says(visitor.extract("/account")).contains("Signed in as ada"));
    assert!(says(visitor.extract("/cookie/echo")).contains("lasting=yes"));
    assert!(says(visitor.extract("/storage/show")).contains("kept=secret-item"));
    // The page that was open still is.
    assert_eq!(of(visitor.extract_open(), "to").answer()["url"], visitor.url("/storage/show"));
    let listed = state("to", &["--list"]).answer().clone();
    let sites = json!([{"site": "127.0.0.1", "cookies": 2}, {"site": visitor.site.url(""), "items": 1}]);
    assert_eq!(listed["sites"], sites, "{listed}");
    state("to", &["--clear"]).answer();
    of(visitor.extract("/account").arg("--reload"), "to").error("LOGIN_REQUIRED");
    assert!(says(visitor.extract("/storage/show")).contains("nothing"));
    for session in ["from", "to"] {
        of(visitor.close(), session).answer();
    }
}

/// Asserts that screenshots and PDFs are made that the standard has commands for.
pub(crate) fn assert_captures(visitor: &Visitor, with: With<'_>) {
    let page = || visitor.navigate("/page/one");
    let whole = with(page()).args(["--screenshot", "a.png", "--print-pdf", "a.pdf"]).run().answer().clone();
    let file = |name: &str| std::fs::read(visitor.project.path().join(name)).unwrap();
    assert!(file("a.png").starts_with(b"\x89PNG") && file("a.pdf").starts_with(b"%PDF"));
    let part = ["--screenshot", "b.png", "--screenshot-selector", "h1"];
    let part = with(page()).args(part).run().answer().clone();
    let height = |answer: &Value| answer["screenshot"]["height"].as_u64().unwrap();
    assert!((1..height(&whole)).contains(&height(&part)) && file("b.png").starts_with(b"\x89PNG"), "{part}");
    for refused in [vec!["--screenshot", "a.webp"], vec!["--screenshot", "a.png", "--full-page"]] {
        with(page()).args(refused).run().error("ARGUMENT_ERROR");
    }
}

/// Asserts that steps do and say the same as with a socket; `visitor` has a session of `with`.
pub(crate) fn assert_steps(visitor: &Visitor, with: With<'_>) {
    let here = |tool: Tool| tool.args(["--session", "here"]).run().answer().clone();
    // Each step has several commands and waits until the text is stable.
    let there = |tool: Tool| with(tool).args(["--timeout", "300"]).run().answer().clone();
    visitor.open().args(["--session", "here"]).run().answer();
    // What can be acted on.
    let listed = |answer: &Value| -> Vec<Value> { answer["elements"].as_array().unwrap().clone() };
    let page = visitor.site.url("/act/page");
    for selector in ["main", "header"] {
        let look = || visitor.look().args(["--url", &page, "--selector", selector]);
        assert_eq!(listed(&there(look())), listed(&here(look())), "{selector}");
    }
    let error = with(visitor.look()).args(["--selector", "a["]).run().error("ARGUMENT_ERROR").clone();
    assert_eq!(error["details"]["argument"], "--selector");
    with(visitor.look()).args(["--selector", ".none"]).run().error("SELECTOR_NOT_FOUND");

    // Steps of all kinds.
    let first = json!([
        {"click": "button:Load more"}, {"click": "Load more", "until": 2}, {"wait": {"text": "Row 8"}},
    ]);
    let last = json!([
        {"scroll": ["listbox:Long list", "end"]}, {"scroll": "end"}, {"wait": {"text": "Shown: bottom"}},
        {"scroll": "top"}, {"wait": {"gone": "No such text"}}, {"wait": {"selector": "#end"}}, {"wait": {"ms": 1}},
    ]);
    let steps = followed_by(followed_by(first, control_steps()), last).to_string();
    let answers = [there(visitor.act("/act/page", &steps)), here(visitor.act("/act/page", &steps))];
    let done = |answer: &Value| -> Vec<String> {
        let lines = answer["done"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned());
        // How far it scrolls depends on the height of the window.
        lines.map(|line| if line.starts_with("scrolled by") { "scrolled".to_owned() } else { line }).collect()
    };
    assert_eq!(done(&answers[0]), done(&answers[1]));
    for member in ["title", "loaded", "added_links"] {
        assert_eq!(answers[0]["changes"][member], answers[1]["changes"][member], "{member}");
    }
    // The next call sees the page as it is, and the changes are those since the last look.
    let loads = visitor.site.count("/act/page");
    let body = there(visitor.extract_open().args(["--selector", "body"]));
    let text = Saved::read(body["file_path"].as_str().unwrap().as_ref()).markdown;
    for shown in ["Row 8", "Shown: down", "Shown: station Basalt", "Shown: edit 2", "What was folded", "New text"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert_eq!(visitor.site.count("/act/page"), loads);
    // A click that leads to another page; the form as it was filled in.
    let answer = there(visitor.act_open(r#"[{"click":"button:Go"}]"#));
    assert_eq!(
        (&answer["changes"]["loaded"], &answer["changes"]["title"]),
        (&json!(true), &json!("Result")),
        "{answer}"
    );
    let body = there(visitor.extract_open().args(["--selector", "body"]));
    let text = Saved::read(body["file_path"].as_str().unwrap().as_ref()).markdown;
    for field in ["q is tides", "day is 2026-01-31", "count is 12", "notes is one", "version is 3.2", "all is on"] {
        assert!(text.contains(field), "{field}: {text}");
    }
    assert!(!text.contains("styled is on"), "{text}");
    // What opens another tab opens here; a slow page is waited for.
    let answer = there(visitor.act("/act/links/3", r#"[{"click":"link:Link 1"}]"#));
    assert_eq!(answer["changes"]["title"], "1", "{answer}");
}

/// Asserts that elements in frames of the site and of another are listed and acted on, also where the frame goes away.
pub(crate) fn assert_frames(visitor: &Visitor, with: With<'_>) {
    let run = |tool: Tool| with(tool).args(["--timeout", "100"]).run().answer().clone();
    let elements = || -> Vec<String> {
        let all = run(visitor.look().args(["--selector", "body"]));
        all["elements"].as_array().unwrap().iter().map(|one| one["element"].as_str().unwrap().to_owned()).collect()
    };
    let steps = json!([
        {"click": "button:Inside localhost"}, {"fill": ["textbox:Field 127.0.0.1", "sea"]},
        {"press": ["textbox:Field 127.0.0.1", "s"]}, {"click": "Inside 127.0.0.1"}, {"click": "button:Load more"},
    ]);
    let answer = run(visitor.act("/act/page", &steps.to_string()).arg("--reload"));
    assert_eq!(answer["done"].as_array().unwrap().len(), 5, "{answer}");
    let found = elements();
    for element in ["button:Hit localhost", "button:Hit 127.0.0.1", "textbox:Field localhost", "button:Go"] {
        assert!(found.iter().any(|one| one == element), "{element}: {found:?}");
    }
    let looked = run(visitor.look().args(["--selector", "body"]));
    let field = looked["elements"].as_array().unwrap().iter().find(|one| one["element"] == "textbox:Field 127.0.0.1");
    assert_eq!(field.unwrap()["value"], "s", "the key replaces the text, in the frame that has the focus");
    for (page, element) in [("detaches", "button:Press"), ("detaches-other", "button:Inside localhost")] {
        let steps = json!([{"click": element}, {"wait": {"text": "Shown: detached"}}]).to_string();
        run(visitor.act(&format!("/act/{page}"), &steps).arg("--reload"));
        assert_eq!(run(visitor.navigate("/page/next"))["title"], "next", "{page}");
    }
}

/// Asserts that a name or a number is that of the list, which has the elements of frames in their places, and that text
/// which becomes visible in a frame is counted.
pub(crate) fn assert_same_names(visitor: &Visitor, with: With<'_>) {
    let act = |element: &str, shown: &str| {
        let steps = json!([{"click": element}, {"wait": {"text": shown}}]).to_string();
        let act = visitor.act("/act/same-names", &steps).args(["--reload", "--timeout", "100"]);
        with(act).run().answer().clone()
    };
    for (element, shown) in
        [("button:Save [1]", "Shown: first"), ("button:Save [3]", "Shown: last"), ("button:Pay", "Shown: paid")]
    {
        act(element, shown);
    }
    let answer = act("button:Save [2]", "The gauge at the pier");
    assert!((100..200).contains(&answer["changes"]["added_characters"].as_u64().unwrap()), "{answer}");
}

/// Asserts that the JSON answers of a page are requested again, those that came on a click as well.
pub(crate) fn assert_json(visitor: &Visitor, with: With<'_>) {
    let answers = |tool: Tool| with(tool).args(["--timeout", "100"]).run().answer()["json_responses"].clone();
    let paths = |answers: &Value| -> Vec<String> {
        let documents = answers["documents"].as_array().unwrap().iter();
        let urls = documents.map(|one| one["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap().to_owned());
        let mut paths: Vec<String> = urls.collect();
        paths.sort();
        paths
    };
    let all = answers(visitor.extract("/data/stations").args(["--json-responses", "/data/"]));
    // The method of a request is not known: an address that was requested by POST may be among them.
    let found: Vec<String> = paths(&all).into_iter().filter(|path| path != "data/sent").collect();
    let wanted = ["data/broken", "data/feed", "data/list/1?sort=name", "data/other"];
    assert_eq!((found, &all["left_out"]), (wanted.map(str::to_owned).to_vec(), &json!(1)), "{all}");
    let more = visitor.extract_open().args(["--expand", "--json-responses", r"/list/[0-9]\?"]);
    let more = answers(more);
    assert_eq!(paths(&more).len(), 3, "{more}");
    let own = visitor.extract("/data/stations").args(["--json-responses", "/data/", "--allow-domain", "127.0.0.1"]);
    let own = answers(own);
    assert!(!paths(&own).contains(&"data/other".to_owned()), "{own}");
}

/// Asserts that unsupported steps have the same errors as with a socket.
pub(crate) fn assert_refusals(visitor: &Visitor, with: With<'_>) {
    for (page, step, code) in [
        ("/act/covered", r#"{"click":"button:Press"}"#, "ELEMENT_NOT_USABLE"),
        ("/act/disabled", r#"{"click":"button:Press"}"#, "ELEMENT_NOT_USABLE"),
        ("/act/hidden", r##"{"click":"#b"}"##, "ELEMENT_NOT_USABLE"),
        ("/act/page", r#"{"click":"button:Edit"}"#, "ELEMENT_AMBIGUOUS"),
        ("/act/page", r#"{"click":"button:Nothing"}"#, "ELEMENT_NOT_FOUND"),
        ("/act/page", r#"{"fill":["textbox:Fixed","x"]}"#, "ELEMENT_NOT_USABLE"),
        ("/act/page", r#"{"press":"CapsLock"}"#, "ARGUMENT_ERROR"),
        ("/act/page", r#"{"wait":{"selector":"a["}}"#, "ARGUMENT_ERROR"),
    ] {
        let steps = format!(r#"[{{"scroll":"top"}},{step}]"#);
        let error = with(visitor.act(page, &steps)).args(["--reload", "--timeout", "100"]).run().error(code).clone();
        assert_eq!((&error["details"]["step"], &error["details"]["done"][1]), (&json!(2), &Value::Null), "{error}");
    }
    // The next call works.
    with(visitor.act("/act/page", r#"[{"click":"button:Load more"},{"wait":{"text":"Row 2"}}]"#)).run().answer();
}
