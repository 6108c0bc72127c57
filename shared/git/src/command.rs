//! Running `git` so that it cannot start other programs: the settings of each call, and the errors for its failures.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use ragmaker_tool::Error;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use crate::{AUTH_REQUIRED, GIT_FAILED, GIT_NOT_FOUND, REF_NOT_FOUND, REPO_NOT_FOUND};

/// The longest that one call may take.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The maximum number of bytes that a call may print.
const MAX: u64 = 256 << 20;

/// The maximum length in characters of Git's words in an error.
const SAID: usize = 400;

/// How ssh is called: it asks nothing, and gives up a server that does not answer.
const SSH: &str =
    "core.sshCommand=ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4";

/// The prefix of the names of temporary Git directories.
const TEMPORARY: &str = "ragmaker-git-";

/// The age at which a temporary Git directory is one that a killed process left.
const LEFT: Duration = Duration::from_hours(24);

/// A shell program that runs its arguments, and ends all processes of its group when it is told to end. Git does not
/// end the programs with which it speaks HTTP or ssh.
const GROUP: &str = r#"exec 3<&0; trap "trap '' TERM; kill -s TERM 0" TERM; "$@" <&3 3<&- & exec 3<&-; wait "$!""#;

/// Configuration for every call. Git reads no configuration but that of a Git directory which was made for the call;
/// this is the second line of defence, because the command line has the last word.
const CONFIGURATION: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.askPass=",
    SSH,
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "uploadpack.packObjectsHook=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.version=2",
    "transfer.bundleURI=false",
];

/// Whether a call may open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Allowed,
    /// And no server may send Git on to another address.
    WithoutRedirects,
    /// Not even for an object that a repository lacks.
    Refused,
}

/// A call of Git in the repository whose Git directory is `folder`, or in none.
pub(crate) fn git<S: AsRef<OsStr>>(folder: Option<&Path>, network: Network, arguments: &[S]) -> Command {
    let mut command = program(network);
    // The caller's variables could name other programs, configuration or repositories.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("GIT_") || matches!(&*text, "SSH_ASKPASS" | "PAGER" | "EDITOR" | "VISUAL") {
            command.env_remove(name);
        }
    }
    let nothing = if cfg!(windows) { "NUL" } else { "/dev/null" };
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_SYSTEM", nothing)
        .env("GIT_CONFIG_GLOBAL", nothing)
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_SSH_COMMAND", SSH.trim_start_matches("core.sshCommand="))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        // Bytes a second, for so many seconds: a server that sends less is given up.
        .env("GIT_HTTP_LOW_SPEED_LIMIT", "100")
        .env("GIT_HTTP_LOW_SPEED_TIME", "60")
        .env("LC_ALL", "C");
    match network {
        Network::Allowed | Network::WithoutRedirects => command.env("GIT_ALLOW_PROTOCOL", "https:http:ssh:git"),
        Network::Refused => command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_LAZY_FETCH", "1"),
    };
    for setting in CONFIGURATION {
        command.args(["-c", setting]);
    }
    // Forges send Git on to the name of a repository that was renamed, and to the name that ends in .git.
    let redirects = if network == Network::Allowed { "initial" } else { "false" };
    command.arg("-c").arg(format!("http.followRedirects={redirects}"));
    // A path is a path, whatever characters it has.
    command.arg("--literal-pathspecs").arg("--no-pager");
    // Without one, Git would read the configuration of the repository that contains the working directory.
    command.arg("--git-dir").arg(folder.unwrap_or(Path::new(nothing)));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The program `git`. Where `setpriv` of util-linux 2.33 or later is installed, it ends with the thread that started
