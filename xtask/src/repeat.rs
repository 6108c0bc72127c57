//! Runs tests, and those that fail once more, alone.
//!
//! Tests with a real browser depend on time: on two busy cores a page may be later than any limit. A test that passes
//! alone is reported as flaky. Many failures, a crash of a test program and a build that fails are never repeated.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, ExitStatus, Stdio},
    thread,
};

use anyhow::{Context, bail, ensure};

use crate::{cargo::cargo, process::line};

/// The maximum number of failed tests that are run again.
const MAX_REPEATED: usize = 4;

/// Runs `cargo test` with `arguments`, and with `of_tests` and `threads` (as libtest has them) for the test programs.
pub(crate) fn tests(arguments: &[&str], of_tests: &[&str], threads: Option<&str>) -> anyhow::Result<()> {
    let test = |targets: &[&str], threads: Option<&str>| {
        let mut test = cargo(arguments);
        test.args(targets);
        test.arg("--").args(of_tests).args(threads.map(|threads| format!("--test-threads={threads}")));
        test
    };
    let mut first = test(&[], threads);
    let (status, first_run) = run(&mut first)?;
    if status.success() {
        return Ok(());
    }
    let failed = &first_run.failed;
    ensure!(first_run.is_explained(), "{}: {status}", line(&first));
    ensure!(failed.len() <= MAX_REPEATED, "{} tests failed", failed.len());
    println!("\nretrying each failed test alone: {}", failed.join(", "));
    let (status, second_run) = run(test(&first_run.selection(), Some("1")).arg("--exact").args(failed))?;
    if !status.success() || second_run.passed < failed.len() {
        let again = if second_run.failed.is_empty() { failed } else { &second_run.failed };
        bail!("failed twice: {}", again.join(", "));
    }
    println!("\nflaky: failed at first and passed alone: {}", failed.join(", "));
    Ok(())
}

/// The result of `cargo test`, by its output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    /// The names of the failed tests.
    failed: Vec<String>,
    /// The number of tests that passed.
    passed: usize,
    /// The number of test programs that ended with failed tests.
    ended: usize,
    /// What selects each target that cargo says has failed, such as `--test suite`. Packages are not selected: with other
    /// packages, the same ones would have other features and be built again.
    targets: Vec<String>,
}

impl Outcome {
    /// Whether failed tests are all that has failed.
    fn is_explained(&self) -> bool {
        !self.failed.is_empty() && self.ended == self.targets.len()
    }

    /// The options that select the targets with failed tests; none, which selects all, if cargo cannot combine them.
    fn selection(&self) -> Vec<&str> {
        let has_examples = self.targets.iter().any(|target| target == "--doc");
        if has_examples && self.targets.len() > 1 {
            return vec![];
        }
        self.targets.iter().flat_map(|target| target.split(' ')).collect()
    }

    /// Adds what the lines of standard output say.
    fn read_tests<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        let mut in_list = false;
        for line in lines {
            if line == "failures:" {
                // The first of two lists of a program has output between its names; the second has names only.
                in_list = true;
            } else if let Some(name) = line.strip_prefix("    ").filter(|_| in_list) {
                self.failed.push(name.to_owned());
            } else if !line.is_empty() {
                in_list = false;
            }
            if let Some(result) = line.strip_prefix("test result: ") {
                self.ended += usize::from(result.starts_with("FAILED"));
                let count = result.split(". ").nth(1).and_then(|counts| counts.split(' ').next());
                self.passed += count.and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
            }
        }
    }

    /// Adds what the lines of standard error say.
    fn read_targets<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        let list = lines.into_iter().skip_while(|line| !(line.starts_with("error: ") && line.ends_with(" failed:")));
        let targets = list.skip(1).map_while(|line| line.trim().strip_prefix('`')?.strip_suffix('`'));
        // `-p PACKAGE`, then what selects the target.
        self.targets.extend(targets.map(|target| target.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()));
    }
}

/// Runs `command` while its output is shown.
fn run(command: &mut Command) -> anyhow::Result<(ExitStatus, Outcome)> {
    let line = line(command);
    println!("$ {line}");
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().with_context(|| format!("cannot run {line}"))?;
    let (stdout, stderr) = (child.stdout.take().context("no output")?, child.stderr.take().context("no output")?);
    let (out, err) = thread::scope(|scope| {
        let err = scope.spawn(|| echoed(stderr, &mut std::io::stderr()));
        (echoed(stdout, &mut std::io::stdout()), err.join())
    });
    let err = err.map_err(|_| anyhow::anyhow!("the output of {line} cannot be shown"))??;
    let out = out?;
    let mut outcome = Outcome::default();
    outcome.read_tests(out.iter().map(String::as_str));
    outcome.read_targets(err.iter().map(String::as_str));
    Ok((child.wait()?, outcome))
}

/// The lines of `from`, each of which is written to `to` when it comes.
fn echoed(from: impl std::io::Read, to: &mut impl Write) -> anyhow::Result<Vec<String>> {
    let (mut from, mut lines, mut line) = (BufReader::new(from), vec![], vec![]);
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        lines.push(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
        line.clear();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = "
running 3 tests
test a::one ... ok
test a::two ... FAILED

failures:

---- a::two stdout ----
failures:
    not a name, but output
thread 'a::two' panicked at x.rs:1:1:
    left: 1

failures:
    a::two
    shared/x/src/lib.rs - y (line 3)

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s
";

    #[test]
    fn the_failed_tests_are_found_in_the_output() {
        let mut outcome = Outcome::default();
        outcome.read_tests(OUT.replace("failures:\n    not a name, but output\n", "").lines());
        assert_eq!(outcome.failed, ["a::two", "shared/x/src/lib.rs - y (line 3)"]);
        assert_eq!((outcome.passed, outcome.ended), (8, 1));
        // A name too many is not found again, which is an error.
        let mut outcome = Outcome::default();
        outcome.read_tests(OUT.lines());
        assert_eq!(outcome.failed.len(), 3);
    }

    #[test]
    fn a_crash_is_not_repeated() {
        let err = "error: test failed, to rerun pass `-p a --lib`\nerror: 2 targets failed:\n    `-p a --lib`\n    `-p b --test c`\n";
        let mut outcome = Outcome { failed: vec!["a".into()], ended: 1, ..Outcome::default() };
        outcome.read_targets(err.lines());
        assert_eq!(outcome.selection(), ["--lib", "--test", "c"]);
        assert_eq!((outcome.targets.len(), outcome.is_explained()), (2, false));
        outcome.ended = 2;
        assert!(outcome.is_explained());
        // Examples in the documentation are not selected together with others.
        outcome.read_targets("error: 1 target failed:\n    `-p a --doc`\n".lines());
        assert!(outcome.selection().is_empty());
        // A build that fails.
        assert!(!Outcome::default().is_explained());
    }
}
