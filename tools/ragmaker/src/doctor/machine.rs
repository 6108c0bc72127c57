//! The machine: other programs, where files can be written, confinement, and the clients that are set up.

use std::{env, fs, io, path::Path, time::Instant};

use ragmaker_confine::Policy;
use ragmaker_fs::{LockKind, lock_within};
use ragmaker_project::{Project, programs::on_path};
use ragmaker_tool::Error;

use super::Check;
use crate::connect::{CLIENTS, Folders, Planned, Server};

pub(super) fn checks(project: Result<&Project, &Error>) -> Vec<Check> {
    let mut checks = vec![
        program("pdftotext", "reads PDFs", "Install poppler-utils (Debian, Fedora) or poppler (Arch, Homebrew)."),
        program("git", "fetches repositories", "Install git."),
        search_path(),
    ];
    checks.push(match project {
        Ok(project) => writing(project),
        Err(error) => Check::failed("project", error),
    });
    checks.push(confinement(project.ok()));
    checks.extend(clients());
    checks
}

fn program(name: &'static str, purpose: &str, advice: &str) -> Check {
    match on_path(name) {
        Some(path) => Check::ok(name, format!("{purpose} ({})", path.display())),
        None => Check::note(name, format!("it is missing; it {purpose}"), advice),
    }
}

/// Whether `ragmaker` can be called by its name.
fn search_path() -> Check {
    const NAME: &str = "PATH";
    let this = env::current_exe().and_then(fs::canonicalize);
    let Ok(this) = this else {
        return Check::note(NAME, "the path of this program is not known", "Start it by its path.");
    };
    let folder = this.parent().unwrap_or(&this).display();
    match on_path("ragmaker") {
        Some(path) if ragmaker_fs::canonicalize(&path).is_ok_and(|path| path == this) => {
            Check::ok(NAME, format!("ragmaker is {}", path.display()))
        }
        Some(path) => Check::note(
            NAME,
            format!("ragmaker on PATH is another program: {}", path.display()),
            format!("Remove it, or put {folder} before its folder on PATH."),
        ),
        None => Check::note(NAME, "ragmaker is not on PATH", format!("Add {folder} to PATH.")),
    }
}

/// Whether the project's cache folder can be written and locked.
fn writing(project: &Project) -> Check {
    const NAME: &str = "project";
    let root = project.root().display();
    let attempt = || -> io::Result<bool> {
        // A new file, which is removed again. A check makes no folder.
        let cache = project.cache_folder();
        let folder = if cache.is_dir() { &cache } else { project.root() };
        let file = tempfile::Builder::new().prefix(".ragmaker-doctor-").tempfile_in(folder)?;
        Ok(lock_within(file.reopen()?, LockKind::Exclusive, Instant::now())?.is_some())
    };
    match attempt() {
        Ok(true) => Check::ok(NAME, format!("{root} can be written, and files can be locked there")),
        Ok(false) => Check::problem(NAME, format!("a new file in {root} is locked"), "Use a file system with locks."),
        Err(error) => Check::problem(
            NAME,
            format!("{root} cannot be written, or has no file locks: {error}"),
            "Make the folder writable, or name another project with --project-root. Network file systems may lack locks.",
        ),
    }
}

/// The confinement of the commands of `run-command`.
fn confinement(project: Option<&Project>) -> Check {
    const NAME: &str = "confinement";
    let roots = project.map(|project| vec![project.root().to_owned()]).unwrap_or_default();
    let layers = ragmaker_confine::probe(&Policy { roots: roots.clone(), writable: roots, ..Policy::default() });
    let missing = layers.missing();
    if missing.is_empty() {
        return Check::ok(NAME, "run-command confines commands to the project");
    }
    Check::note(
        NAME,
        format!("run-command confines commands only in part: {}", missing.join("; ")),
        "Use a kernel with Landlock (5.13) and user namespaces; commands need approval in any case.",
    )
}

/// The installed clients, and whether they use the tools.
fn clients() -> Vec<Check> {
    let (Ok(folders), Ok(server)) = (Folders::of_user(), Server::of_process(false)) else { return vec![] };
    let installed = CLIENTS.iter().filter(|client| client.programs.iter().any(|program| on_path(program).is_some()));
    installed
        .map(|client| {
            let advice =
                format!("Run ragmaker connect {}, unless a plugin or a project's file sets it up.", client.name);
            let files = client.files(&folders, &server);
            match files.first().map_or(Ok(None), Planned::command) {
                Ok(Some(command)) if Path::new(&command).is_file() || on_path(&command).is_some() => {
                    Check::ok(client.title, format!("starts {command}"))
                }
                Ok(Some(command)) => {
                    Check::problem(client.title, format!("starts {command}, which does not exist"), advice)
                }
                Ok(None) => Check::note(client.title, "is installed; its configuration does not name ragmaker", advice),
                Err(error) => Check::note(client.title, error.message(), error.remediation()),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn a_missing_program_is_a_note_with_its_purpose() {
        let check = program("ragmaker-no-such-program", "reads PDFs", "Install it.");
        assert_eq!((check.status, check.found.as_str()), (Status::Note, "it is missing; it reads PDFs"));
        assert_eq!(check.advice.as_deref(), Some("Install it."));
    }

    #[test]
    fn a_project_is_written_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::discover(folder.path().to_str()).unwrap();
        let check = writing(&project);
        assert_eq!((check.status, check.advice), (Status::Ok, None), "{}", check.found);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::remove_dir(folder.path()).unwrap();
        let gone = writing(&project);
        assert!(gone.status == Status::Problem && gone.found.contains("cannot be written"), "{}", gone.found);
    }
}
