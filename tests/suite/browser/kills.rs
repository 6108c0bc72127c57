//! Processes killed at any time: nothing is left behind, the next call works, and no other process is
//! touched.
//!
//! Processes are looked for in `/proc`, which Linux has.

#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tests::{
    run::{Process, Tool},
    tabs::tabs,
    visitor::Visitor,
};
use serde_json::{Value, json};

/// How long processes get to come and go.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether a process was there to be sent the signal.
fn sent(name: &str, pid: u32) -> bool {
    Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status().unwrap().success()
}

fn signal(name: &str, pid: u32) {
    assert!(sent(name, pid), "{pid} could be sent {name}");
}

fn kill(pid: u32) {
    signal("-KILL", pid);
}

/// Kills whatever runs for the project, at once.
fn kill_all(visitor: &Visitor) {
    let until = Instant::now() + WAIT_TIMEOUT;
    while let left = visitor.project.processes()
        && !left.is_empty()
    {
        assert!(Instant::now() < until, "all could be killed");
        for process in left {
            // The ones that another took with it are gone by now.
            let _ = sent("-KILL", process.pid);
        }
    }
}

fn profile(visitor: &Visitor) -> PathBuf {
    visitor.project.path().join(".tmp/cache/browser_profile")
}

/// The project's process whose command line has `part` and not `except`.
fn process(visitor: &Visitor, part: &str, except: &str) -> u32 {
    let is_it = |process: &Process| process.command.contains(part) && !process.command.contains(except);
    visitor.project.processes().into_iter().find(is_it).unwrap_or_else(|| panic!("{part} runs")).pid
}

/// The processes of the browser's pages.
fn renderers(visitor: &Visitor) -> Vec<u32> {
    let is_renderer = |process: &Process| process.command.contains("--type=renderer");
    visitor.project.processes().into_iter().filter(is_renderer).map(|process| process.pid).collect()
}

/// Asserts that closing leaves no process and no lock, and that the next call works.
fn assert_heals(visitor: &Visitor, after: &str) {
    visitor.close().run().answer();
    let left: Vec<_> = visitor.project.left_running(WAIT_TIMEOUT).into_iter().map(|process| process.command).collect();
    assert!(left.is_empty(), "{after}: {left:#?}");
    let lock = profile(visitor).join("SingletonLock");
    assert!(lock.symlink_metadata().is_err(), "{after}: the profile is locked");
}

fn assert_works(visitor: &Visitor, after: &str) {
    let run = visitor.navigate("/page/next").args(["--timeout", "90"]).run();
    assert_eq!(run.answer()["title"], "next", "after {after}");
}

/// Starts a tool and kills it after `delay`.
fn killed_after(tool: Tool, delay: Duration) {
    let mut command = tool.into_command();
    let mut tool = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The moment of death is what is varied here; nothing waits for anything.
    thread::sleep(delay);
    // It may have ended by itself.
    let _ = tool.kill();
    tool.wait().unwrap();
}

#[test]
fn a_tool_killed_during_a_browser_start_leaves_no_process() {
    let visitor = Visitor::new();
    for (round, delay) in [5, 60, 250, 500, 900, 1600].map(Duration::from_millis).into_iter().enumerate() {
        let tools = [visitor.open(), visitor.navigate("/wiki/"), visitor.extract("/wiki/")];
        killed_after(tools.into_iter().nth(round % 3).unwrap(), delay);
        assert_heals(&visitor, &format!("killed after {delay:?}"));
    }
    assert_works(&visitor, "six kills");
    assert_heals(&visitor, "a call of its own");
}

#[test]
fn a_tool_killed_during_a_visit_leaves_a_usable_browser() {
    let visitor = Visitor::with_browser();
    for (round, delay) in [10, 40, 90, 160, 300, 700].map(Duration::from_millis).into_iter().enumerate() {
        let tools = [visitor.navigate("/links/late/300"), visitor.extract("/wiki/stations")];
        killed_after(tools.into_iter().nth(round % 2).unwrap(), delay);
        assert_works(&visitor, &format!("a kill after {delay:?}"));
    }
    // What was written was written whole.
    for entry in visitor.documents() {
        let folder = visitor.catalog_file();
        assert!(folder.parent().unwrap().join(entry["path"].as_str().unwrap()).is_file(), "{entry}");
    }
    assert_eq!(visitor.open().run().answer()["already_open"], true);
    assert_heals(&visitor, "six kills");
}