/// it, even if this process is killed, and so do the programs that it starts for the network.
fn program(network: Network) -> Command {
    // Those of BusyBox and of older versions do not have the option.
    static CAN_END_WITH_PARENT: LazyLock<bool> = LazyLock::new(|| {
        let mut probe = Command::new("setpriv");
        probe.args(["--pdeathsig", "TERM", "sh", "-c", "exec git --version"]);
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        cfg!(target_os = "linux") && probe.status().is_ok_and(|status| status.success())
    });
    let (mut command, starts_none) = (Command::new("setpriv"), network == Network::Refused);
    command.args(["--pdeathsig", "TERM"]);
    match *CAN_END_WITH_PARENT {
        false => return Command::new("git"),
        true if starts_none => {}
        true => {
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            command.args(["sh", "-c", GROUP, "sh"]);
        }
    }
    command.arg("git");
    command
}

/// Ends `child`, and the processes of its group if it leads one.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An error says that it leads none, or has ended.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// A new temporary Git directory.
pub(crate) fn temporary() -> io::Result<TempDir> {
    ragmaker_fs::sweep_folders(TEMPORARY, LEFT);
    tempfile::Builder::new().prefix(TEMPORARY).tempdir()
}

/// Runs a call and returns what it printed; `input` is its standard input.
///
/// # Errors
///
/// The codes of [`crate::ERRORS`].
pub(crate) fn run(command: Command, input: &[u8]) -> Result<Vec<u8>, Error> {
    let (printed, said) = run_within(command, input, TIMEOUT)?;
    said.map_err(|said| failure(&said)).map(|()| printed)
}

/// The same within `limit`. Returns what it printed, and its standard error if it failed.
pub(crate) fn run_within(
    mut command: Command,
    input: &[u8],
    limit: Duration,
) -> Result<(Vec<u8>, Result<(), String>), Error> {
    let broken = |error: io::Error| GIT_FAILED.error(format!("git: {error}"));
    let mut out = tempfile::tempfile().map_err(broken)?;
    if !input.is_empty() {
        let mut file = tempfile::tempfile().map_err(broken)?;
        file.write_all(input).and_then(|()| file.rewind()).map_err(broken)?;
        command.stdin(file);
    }
    let mut child = start(command.stdout(out.try_clone().map_err(broken)?))?;
    let said = wait(&mut child, &out, limit)?;
    let mut bytes = vec![];
    out.rewind().and_then(|()| out.read_to_end(&mut bytes)).map_err(broken)?;
    Ok((bytes, said))
}

pub(crate) fn start(command: &mut Command) -> Result<Child, Error> {
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => GIT_NOT_FOUND.error("git does not start: it is not installed"),
        _ => GIT_FAILED.error(format!("git does not start: {error}")),
    })
}

