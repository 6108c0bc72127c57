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