#[test]
fn the_tab_of_a_killed_tool_closes_without_another_call() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/stays").run().answer();
    for page in ["/slow/first-byte", "/page/taken"] {
        for delay in [30, 120, 400].map(Duration::from_millis) {
            killed_after(visitor.navigate(page), delay);
        }
    }
    let until = Instant::now() + Duration::from_secs(40);
    let kept = |url: &str| url.ends_with("/page/stays") || url.ends_with("/page/taken") || url == "about:blank";
    while let left = tabs(visitor.project.path())
        && (left.iter().any(|url| !kept(url)) || left.len() > 3)
    {
        assert!(Instant::now() < until, "{left:#?}");
        thread::sleep(Duration::from_millis(50));
    }
    assert_works(&visitor, "the tabs of the dead were closed");
}

#[test]
fn a_killed_browser_driver_or_supervisor_is_replaced() {
    let visitor = Visitor::new();
    for victim in ["browser", "driver", "supervisor"] {
        let pid = visitor.open().run().answer()["pid"].as_u64().unwrap();
        visitor.navigate("/page/before").run().answer();
        let killed = match victim {
            "browser" => pid.try_into().unwrap(),
            "driver" => process(&visitor, "chromedriver", "--type="),
            _ => process(&visitor, "--supervise-browser", "--type="),
        };
        kill(killed);
        // A call that comes while it is on its way out may still do without it.
        let until = Instant::now() + WAIT_TIMEOUT;
        while visitor.project.processes().iter().any(|process| process.pid == killed) {
            assert!(Instant::now() < until, "the {victim} dies");
        }
        assert_works(&visitor, &format!("the {victim} was killed"));
        if victim == "supervisor" {
            // Without another one, the browser would never close by itself.
            process(&visitor, "--supervise-browser", "--type=");
        }
        assert_heals(&visitor, &format!("the {victim} was killed"));
    }
    // And all three at once.
    visitor.open().run().answer();
    kill_all(&visitor);
    assert_works(&visitor, "all were killed");
    assert_heals(&visitor, "all were killed");
}

#[test]
fn a_page_crashed_between_calls_does_not_fail_the_next() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/before").run().answer();
    // That of the page that a tab begins with may end by itself meanwhile.
    let killed: Vec<u32> = renderers(&visitor).into_iter().filter(|&pid| sent("-KILL", pid)).collect();
    assert!(!killed.is_empty());
    for pid in killed {
        // It is gone altogether once the browser knows of it: a crash during the call is another matter.
        let until = Instant::now() + WAIT_TIMEOUT;
        while PathBuf::from(format!("/proc/{pid}")).exists() {
            assert!(Instant::now() < until, "the browser knows of the crash");
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_works(&visitor, "a crash that nobody saw");
}

#[test]
fn a_hanging_page_ends_with_its_browser() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/before").run().answer();
    // That of the page that a tab begins with may end by itself meanwhile.
    assert!(renderers(&visitor).into_iter().filter(|&pid| sent("-STOP", pid)).count() > 0);
    assert_heals(&visitor, "its pages were stopped");
}

#[test]
fn a_new_browser_does_not_reopen_pages() {
    let visitor = Visitor::with_browser();
    for end in ["closed", "killed"] {
        visitor.navigate("/page/open").run().answer();
        let page = format!("/slow/loop/0?{end}");
        let mut call = visitor.navigate(&page).into_command();
        let mut call = call.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(visitor.site.wait_for(&page, WAIT_TIMEOUT));
        // It would try once more in the next browser.
        call.kill().unwrap();
        call.wait().unwrap();
        if end == "killed" {
            kill_all(&visitor);
        }
        visitor.close().run().answer();
        visitor.open().run().answer();
        let open = tabs(visitor.project.path());
        assert!(open.iter().all(|url| !url.starts_with("http")), "{end}: {open:?}");
        assert_works(&visitor, end);
    }
}

#[test]
fn a_kept_browser_is_restarted_as_a_kept_one() {
    let visitor = Visitor::new();
    let pid = visitor.open().run().answer()["pid"].as_u64().unwrap();
    kill(pid.try_into().unwrap());
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
    assert_works(&visitor, "the browser was killed");
    assert_eq!(visitor.open().run().answer()["already_open"], true);
}

