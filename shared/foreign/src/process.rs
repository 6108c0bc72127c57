//! A tool that is an executable: one process for each call.

use std::{
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_project::variables::APPROVE;
use ragmaker_tool::Error;
use serde_json::{Value, json};

use crate::{
    Dialect, Place, TOOL_CANCELLED, TOOL_FAILED, TOOL_TIMED_OUT, dialect,
    output::{Printed, Stream},
};

/// How often a wait looks at the process and at the person.
const POLL: Duration = Duration::from_millis(5);
/// How long output may come after the end of the process.
const AFTER_END: Duration = Duration::from_millis(500);
/// The most characters of a text that is no JSON: as much as an answer of our own tools.
const TEXT: usize = 28_000;
/// The most characters that an error repeats of what was printed.
const SHOWN: usize = 2_000;

/// An executable, and how it is called.
#[derive(Clone, Debug)]
pub(crate) struct Executable {
    pub(crate) dialect: Dialect,
    pub(crate) program: PathBuf,
    /// What stands before the arguments of a call.
    pub(crate) words: Vec<String>,
    /// The tool's name in its catalog.
    pub(crate) name: String,
    pub(crate) parameters: Value,
    pub(crate) place: Place,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Printed,
    pub(crate) stderr: Printed,
}

/// What a call starts.
struct Start<'a> {
    arguments: Vec<OsString>,
    stdin: Option<String>,
    /// A folder for its result, which it may write.
    folder: Option<&'a Path>,
}

impl Executable {
    /// The answer of a call.
    pub(crate) fn call(
        &self,
        arguments: &Value,
        timeout: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Value, Error> {
        let json = arguments.to_string();
        let words = self.words.iter().cloned();
        let (words, stdin): (Vec<String>, _) = match self.dialect {
            Dialect::Ours => (words.chain(["--arguments".to_owned(), "-".to_owned()]).collect(), Some(json)),
            Dialect::Options => (words.chain(dialect::options(arguments, &self.parameters)).collect(), None),
            Dialect::Functions => (words.chain([json]).collect(), None),
            Dialect::Gemini => (words.chain([self.name.clone()]).collect(), Some(json)),
        };
        let folder = match self.dialect {
            Dialect::Functions => Some(tempfile::tempdir().map_err(|error| failed(&error.to_string()))?),
            _ => None,
        };
        let folder = folder.as_ref().map(tempfile::TempDir::path);
        let start = Start { arguments: words.into_iter().map(OsString::from).collect(), stdin, folder };
        let ended = self.run(&start, timeout, is_cancelled)?;
        let result = folder.and_then(|folder| fs::read(folder.join(RESULT)).ok()).filter(|result| !result.is_empty());
        let result = result.map(|bytes| Stream::of(Some(std::io::Cursor::new(bytes))).within(AFTER_END));
        answer(&ended, &result.unwrap_or_else(|| ended.stdout.clone()))
    }

    /// What the executable prints by itself, as a discovery command does.
    pub(crate) fn print(&self, timeout: Duration) -> Result<Ended, Error> {
        let arguments = self.words.iter().map(OsString::from).collect();
        self.run(&Start { arguments, stdin: None, folder: None }, timeout, &|| false)
    }

    fn run(&self, start: &Start<'_>, timeout: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<Ended, Error> {
        let mut process = self.start(start).map_err(|error| failed(&format!("it does not start: {error}")))?;
        let child = &mut process.0;
        let (stdout, stderr) = (Stream::of(child.stdout.take()), Stream::of(child.stderr.take()));
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), start.stdin.clone()) {
            // A tool that does not read must not keep the host waiting; one that ended makes the writing fail.
            thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        let deadline = Instant::now() + timeout;
        let stopped = loop {
            if process.0.try_wait().map_err(|error| failed(&error.to_string()))?.is_some() {
                break None;
            }
            if is_cancelled() {
                break Some(TOOL_CANCELLED.error("the call was cancelled"));
            }
            if Instant::now() >= deadline {
                let seconds = timeout.as_secs_f32();
                break Some(TOOL_TIMED_OUT.error(format!("it did not end within {seconds} s")));
            }
            thread::sleep(POLL);
        };
        let (exit_code, signal) = process.end();
        let (stdout, stderr) = (stdout.within(AFTER_END), stderr.within(AFTER_END));
        match stopped {
            Some(error) => Err(with_output(error, &stdout, &stderr)),
            None => Ok(Ended { exit_code, signal, stdout, stderr }),
        }
    }

