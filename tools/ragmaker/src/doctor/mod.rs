//! `ragmaker doctor`: checks everything that a tool needs, and says what to do.

mod browser;
mod machine;
mod services;

use std::{ffi::OsString, fmt::Write, process::ExitCode, thread};

use argh::{ArgsInfo, FromArgs};
use ragmaker_project::Project;
use ragmaker_tool::{Code, Error, HostOptions, Usage, choice, host, printable};
use serde::Serialize;

use crate::form::{FORMS, Form, arguments};

/// Check everything that the tools need, and advise on each problem.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// skip checks that start a browser or use the network
    #[argh(switch)]
    quick: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()", from_str_fn(choice))]
    output: Form,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// As it should be.
    Ok,
    /// Something does not work that only some tools need, or that nobody asked for.
    Note,
    /// Tools do not work.
    Problem,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    /// The subject of the check.
    name: &'static str,
    status: Status,
    /// The finding.
    found: String,
    /// The advice; null if there is nothing to do.
    advice: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), advice: None }
    }

    fn note(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, status: Status::Note, found: found.into(), advice: Some(advice.into()) }
    }

    fn problem(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status: Status::Problem, ..Self::note(name, found, advice) }
    }

    /// The check that failed with `error`.
    fn failed(name: &'static str, error: &Error) -> Self {
        Self::problem(name, error.message(), error.remediation())
    }
}

/// All checks.
#[derive(Serialize)]
struct Answer {
    checks: Vec<Check>,
}

const CHECKS_FAILED: Code = Code::new("CHECKS_FAILED", "Follow the advice of each check whose status is problem.");

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(host::ALL).with_choices("--output", FORMS)
}

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let (Arguments { quick, output }, host): (Arguments, _) = match arguments("doctor", words, host::ALL) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let checks = checks(&host, quick);
    let problems = checks.iter().filter(|check| check.status == Status::Problem).count();
    if output == Form::Text {
        let exit = ragmaker_registry::print(&text(&checks, problems));
        return if problems == 0 { exit } else { ExitCode::FAILURE };
    }
    let outcome = if problems == 0 {
        Ok(Answer { checks })
    } else {
        let checks = serde_json::to_value(&checks).unwrap_or_default();
        Err(CHECKS_FAILED.error(format!("{problems} checks failed")).detail("checks", checks))
    };
    output.end(outcome, |_| String::new())
}

/// Runs the checks. Those that wait for other programs run at the same time.
fn checks(host: &HostOptions, quick: bool) -> Vec<Check> {
    let project = Project::discover(host.project_root.as_deref());
    thread::scope(|scope| {
        let project = project.as_ref();
        let browser = scope.spawn(move || browser::checks(host, quick));
        let services =
            scope.spawn(move || project.map_or_else(|_| vec![], |project| services::checks(project, host, quick)));
        let failed = |_| vec![Check::problem("doctor", "a check failed unexpectedly", "Report this as a bug.")];
        let mut checks = browser.join().unwrap_or_else(failed);
        checks.extend(machine::checks(project));
        checks.extend(services.join().unwrap_or_else(failed));
        checks
    })
}

fn text(checks: &[Check], problems: usize) -> String {
    let mut text = String::new();
    for Check { name, status, found, advice } in checks {
        let mark = match status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Problem => "PROBLEM",
        };
        let _ =
            writeln!(text, "{mark:<8} {name:<18} {}", printable(found).replace('\n', "\n                            "));
        if let Some(advice) = advice {
            let _ = writeln!(text, "                            {}", printable(advice));
        }
    }
    let notes = checks.iter().filter(|check| check.status == Status::Note).count();
    let count = |number: usize, what: &str| match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    text + &format!("\n{}, {}\n", count(problems, "problem"), count(notes, "note"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_marks_problems_and_counts_them() {
        let checks = [
            Check::ok("git", "fetches repositories"),
            Check::note("display", "there is none", "Set DISPLAY."),
            Check::problem("project", "two\nlines \u{1b}[2J", "Make it writable."),
        ];
        let text = text(&checks, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("ok       git") && lines[1].starts_with("note     display"), "{text}");
        assert_eq!(lines[2].trim(), "Set DISPLAY.");
        assert!(lines[3].starts_with("PROBLEM  project") && lines[4].trim_start().starts_with("lines"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert_eq!(lines.last(), Some(&"1 problem, 1 note"));
        assert!(super::text(&[], 0).ends_with("\nno problems, no notes\n"));
        let two = [Check::problem("a", "b", "c"), Check::problem("a", "b", "c")];
        assert!(super::text(&two, 2).ends_with("\n2 problems, no notes\n"));
    }

    #[test]
    fn a_check_for_programs_says_how_it_ended() {
        let json = |check: &Check| serde_json::to_value(check).unwrap();
        assert_eq!(json(&Check::ok("a", "b"))["advice"], serde_json::Value::Null);
        let failed = Check::failed("a", &CHECKS_FAILED.error("why"));
        assert_eq!((&json(&failed)["status"], &json(&failed)["found"]), (&"problem".into(), &"why".into()));
        assert!(failed.advice.is_some_and(|advice| !advice.is_empty()));
    }
}
