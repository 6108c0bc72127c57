//! `ragmaker link`: a link to this executable for each tool, under the tool's own name.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::TOOLS;
use ragmaker_tool::{Code, Error};
use serde::Serialize;

use crate::{command::HOSTS, form::Form};

/// Make a link to this executable for each tool, so that a tool can be called by its own name.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// folder for the links; it is made if missing (default: the folder of this executable)
    #[argh(option)]
    dir: Option<PathBuf>,
    /// remove the links instead
    #[argh(switch)]
    remove: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()")]
    output: Form,
}

/// The links that were changed.
#[derive(Serialize)]
struct Answer {
    /// The folder of the links.
    dir: PathBuf,
    /// The links that were made, or removed.
    links: Vec<String>,
    /// The number of links that were there already.
    unchanged: usize,
}

const CANNOT_LINK: Code = Code::new("CANNOT_LINK", "Choose a folder that you may write to with --dir DIR.");
const FILE_EXISTS: Code = Code::new("FILE_EXISTS", "Remove the file, or choose another folder with --dir DIR.");

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let parsed = ragmaker_registry::arguments("ragmaker link", env!("CARGO_PKG_VERSION"), words, &[]);
    let (Arguments { dir, remove, output }, _) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    output.end(run(dir, remove), |answer| {
        let done = if remove { "removed" } else { "made" };
        let unchanged = if remove { String::new() } else { format!(", {} unchanged", answer.unchanged) };
        format!("{done} {} links in {}{unchanged}\n", answer.links.len(), answer.dir.display())
    })
}

fn run(dir: Option<PathBuf>, remove: bool) -> Result<Answer, Error> {
    let failed = |error: io::Error| CANNOT_LINK.error(error.to_string());
    let program = env::current_exe().and_then(fs::canonicalize).map_err(failed)?;
    let dir = match dir {
        Some(dir) => dir,
        None => program.parent().map(Path::to_owned).unwrap_or_default(),
    };
    if !remove {
        fs::create_dir_all(&dir).map_err(failed)?;
    }
    let dir = fs::canonicalize(&dir).map_err(failed)?;
    let mut present = vec![];
    let mut missing = vec![];
    for name in names() {
        let path = dir.join(&name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push((name, path)),
            Err(error) => return Err(failed(error)),
            Ok(_) if fs::canonicalize(&path).is_ok_and(|target| target == program) => present.push((name, path)),
            // An older version of this program, or a tool that was installed by itself.
            Ok(_) if remove => {}
            Ok(_) => {
                return Err(FILE_EXISTS
                    .error(format!("{} exists and is not a link to this program", path.display()))
                    .detail("path", path.to_string_lossy()));
            }
        }
    }
    let change: fn(&Path, &Path) -> io::Result<()> = if remove { |_, path| fs::remove_file(path) } else { link };
    let unchanged = present.len();
    let changed = if remove { present } else { missing };
    for (_, path) in &changed {
        change(&program, path).map_err(|error| failed(io::Error::other(format!("{}: {error}", path.display()))))?;
    }
    Ok(Answer { dir, links: changed.into_iter().map(|(name, _)| name).collect(), unchanged })
}

/// The names of the executables that this one contains.
fn names() -> impl Iterator<Item = String> {
    let tools = TOOLS.iter().map(|tool| tool.command.to_owned());
    let hosts = HOSTS.iter().map(|host| format!("ragmaker-{}", host.name));
    tools.chain(hosts).map(|name| name + env::consts::EXE_SUFFIX)
}

#[cfg(unix)]
fn link(program: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, path)
}

/// Symbolic links need a privilege on Windows.
#[cfg(windows)]
fn link(program: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(program, path).or_else(|_| fs::copy(program, path).map(drop))
}
