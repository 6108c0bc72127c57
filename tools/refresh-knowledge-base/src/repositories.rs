//! Documents from Git repositories.

use ragmaker_address::Network;
use ragmaker_catalog::DocumentSource;
use ragmaker_git::{Address, Repository, resolve};
use ragmaker_ingest::{Run, Store};
use ragmaker_sources::{Tree, address, unchanged};
use ragmaker_tool::{Error, Invocation};

use url::Url;

use crate::failed;

/// Compares the documents at `urls`, which came from `reference` of `repository`, with the current commit of this
/// reference.
pub(crate) fn refresh(
    repository: &str,
    reference: Option<&str>,
    urls: &[String],
    store: &mut Store<'_>,
    run: &mut Run,
    invocation: &Invocation,
) -> Result<(), Error> {
    let checked =
        address(repository, invocation).and_then(|address| check_network(&address, invocation).map(|()| address));
    let address = match checked {
        Ok(address) => address,
        Err(error) => return failed(urls, &error, run),
    };
    // One question, of which the answer is mostly that nothing has changed.
    let now = match resolve(&address, reference) {
        Ok(now) => now.commit,
        // A repository that cannot be reached, or is private now, takes nothing out.
        Err(error) => return failed(urls, &error, run),
    };
    let is_at = |url: &String| {
        let listed = store.known(url);
        let Some(DocumentSource::Git { commit, .. }) = listed.and_then(|listed| listed.source.as_ref()) else {
            return false;
        };
        *commit == now && listed.and_then(|listed| store.file_of(listed)).is_some()
    };
    if urls.iter().all(is_at) {
        return urls.iter().try_for_each(|url| {
            let page = unchanged(url, store);
            run.end(page, ())
        });
    }
    match Repository::open(&address, reference) {
        Ok(repository) => Tree { address: &address, repository: &repository, path: "" }.refresh(urls, store, run),
        Err(error) => failed(urls, &error, run),
    }
}

/// Refuses a repository on a host in a private network, unless the host of the call allows it.
fn check_network(address: &Address, invocation: &Invocation) -> Result<(), Error> {
    let url = address.host().and_then(|host| Url::parse(&format!("https://{host}/")).ok());
    url.map_or(Ok(()), |url| Network::new(&invocation.host).check_resolved(&url))
}

#[cfg(test)]
mod tests {
    use ragmaker_tool::HostOptions;

    use super::*;

    #[test]
    fn a_catalog_leads_to_no_host_in_a_private_network() {
        let checked = |repository: &str, allow_private: bool| {
            let host = HostOptions { allow_private, ..HostOptions::default() };
            let invocation = Invocation { host, ..Invocation::default() };
            check_network(&Address::parse(repository).unwrap(), &invocation)
        };
        for repository in
            ["https://127.0.0.1/a/b", "https://[::1]/a/b", "http://10.1.2.3:3000/a.git", "ssh://git@192.168.0.1/a/b"]
        {
            assert!(checked(repository, false).is_err(), "{repository}");
            assert!(checked(repository, true).is_ok(), "{repository}");
        }
        assert!(checked("https://1.1.1.1/a/b", false).is_ok());
    }
}
