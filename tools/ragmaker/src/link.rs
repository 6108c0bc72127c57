//! `ragmaker link`: a link to this executable for each tool, under the tool's own name.

use std::{
    env,
    ffi::OsString,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use argh::{ArgsInfo, FromArgs};
use ragmaker_registry::TOOLS;
use ragmaker_tool::{Code, Error, Usage, choice};
use serde::Serialize;

use crate::{
    command::HOSTS,
    form::{FORMS, Form, arguments, as_text},
    this_program,
};

/// Create a link to this executable for each tool, so that a tool can be called by its own name.
#[derive(FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
struct Arguments {
    /// folder for the links; created if missing (default: the folder of this executable)
    #[argh(option)]
    dir: Option<PathBuf>,
    /// remove the links instead
    #[argh(switch)]
    remove: bool,
    /// text (the default) or json
    #[argh(option, default = "Form::default()", from_str_fn(choice))]
    output: Form,
}

/// The links that were changed.
#[derive(Serialize)]
struct Answer {
    /// The folder of the links.
    #[serde(serialize_with = "as_text")]
    dir: PathBuf,
    /// The links that were made, or removed.
    links: Vec<String>,
    /// The number of links that were there already.
    unchanged: usize,
    /// The files of these names that are not such links. They stay.
    kept: Vec<String>,
}

const CANNOT_LINK: Code = Code::new("CANNOT_LINK", "Choose a folder that you may write to with --dir DIR.");

/// The command line.
pub(crate) fn usage() -> Usage {
    Usage::of_program::<Arguments>(&[]).with_choices("--output", FORMS)
}

/// Runs the command.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let (Arguments { dir, remove, output }, _) = match arguments("link", words, &[]) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    output.end(run(dir, remove), |answer| {
        let done = if remove { "removed" } else { "made" };
        let mut text = format!("{done} {} links in {}", answer.links.len(), answer.dir.display());
        if !remove {
            let _ = write!(text, ", {} unchanged", answer.unchanged);
        }
        if !answer.kept.is_empty() {
            let _ = write!(text, "\nkept, because they are not such links: {}", answer.kept.join(", "));
        }
        text + "\n"
    })
}

/// The file at the path of a link.
enum Found {
    Nothing,
    /// A link to this program, or a copy of it.
    Link,
    /// A link to this program at another place, or to nothing.
    Outdated,
    Other,
}

fn run(dir: Option<PathBuf>, remove: bool) -> Result<Answer, Error> {
    let failed = |path: &Path, error: io::Error| CANNOT_LINK.error(format!("{}: {error}", path.display()));
    let program = this_program::path()
        .map_err(|error| CANNOT_LINK.error(format!("the path of this program is not known: {error}")))?;
    let dir = match dir {
        Some(dir) => dir,
        None => program.parent().map(Path::to_owned).unwrap_or_default(),
    };
    if !remove {
        fs::create_dir_all(&dir).map_err(|error| failed(&dir, error))?;
    }
    let dir = match ragmaker_fs::canonicalize(&dir) {
        // A folder that does not exist has no links.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Answer { dir, links: vec![], unchanged: 0, kept: vec![] });
        }
        found => found.map_err(|error| failed(&dir, error))?,
    };
    if !dir.is_dir() {
        return Err(failed(&dir, io::ErrorKind::NotADirectory.into()));
    }
    let mut answer = Answer { dir, links: vec![], unchanged: 0, kept: vec![] };
    for name in names().map(|name| name + env::consts::EXE_SUFFIX) {
        let path = answer.dir.join(&name);
        let named = |error: io::Error| failed(&path, error);
        match (found(&path, &program).map_err(named)?, remove) {
            (Found::Other, _) => answer.kept.push(name),
            (Found::Link, false) => answer.unchanged += 1,
            (Found::Nothing, true) => {}
            (Found::Link | Found::Outdated, true) => {
                fs::remove_file(&path).map_err(named)?;
                answer.links.push(name);
            }
            (found, false) => {
                if matches!(found, Found::Outdated) {
                    fs::remove_file(&path).map_err(named)?;
                }
                match link(&program, &path) {
                    // Another run was faster.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => answer.unchanged += 1,
                    made => made.map(|()| answer.links.push(name)).map_err(named)?,
                }
            }
        }
    }
    Ok(answer)
}

fn found(path: &Path, program: &Path) -> io::Result<Found> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(error),
        Ok(data) if data.is_symlink() => Ok(match ragmaker_fs::canonicalize(path) {
            Ok(target) if target == program => Found::Link,
            Err(_) => Found::Outdated,
            Ok(target) if target.file_name() == program.file_name() => Found::Outdated,
            Ok(_) => Found::Other,
        }),
        // Windows has hard links or copies.
        Ok(_) => Ok(if this_program::is_at(path, program)? { Found::Link } else { Found::Other }),
    }
}

/// The names of the executables that this one contains.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let tools = TOOLS.iter().map(|tool| tool.command.to_owned());
    let hosts = HOSTS.iter().map(|host| format!("ragmaker-{}", host.name));
    tools.chain(hosts)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_once_and_only_links_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("bin");
        let act = |remove| run(Some(dir.clone()), remove).unwrap();
        let all: Vec<_> = names().collect();
        let made = act(false);
        assert_eq!((&made.links, made.unchanged), (&all, 0));
        assert_eq!((act(false).links.len(), act(false).unchanged), (0, all.len()));
        let program = env::current_exe().and_then(fs::canonicalize).unwrap();
        // A person's own file, a link to an older place of this program, and one to another program.
        let at = |index: usize| dir.join(&all[index]);
        for index in 0..3 {
            fs::remove_file(at(index)).unwrap();
        }
        fs::write(at(0), "#!/bin/sh\n").unwrap();
        link(&folder.path().join("gone").join(program.file_name().unwrap()), &at(1)).unwrap();
        link(Path::new("/bin/sh"), &at(2)).unwrap();
        let again = act(false);
        assert_eq!((again.links, again.kept), (vec![all[1].clone()], vec![all[0].clone(), all[2].clone()]));
        assert_eq!(fs::canonicalize(at(1)).unwrap(), program);
        let removed = act(true);
        assert_eq!((removed.links.len(), removed.kept.len()), (all.len() - 2, 2));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
        assert!(act(true).links.is_empty());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(run(Some(folder.path().join("file/bin")), false).err().unwrap().is(CANNOT_LINK));
        assert!(run(Some(folder.path().join("file")), true).err().unwrap().is(CANNOT_LINK));
        assert!(run(Some(folder.path().join("none")), true).unwrap().links.is_empty());
    }
}
