//! The relay: the process that runs a server without confinement, and ends it when the host ends.
//!
//! A server should end when its input ends. Some do not, and a host that was killed cannot end them. The kernel can kill
//! a child when its parent ends (`PR_SET_PDEATHSIG`), but for that it takes the end of the thread that started the
//! child, and it does not reach the processes that the child started. So the relay passes the input on, and kills its
//! process group some time after the end of the input. A confined server has a launcher that does the same.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    process::{ChildStdin, Command, ExitCode, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The first argument of such a process.
const RELAY: &str = "--relay-server";
/// The time that a server has to end after its input; the host itself waits less.
const GRACE: Duration = Duration::from_secs(2);

/// The command line that runs `program` behind a relay, without its streams and environment.
pub(crate) fn command(program: &OsStr, arguments: &[String]) -> io::Result<Command> {
    // The executable of this process, even if its file was replaced meanwhile.
    let own = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    let mut command = Command::new(own);
    command.arg(RELAY).arg(program).args(arguments);
    Ok(command)
}

/// Runs a server if this process was started as its relay. Returns `None` otherwise.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != RELAY {
        return None;
    }
    let program = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    Some(run(&program, &arguments).unwrap_or_else(|error| {
        // The host shows what a server prints on standard error.
        let _ = writeln!(io::stderr(), "{} cannot be started: {error}", program.display());
        ExitCode::FAILURE
    }))
}

fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn()?;
    let Some(input) = child.stdin.take() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    if let Err(error) = pass_on(input, child.id()) {
        let _ = child.kill();
        return Err(error);
    }
    let status = child.wait()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Passes standard input on to `input`. Ends the server `pid` some time after the end of the input.
fn pass_on(mut input: ChildStdin, pid: u32) -> io::Result<()> {
    // Two threads: a server that does not read would keep one from seeing the end of the input.
    let (read, parts) = mpsc::channel::<Vec<u8>>();
    let write = move || parts.into_iter().try_for_each(|part| input.write_all(&part));
    thread::Builder::new().name("output".to_owned()).spawn(write)?;
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        let (mut stdin, mut buffer) = (io::stdin().lock(), vec![0; 64 * 1024]);
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            // The server may have closed its input.
            let _ = read.send(buffer[..count].to_vec());
        }
        drop(read);
        thread::sleep(GRACE);
        end(pid);
    })?;
    Ok(())
}

/// Kills the server, and the process group of this process, which the host started as the leader of its own.
#[cfg(unix)]
fn end(server: u32) {
    use rustix::process::{Pid, Signal, getpgrp, getpid, kill_current_process_group, kill_process};
    if let Some(pid) = i32::try_from(server).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end(_server: u32) {
    std::process::exit(1);
}
