//! `--no-headless`: a browser with a window, on a virtual screen.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use ragmaker_tests::{run::Tool, visitor::Visitor};
use serde_json::json;

/// A virtual X server.
struct Screen {
    server: Child,
    display: String,
}

impl Screen {
    fn new() -> Self {
        let mut command = Command::new("Xvfb");
        // It chooses a display that is free, and says which once it can be used.
        command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb is installed");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Self { server, display: format!(":{}", number.trim()) }
    }

    fn shows(&self, tool: Tool) -> Tool {
        tool.arg("--no-headless").env("DISPLAY", &self.display)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_window_needs_a_screen() {
    let visitor = Visitor::new();
    for tool in [visitor.open(), visitor.navigate("/page/1"), visitor.extract("/page/1")] {
        tool.arg("--no-headless").env("DISPLAY", "").env("WAYLAND_DISPLAY", "").run().error("NO_DISPLAY");
    }
    // A screen that is named and is not there.
    let error = visitor.open().arg("--no-headless").env("DISPLAY", ":64999").env("WAYLAND_DISPLAY", "").run();
    let error = error.error("BROWSER_FAILED");
    assert!(error["remediation_suggestion"].as_str().unwrap().contains("DISPLAY"), "{error}");
    assert!(visitor.saved().is_empty());
}

#[test]
fn a_person_gets_the_time_that_a_challenge_takes() {
    let (visitor, screen) = (Visitor::new(), Screen::new());
    visitor.open().run().answer();
    let unseen = visitor.navigate("/challenge/cloudflare-slow").args(["--timeout", "60"]).run();
    assert_eq!(unseen.answer()["is_bot_detected"], true);
    // The browser without a window is replaced by one with a window, on the same profile.
    let solved = screen.shows(visitor.extract("/challenge/cloudflare-slow")).run();
    assert_eq!(solved.answer()["title"], "Behind the challenge");
    let opened = screen.shows(visitor.open()).run();
    assert_eq!((&opened.answer()["already_open"], &opened.answer()["headless"]), (&json!(true), &json!(false)));
    // What the person did there holds for calls that need no window.
    let after = visitor.navigate("/challenge/cloudflare-slow").run();
    assert_eq!((&after.answer()["is_bot_detected"], &after.answer()["http_status"]), (&json!(false), &json!(200)));
    assert_eq!(visitor.close().run().answer()["closed"], json!(["default"]));
}

#[test]
fn a_person_is_waited_for_as_long_as_was_said() {
    let (visitor, screen) = (Visitor::new(), Screen::new());
    screen.shows(visitor.open()).run().answer();
    let refused = screen.shows(visitor.extract("/challenge/cloudflare")).args(["--timeout", "3"]).run();
    refused.error("BOT_DETECTED");
    assert!(visitor.saved().is_empty());
}

/// The command on a terminal of its own, which `script` makes.
fn on_terminal(command: &Command) -> Command {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''")));
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-f", "-c", &quoted.collect::<Vec<_>>().join(" "), "/dev/null"]);
    terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        terminal.current_dir(folder);
    }
    terminal
}

#[test]
fn a_person_at_the_terminal_goes_on_by_pressing_enter() {
    let (visitor, screen) = (Visitor::new(), Screen::new());
    screen.shows(visitor.open()).run().answer();
    let command = screen.shows(visitor.navigate("/challenge/cloudflare")).args(["--timeout", "100"]).into_command();
    let begun = Instant::now();
    let mut call = on_terminal(&command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut shown) = (call.stdin.take().unwrap(), BufReader::new(call.stdout.take().unwrap()));
    let mut asked = String::new();
    shown.read_line(&mut asked).unwrap();
    assert!(asked.contains("press Enter"), "{asked}");
    keys.write_all(b"\n").unwrap();
    let mut answer = String::new();
    shown.read_to_string(&mut answer).unwrap();
    assert!(call.wait().unwrap().success() && begun.elapsed() < Duration::from_mins(1), "{answer}");
    assert!(answer.contains("\"is_bot_detected\": true"), "{answer}");
}
