//! One run of a tool, with a watchdog.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    path::Path,
    process::{self, Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::{Output, executable};

/// How long a tool may run unless a test says otherwise.
const TIMEOUT: Duration = Duration::from_mins(2);

/// How long the streams of a tool that has ended may stay open, which is how long it takes to see
/// that somebody it left behind holds them.
const GRACE: Duration = Duration::from_secs(3);

/// A builder for the command line of a tool.
pub struct Tool {
    command: Command,
    stdin: Option<Vec<u8>>,
    patience: Duration,
}

impl Tool {
    /// The tool `ragmaker-NAME`.
    pub fn new(name: &str) -> Self {
        Self::of(&executable(&format!("ragmaker-{name}")))
    }

    /// The program at `path`.
    pub fn of(path: &Path) -> Self {
        let mut command = Command::new(path);
        // No window opens on the screen of whoever runs the tests.
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        Self::from(command)
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn directory(mut self, path: &Path) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Sets what the tool reads from standard input; it is empty otherwise.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets after how long the tool counts as hung.
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The command line as it is, for a test that has to hold the process itself.
    pub fn into_command(self) -> Command {
        self.command
    }

    /// Runs the tool and holds it to the contract.
    ///
    /// # Panics
    ///
    /// Where it breaks the contract, or hangs.
    pub fn run(self) -> Output {
        let line = format!("{:?}", self.command);
        let raw = self.run_raw();
        let (stdout, stderr) = (lossy(&raw.stdout), lossy(&raw.stderr));
        Output::checked(raw).unwrap_or_else(|broken| panic!("{line}\n{broken}\nstdout: {stdout}\nstderr: {stderr}"))
    }

    /// Runs the tool where its output is not JSON, as with `--help`.
    ///
    /// # Panics
    ///
    /// Where it hangs.
    pub fn run_raw(mut self) -> process::Output {
        let line = format!("{:?}", self.command);
        self.command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{line}\n{error}"));
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.stdin) {
            // A tool that does not read to the end closes the pipe, as it may.
            thread::spawn(move || pipe.write_all(&bytes));
        }
        let stdout = collected(child.stdout.take());
        let stderr = collected(child.stderr.take());

        let status = ended(&mut child, self.patience);
        if status.is_none() {
            let _ = child.kill();
        }
        let end = Instant::now() + GRACE;
        let stdout = stdout.recv_timeout(GRACE);
        let stderr = stderr.recv_timeout(end.saturating_duration_since(Instant::now()));
        let text = |bytes: &Result<Vec<u8>, _>| bytes.as_deref().map_or("(still open)".to_owned(), lossy);
        match (status, &stdout, &stderr) {
            (None, ..) => {
                let _ = child.wait();
                panic!(
                    "{line}\nstill running after {:?}\nstdout: {}\nstderr: {}",
                    self.patience,
                    text(&stdout),
                    text(&stderr)
                )
            }
            (Some(status), Ok(_), Ok(_)) => {
                process::Output { status, stdout: stdout.unwrap_or_default(), stderr: stderr.unwrap_or_default() }
            }
            _ => panic!(
                "{line}\nended, but something it started holds its streams\nstdout: {}\nstderr: {}",
                text(&stdout),
                text(&stderr)
            ),
        }
    }
}

impl From<Command> for Tool {
    fn from(command: Command) -> Self {
        Self { command, stdin: None, patience: TIMEOUT }
    }
}

/// Reads a stream to its end, in a thread of its own.
fn collected(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = vec![];
        let read = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut bytes));
        // Nobody waits for it any more where the tool hung.
        read.map(|_| sender.send(bytes))
    });
    receiver
}

/// Waits for the end of a process; `None` where it does not come.
fn ended(child: &mut Child, patience: Duration) -> Option<process::ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        let status: io::Result<_> = child.try_wait();
        match status.expect("a child can be waited for") {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            status => return status,
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn shell(script: &str) -> Tool {
        Tool::from(Command::new("sh")).args(["-c", script])
    }

    fn failure(tool: Tool) -> String {
        *catch_unwind(AssertUnwindSafe(|| tool.run())).err().unwrap().downcast::<String>().unwrap()
    }

    #[test]
    fn a_run_has_its_input_its_environment_and_its_output() {
        let script = "read line; printf '{\"status\": \"success\", \"line\": \"%s %s\"}' \"$line\" \"$NAME\"";
        let run = shell(script).stdin("one\n").env("NAME", "two").run();
        assert_eq!(run.answer()["line"], "one two");
        // More than a pipe holds, in both directions, to a tool that does not read it.
        let big =
            shell("printf '{\"status\": \"success\", \"n\": \"'; head -c 200000 /dev/zero | tr '\\0' a; printf '\"}'");
        assert_eq!(big.stdin(vec![b'x'; 1 << 20]).run().answer()["n"].as_str().unwrap().len(), 200_000);
    }

    #[test]
    fn a_hanging_tool_is_killed_and_reported() {
        let shown = failure(shell("echo started; echo oops >&2; exec sleep 600").within(Duration::from_millis(300)));
        assert!(shown.contains("still running") && shown.contains("started") && shown.contains("oops"), "{shown}");
    }

    #[test]
    fn a_broken_contract_is_shown_with_the_command_line() {
        let shown = failure(shell("echo hello"));
        assert!(shown.contains("echo hello") && shown.contains("not one JSON value"), "{shown}");
    }

    #[test]
    fn a_child_that_holds_the_streams_is_noticed() {
        let shown = failure(shell("echo '{\"status\": \"success\"}'; sleep 20 &"));
        assert!(shown.contains("holds its streams"), "{shown}");
    }
}
