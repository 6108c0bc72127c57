//! The approval of a line: by a host, a person at the terminal, or the environment.

use std::{
    env,
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

use ragmaker_guard::{Classification, LineVerdict};
use ragmaker_project::variables::APPROVE;
use ragmaker_tool::{Approval, COMMAND_BLOCKED, Code, DENIED_BY_USER, Error, Invocation, NEEDS_APPROVAL, printable};

use crate::Args;

/// A line, and what was found out about it.
pub(crate) struct Request<'a> {
    pub(crate) args: &'a Args,
    pub(crate) cwd: &'a Path,
    pub(crate) classified: &'a Classification,
}

impl Request<'_> {
    /// Whether the line was approved; false if it needs no approval.
    ///
    /// # Errors
    ///
    /// [`COMMAND_BLOCKED`], [`DENIED_BY_USER`], [`NEEDS_APPROVAL`].
    pub(crate) fn decide(&self, invocation: &Invocation) -> Result<bool, Error> {
        if self.classified.verdict == LineVerdict::Block {
            return Err(self.error(COMMAND_BLOCKED, "the command is blocked", false));
        }
        if let Approval::Denied(words) = &invocation.approval {
            return Err(self.denied(words));
        }
        if self.classified.verdict == LineVerdict::Run {
            return Ok(false);
        }
        match &invocation.approval {
            Approval::Granted => Ok(true),
            // The model writes the arguments, and not the environment.
            Approval::Interactive if env::var(APPROVE).is_ok_and(|value| value == "all") => Ok(true),
            // Input from a pipe is not an approval.
            Approval::Interactive if io::stdin().is_terminal() && io::stderr().is_terminal() => self.ask(),
            _ => Err(self.error(NEEDS_APPROVAL, "a person has to approve the command", true)),
        }
    }

    fn denied(&self, words: &str) -> Error {
        let said = if words.is_empty() { String::new() } else { format!(": {words}") };
        let error = self.error(DENIED_BY_USER, "the user refused the command", false);
        let message = format!("{}{said}", error.message());
        let error = DENIED_BY_USER.error(message);
        error.detail("command", self.args.command.as_str()).detail("words", words)
    }

    fn error(&self, code: Code, what: &str, with_confinement: bool) -> Error {
        let reasons = self.classified.reasons.join("; ");
        let error = code
            .error(if reasons.is_empty() { what.to_owned() } else { format!("{what}: {reasons}") })
            .detail("command", self.args.command.as_str())
            .detail("cwd", self.cwd.to_string_lossy())
            .detail("network", self.args.network)
            .detail("verdict", if self.classified.verdict == LineVerdict::Block { "block" } else { "ask" })
            .detail("rule", self.classified.rule)
            .detail("reasons", self.classified.reasons.clone())
            .detail("words", self.classified.words.clone())
            .detail("alike", self.classified.alike);
        if with_confinement { error.detail("unconfined", unconfined()) } else { error }
    }

    /// Asks the person at the terminal.
    fn ask(&self) -> Result<bool, Error> {
        let mut text =
            format!("Run this command in {}?\n\n    {}\n\n", self.cwd.display(), printable(&self.args.command));
        for reason in &self.classified.reasons {
            text.extend(["  - ", &printable(reason), "\n"]);
        }
        for gap in unconfined() {
            text.extend(["  - not confined: ", gap, "\n"]);
        }
        text += "\ny: run it, n: refuse it, or say why not: ";
        let mut error = io::stderr().lock();
        let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        let answer = answer.trim();
        match read {
            Ok(length) if length > 0 && ["y", "yes"].contains(&&*answer.to_ascii_lowercase()) => Ok(true),
            _ => Err(self.denied(if ["n", "no"].contains(&&*answer.to_ascii_lowercase()) { "" } else { answer })),
        }
    }
}

/// The gaps of the confinement on this machine.
fn unconfined() -> Vec<&'static str> {
    ragmaker_confine::probe(&ragmaker_confine::Policy::default()).unwrap_or_default().missing()
}

#[cfg(test)]
mod tests {
    use ragmaker_guard::Hides;

    use super::*;

    /// What is decided about a line with this verdict: the answer, or the code and the error.
    fn decided(verdict: LineVerdict, approval: Approval) -> Result<bool, Error> {
        use argh::FromArgs;
        let args = Args::from_args(&["run-command"], &["--command", "touch a", "--network"]).unwrap();
        let words = Some(vec!["touch".to_owned(), "a".to_owned()]);
        let classified = Classification {
            verdict,
            rule: "program",
            reasons: vec!["it writes a".to_owned()],
            words,
            alike: Some(2),
            hides: Hides::Top,
        };
        let request = Request { args: &args, cwd: Path::new("/project"), classified: &classified };
        request.decide(&Invocation { approval, ..Invocation::default() })
    }

    #[test]
    fn nobody_can_approve_a_line_that_is_blocked() {
        for approval in [Approval::Granted, Approval::Pending, Approval::Denied(String::new())] {
            let error = decided(LineVerdict::Block, approval).unwrap_err();
            assert!(error.is(COMMAND_BLOCKED) && error.details()["verdict"] == "block", "{error}");
            assert!(!error.details().contains_key("unconfined"));
        }
    }

    #[test]
    fn a_line_that_only_reads_needs_no_approval_but_can_be_refused() {
        assert!(!decided(LineVerdict::Run, Approval::Pending).unwrap());
        assert!(!decided(LineVerdict::Run, Approval::Granted).unwrap());
        let error = decided(LineVerdict::Run, Approval::Denied("use \u{6f6e} instead".to_owned())).unwrap_err();
        assert!(error.is(DENIED_BY_USER) && error.message().ends_with(": use \u{6f6e} instead"), "{error}");
        assert_eq!(
            (&error.details()["words"], &error.details()["command"]),
            (&"use \u{6f6e} instead".into(), &"touch a".into())
        );
    }

    #[test]
    fn a_host_is_told_all_that_a_person_needs_to_decide() {
        assert!(decided(LineVerdict::Ask, Approval::Granted).unwrap());
        let error = decided(LineVerdict::Ask, Approval::Pending).unwrap_err();
        assert!(error.is(NEEDS_APPROVAL) && error.message().contains("it writes a"), "{error}");
        let details = error.details();
        assert_eq!(
            (&details["cwd"], &details["network"], &details["rule"]),
            (&"/project".into(), &true.into(), &"program".into())
        );
        assert_eq!((&details["words"][0], &details["alike"]), (&"touch".into(), &2.into()));
        assert!(details["unconfined"].is_array());
        let denied = decided(LineVerdict::Ask, Approval::Denied(String::new())).unwrap_err();
        assert!(denied.message().ends_with("it writes a"), "{denied}");
    }
}
