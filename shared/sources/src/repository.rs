//! Which repositories may be read: for a model, local repositories only in the project and the allowed roots.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ragmaker_address::{Domains, Network};
use ragmaker_files::{PATH_NOT_ALLOWED, Roots};
use ragmaker_git::Address;
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, Invocation};
use url::Url;

/// The repository address of an argument `--repo-url`, if it may be read.
///
/// # Errors
///
/// Those of [`Address::parse`]; the codes of [`ragmaker_address::ERRORS`] for a host; those of
/// [`ragmaker_files::PATH_ERRORS`] for the path of a model.
pub fn address(text: &str, invocation: &Invocation) -> Result<Address, Error> {
    let address = Address::parse(text)?;
    check_host(&address, invocation)?;
    let Some(named) = address.local_path().filter(|_| invocation.caller == Caller::Model) else { return Ok(address) };
    let roots = Roots::discover(&invocation.host)?;
    // A relative path of a model starts at the project.
    let given =
        if Path::new(text.trim()).is_absolute() || text.contains("://") { named } else { Path::new(text.trim()) };
    let path = roots.place(&given.to_string_lossy())?.path();
    for folder in storage(&path) {
        roots.place(&folder.to_string_lossy()).map_err(|error| {
            PATH_NOT_ALLOWED
                .error(format!("the repository at {} keeps its content elsewhere: {}", path.display(), error.message()))
                .remedy("Ask the user to allow that folder with --allow-root, or to clone the repository.")
                .detail("path", folder.to_string_lossy())
        })?;
    }
    Ok(address.at(&path))
}

/// Refuses a repository on a host that may not be visited.
fn check_host(address: &Address, invocation: &Invocation) -> Result<(), Error> {
    let Some(host) = address.host() else { return Ok(()) };
    let domains = Domains::new(&invocation.host.allow_domain)?;
    // Whatever Git speaks with it, it is the host that is allowed or not.
    match Url::parse(&format!("https://{host}/")) {
        Ok(url) => domains.check(&url).and_then(|()| Network::of_browser(&invocation.host).check_resolved(&url)),
        Err(error) => {
            Err(ARGUMENT_ERROR.error(format!("{host} is not a host name: {error}")).detail("argument", "--repo-url"))
        }
    }
}

/// The folders that Git would read for the repository at `path`: those of work trees and of borrowed objects
/// may be anywhere.
fn storage(path: &Path) -> Vec<PathBuf> {
    let line = |file: PathBuf| fs::read_to_string(file).ok();
    let inner = path.join(".git");
    let git = match line(inner.clone()) {
        Some(text) => text.strip_prefix("gitdir:").map(|folder| path.join(folder.trim())).unwrap_or_default(),
        None if inner.is_dir() => inner,
        None => path.to_owned(),
    };
    let common = line(git.join("commondir")).map(|folder| git.join(folder.trim()));
    let mut folders = vec![git];
    folders.extend(common);
    let mut at = 0;
    while at < folders.len() && folders.len() < 64 {
        // Borrowed objects may be borrowed in turn.
        let objects = folders[at].join("objects");
        let objects = if objects.is_dir() { objects } else { folders[at].clone() };
        let borrowed = line(objects.join("info/alternates")).unwrap_or_default();
        let borrowed: Vec<PathBuf> = borrowed.lines().map(|folder| objects.join(folder)).collect();
        for folder in borrowed.into_iter().chain([objects]) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        at += 1;
    }
    folders.retain(|folder| folder.exists());
    folders
}
