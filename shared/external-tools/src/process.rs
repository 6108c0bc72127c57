//! A tool that is an executable: one process for each call.

use std::{
    ffi::OsString,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ragmaker_confine::{Policy, Running, without_secrets};
use ragmaker_tool::{Annotations, Error};
use serde_json::{Value, json};

use crate::{
    CatalogFormat, Confinement, RunContext, TOOL_CANCELLED, TOOL_FAILED, TOOL_TIMED_OUT, catalog_format, hidden_files,
    output::{CapturedOutput, Stream},
    relay,
};

/// The interval at which a wait checks the process and a cancellation.
const POLL: Duration = Duration::from_millis(5);
/// The time in which output is still read after the end of the process.
const AFTER_END: Duration = Duration::from_millis(500);
/// The time in which a result is read from a file.
const RESULT_READ: Duration = Duration::from_secs(20);
/// The maximum number of characters of a text of which only the start and the end are kept: the same as in an answer of
/// this project's own tools.
const TEXT: usize = 28_000;
/// The maximum number of characters that an error repeats of what was printed.
const MAX_MESSAGE_CHARACTERS: usize = 2_000;

/// An executable, and how it is called.
#[derive(Clone, Debug)]
pub(crate) struct Executable {
    pub(crate) format: CatalogFormat,
    pub(crate) program: PathBuf,
    /// The words before the arguments of a call.
    pub(crate) words: Vec<String>,
    /// The tool's name in its catalog.
    pub(crate) name: String,
    pub(crate) parameters: Value,
    pub(crate) context: RunContext,
    /// The folder of its catalog, which it may read wherever it is.
    pub(crate) folder: PathBuf,
    pub(crate) reach: Permissions,
}

/// The permissions of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Permissions {
    /// All permissions of the user.
    All,
    /// Only the declared permissions.
    Declared {
        /// Whether it may write the project.
        writes: bool,
        /// Whether it may use the network.
        network: bool,
        /// Whether the process must not start if it cannot be confined.
        strict: bool,
    },
}

impl Permissions {
    /// The permissions of an executable with these annotations.
    pub(crate) fn of(annotations: Annotations, confinement: &Confinement) -> Self {
        if !confinement.applies {
            return Self::All;
        }
        Self::Declared {
            writes: !annotations.read_only_hint,
            network: annotations.open_world_hint,
            strict: confinement.holds,
        }
    }
}

/// The result of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: CapturedOutput,
    pub(crate) stderr: CapturedOutput,
}

