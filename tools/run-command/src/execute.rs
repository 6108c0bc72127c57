//! Running a line: its environment, its confinement, its time limit.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use ragmaker_confine::{Ended, Policy};
use ragmaker_files::Roots;
use ragmaker_tool::{Code, Error};

use crate::{
    Args, Shell,
    capture::{Capture, Captured},
    keys::Keys,
};

/// The command could not be started.
pub const COMMAND_NOT_STARTED: Code =
    Code::new("COMMAND_NOT_STARTED", "Check that the shell is installed and that the directory can be entered.");

/// The time that the output is waited for after the end of a command. Its processes have ended by then, so a process
/// that still has a pipe open is not one of them.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The variables that a line has which runs unasked. None of them makes a program run another one.
const HARMLESS: [&str; 22] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The environment variables for a line that runs without approval: Git starts no pager and fetches nothing.
const SET: [(&str, &str); 5] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
];

/// The configuration of Git for such a line: it starts no hook or file-system monitor, and prints contents of no other
/// files than those of which the guard was told.
const GIT: [(&str, &str); 12] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.submodule", "short"),
    ("diff.renames", "true"),
    ("grep.extendedRegexp", "false"),
    ("grep.patternType", "default"),
    ("log.showSignature", "false"),
    ("log.follow", "false"),
    ("stash.showPatch", "false"),
    ("stash.showIncludeUntracked", "false"),
    ("submodule.recurse", "false"),
];

/// Where and with what a line runs.
pub(crate) struct LineContext<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) cwd: &'a Path,
    pub(crate) keys: &'a Keys,
    /// The files with keys in the project that are hidden from a line that was not approved.
    pub(crate) hidden: &'a [PathBuf],
    /// Whether it may run only if they are.
    pub(crate) must_hide: bool,
}

/// The result of a line.
pub(crate) struct CommandResult {
    pub(crate) ended: Ended,
    pub(crate) captured: Captured,
    pub(crate) duration_ms: u64,
}

/// Runs the line. Without an approval, it cannot write, and is started only if it can be confined.
pub(crate) fn run(args: &Args, place: &LineContext<'_>, is_approved: bool) -> Result<CommandResult, Error> {
    let failed = |error: std::io::Error| {
        COMMAND_NOT_STARTED
            .error(format!("the command cannot be started: {error}"))
            .detail("command", args.command.as_str())
            .detail("cwd", place.cwd.to_string_lossy())
    };
    let shell = match args.shell {
        Shell::Sh => "sh",
        Shell::Bash => "bash",
    };
    let policy = policy(args, place, is_approved);
    let arguments = [OsString::from("-c"), OsString::from(&args.command)];
    let mut confined = policy.command(shell.as_ref(), &arguments).map_err(failed)?;
    let command = &mut confined.command;
    command.current_dir(place.cwd).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !is_approved {
        command.env_clear();
        let kept = env::vars_os().filter(|(name, value)| {
            let harmless = name.to_str().is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("LC_"));
            harmless && !ragmaker_confine::is_secret(name, value)
        });
        command.envs(kept).envs(SET).env("PATH", path(env::var_os("PATH"), place.roots));
        command.env("GIT_CONFIG_COUNT", GIT.len().to_string());
        for (number, (key, value)) in GIT.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
    }
    for name in &place.keys.variables {
        command.env_remove(name);
    }
    let start = Instant::now();
    let capture = Capture::new(place.roots.project(), place.keys.clone());
    let mut running = confined.spawn().map_err(failed)?;
    if let Some(stream) = running.child.stdout.take() {
        capture.read(stream, false);
    }
    if let Some(stream) = running.child.stderr.take() {
        capture.read(stream, true);
    }
    let ended = running.wait(Some(Duration::from_secs(args.timeout.get()))).map_err(failed)?;
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(CommandResult { ended, captured: capture.finish(LAST_WORDS), duration_ms })
}

fn policy(args: &Args, place: &LineContext<'_>, is_approved: bool) -> Policy {
    let roots: Vec<_> = place.roots.all().iter().collect();
    let mut hidden: Vec<PathBuf> = ragmaker_confine::logins(&place.roots.project().cache_folder()).into();
    if !is_approved {
        hidden.extend(place.hidden.iter().cloned());
    }
    let writable = roots.iter().filter(|root| is_approved && root.writable).map(|root| root.path.clone()).collect();
    Policy {
        roots: roots.iter().map(|root| root.path.clone()).chain([place.cwd.to_path_buf()]).collect(),
        writable,
        hidden,
        must_hide: !is_approved && place.must_hide && !place.hidden.is_empty(),
        network: is_approved && args.network,
        strict: !is_approved,
        without: vec![],
    }
}

/// The folders of `given` in which programs are searched. The project is not among them, because its `ls` may be another
/// program.
fn path(given: Option<OsString>, roots: &Roots) -> OsString {
    let given = given.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let outside = |folder: &PathBuf| {
        let real = ragmaker_fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && !roots.all().iter().any(|root| root.writable && real.starts_with(&root.path))
    };
    env::join_paths(env::split_paths(&given).filter(outside)).unwrap_or_else(|_| "/usr/bin:/bin".into())
}

#[cfg(all(test, unix))]
mod tests {
    use argh::FromArgs;
    use ragmaker_testkit::folder;
    use ragmaker_tool::HostOptions;

    use super::*;

    fn roots(root: &Path) -> Roots {
        let host = HostOptions { project_root: root.to_str().map(str::to_owned), ..HostOptions::default() };
        Roots::discover(&host).unwrap()
    }

    #[test]
    fn programs_of_the_project_are_not_found() {
        let (_holder, root) = folder("project");
        let outside = root.parent().unwrap().join("bin");
        for folder in [&root.join("bin"), &outside] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(root.join("bin"), outside.join("led")).unwrap();
        let given =
            [&root.join("bin"), &root, Path::new("."), Path::new("bin"), Path::new(""), &outside.join("led"), &outside];
        let found = path(Some(env::join_paths(given).unwrap()), &roots(&root));
        assert_eq!(env::split_paths(&found).collect::<Vec<_>>(), [outside]);
        assert!(env::split_paths(&path(None, &roots(&root))).any(|folder| folder == Path::new("/bin")));
    }

    #[test]
    fn only_an_approved_line_can_write_or_use_the_network() {
        let (_holder, root) = folder("project");
        let roots = roots(&root);
        let hidden = [root.join(".env")];
        let keys = Keys::of(roots.project(), None);
        let place = LineContext { roots: &roots, cwd: &root, keys: &keys, hidden: &hidden, must_hide: true };
        let of = |words: &[&str], is_approved| policy(&Args::from_args(&["run"], words).unwrap(), &place, is_approved);
        let line = ["--command", "ls", "--network"];
        let unasked = of(&line, false);
        assert!(unasked.writable.is_empty() && !unasked.network && unasked.strict && unasked.must_hide);
        assert!(unasked.hidden.contains(&hidden[0]));
        let approved = of(&line, true);
        assert!(approved.network && approved.writable.contains(&root) && !approved.hidden.contains(&hidden[0]));
        // Logins are out of reach for every line, and the network for each that did not ask for it.
        assert!(!approved.hidden.is_empty() && !of(&line[..2], true).network);
    }
}
