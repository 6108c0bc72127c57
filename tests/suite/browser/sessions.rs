//! The state that a session keeps between calls and after a close, and the separation of sessions.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Stdio,
    time::Duration,
};

use ragmaker_tests::{
    run::Project,
    visitor::{Saved, Visitor, at_once},
};
use serde_json::{Value, json};

/// How long processes get to be gone after the call that ended them.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

fn assert_nothing_runs(project: &Project) {
    let left: Vec<_> = project.left_running(WAIT_TIMEOUT).into_iter().map(|process| process.command).collect();
    assert!(left.is_empty(), "{left:#?}");
}

/// The saved text of `/cookie/echo` or another page.
fn said(visitor: &Visitor, page: &str) -> String {
    visitor.save(page).markdown
}

#[test]
fn a_subfolder_uses_the_browser_of_its_project() {
    let visitor = Visitor::new();
    visitor.project.write(".ragmaker/project", "");
    let folder = visitor.project.write("docs/notes/a.md", "a").parent().unwrap().to_owned();
    // By the marker alone: nothing names the project.
    let open = |folder: &Path| visitor.open().directory(folder).env("RAGMAKER_PROJECT_ROOT", "").run().answer().clone();
    let (first, again) = (open(visitor.project.path()), open(&folder));
    assert_eq!((&again["already_open"], &again["pid"]), (&true.into(), &first["pid"]), "{again}");
    assert_eq!(again["profile_path"], visitor.project.path().join(".tmp/cache/browser_profile").to_str().unwrap());
    let read = visitor.project.tool("project-info").directory(&folder).env("RAGMAKER_PROJECT_ROOT", "").run();
    assert_eq!(read.answer()["project_root"], visitor.project.path().to_str().unwrap());
    assert!(!folder.join(".tmp").exists());
    visitor.close().run();
}

#[test]
fn a_browser_is_opened_once_and_closed_once() {
    let visitor = Visitor::new();
    assert_eq!(visitor.close().run().answer()["closed"], json!([]));
    let first = visitor.open().run().answer().clone();
    assert_eq!((&first["session"], &first["already_open"]), (&"default".into(), &false.into()));
    let profile = visitor.project.path().join(".tmp/cache/browser_profile");
    assert_eq!(first["profile_path"], profile.to_str().unwrap());
    assert!(first["browser"].as_str().unwrap().starts_with("chrom"), "{first}");
    let again = visitor.open().run().answer().clone();
    assert_eq!((&again["already_open"], &again["pid"]), (&true.into(), &first["pid"]));
    assert!(visitor.project.processes().iter().any(|process| Some(u64::from(process.pid)) == first["pid"].as_u64()));
    assert_eq!(visitor.close().run().answer()["closed"], json!(["default"]));
    assert_nothing_runs(&visitor.project);
    assert_eq!(visitor.close().run().answer()["closed"], json!([]));
    assert_eq!(visitor.close().arg("--all").run().answer()["closed"], json!([]));
}

#[test]
fn a_call_without_an_open_browser_leaves_none() {
    let visitor = Visitor::new();
    visitor.extract_open().run().error("NO_PAGE");
    assert_eq!(visitor.navigate("/page/alone").run().answer()["title"], "alone");
    assert_nothing_runs(&visitor.project);
    visitor.save("/page/alone");
    assert_nothing_runs(&visitor.project);
    visitor.refuse("/status/404", "HTTP_ERROR");
    assert_nothing_runs(&visitor.project);
}

