//! A tool in a process of its own, which is the host's executable once more.
//!
//! The process gets its call as one line of JSON and prints the answer or the error as JSON; both say
//! which they are in `status`. It ends when the pipe that brought the call is closed. That is how a call is
//! cancelled, and why no such process outlives its host.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    panic,
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    thread,
};

use ragmaker_tool::{Approval, Error, HostOptions, INTERNAL_ERROR, arguments::Members};
use serde_json::{Map, Value, json};

use crate::{Tool, find, stdin};

/// The first argument of such a process.
const RUN_TOOL: &str = "--run-tool";

/// Does the work of a tool if this process was started for that. A host calls it first.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != RUN_TOOL {
        return None;
    }
    let tool = find(arguments.next()?.to_str()?)?;
    panic::set_hook(Box::new(|_| ()));
    let mut input = BufReader::new(stdin::take().ok()?);
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let (arguments, host, approval): (Map<String, Value>, HostOptions, Approval) = serde_json::from_str(&line).ok()?;
    thread::spawn(move || {
        // Nothing more is sent: this waits until the host closes the pipe.
        let _ = input.read(&mut [0]);
        std::process::exit(1);
    });
    let answer = tool.call_approved(arguments.into_iter().collect(), &host, &approval);
    let answer = answer.map_or_else(|error| json!(error), |answered| answered.json);
    let mut out = io::stdout().lock();
    let printed = serde_json::to_writer(&mut out, &answer).is_ok() && out.flush().is_ok();
    Some(if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A call under way in a process of its own.
pub struct Running {
    tool: &'static Tool,
    child: Child,
}

/// Keeps a [`Running`] call alive: the process ends when this is dropped.
pub struct Lease(#[expect(dead_code, reason = "held for its drop")] Option<ChildStdin>);

/// Starts `tool` with arguments that a model wrote.
///
/// # Errors
///
/// [`INTERNAL_ERROR`] where the process does not start.
pub fn start(tool: &'static Tool, arguments: Members, host: &HostOptions) -> Result<(Running, Lease), Error> {
    start_approved(tool, arguments, host, &Approval::Pending)
}

/// The same, with what the host says about an approval of this call.
///
/// # Errors
///
/// As [`start`].
pub fn start_approved(
    tool: &'static Tool,
    arguments: Members,
    host: &HostOptions,
    approval: &Approval,
) -> Result<(Running, Lease), Error> {
    let program = env::current_exe().map_err(|error| failed(tool, "cannot be located", &error))?;
    let mut child = Command::new(program)
        .args([RUN_TOOL, tool.command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(tool, "does not start", &error))?;
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        let line = json!([arguments, host, approval]).to_string() + "\n";
        // A process that ended before it read the line is reported by `Running::wait`.
        let _ = input.write_all(line.as_bytes());
    }
    Ok((Running { tool, child }, Lease(input)))
}

impl Running {
    /// Waits for the answer, or for the error that the tool prints, which has `"status": "error"`.
    ///
    /// # Errors
    ///
    /// [`INTERNAL_ERROR`] where the process ends without either.
    pub fn wait(self) -> Result<Value, Error> {
        let Self { tool, child } = self;
        let output = child.wait_with_output().map_err(|error| failed(tool, "cannot be read", &error))?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            failed(tool, "ended without an answer", &io::Error::other(format!("{}, {error}", output.status)))
        })
    }
}

fn failed(tool: &Tool, what: &str, error: &io::Error) -> Error {
    INTERNAL_ERROR.error(format!("{} {what}: {error}", tool.command)).detail("command", tool.command)
}
