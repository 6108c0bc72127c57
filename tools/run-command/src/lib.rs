//! `ragmaker-run-command`: classifies a shell line and runs it in the project.
//!
//! [`ragmaker_guard`] classifies the line, and a person approves it if necessary. [`ragmaker_confine`] limits the
//! damage of misclassified lines: a line that runs without approval cannot write, and an approved line can write only
//! in the project.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};
use ragmaker_files::{NOT_A_DIRECTORY, Roots, lossy_text};
use ragmaker_guard::{Hides, LineVerdict, Scope, classify};
use ragmaker_tool::{
    ARGUMENT_ERROR, Annotations, Bounded, Code, ContentOrigin, DENIED_BY_USER, Error, Invocation, Isolation,
    JsonSchema, NEEDS_APPROVAL, Tool, choice, host,
};
use serde::{Deserialize, Serialize};

mod approval;
mod capture;
mod execute;
mod keys;
mod output;

pub use execute::COMMAND_NOT_STARTED;
pub use ragmaker_tool::COMMAND_BLOCKED;

/// The time limit of a command, in seconds.
type Timeout = Bounded<1, 3600>;

/// A shell that a line is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// The system's own.
    #[default]
    Sh,
    /// Bash.
    Bash,
}

/// Run a shell line in the project and get its output; what only reads runs at once, a person approves the rest. Files
/// are confined to the project, the network requires `--network` to be set. For files prefer the file tools. Returns
/// exit code, stdout and stderr; a non-zero exit is not an error.
#[derive(FromArgs, ArgsInfo, Serialize, JsonSchema, Debug)]
#[argh(help_triggers("-h", "--help"))]
pub struct Args {
    /// the shell command line; standard input is empty
    #[argh(option)]
    pub command: String,
    /// directory to run in; a relative path starts at the project root
    #[argh(option, default = "String::from(\".\")")]
    pub cwd: String,
    /// timeout in seconds, after which all processes of the command are killed
    #[argh(option, default = "Timeout::new(120)")]
    pub timeout: Timeout,
    /// shell that runs the line: sh or bash
    #[argh(option, default = "Shell::Sh", from_str_fn(choice))]
    pub shell: Shell,
    /// allow network access (requires approval)
    #[argh(switch)]
    pub network: bool,
}

/// The result of the command.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// The line.
    pub command: String,
    /// The directory it ran in.
    pub cwd: String,
    /// Its exit status; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output; the start and the end if it is long.
    pub stdout: String,
    /// Its standard error; the start and the end if it is long.
    pub stderr: String,
    /// The encoding of stdout; null if it is not text.
    pub stdout_encoding: Option<&'static str>,
    /// The encoding of stderr.
    pub stderr_encoding: Option<&'static str>,
    /// Whether parts of the output were left out.
    pub truncated: bool,
    /// The file with the complete output, if parts were left out.
    pub log_file: Option<String>,
    /// The run time in milliseconds.
    pub duration_ms: u64,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// Whether it could use the network.
    pub network: bool,
    /// The rule that decided: with read-only, the line ran without approval; with any other, it was approved.
    pub rule: &'static str,
    /// The gaps of the confinement on this machine; empty if all layers are available.
    pub unconfined: Vec<&'static str>,
}