#[test]
fn calls_at_work_go_on_without_the_supervisor_and_others_join_them() {
    let visitor = Visitor::with_browser();
    let slow = "/slow/answer/3000";
    thread::scope(|scope| {
        let working = scope.spawn(|| visitor.navigate(slow).run());
        assert!(visitor.site.wait_for(slow, WAIT_TIMEOUT));
        kill(process(&visitor, "--supervise-browser", "--type="));
        assert_works(&visitor, "the supervisor was killed");
        assert_eq!(working.join().unwrap().answer()["title"], "Slow answer");
    });
    assert_heals(&visitor, "the supervisor was killed");
}

#[test]
fn a_hanging_browser_ends_a_call_within_its_timeout() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/before").run().answer();
    let browser = process(&visitor, "--remote-debugging-port", "--type=");
    signal("-STOP", browser);
    // Without its own timeout the call would take 30 seconds.
    visitor.navigate("/page/next").args(["--timeout", "3"]).within(Duration::from_secs(25)).run().error("BROWSER_BUSY");
    let _ = sent("-CONT", browser);
    assert_works(&visitor, "the browser stood still");
    assert_heals(&visitor, "the browser stood still");
}

#[test]
fn a_browser_without_its_folder_is_closed() {
    let visitor = Visitor::new();
    let cache = visitor.project.path().join(".tmp");
    for (round, away) in ["deleted", "moved"].into_iter().enumerate() {
        visitor.open().run().answer();
        visitor.navigate("/page/before").run().answer();
        // The browser may make a file while its folder is emptied.
        let went = (0..50).any(|_| match round {
            0 => fs::remove_dir_all(&cache).is_ok(),
            _ => fs::rename(&cache, cache.with_extension("moved")).is_ok(),
        });
        assert!(went, "{away}");
        let left: Vec<_> =
            visitor.project.left_running(WAIT_TIMEOUT).into_iter().map(|process| process.command).collect();
        assert!(left.is_empty(), "{away}: {left:#?}");
        assert_works(&visitor, away);
        assert_heals(&visitor, away);
    }
}

#[test]
fn a_copy_of_a_project_has_a_browser_of_its_own() {
    let (original, copy) = (Visitor::with_browser(), Visitor::new());
    original.navigate("/cookie/set?project=original").run().answer();
    let pid = original.open().run().answer()["pid"].clone();
    let from = original.project.path().join(".tmp");
    // A file that the browser has just deleted cannot be copied.
    let _ = Command::new("cp").arg("-a").arg(from).arg(copy.project.path()).stderr(Stdio::null()).status().unwrap();
    assert!(profile(&copy).join("ragmaker/session.json").is_file());
    // Where nothing was opened, nothing is closed.
    assert_eq!(copy.close().arg("--all").run().answer()["closed"], json!([]));
    assert_works(&copy, "it was copied");
    assert_ne!(copy.open().run().answer()["pid"], pid);
    assert_heals(&copy, "it was copied");
    let still = original.open().run().answer().clone();
    assert_eq!((&still["already_open"], &still["pid"]), (&json!(true), &pid));
}

#[test]
fn a_reused_port_is_not_mistaken_for_a_browser() {
    let visitor = Visitor::with_browser();
    visitor.navigate("/page/before").run().answer();
    let file = profile(&visitor).join("ragmaker/session.json");
    let mut session: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    // It takes every connection and never says a word.
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    session["endpoint"]["webdriver"] = format!("http://127.0.0.1:{port}/").into();
    session["endpoint"]["devtools"] = format!("ws://127.0.0.1:{port}/devtools/browser/before").into();
    for tool in [visitor.navigate("/page/next"), visitor.open()] {
        kill_all(&visitor);
        fs::write(&file, session.to_string()).unwrap();
        let answer = tool.run().answer().clone();
        assert!(answer["title"] == "next" || answer["already_open"] == false, "{answer}");
    }
}

