//! Which repositories may be read: for a model, local repositories only in the project and the allowed roots.

use std::path::Path;

use ragmaker_address::{Domains, Network};
use ragmaker_files::{PATH_NOT_ALLOWED, Roots};
use ragmaker_git::{Address, Storage};
use ragmaker_tool::{ARGUMENT_ERROR, Caller, Error, Invocation};
use url::Url;

/// The repository address of an argument `--repo-url`, if it may be read.
///
/// # Errors
///
/// Those of [`Address::parse`]; the codes of [`ragmaker_address::ERRORS`] for a host; those of
/// [`ragmaker_files::PATH_ERRORS`] for the path of a model.
pub fn address(text: &str, invocation: &Invocation) -> Result<Address, Error> {
    let address = checked(Address::parse(text)?, invocation)?;
    let Some(named) = address.local_path().filter(|_| invocation.caller == Caller::Model) else { return Ok(address) };
    let roots = Roots::discover(&invocation.host)?;
    // A relative path of a model starts at the project.
    let given =
        if Path::new(text.trim()).is_absolute() || text.contains("://") { named } else { Path::new(text.trim()) };
    let path = roots.place(&given.to_string_lossy())?.path();
    let storage = Storage::of(&path)?;
    for place in storage.places() {
        roots.place(&place.to_string_lossy()).map_err(|error| {
            PATH_NOT_ALLOWED
                .error(format!(
                    "the repository at {} stores its content elsewhere: {}",
                    path.display(),
                    error.message()
                ))
                .remedy("Ask the user to allow that place with --allow-root, or to clone the repository.")
                .detail("path", place.to_string_lossy())
        })?;
    }
    Ok(Address::checked(&path, storage))
}

/// Refuses a repository on a host that may not be visited. Where this is decided by the host, the server must not send
/// Git on to another one.
fn checked(address: Address, invocation: &Invocation) -> Result<Address, Error> {
    let Some(host) = address.host() else { return Ok(address) };
    let (domains, network) = (Domains::new(&invocation.host.allow_domain)?, Network::of_browser(&invocation.host));
    // Whatever Git speaks with it, it is the host that is allowed or not.
    let url = Url::parse(&format!("https://{host}/")).map_err(|error| {
        ARGUMENT_ERROR.error(format!("{host} is not a host name: {error}")).detail("argument", "--repo-url")
    })?;
    domains.check(&url)?;
    network.check_resolved(&url)?;
    Ok(if domains.are_all() && network.is_all() { address } else { address.without_redirects() })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf, process::Command};

    use ragmaker_tool::HostOptions;

    use super::*;

    /// A folder with the repositories `project/inner` and `outside`, and `project/linked`, a work tree of `outside`.
    fn folder() -> (tempfile::TempDir, PathBuf, Invocation) {
        let temp = tempfile::tempdir().unwrap();
        let top = ragmaker_fs::canonicalize(temp.path()).unwrap();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=x", "-c", "user.email=x@x.example"];
            let status = Command::new("git").args(identity).args(arguments).current_dir(&top).output().unwrap().status;
            assert!(status.success(), "{arguments:?}");
        };
        fs::create_dir_all(top.join("project/.ragmaker")).unwrap();
        for repository in ["project/inner", "outside"] {
            git(&["init", "--quiet", repository]);
        }
        git(&["-C", "outside", "commit", "--quiet", "--allow-empty", "--message", "a"]);
        git(&["-C", "outside", "worktree", "add", "--quiet", "../project/linked"]);
        let host =
            HostOptions { project_root: top.join("project").to_str().map(str::to_owned), ..HostOptions::default() };
        (temp, top, Invocation { host, caller: Caller::Model, ..Invocation::default() })
    }

    #[test]
    fn a_model_reads_local_repositories_of_the_project_only() {
        let (_temp, top, model) = folder();
        let at = |text: &str| address(text, &model).map(|address| address.local_path().unwrap().to_path_buf());
        let inner = top.join("project/inner");
        for text in ["inner", "./inner", inner.to_str().unwrap(), &format!("file://{}", inner.display())] {
            assert_eq!(at(text).unwrap(), inner, "{text}");
        }
        let outside = top.join("outside");
        for text in ["../outside", outside.to_str().unwrap(), &format!("file://{}", outside.display())] {
            assert!(at(text).unwrap_err().is(PATH_NOT_ALLOWED), "{text}");
        }
        // Its content is in another place than its path.
        let error = at("linked").unwrap_err();
        assert!(error.is(PATH_NOT_ALLOWED) && error.message().contains("stores its content elsewhere"), "{error}");
        let person = Invocation { caller: Caller::Person, ..model.clone() };
        assert!(address(outside.to_str().unwrap(), &person).is_ok());
    }

    #[test]
    fn the_host_of_a_repository_is_one_that_may_be_visited() {
        let allowing = |domains: &[&str]| {
            let allow_domain = domains.iter().map(|domain| (*domain).to_owned()).collect();
            Invocation { host: HostOptions { allow_domain, ..HostOptions::default() }, ..Invocation::default() }
        };
        for text in ["https://evil.example/a/b", "git@evil.example:a/b.git", "ssh://git@evil.example/a"] {
            let error = address(text, &allowing(&["x.example"])).unwrap_err();
            assert!(ragmaker_address::ERRORS.iter().any(|code| error.is(*code)), "{text}: {error}");
        }
        for text in ["ext::sh -c id", "--upload-pack=id", ""] {
            assert!(address(text, &allowing(&[])).is_err(), "{text}");
        }
    }
}