impl Tool for Args {
    type Answer = Answer;
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE.repeating().open_world();
    const HOST_OPTIONS: &'static [&'static str] = host::FILES;
    const ISOLATION: Isolation = Isolation::Subprocess;
    const ORIGIN: ContentOrigin = ContentOrigin::Files;
    const RUNS_COMMANDS: bool = true;
    const OPERANDS: &'static [&'static str] = &["--command"];
    const ERRORS: &'static [&'static [Code]] = &[
        &[NEEDS_APPROVAL, COMMAND_BLOCKED, DENIED_BY_USER, COMMAND_NOT_STARTED, NOT_A_DIRECTORY],
        ragmaker_files::PATH_ERRORS,
        ragmaker_files::FILE_ERRORS,
    ];

    fn run(self, invocation: &Invocation) -> Result<Answer, Error> {
        if self.command.trim().is_empty() {
            return Err(ARGUMENT_ERROR.error("--command is empty").detail("argument", "--command"));
        }
        let roots = Roots::discover(&invocation.host)?;
        let cwd = roots.place(&self.cwd)?.path();
        if !cwd.is_dir() {
            return Err(NOT_A_DIRECTORY
                .error(format!("{} is not a directory", cwd.display()))
                .detail("path", cwd.to_string_lossy()));
        }
        let scope = Scope::new(roots.clone(), cwd.clone());
        let mut classified = classify(&self.command, &scope);
        if self.network && classified.verdict == LineVerdict::Run {
            classified.verdict = LineVerdict::Ask;
            classified.rule = "network";
            classified.reasons.push("it may use the network".to_owned());
        }
        let (hidden, is_complete) = hidden(&roots, classified.hides);
        if classified.verdict == LineVerdict::Run && !is_complete {
            classified.verdict = LineVerdict::Ask;
            classified.rule = "secret";
            classified.reasons.push("it searches so many files that those with keys cannot be hidden".to_owned());
        }
        let request = approval::Request { args: &self, cwd: &cwd, classified: &classified };
        let is_approved = request.decide(invocation)?;
        let keys = keys::Keys::of(roots.project(), invocation.host.config.as_deref());
        let place = execute::LineContext {
            roots: &roots,
            cwd: &cwd,
            keys: &keys,
            hidden: &hidden,
            must_hide: classified.hides == Hides::Everywhere,
        };
        let ran = execute::run(&self, &place, is_approved)?;
        if let Some(reason) = ran.ended.failed {
            // A kernel that cannot confine it: the line was not run.
            if is_approved {
                return Err(COMMAND_NOT_STARTED.error(reason).detail("command", self.command.as_str()));
            }
            classified.verdict = LineVerdict::Ask;
            classified.rule = "unconfined";
            classified.reasons.insert(0, reason);
            let request = approval::Request { args: &self, cwd: &cwd, classified: &classified };
            let is_approved = request.decide(invocation)?;
            let ran = execute::run(&self, &place, is_approved)?;
            return answer(self, cwd, ran, &roots, classified.rule);
        }
        answer(self, cwd, ran, &roots, classified.rule)
    }
}

/// The files with keys in the roots that are hidden from a line, and whether these are all.
fn hidden(roots: &Roots, hides: Hides) -> (Vec<PathBuf>, bool) {
    let roots = roots.all().iter().map(|root| root.path.as_path());
    match hides {
        Hides::Nothing => (vec![], true),
        Hides::Top => (roots.flat_map(ragmaker_confine::secret_files_at_top).collect(), true),
        Hides::Everywhere => roots
            .map(ragmaker_confine::secret_files)
            .fold((vec![], true), |all, (found, is_complete)| ([all.0, found].concat(), all.1 && is_complete)),
    }
}

fn answer(
    args: Args,
    cwd: PathBuf,
    ran: execute::CommandResult,
    roots: &Roots,
    rule: &'static str,
) -> Result<Answer, Error> {
    if let Some(reason) = ran.ended.failed {
        return Err(COMMAND_NOT_STARTED.error(reason).detail("command", args.command.as_str()));
    }
    let answer = Answer {
        command: args.command,
        cwd: lossy_text(cwd).0,
        exit_code: ran.ended.exit_code,
        signal: ran.ended.signal,
        stdout: String::new(),
        stderr: String::new(),
        stdout_encoding: None,
        stderr_encoding: None,
        truncated: true,
        // The longest that it may be, for the budget.
        log_file: Some(
            roots.project().cache_folder().join(ragmaker_project::OutputFile::WIDEST).to_string_lossy().into_owned(),
        ),
        duration_ms: ran.duration_ms,
        timed_out: ran.ended.timed_out,
        network: args.network,
        rule,
        unconfined: ran.ended.layers.missing(),
    };
    Ok(output::fill(answer, ran.captured, roots))
}

#[cfg(test)]
mod tests {
    use ragmaker_testkit::{folder, write};
    use ragmaker_tool::HostOptions;

    use super::*;

    #[test]
    fn a_line_hides_the_files_with_keys_that_it_could_read() {
        let (_holder, root) = folder("project");
        let (top, deep) = (write(&root, ".env", "A=b"), write(&root, "deep/.env", "A=b"));
        write(&root, "a.md", "");
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        let roots = Roots::discover(&host).unwrap();
        assert_eq!(hidden(&roots, Hides::Nothing), (vec![], true));
        assert_eq!(hidden(&roots, Hides::Top), (vec![top.clone()], true));
        let (mut all, is_complete) = hidden(&roots, Hides::Everywhere);
        all.sort();
        assert!(all == [top, deep] && is_complete);
    }
}