#[test]
fn cookies_and_storage_persist_after_the_browser_closes() {
    let visitor = Visitor::with_browser();
    assert!(said(&visitor, "/cookie/echo").contains("Cookies: none"));
    visitor.navigate("/storage/set?colour=blue").run().answer();
    visitor.navigate("/cookie/session?brief=yes").run().answer();
    // Set right before the end: it has to be written by then.
    visitor.navigate("/cookie/set?lasting=yes").run().answer();
    visitor.close().run().answer();
    visitor.open().run().answer();
    let cookies = said(&visitor, "/cookie/echo");
    assert!(cookies.contains("lasting=yes") && cookies.contains("brief=yes"), "{cookies}");
    assert!(said(&visitor, "/storage/show").contains("colour=blue"));
    visitor.close().run().answer();
    // And without one that was opened.
    assert!(said(&visitor, "/cookie/echo").contains("lasting=yes"));
    visitor.navigate("/cookie/set?alone=yes").run().answer();
    assert!(said(&visitor, "/cookie/echo").contains("alone=yes"));
}

#[test]
fn a_login_persists_between_calls_and_after_a_close() {
    let visitor = Visitor::with_browser();
    assert_eq!(visitor.navigate("/account").run().answer()["title"], "Sign in");
    sign_in(&visitor, "keeper");
    let signed_in = |when: &str| {
        let page = said(&visitor, "/account");
        assert!(page.contains("Signed in as keeper."), "{when}: {page}");
    };
    assert_eq!(visitor.navigate("/account").run().answer()["title"], "Account");
    signed_in("in another call");
    visitor.close().run().answer();
    signed_in("without an open browser");
    visitor.open().run().answer();
    signed_in("in a new browser");
    visitor.navigate("/logout").run().answer();
    assert_eq!(visitor.navigate("/account").run().answer()["title"], "Sign in");
}

/// Signs in as a form would: a session cookie of the site's own, put into the browser.
fn sign_in(visitor: &Visitor, name: &str) {
    let address = visitor.site.url("").replace("http://", "");
    let body = format!("name={name}&password=x");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /login HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let cookie = answer.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap();
    visitor.navigate(&format!("/cookie/session?{}", cookie.split(';').next().unwrap())).run().answer();
}

#[test]
fn named_sessions_are_separate_and_closed_together() {
    let visitor = Visitor::with_browser();
    let other = visitor.open().args(["--session", "other.日本-2"]).run().answer().clone();
    assert_eq!((&other["session"], &other["already_open"]), (&"other.日本-2".into(), &false.into()));
    visitor.navigate("/cookie/set?mine=1").run().answer();
    let cookies =
        |session: &str| Saved::by(&visitor.extract("/cookie/echo").args(["--session", session]).run()).markdown;
    assert!(cookies("default").contains("mine=1"));
    assert!(cookies("other.日本-2").contains("Cookies: none"));
    assert_eq!(visitor.close().args(["--session", "other.日本-2"]).run().answer()["closed"], json!(["other.日本-2"]));
    assert_eq!(visitor.open().run().answer()["already_open"], true);
    visitor.open().args(["--session", "third"]).run().answer();
    assert_eq!(visitor.close().arg("--all").run().answer()["closed"], json!(["default", "third"]));
    assert_nothing_runs(&visitor.project);
    visitor.close().args(["--all", "--session", "third"]).run().error("ARGUMENT_ERROR");
}

#[test]
fn projects_with_any_names_share_nothing() {
    let one = Visitor::of(Project::with_odd_name());
    let two = Visitor::with_browser();
    let opened = one.open().run().answer().clone();
    assert_ne!(opened["pid"], two.open().run().answer()["pid"]);
    // A cookie does not know ports, so what one site sets the other would be told.
    one.navigate("/cookie/set?project=one").run().answer();
    assert!(said(&one, "/cookie/echo").contains("project=one"));
    assert!(said(&two, "/cookie/echo").contains("Cookies: none"));
    assert!(one.saved()[0].starts_with(one.project.path()));
    one.close().arg("--all").run().answer();
    assert_nothing_runs(&one.project);
    assert_eq!(two.open().run().answer()["already_open"], true);
    assert_eq!(two.navigate("/page/still").run().answer()["title"], "still");
}