/// Waits for the end of `child`, whose output goes to `out`. If it failed, the inner result is its standard error.
fn wait(child: &mut Child, out: &File, limit: Duration) -> Result<Result<(), String>, Error> {
    let errors = child.stderr.take();
    // Read in a thread of its own, so that a full pipe does not block git.
    let said = thread::spawn(move || {
        let mut said = vec![];
        if let Some(mut errors) = errors {
            let _ = errors.by_ref().take(64 * 1024).read_to_end(&mut said);
            let _ = io::copy(&mut errors, &mut io::sink());
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let status = child.try_wait().map_err(|error| GIT_FAILED.error(format!("git: {error}")))?;
        if let Some(status) = status {
            let said = said.join().unwrap_or_default();
            // A process that a signal ended says nothing.
            let said = if said.trim().is_empty() && status.code() != Some(1) { status.to_string() } else { said };
            return Ok(if status.success() { Ok(()) } else { Err(said) });
        }
        let large = out.metadata().is_ok_and(|metadata| metadata.len() > MAX);
        if large || started.elapsed() > limit {
            stop(child);
            let long = format!("took more than {} s", limit.as_secs());
            let reason = if large { "printed more than 256 MiB" } else { &long };
            return Err(GIT_FAILED.error(format!("git was stopped because it {reason}")));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The error for a failed call, by its standard error.
fn failure(said: &str) -> Error {
    let has = |known: &[&str]| known.iter().any(|known| said.contains(known));
    let said_safely = without_passwords(said.trim());
    let shown: String = said_safely.chars().take(SAID).collect();
    let reason: String = reason(&said_safely).chars().take(SAID).collect();
    let error = if ["301", "302", "303", "307", "308"]
        .iter()
        .any(|code| said.contains(&format!("returned error: {code}")))
    {
        GIT_FAILED
            .error(format!("the server redirects to another address, which --allow-domain or --public-only forbids to follow: {reason}"))
            .remedy("Give the final address of the repository, such as the one that ends in .git.")
    } else if has(&[
        "could not read Username",
        "could not read Password",
        "Authentication failed",
        "Permission denied",
        "returned error: 401",
        "returned error: 403",
        "Host key verification failed",
        "terminal prompts disabled",
    ]) {
        AUTH_REQUIRED.error(format!("the repository is private or does not exist: {reason}"))
    } else if has(&[
        "not found",
        "does not appear to be a git repository",
        "not a git repository",
        "returned error: 404",
        "repository not exported",
        "does not exist",
    ]) && !has(&["remote ref", "Could not resolve host"])
    {
        REPO_NOT_FOUND.error(format!("there is no repository there: {reason}"))
    } else if has(&["remote ref", "not our ref", "unadvertised object"]) {
        REF_NOT_FOUND.error(format!("the repository has no such commit: {reason}"))
    } else {
        GIT_FAILED.error(format!("git failed: {reason}"))
    };
    error.detail("git", shown)
}

/// The line of what Git said that has the reason: what ssh or the server said comes before Git's general advice.
fn reason(said: &str) -> &str {
    let is_general = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.is_empty()
            || ["warning:", "hint:", "cloning into"].iter().any(|start| line.starts_with(start))
            || line == "fatal: could not read from remote repository."
    };
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !is_general(line)).collect();
    let of_git = lines.iter().find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    let line = of_git.or(lines.first()).copied().unwrap_or("it gave no reason");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ")
}

/// `text` without the user and password between `://` and `@` in addresses.
fn without_passwords(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        kept.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"')).unwrap_or(after.len());
        rest = after[..end].rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_in_what_git_said() {
        for (said, code) in [
            ("fatal: could not read Username for 'https://github.com': terminal prompts disabled\n", "AUTH_REQUIRED"),
            (
                "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
                "AUTH_REQUIRED",
            ),
            ("remote: Repository not found.\nfatal: repository 'https://x/' not found", "REPO_NOT_FOUND"),
            ("fatal: remote error: access denied or repository not exported: /r", "REPO_NOT_FOUND"),
            ("fatal: '/x' does not appear to be a git repository", "REPO_NOT_FOUND"),
            ("fatal: couldn't find remote ref refs/heads/x", "REF_NOT_FOUND"),
            ("error: Server does not allow request for unadvertised object 1", "REF_NOT_FOUND"),
            ("fatal: unable to access 'https://x/': Could not resolve host: x", "GIT_FAILED"),
            ("", "GIT_FAILED"),
        ] {
            assert_eq!(failure(said).code(), code, "{said}");
        }
        let advice = "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n";
        let ssh = "Warning: Permanently added 'x' to the list of known hosts.\nssh: connect to host x port 22: Connection refused\n";
        let error = failure(&format!("{ssh}{advice}"));
        assert_eq!(error.message(), "git failed: ssh: connect to host x port 22: Connection refused");
        let error =
            failure("warning: x\nfatal: unable to access 'http://x/r/': The requested URL returned error: 302\n");
        assert!(error.is(GIT_FAILED) && error.message().contains("redirects to another address"), "{error}");
        let error = failure("fatal: unable to access 'https://user:secret@x.example/r/': refused");
        assert!(!error.message().contains("secret") && error.message().contains("https://x.example/r/"), "{error}");
    }
}