/// The process to start for a call.
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
        let (words, stdin): (Vec<String>, _) = match self.format {
            CatalogFormat::Ours => (words.chain(["--arguments".to_owned(), "-".to_owned()]).collect(), Some(json)),
            CatalogFormat::Options => {
                (words.chain(catalog_format::options(arguments, &self.parameters)).collect(), None)
            }
            CatalogFormat::Functions => (words.chain([json]).collect(), None),
            CatalogFormat::Gemini => (words.chain([self.name.clone()]).collect(), Some(json)),
        };
        let folder = match self.format {
            CatalogFormat::Functions => Some(tempfile::tempdir().map_err(|error| failed(&error.to_string()))?),
            _ => None,
        };
        let folder = folder.as_ref().map(tempfile::TempDir::path);
        let start = Start { arguments: words.into_iter().map(OsString::from).collect(), stdin, folder };
        let ended = self.run(&start, timeout, is_cancelled)?;
        // A link would lead to a file that the tool may not read itself.
        let is_result = |path: &PathBuf| path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() > 0);
        let result = folder.map(|folder| folder.join(RESULT)).filter(is_result).and_then(|path| File::open(path).ok());
        let result = result.map(|file| Stream::capture(Some(file), self.context.cache()).finish_before(RESULT_READ));
        answer(&ended, &result.unwrap_or_else(|| ended.stdout.clone()))
    }

    /// Runs the executable without a call, and returns its output, as for a discovery command.
    pub(crate) fn print(&self, timeout: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<Ended, Error> {
        let arguments = self.words.iter().map(OsString::from).collect();
        self.run(&Start { arguments, stdin: None, folder: None }, timeout, is_cancelled)
    }

    fn run(&self, start: &Start<'_>, timeout: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<Ended, Error> {
        let mut process = self.start(start).map_err(|error| failed(&format!("it does not start: {error}")))?;
        // A relay ends the tool when this pipe closes.
        let stays_open = matches!(process, Process::Relayed(_));
        let input = if stays_open {
            relay::input_of_tool(start.stdin.as_deref())
        } else {
            start.stdin.clone().unwrap_or_default().into_bytes()
        };
        let child = process.child();
        let stdout = Stream::capture(child.stdout.take(), self.context.cache());
        let stderr = Stream::of(child.stderr.take());
        // A tool that does not read must not keep the host waiting; one that ended makes the writing fail.
        let writing = child.stdin.take().map(|mut pipe| {
            thread::spawn(move || {
                let _ = pipe.write_all(&input);
                stays_open.then_some(pipe)
            })
        });
        let deadline = Instant::now() + timeout;
        let stopped = loop {
            if process.child().try_wait().map_err(|error| failed(&error.to_string()))?.is_some() {
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
        let status = process.end();
        drop(writing);
        let (stdout, stderr) = (stdout.finish_before(AFTER_END), stderr.finish_before(AFTER_END));
        match (stopped, status) {
            (Some(error), _) => Err(with_output(error, &stdout, &stderr)),
            (None, Ok((exit_code, signal))) => Ok(Ended { exit_code, signal, stdout, stderr }),
            (None, Err(reason)) => Err(failed(&format!("it does not start: {reason}"))),
        }
    }

    fn start(&self, start: &Start<'_>) -> std::io::Result<Process> {
        let Some(policy) = self.policy(start.folder)? else {
            let is_relayed = self.context.restarts;
            let mut command = if is_relayed {
                relay::of_tool(self.program.as_os_str(), &start.arguments)?
            } else {
                let mut command = Command::new(&self.program);
                command.args(&start.arguments);
                command
            };
            command.env_clear().envs(without_secrets());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            set_up(&mut command, &self.context, start);
            if is_relayed {
                return command.stdin(Stdio::piped()).spawn().map(Process::Relayed);
            }
            return command.spawn().map(Process::Free);
        };
        let mut confined = policy.command(self.program.as_os_str(), &start.arguments)?;
        set_up(&mut confined.command, &self.context, start);
        confined.spawn().map(Process::Confined)
    }

    /// The policy of a call, which writes its result to `folder`; `None` if its permissions are not limited.
    ///
    /// # Errors
    /// [`hidden_files`].
    fn policy(&self, folder: Option<&Path>) -> std::io::Result<Option<Policy>> {
        let Permissions::Declared { writes, network, strict } = self.reach else { return Ok(None) };
        let root = &self.context.root;
        let real = |path: &Path| ragmaker_fs::canonicalize(path).ok();
        // Below /tmp, only these are there.
        let roots = [root, &self.folder].map(PathBuf::as_path).into_iter().chain(self.program.parent()).chain(folder);
        Ok(Some(Policy {
            roots: roots.filter_map(real).collect(),
            writable: folder.into_iter().chain(writes.then_some(root.as_path())).filter_map(real).collect(),
            hidden: hidden_files(ragmaker_confine::secret_files(root), &self.context.cache, strict)?,
            network,
            must_hide: false,
            strict,
            without: vec![],
        }))
    }
}

/// The file for the result of a call, in its folder.
const RESULT: &str = "output";

fn set_up(command: &mut Command, context: &RunContext, start: &Start<'_>) {
    context.set_up(command);
    command.stdin(if start.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    if let Some(folder) = start.folder {
        command.env("LLM_OUTPUT", folder.join(RESULT));
    }
}

impl RunContext {
    /// The cache folder, if it can be made.
    fn cache(&self) -> Option<PathBuf> {
        let is_known = !self.cache.as_os_str().is_empty();
        (is_known && ragmaker_project::create_cache_folder(&self.cache).is_ok()).then(|| self.cache.clone())
    }

    /// The folder, the environment and the output of a process, whose environment has no keys already.
    pub(crate) fn set_up(&self, command: &mut Command) {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.root.as_os_str().is_empty() {
            command.current_dir(&self.root);
        }
        for name in &self.without {
            command.env_remove(name);
        }
    }
}

/// A process that was started.
#[derive(Debug)]
pub(crate) enum Process {
    Free(Child),
    /// A tool behind a relay.
    Relayed(Child),
    Confined(Running),
}

impl Process {
    /// The process whose streams are the program's own.
    pub(crate) fn child(&mut self) -> &mut Child {
        match self {
            Self::Free(child) | Self::Relayed(child) => child,
            Self::Confined(running) => &mut running.child,
        }
    }

    /// Ends what is left of it. Returns its exit status and the signal, or why it could not be started.
    pub(crate) fn end(&mut self) -> Result<(Option<i32>, Option<i32>), String> {
        match self {
            Self::Free(child) | Self::Relayed(child) => {
                end_group(child);
                let status = child.wait().ok();
                #[cfg(unix)]
                let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
                #[cfg(not(unix))]
                let signal = None;
                Ok((status.and_then(|status| status.code()), signal))
            }
            Self::Confined(running) => {
                let ended = running.wait(Some(Duration::ZERO)).map_err(|error| error.to_string())?;
                ended.failed.map_or(Ok((ended.exit_code, ended.signal)), Err)
            }
        }
    }
}

/// Ends a process and its process group, even if the process itself has ended.
fn end_group(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

/// The answer in what was printed: JSON as it is, any other text as `output`. Of very long output, a file has all.
fn answer(ended: &Ended, result: &CapturedOutput) -> Result<Value, Error> {
    let parsed = |printed: &CapturedOutput| serde_json::from_slice::<Value>(printed.whole()?).ok();
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
    Ok(match (parsed(result), result.whole()) {
        (Some(object @ Value::Object(_)), _) => object,
        (Some(value), _) => json!({"status": "success", "output": value}),
        (None, Some(bytes)) => {
            json!({"status": "success", "output": String::from_utf8_lossy(bytes), "truncated": false})
        }
        (None, None) => {
            json!({"status": "success", "output": result.text(TEXT).0, "truncated": true, "log_file": result.file()})
        }
    })
}

fn with_output(error: Error, stdout: &CapturedOutput, stderr: &CapturedOutput) -> Error {
    error
        .detail("stdout", stdout.text(MAX_MESSAGE_CHARACTERS).0)
        .detail("stderr", stderr.text(MAX_MESSAGE_CHARACTERS).0)
}

/// The executable `name` on PATH; in `folder` if it is a path or not on PATH.
pub(crate) fn program(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let on_path = std::env::var_os("PATH").filter(|_| !name.contains(['/', '\\']));
    let folders = on_path.iter().flat_map(std::env::split_paths).chain([folder]);
    let suffix = std::env::consts::EXE_SUFFIX;
    let candidates = folders.flat_map(|folder| [folder.join(name), folder.join(format!("{name}{suffix}"))]);
    candidates.into_iter().find(|path| is_executable(path)).ok_or_else(|| format!("{name} is not an executable"))
}

fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

pub(crate) fn failed(what: &str) -> Error {
    TOOL_FAILED.error(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_path_or_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("bin/own");
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::fs::write(&own, "#!/bin/sh\n").unwrap();
        #[cfg(unix)]
        {
            assert!(program("bin/own", folder.path()).is_err(), "it may not be run");
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(&own, executable).unwrap();
            assert_eq!(program("bin/own", folder.path()).unwrap(), own);
            assert!(program("sh", folder.path()).unwrap().is_absolute());
        }
        assert!(program("bin", folder.path()).is_err(), "a folder");
        assert_eq!(program("no-such-program", folder.path()).unwrap_err(), "no-such-program is not an executable");
    }
}
