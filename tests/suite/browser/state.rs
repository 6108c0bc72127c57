//! `browser-state`: a login is taken from one profile to another, in both forms of files, and removed again.

use std::{fs, thread, time::Duration};

use ragmaker_tests::{
    run::{Output, Tool},
    visitor::{Saved, Visitor},
};
use serde_json::json;

/// How often a login is taken to another profile.
const ROUNDS: usize = 20;

fn state(visitor: &Visitor, session: &str, args: &[&str]) -> Output {
    visitor.project.tool("browser-state").args(["--session", session]).args(args).run()
}

/// The text of a page in a session.
fn says(tool: Tool, session: &str) -> String {
    Saved::by(&tool.args(["--session", session, "--selector", "body", "--reload"]).run()).markdown
}

/// Signs in, and stores a cookie and an item.
fn sign_in(visitor: &Visitor, session: &str) {
    let steps = r#"[{"fill":["textbox:Name","ada"]},{"fill":["textbox:Password","x"]},{"click":"button:Sign in"}]"#;
    let in_session = |tool: Tool| tool.args(["--session", session]).run().answer().clone();
    in_session(visitor.act("/login", steps));
    in_session(visitor.navigate("/cookie/set?lasting=yes"));
    in_session(visitor.navigate("/storage/set?kept=secret-item"));
}

#[test]
fn a_login_is_taken_to_another_profile() {
    let visitor = Visitor::new();
    for session in ["from", "to"] {
        visitor.open().args(["--session", session]).run().answer();
    }
    sign_in(&visitor, "from");
    let file = visitor.project.path().join("state.json");
    let path = file.to_str().unwrap().to_owned();
    let mut arrived = 0;
    for _ in 0..ROUNDS {
        state(&visitor, "to", &["--clear"]).answer();
        visitor.extract("/account").args(["--session", "to", "--reload"]).run().error("LOGIN_REQUIRED");
        assert!(says(visitor.extract("/storage/show"), "to").contains("nothing"));
        let exported = state(&visitor, "from", &["--export", &path]);
        assert_eq!((&exported.answer()["cookies"], &exported.answer()["origins"]), (&json!(2), &json!(1)));
        let imported = state(&visitor, "to", &["--import", &path]);
        for run in [&exported, &imported] {
            let printed = String::from_utf8_lossy(&run.raw.stdout);
            assert!(!printed.contains("secret-item") && !printed.contains("-ada"), "{printed}");
        }
        let is_in = says(visitor.extract("/account"), "to").contains("Signed in as ada")
            && says(visitor.extract("/cookie/echo"), "to").contains("lasting=yes")
            && says(visitor.extract("/storage/show"), "to").contains("kept=secret-item");
        arrived += usize::from(is_in);
    }
    assert_eq!(arrived, ROUNDS);
    #[cfg(unix)]
    {
        let mode = fs::metadata(&file).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let origin = visitor.site.url("");
    assert_eq!(
        written["origins"],
        json!([{"origin": origin, "localStorage": [{"name": "kept", "value": "secret-item"}]}])
    );
    assert!(written["cookies"].as_array().unwrap().iter().any(|cookie| cookie["httpOnly"] == true), "{written}");
    // It outlives the browser, and no server is asked for it.
    // The last pages may still request something, and the browser their icon at any time.
    let requests = || visitor.site.requests().iter().filter(|request| request.path != "/favicon.ico").count();
    let mut before = 0;
    while requests() != before {
        before = requests();
        thread::sleep(Duration::from_secs(1));
    }
    let listed = state(&visitor, "to", &["--list"]).answer().clone();
    assert_eq!(listed["sites"], json!([{"site": "127.0.0.1", "cookies": 2}, {"site": origin, "items": 1}]), "{listed}");
    assert_eq!(requests(), before, "{:?}", visitor.site.requests().last().map(|last| last.path.clone()));
    visitor.close().args(["--session", "to"]).run().answer();
    assert!(says(visitor.extract("/storage/show"), "to").contains("kept=secret-item"));
}

#[test]
fn cookies_are_taken_in_the_form_of_curl() {
    let visitor = Visitor::with_browser();
    sign_in(&visitor, "default");
    let netscape = ["--format", "netscape"];
    state(&visitor, "default", &[&["--export", "cookies.txt"], &netscape[..]].concat()).answer();
    let text = fs::read_to_string(visitor.project.path().join("cookies.txt")).unwrap();
    assert!(text.contains("#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t"), "{text}");
    state(&visitor, "default", &["--clear"]).answer();
    visitor.extract("/account").run().error("LOGIN_REQUIRED");
    state(&visitor, "default", &[&["--import", "cookies.txt"], &netscape[..]].concat()).answer();
    assert!(says(visitor.extract("/account"), "default").contains("Signed in as ada"));

    // A cookie that has ended is left out, and does not end the one that the session has.
    let ended = text.replace("\tFALSE\t0\tsession\t", "\tFALSE\t1\tsession\t");
    assert_ne!(ended, text);
    visitor.project.write("ended.txt", format!("{ended}x.example\tFALSE\t/\tFALSE\t0\ta\tb\n"));
    let imported = state(&visitor, "default", &[&["--import", "ended.txt"], &netscape[..]].concat()).answer().clone();
    let sites = json!([{"site": "127.0.0.1", "cookies": 1}, {"site": "x.example", "cookies": 1}]);
    assert_eq!((&imported["cookies"], &imported["sites"]), (&json!(2), &sites), "{imported}");
    assert!(says(visitor.extract("/account"), "default").contains("Signed in as ada"));

    let error = state(&visitor, "default", &["--import", "cookies.txt"]);
    assert!(!error.error("STATE_NOT_READABLE").to_string().contains("-ada"), "{:?}", error.raw);
    for text in ["[]", r#"{"origins": [{"origin": "file:///etc", "localStorage": [{"name": "a", "value": "b"}]}]}"#] {
        fs::write(visitor.project.path().join("wrong.json"), text).unwrap();
        state(&visitor, "default", &["--import", "wrong.json"]).error("STATE_NOT_READABLE");
    }
    state(&visitor, "default", &["--import", "none.json"]).error("FILE_NOT_FOUND");
    state(&visitor, "default", &[]).error("ARGUMENT_ERROR");
    state(&visitor, "default", &["--list", "--clear"]).error("ARGUMENT_ERROR");
    // A model that reads files does not export.
    let asked = |arguments: serde_json::Value| {
        visitor.project.tool("browser-state").args(["--arguments", &arguments.to_string()]).run()
    };
    asked(json!({"export": "state.json"})).error("ARGUMENT_ERROR");
    assert!(!visitor.project.path().join("state.json").exists());
    assert_eq!(asked(json!({"list": true})).answer()["cookies"], 3);
    let other = tempfile::tempdir().unwrap();
    asked(json!({"import": other.path().join("state.json")})).error("PATH_NOT_ALLOWED");
}