#[test]
fn nothing_is_left_among_the_temporary_files() {
    let visitor = Visitor::new();
    let temporary = tempfile::tempdir().unwrap();
    for killed in [None, Some("browser"), Some("browser, and closed at once")] {
        let pid = visitor.open().env("TMPDIR", temporary.path()).run().answer()["pid"].as_u64().unwrap();
        visitor.navigate("/page/one").run().answer();
        assert_ne!(fs::read_dir(temporary.path()).unwrap().count(), 0, "a browser has temporary files");
        if killed.is_some() {
            kill(pid.try_into().unwrap());
        }
        if killed == Some("browser") {
            assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
        }
        assert_heals(&visitor, "a browser with a folder of its own");
        let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{killed:?} killed: {left:?}");
    }
}

#[test]
fn leftovers_and_garbage_do_not_stop_a_call() {
    let visitor = Visitor::new();
    let own = profile(&visitor).join("ragmaker");
    fs::create_dir_all(own.join("tabs")).unwrap();
    // Of a browser that is gone, here and on another machine.
    for (round, holder) in ["gone-host-4194303", "localhost-1", "garbage"].iter().enumerate() {
        let _ = fs::remove_file(profile(&visitor).join("SingletonLock"));
        if round != 1 {
            symlink(holder, profile(&visitor).join("SingletonLock")).unwrap();
        }
        fs::write(profile(&visitor).join("DevToolsActivePort"), "1\n/devtools/browser/none").unwrap();
        fs::write(own.join("session.json"), ["not JSON", "{}", ""][round]).unwrap();
        fs::write(own.join("tabs/GARBAGE"), ["not JSON", "{\"session\": \"none\"}", ""][round]).unwrap();
        assert_works(&visitor, holder);
        assert_heals(&visitor, holder);
    }
    // Of a browser that runs.
    visitor.open().run().answer();
    fs::write(own.join("tabs/GARBAGE"), "not JSON").unwrap();
    assert_works(&visitor, "garbage among the tabs");
    fs::write(own.join("session.json"), "{\"endpoint\": 1").unwrap();
    assert_works(&visitor, "garbage in the place of the session");
    assert_heals(&visitor, "garbage in the place of the session");
}

/// Somebody else's process, which ends with the test.
struct OtherProcess(Child);

impl OtherProcess {
    fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// A browser that somebody started by hand on the profile in `folder`.
    fn browser(folder: &std::path::Path) -> Self {
        let chromium = std::env::var_os("RAGMAKER_CHROMIUM").unwrap_or_else(|| "chromium".into());
        let mut command = Command::new(chromium);
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "about:blank"]);
        command.arg(format!("--user-data-dir={}", folder.display()));
        let stranger = Self::start(command);
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while folder.join("SingletonLock").symlink_metadata().is_err() {
            assert!(Instant::now() < deadline, "a browser starts");
            thread::sleep(Duration::from_millis(10));
        }
        stranger
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_with_a_reused_id_is_not_killed() {
    let visitor = Visitor::with_browser();
    let mut command = Command::new("sleep");
    command.arg("600");
    let mut stranger = OtherProcess::start(command);
    let file = profile(&visitor).join("ragmaker/session.json");
    let mut session: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for name in ["browser_pid", "supervisor_pid"] {
        session[name] = stranger.0.id().into();
    }
    fs::write(&file, session.to_string()).unwrap();
    assert_eq!(visitor.close().run().answer()["closed"], json!(["default"]));
    assert!(visitor.project.left_running(WAIT_TIMEOUT).is_empty());
    assert!(stranger.lives());
    // Where nothing else runs, too.
    fs::write(&file, session.to_string()).unwrap();
    visitor.close().run().answer();
    assert_works(&visitor, "a session of somebody else");
    assert!(stranger.lives());
}

#[test]
fn another_users_browser_is_not_killed() {
    let visitor = Visitor::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut other = OtherProcess::browser(elsewhere.path());
    let mut ours = {
        fs::create_dir_all(profile(&visitor)).unwrap();
        OtherProcess::browser(&profile(&visitor))
    };
    // Ours is the profile, and theirs is the browser.
    let error = visitor.open().run().error("PROFILE_IN_USE").clone();
    assert_eq!(error["details"]["pid"], ours.0.id());
    visitor.navigate("/page/one").run().error("PROFILE_IN_USE");
    assert_eq!(visitor.close().run().answer()["closed"], json!([]));
    visitor.close().arg("--all").run().answer();
    assert!(ours.lives() && other.lives());
    drop(ours);
    assert_works(&visitor, "the other browser was closed");
    assert_heals(&visitor, "the other browser was closed");
    assert!(other.lives());
}
