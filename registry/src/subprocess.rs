//! Subprocess isolation: a tool runs in a second process of the host's executable.
//!
//! The process receives its call as one line of JSON and prints the answer or the error as JSON; `status` distinguishes
//! the two. The process ends when the pipe that carried the call closes. Closing the pipe cancels a call, and no such
//! process outlives its host.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    panic,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::{Approval, Error, HostOptions, INTERNAL_ERROR, arguments::Members};
use serde_json::{Value, json};

use crate::{Tool, find, stdin};

/// The first argument of such a process.
const RUN_TOOL: &str = "--run-tool";

/// Does the work of a tool if this process was started for that. A host calls it first.
pub fn run_if_asked() -> Option<ExitCode> {
    // A tool that runs commands starts this executable once more to confine them.
    if let Some(exit) = ragmaker_confine::run_if_asked() {
        return Some(exit);
    }
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != RUN_TOOL {
        return None;
    }
    let tool = find(arguments.next()?.to_str()?)?;
    panic::set_hook(Box::new(|_| ()));
    let mut input = BufReader::new(stdin::take().ok()?);
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let (arguments, host, approval): (Members, HostOptions, Approval) = serde_json::from_str(&line).ok()?;
    thread::spawn(move || {
        // Nothing more is sent: this waits until the host closes the pipe.
        let _ = input.read(&mut [0]);
        std::process::exit(1);
    });
    let answer = tool.call_approved(arguments, &host, &approval);
    let answer = answer.unwrap_or_else(|error| json!(error));
    let mut out = io::stdout().lock();
    let printed = serde_json::to_writer(&mut out, &answer).is_ok() && out.flush().is_ok();
    Some(if printed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The maximum number of bytes that a tool may print: its answers stay far below, and more would fill the host's
/// memory.
const OUTPUT: usize = 16 << 20;
/// The interval at which a wait checks whether to continue.
const POLL: Duration = Duration::from_millis(10);
/// The time that a process has to end after its answer or its cancellation; then it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// A running call in a subprocess.
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
    start_approved(tool, arguments, host, &Approval::Pending, &[])
}

/// Like `start`, with the host's approval of this call. The subprocess does not receive the environment variables
/// `without`, for example those with the host's own keys.
///
/// # Errors
///
/// As [`start`].
pub fn start_approved(
    tool: &'static Tool,
    arguments: Members,
    host: &HostOptions,
    approval: &Approval,
    without: &[String],
) -> Result<(Running, Lease), Error> {
    let program = env::current_exe().map_err(|error| failed(tool, "cannot be located", &error))?;
    let mut command = Command::new(program);
    command.args([RUN_TOOL, tool.command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    for name in without {
        command.env_remove(name);
    }
    // Ctrl-C at a terminal is the host's to act on.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| failed(tool, "does not start", &error))?;
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        let line = serde_json::to_string(&(arguments, host, approval)).unwrap_or_default() + "\n";
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
    /// [`INTERNAL_ERROR`] where the process ends without either, or prints without end.
    pub fn wait(self) -> Result<Value, Error> {
        let tool = self.tool;
        let answer = self.wait_while(Lease(None), || true)?;
        answer.ok_or_else(|| failed(tool, "was not waited for", &io::ErrorKind::Interrupted.into()))
    }

    /// Waits as long as `goes_on` returns true. If it returns false, the process is ended, and the result is `None`.
    ///
    /// # Errors
    ///
    /// Those of [`Self::wait`].
    pub fn wait_while(self, lease: Lease, goes_on: impl FnMut() -> bool) -> Result<Option<Value>, Error> {
        let Self { tool, child } = self;
        let collected = collect(child, lease, goes_on).map_err(|error| failed(tool, "cannot be read", &error))?;
        let Some((output, status)) = collected else { return Ok(None) };
        let answer = serde_json::from_slice(&output);
        answer
            .map(Some)
            .map_err(|error| failed(tool, "ended without an answer", &io::Error::other(format!("{status}, {error}"))))
    }
}

/// All that `child` prints, and how it ended; `None` where `goes_on` ended the wait. In every case the process has
/// ended after this, and a process that it left behind with its standard output is not waited for.
fn collect(
    mut child: Child,
    lease: Lease,
    mut goes_on: impl FnMut() -> bool,
) -> io::Result<Option<(Vec<u8>, ExitStatus)>> {
    let mut lease = Some(lease);
    let pieces = child.stdout.take().map(pieces).transpose()?;
    let (mut output, mut ended, mut outcome) = (vec![], None, Ok(true));
    while let Some(pieces) = &pieces {
        match pieces.recv_timeout(POLL) {
            Ok(piece) if output.len() + piece.len() > OUTPUT => {
                outcome = Err(io::Error::other(format!("it printed more than {OUTPUT} bytes")));
                break;
            }
            Ok(piece) => output.extend(piece),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !goes_on() {
            outcome = Ok(false);
            break;
        }
        if ended.is_none() && child.try_wait()?.is_some() {
            ended = Some(Instant::now());
        }
        if ended.is_some_and(|ended| ended.elapsed() > GRACE) {
            break;
        }
    }
    if !matches!(outcome, Ok(true)) {
        lease.take();
    }
    let deadline = Instant::now() + GRACE;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() < deadline && outcome.is_ok() => thread::sleep(Duration::from_millis(1)),
            None => {
                child.kill()?;
                break child.wait()?;
            }
        }
    };
    Ok(outcome?.then_some((output, status)))
}

/// Reads a stream in a thread, piece by piece. The thread ends with the stream, or when nobody takes the pieces.
fn pieces(mut stream: ChildStdout) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(4);
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

fn failed(tool: &Tool, what: &str, error: &io::Error) -> Error {
    INTERNAL_ERROR.error(format!("{} {what}: {error}", tool.command)).detail("command", tool.command)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Child, Lease) {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let input = child.stdin.take();
        (child, Lease(input))
    }

    #[test]
    fn an_answer_is_collected_with_its_status() {
        let (child, lease) = shell("printf '{\"a\": 1}'; exit 3");
        let (output, status) = collect(child, lease, || true).unwrap().unwrap();
        assert_eq!((&*output, status.code()), (&b"{\"a\": 1}"[..], Some(3)));
    }

    #[test]
    fn output_without_end_is_given_up() {
        let (child, lease) = shell("exec yes");
        let pid = child.id();
        assert!(collect(child, lease, || true).unwrap_err().to_string().contains("more than"));
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_wait_ends_with_its_process() {
        for script in ["exec sleep 600", "trap '' TERM; while :; do sleep 1; done"] {
            let (child, lease) = shell(script);
            let (pid, start) = (child.id(), Instant::now());
            let outcome = collect(child, lease, || start.elapsed() < Duration::from_millis(50)).unwrap();
            assert!(outcome.is_none() && start.elapsed() < Duration::from_secs(20), "{script}");
            assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
        }
    }

    #[test]
    fn a_process_that_is_left_behind_is_not_waited_for() {
        let (child, lease) = shell("printf x; sleep 60 & exit 0");
        let start = Instant::now();
        assert_eq!(collect(child, lease, || true).unwrap().unwrap().0, b"x");
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
