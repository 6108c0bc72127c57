//! A tool in a process of its own, which is this executable once more.
//!
//! It gets its arguments as a line of JSON and prints its answer or its error as one; both say which
//! they are in `status`. It ends when it is killed, which is how a call is cancelled, and when the
//! pipe that brought the arguments is closed, so that it never outlives the server.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    panic,
    process::{ExitCode, Stdio},
};

use ragmaker_tool::{Error, INTERNAL_ERROR};
use ragmaker_toolbox::Tool;
use serde_json::{Map, Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::input;

/// The first argument of such a process.
const APART: &str = "--run-tool";

/// Does the work of a tool if this process was started for that.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != APART {
        return None;
    }
    let tool = ragmaker_toolbox::find(arguments.next()?.to_str()?)?;
    panic::set_hook(Box::new(|_| ()));
    let mut input = BufReader::new(input::taken().ok()?);
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let arguments: Map<String, Value> = serde_json::from_str(&line).ok()?;
    std::thread::spawn(move || {
        // Nothing more is sent: this waits for the server's end.
        let _ = input.read(&mut [0]);
        std::process::exit(1);
    });
    let answer = tool.call(arguments).map_or_else(|error| json!(error), |answered| answered.json);
    let mut out = io::stdout().lock();
    let printed = serde_json::to_writer(&mut out, &answer).is_ok() && out.flush().is_ok();
    Some(if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What `tool` answers, or the error that it prints. The process ends when this future is dropped.
pub(crate) async fn call(tool: &Tool, arguments: Map<String, Value>) -> Result<Value, Error> {
    let failed = |what: &str, error: io::Error| {
        INTERNAL_ERROR.error(format!("{} {what}: {error}", tool.command)).detail("command", tool.command)
    };
    let program = env::current_exe().map_err(|error| failed("is not found", error))?;
    let mut process = Command::new(program)
        .args([APART, tool.command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed("does not start", error))?;
    let mut input = process.stdin.take();
    if let Some(input) = &mut input {
        let line = Value::Object(arguments).to_string() + "\n";
        // A process that ended before it read them says so below.
        let _ = input.write_all(line.as_bytes()).await;
    }
    let output = process.wait_with_output().await.map_err(|error| failed("can not be read", error))?;
    drop(input);
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed("ended without an answer", io::Error::other(format!("{}, {error}", output.status))))
}