#[test]
fn the_page_that_is_open_is_not_loaded_again() {
    let visitor = Visitor::with_browser();
    visitor.extract_open().run().error("NO_PAGE");
    visitor.navigate("/page/one").run().answer();
    Saved::by(&visitor.extract_open().run());
    visitor.save("/page/one");
    visitor.save("/page/one#place");
    assert_eq!(visitor.site.count("/page/one"), 1);
    visitor.navigate("/page/two").run().answer();
    // The page used last is the open one, wherever it led.
    visitor.navigate("/redirect/script/0").run().answer();
    let open = Saved::by(&visitor.extract_open().run());
    assert_eq!(open.field("title"), "after the script");
    visitor.save("/redirect/script/0");
    assert_eq!(visitor.site.count("/redirect/script/0"), 1);
    // To navigate is to load.
    visitor.navigate("/page/two").run().answer();
    assert_eq!(visitor.site.count("/page/two"), 2);
}

#[test]
fn an_idle_browser_closes() {
    let visitor = Visitor::new();
    visitor.open().args(["--idle-timeout", "1"]).run().answer();
    visitor.navigate("/cookie/set?kept=1").run().answer();
    assert_nothing_runs(&visitor.project);
    assert_eq!(visitor.close().run().answer()["closed"], json!([]));
    // Cleanly.
    assert!(said(&visitor, "/cookie/echo").contains("kept=1"));
}

#[test]
fn settings_that_were_damaged_do_not_end_a_session() {
    let visitor = Visitor::with_browser();
    visitor.close().run().answer();
    let profile = visitor.project.path().join(".tmp/cache/browser_profile");
    for (name, text) in [("Default/Preferences", ""), ("Local State", "{\"browser\": {")] {
        std::fs::write(profile.join(name), text).unwrap();
        visitor.open().run().answer();
        visitor.close().run().answer();
        assert_eq!(std::fs::read_to_string(profile.join(format!("{name}.damaged"))).unwrap(), text);
    }
}

#[test]
fn a_failed_start_says_why() {
    let visitor = Visitor::new();
    let error = visitor.open().env("TMPDIR", "/nonexistent").run().error("BROWSER_FAILED").clone();
    assert!(error["remediation_suggestion"].as_str().unwrap().contains("TMPDIR"), "{error}");
    for (variable, program) in [("RAGMAKER_CHROMIUM", "Chromium"), ("RAGMAKER_CHROMEDRIVER", "ChromeDriver")] {
        for tool in [visitor.open(), visitor.navigate("/page/1"), visitor.extract("/page/1")] {
            let error = tool.env(variable, "/nonexistent").run().error("BROWSER_NOT_FOUND").clone();
            assert_eq!(error["details"]["missing"], program);
            assert!(error["remediation_suggestion"].as_str().unwrap().contains(variable), "{error}");
        }
    }
    assert_nothing_runs(&visitor.project);
}

#[cfg(target_os = "linux")]
#[test]
fn a_project_whose_path_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let visitor = Visitor::new();
    let folder = visitor.project.path().join(std::ffi::OsStr::from_bytes(b"caf\xE9"));
    std::fs::create_dir(&folder).unwrap();
    for tool in [visitor.open(), visitor.navigate("/page/1"), visitor.close()] {
        let error = tool.env("RAGMAKER_PROJECT_ROOT", &folder).run().error("ARGUMENT_ERROR").clone();
        assert_eq!(error["details"]["argument"], "RAGMAKER_PROJECT_ROOT");
    }
    assert_eq!(std::fs::read_dir(visitor.project.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_hanging_start_is_ended() {
    let visitor = Visitor::new();
    let driver = ragmaker_testkit::script(visitor.project.path(), "driver", "exec sleep 600");
    let call = visitor.navigate("/page/1").args(["--timeout", "1"]).env("RAGMAKER_CHROMEDRIVER", &driver);
    let error = call.run().error("BROWSER_FAILED").clone();
    assert!(error["remediation_suggestion"].as_str().unwrap().contains("--timeout"), "{error}");
    assert_nothing_runs(&visitor.project);
}

#[cfg(unix)]
#[test]
fn a_browser_does_not_inherit_open_files() {
    let visitor = Visitor::new();
    let path = visitor.project.path().join("lock");
    let lock = std::fs::File::create(&path).unwrap();
    lock.lock().unwrap();
    let command = visitor.open().into_command();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" 3<&0 </dev/null"]).arg(command.get_program()).args(command.get_args());
    let status = shell.current_dir(visitor.project.path()).stdin(lock).stdout(Stdio::null()).status().unwrap();
    drop(shell);
    assert!(status.success() && !visitor.project.processes().is_empty());
    // The lock goes when the last process that has the file open lets go of it.
    std::fs::File::open(&path).unwrap().try_lock().unwrap();
}