    fn start(&self, start: &Start<'_>) -> std::io::Result<Process> {
        let root = &self.place.root;
        let mut command = Command::new(&self.program);
        command.args(&start.arguments).env_clear().envs(without_secrets());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        set_up(&mut command, root, start);
        command.spawn().map(Process)
    }
}

/// The file for the result of a call, in its folder.
const RESULT: &str = "output";

fn set_up(command: &mut Command, root: &Path, start: &Start<'_>) {
    command.stdin(if start.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if !root.as_os_str().is_empty() {
        command.current_dir(root);
    }
    if let Some(folder) = start.folder {
        command.env("LLM_OUTPUT", folder.join(RESULT));
    }
}

/// A process that was started.
struct Process(Child);

impl Process {
    /// Ends what is left of it. Returns its exit status or the signal.
    fn end(mut self) -> (Option<i32>, Option<i32>) {
        end_group(&mut self.0);
        let status = self.0.wait().ok();
        #[cfg(unix)]
        let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
        #[cfg(not(unix))]
        let signal = None;
        (status.and_then(|status| status.code()), signal)
    }
}

/// Ends a process and those in its group, also where itself has ended.
pub(crate) fn end_group(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

/// The answer in what was printed: JSON as it is, any other text as `output`.
fn answer(ended: &Ended, result: &Printed) -> Result<Value, Error> {
    let parsed = |printed: &Printed| serde_json::from_slice::<Value>(printed.whole()?).ok();
    if let Some(signal) = ended.signal {
        let error = TOOL_FAILED.error(format!("it was ended by signal {signal}")).detail("signal", signal);
        return Err(with_output(error, &ended.stdout, &ended.stderr));
    }
    let exit_code = ended.exit_code.unwrap_or(-1);
    if exit_code != 0 {
        // A tool that keeps our contract says itself what failed.
        let own = [&ended.stderr, result].into_iter().filter_map(parsed).find(|value| value["status"] == "error");
        return own.ok_or_else(|| {
            let error = TOOL_FAILED.error(format!("it ended with exit status {exit_code}"));
            with_output(error.detail("exit_code", exit_code), &ended.stdout, &ended.stderr)
        });
    }
    match parsed(result) {
        Some(object @ Value::Object(_)) => Ok(object),
        Some(value) => Ok(json!({"status": "success", "output": value})),
        None => {
            let (text, is_all) = result.text(TEXT);
            Ok(json!({"status": "success", "output": text, "truncated": !is_all}))
        }
    }
}

fn with_output(error: Error, stdout: &Printed, stderr: &Printed) -> Error {
    error.detail("stdout", stdout.text(SHOWN).0).detail("stderr", stderr.text(SHOWN).0)
}

/// The executable that `command` names, below `folder` where it is a path.
pub(crate) fn program_for(command: &str, folder: &Path) -> Result<PathBuf, String> {
    crate::catalog::program(command, folder)
}

/// The environment without what may be a key: a further tool gets only what the configuration gives it.
pub(crate) fn without_secrets() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        let parts = [
            "TOKEN",
            "SECRET",
            "PASSW",
            "CREDENTIAL",
            "API_KEY",
            "APIKEY",
            "ACCESS_KEY",
            "PRIVATE_KEY",
            "AUTH",
            "COOKIE",
        ];
        !(name.ends_with("_KEY") || name == APPROVE || parts.iter().any(|part| name.contains(part)))
    })
}

pub(crate) fn failed(what: &str) -> Error {
    TOOL_FAILED.error(what)
}
