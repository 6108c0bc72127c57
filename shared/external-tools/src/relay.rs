//! The relay: the process that runs a server or a tool without confinement, and ends it when the host ends.
//!
//! A server should end when its input ends. Some do not, and a host that was killed cannot end them. The kernel can
//! kill a child when its parent ends (`PR_SET_PDEATHSIG`), but for that it takes the end of the thread that started the
//! child, and it does not reach the processes that the child started. So the relay passes the input on, and kills its
//! process group some time after the end of the input.
//!
//! The input of a tool ends before the tool does. So its relay receives the length of the input first, and the host
//! keeps the pipe open; at its end, the tool is killed immediately. A confined process has a launcher that does the
//! same.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The first argument of the relay of a server.
const SERVER: &str = "--relay-server";
/// The first argument of the relay of a tool.
const TOOL: &str = "--relay-tool";
/// The length of the input of a tool that has none.
const NO_INPUT: u64 = u64::MAX;
/// The time that a server has to end after its input; the host itself waits less.
const GRACE: Duration = Duration::from_secs(2);

/// The command line that runs the server `program` behind a relay, without its streams and environment.
pub(crate) fn of_server(program: &OsStr, arguments: &[String]) -> io::Result<Command> {
    command(SERVER, program, arguments)
}

/// The same for a tool. Its relay expects the result of [`input_of_tool`] on standard input, and the pipe to stay open.
pub(crate) fn of_tool(program: &OsStr, arguments: &[OsString]) -> io::Result<Command> {
    command(TOOL, program, arguments)
}

/// The input of a tool, as its relay expects it.
pub(crate) fn input_of_tool(input: Option<&str>) -> Vec<u8> {
    let length = input.map_or(NO_INPUT, |text| text.len() as u64);
    [&length.to_le_bytes(), input.unwrap_or_default().as_bytes()].concat()
}

fn command(role: &str, program: &OsStr, arguments: &[impl AsRef<OsStr>]) -> io::Result<Command> {
    // The executable of this process, even if its file was replaced meanwhile.
    let own = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    let mut command = Command::new(own);
    command.arg(role).arg(program).args(arguments);
    Ok(command)
}

/// Runs a server or a tool if this process was started as its relay. Returns `None` otherwise.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let role = arguments.next()?;
    let run = if role == SERVER {
        run_server
    } else if role == TOOL {
        run_tool
    } else {
        return None;
    };
    let program = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    Some(run(&program, &arguments).unwrap_or_else(|error| {
        // The host shows what is printed on standard error.
        let _ = writeln!(io::stderr(), "{} cannot be started: {error}", program.display());
        ExitCode::FAILURE
    }))
}

fn run_server(program: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    let child = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn()?;
    run(child, u64::MAX, GRACE)
}

fn run_tool(program: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    let mut length = [0; 8];
    io::stdin().read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let (stdin, length) = if length == NO_INPUT { (Stdio::null(), 0) } else { (Stdio::piped(), length) };
    let child = Command::new(program).args(arguments).stdin(stdin).spawn()?;
    run(child, length, Duration::ZERO)
}

/// Passes standard input on to `child`, at most `length` bytes of it, and returns the exit status. Ends `child` when
/// `grace` has passed after the end of the input.
fn run(mut child: Child, length: u64, grace: Duration) -> io::Result<ExitCode> {
    if let Err(error) = pass_on(child.stdin.take(), length, child.id(), grace) {
        let _ = child.kill();
        return Err(error);
    }
    let status = child.wait()?;
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        end_by(signal);
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Passes standard input on to `input`. Ends the process `pid` after the end of the input.
fn pass_on(input: Option<ChildStdin>, length: u64, pid: u32, grace: Duration) -> io::Result<()> {
    // Two threads: a process that does not read would keep one from seeing the end of the input.
    let (read, parts) = mpsc::channel::<Vec<u8>>();
    let write = move || input.map(|mut input| parts.into_iter().try_for_each(|part| input.write_all(&part)));
    thread::Builder::new().name("output".to_owned()).spawn(write)?;
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        let (mut stdin, mut buffer, mut left) = (io::stdin().lock(), vec![0; 64 * 1024], length);
        let mut read = Some(read).filter(|_| left > 0);
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            let taken = count.min(usize::try_from(left).unwrap_or(count));
            left -= taken as u64;
            if let Some(read) = &read {
                // The process may have closed its input.
                let _ = read.send(buffer[..taken].to_vec());
            }
            if left == 0 {
                read = None;
            }
        }
        drop(read);
        thread::sleep(grace);
        end(pid);
    })?;
    Ok(())
}

/// Ends this process by `signal`, so that the host sees how the tool ended.
#[cfg(unix)]
fn end_by(signal: i32) {
    use rustix::process::{Signal, getpid, kill_process};
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    // The runtime of Rust takes the first SIGSEGV and restores the default action.
    for _ in 0..10 {
        let _ = kill_process(getpid(), signal);
        thread::sleep(Duration::from_millis(10));
    }
}

/// Kills the process `child`, and the process group of this process, which the host started as the leader of its own.
#[cfg(unix)]
fn end(child: u32) {
    use rustix::process::{Pid, Signal, getpgrp, getpid, kill_current_process_group, kill_process};
    if let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end(_child: u32) {
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_input_of_a_tool_comes_first() {
        assert_eq!(input_of_tool(Some("\u{6f6e}")), [&3_u64.to_le_bytes()[..], "\u{6f6e}".as_bytes()].concat());
        assert_eq!(input_of_tool(Some("")), [0; 8]);
        // Without input, the tool has none to wait for.
        assert_eq!(input_of_tool(None), [255; 8]);
    }

    #[test]
    fn a_program_is_run_by_this_executable_with_its_words_as_they_are() {
        let words = ["a b".to_owned(), "--relay-tool".to_owned(), "\u{6f6e}".to_owned()];
        let command = of_server(OsStr::new("serve"), &words).unwrap();
        let given: Vec<_> = command.get_args().collect();
        assert_eq!(given, ["--relay-server", "serve", "a b", "--relay-tool", "\u{6f6e}"]);
        let tool = of_tool(OsStr::new("tool"), &[]).unwrap();
        assert_eq!(tool.get_args().collect::<Vec<_>>(), ["--relay-tool", "tool"]);
        assert_eq!(tool.get_program(), command.get_program());
    }
}
