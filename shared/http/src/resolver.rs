//! Name resolution that refuses private machines.
//!
//! The connection uses the addresses that this resolver returns, so a name that resolves differently a moment later has
//! no effect. A name is refused if any of its addresses is refused.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use ragmaker_address::Network;
use ureq::{
    Error,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::NextTimeout,
    },
};

/// Resolves names as the system does, within a [`Network`].
#[derive(Debug)]
pub(crate) struct CheckedResolver {
    pub(crate) network: Network,
    /// The host and port of the proxy. The person who runs the tool chose the proxy, so the addresses that it connects
    /// to are not checked.
    pub(crate) proxy: Option<(String, u16)>,
    pub(crate) inner: DefaultResolver,
}

/// A name resolves to an address that may not be reached.
#[derive(Debug)]
pub(crate) struct RefusedAddress(pub(crate) IpAddr);

impl fmt::Display for RefusedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a public address", self.0)
    }
}

impl std::error::Error for RefusedAddress {}

impl CheckedResolver {
    /// The first of `addresses` that a connection for `host` may not go to.
    fn refused(&self, host: &str, addresses: &[SocketAddr]) -> Option<IpAddr> {
        let is_proxy = |port| self.proxy.as_ref().is_some_and(|(name, own)| name == host && *own == port);
        let permits = |at: &SocketAddr| is_proxy(at.port()) || self.network.permits(host, at.port(), at.ip());
        addresses.iter().find(|at| !permits(at)).map(SocketAddr::ip)
    }
}

impl Resolver for CheckedResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let addresses = self.inner.resolve(uri, config, timeout)?;
        match self.refused(uri.host().unwrap_or_default(), &addresses) {
            Some(ip) => Err(Error::Other(Box::new(RefusedAddress(ip)))),
            None => Ok(addresses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn at(address: &str) -> SocketAddr {
        address.parse().unwrap()
    }

    #[test]
    fn one_private_address_refuses_the_name() {
        let proxy = Some(("proxy.corp".to_owned(), 3128));
        let mut checked = CheckedResolver { network: Network::default(), proxy, inner: DefaultResolver::default() };
        let public = at("1.1.1.1:80");
        assert_eq!(checked.refused("x.example", &[public]), None);
        for private in ["127.0.0.1:80", "10.0.0.1:80", "169.254.169.254:80", "[::1]:80", "[fd00::1]:80"].map(at) {
            assert_eq!(checked.refused("x.example", &[public, private]), Some(private.ip()));
        }
        assert_eq!(checked.refused("proxy.corp", &[at("10.0.0.9:3128")]), None);
        assert!(checked.refused("proxy.corp", &[at("10.0.0.9:80")]).is_some());
        checked.network = Network::default().with(&Url::parse("http://localhost:8000/").unwrap());
        assert_eq!(checked.refused("localhost", &[at("127.0.0.1:8000"), at("[::1]:8000")]), None);
        assert!(checked.refused("localhost", &[at("127.0.0.1:8001")]).is_some());
        assert!(checked.refused("rebound.example", &[at("127.0.0.1:8000")]).is_some());
    }
}
