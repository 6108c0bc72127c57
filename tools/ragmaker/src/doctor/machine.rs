//! The machine: other programs, where files can be written, confinement, and the clients that are set up.

use std::{io, path::Path, time::Instant};

use ragmaker_confine::Policy;
use ragmaker_fs::{LockKind, lock_within};
use ragmaker_project::{Project, programs::on_path};
use ragmaker_tool::Error;

use super::Check;
use crate::{
    connect::{CLIENTS, Change, Client, Folders, Planned, Records, Server},
    link, this_program,
};

pub(super) fn checks(project: Result<&Project, &Error>) -> Vec<Check> {
    let mut checks = vec![
        program("pdftotext", "reads PDFs", "Install poppler-utils (Debian, Fedora) or poppler (Arch, Homebrew)."),
        program("git", "fetches repositories", "Install git."),
        search_path(),
    ];
    checks.extend(shadowing());
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
    let Ok(this) = this_program::path() else {
        return Check::note(NAME, "the path of this program is not known", "Start it by its path.");
    };
    let folder = this.parent().unwrap_or(&this).display();
    match on_path("ragmaker") {
        Some(path) if this_program::is_at(&path, &this).unwrap_or_default() => {
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

/// The executables on PATH with the names of tools that are not this program, such as those of an older installation.
fn shadowing() -> Option<Check> {
    let this = this_program::path().ok()?;
    let is_other = |path: &std::path::PathBuf| !this_program::is_at(path, &this).unwrap_or_default();
    let others: Vec<_> = link::names().filter_map(|name| on_path(&name)).filter(is_other).collect();
    let first = others.first()?.display();
    let found = match others.len() {
        1 => format!("{first} is another program than this one"),
        number => format!("{first} and {} other tools on PATH are other programs than this one", number - 1),
    };
    let advice = "They may be of another version: remove them. ragmaker link makes links to this program.";
    Some(Check::note("tools", found, advice))
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
    let layers = match ragmaker_confine::probe(&Policy { roots: roots.clone(), writable: roots, ..Policy::default() }) {
        Ok(layers) => layers,
        Err(error) => {
            return Check::note(
                NAME,
                format!("run-command does not work here: {error}"),
                "If the reason is the path of the project, rename its folder, or work in another one.",
            );
        }
    };
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
    let (Ok(folders), Ok(records)) = (Folders::of_user(), Records::of_user()) else { return vec![] };
    let Ok(servers) = [false, true].map(Server::of_process).into_iter().collect::<Result<Vec<_>, _>>() else {
        return vec![];
    };
    let installed = CLIENTS.iter().filter(|client| client.programs.iter().any(|program| on_path(program).is_some()));
    installed
        .map(|client| {
            let advice =
                format!("Run ragmaker connect {}, unless a plugin or a project's file sets it up.", client.name);
            let files = client.files(&folders, &servers[0]);
            match files.first().map_or(Ok(None), Planned::command) {
                Ok(Some(command)) if Path::new(&command).is_file() || on_path(&command).is_some() => {
                    if servers.iter().any(|server| is_as_written(client, &folders, server, &records)) {
                        return Check::ok(client.title, format!("starts {command}"));
                    }
                    Check::note(
                        client.title,
                        format!("starts {command}, but a file is not as this version of ragmaker writes it"),
                        format!("Run ragmaker connect {}, which shows what it would change.", client.name),
                    )
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

/// Whether the files of `client` are as they are written for `server`. What the person wrote themselves does not count.
fn is_as_written(client: &Client, folders: &Folders, server: &Server, records: &Records) -> bool {
    client.files(folders, server).into_iter().all(|file| match file.change(records, false, false) {
        Ok(change) => !change.as_ref().is_some_and(Change::is_written),
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

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