#[test]
fn calls_at_once_each_have_their_own_page() {
    let visitor = Visitor::with_browser();
    let names: Vec<_> = (0..8).map(|n| format!("page-{n}")).collect();
    let saved = at_once(8, &names, |name| {
        Saved::by(&visitor.extract(&format!("/page/{name}")).args(["--timeout", "90"]).run())
    });
    for (name, saved) in names.iter().zip(&saved) {
        assert_eq!(saved.field("title"), name);
        // As it is saved alone.
        assert_eq!(visitor.save(&format!("/page/{name}")).markdown, saved.markdown, "{name}");
    }
    assert_eq!(visitor.documents().len(), 8);
    // More than there are tabs, in the time that a call has when it is not told otherwise.
    let pages: Vec<_> = (10..34).collect();
    let counts = at_once(pages.len(), &pages, |n| {
        visitor.navigate(&format!("/links/{n}")).run().answer()["total"].as_u64().unwrap()
    });
    assert_eq!(counts, pages);
}

#[test]
fn cold_calls_at_once_share_a_browser_and_leave_none() {
    let visitor = Visitor::new();
    let names: Vec<_> = (0..4).map(|n| format!("cold-{n}")).collect();
    let titles = at_once(4, &names, |name| {
        let run = visitor.navigate(&format!("/page/{name}")).args(["--timeout", "90"]).run();
        run.answer()["title"].as_str().unwrap().to_owned()
    });
    assert_eq!(titles, names);
    assert_nothing_runs(&visitor.project);
}

#[test]
fn a_busy_page_does_not_disturb_other_calls() {
    let visitor = Visitor::with_browser();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| visitor.navigate("/slow/loop/0").args(["--timeout", "20"]).run());
        assert!(visitor.site.wait_for("/slow/loop/0", WAIT_TIMEOUT));
        for n in 0..3 {
            let title = format!("beside-{n}");
            let run = visitor.navigate(&format!("/page/{title}")).args(["--timeout", "60"]).run();
            assert_eq!(run.answer()["title"], title);
        }
        busy.join().unwrap().error("TIMEOUT");
    });
    assert_eq!(visitor.navigate("/page/after").run().answer()["title"], "after");
}

#[test]
fn a_page_that_never_answers_does_not_disturb_other_calls() {
    let visitor = Visitor::with_browser();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| visitor.navigate("/slow/first-byte").args(["--timeout", "30"]).run());
        assert!(visitor.site.wait_for("/slow/first-byte", WAIT_TIMEOUT));
        // In a tab of its own, which has to be opened.
        let run = visitor.navigate("/page/beside").args(["--timeout", "15"]).run();
        assert_eq!(run.answer()["title"], "beside");
        assert!(!waits.is_finished());
        waits.join().unwrap().error("TIMEOUT");
    });
}

#[test]
fn tools_work_without_standard_input() {
    let visitor = Visitor::new();
    for tool in [visitor.open(), visitor.navigate("/page/closed"), visitor.close()] {
        // The shell closes what the tool would inherit.
        let command = tool.into_command();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" <&-"]).arg(command.get_program()).args(command.get_args());
        shell.current_dir(visitor.project.path()).stderr(Stdio::piped());
        let output = shell.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["status"], "success", "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_nothing_runs(&visitor.project);
}
