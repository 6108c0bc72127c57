//! Which machines may be reached: public ones, and private ones that the caller named or the host allowed.
//!
//! A page on the web can name any address, also those of this machine, of its network and of its cloud provider. The
//! address of the connection decides, not the spelling of the URL: [`Network::check`] checks numeric hosts, and the
//! code that connects calls [`Network::permits`] for each address to which a host name resolves.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

use ragmaker_tool::{Code, Error, HostOptions};
use url::{Host, Url};

/// The address is of this machine, of a private network or of a cloud's metadata.
pub const ADDRESS_NOT_ALLOWED: Code = Code::new(
    "ADDRESS_NOT_ALLOWED",
    "Give a public address. Whoever runs the tool can allow private ones with its host options.",
);

/// The machines that may be reached.
#[derive(Clone, Debug, Default)]
pub struct Network {
    all: bool,
    named: Option<(Host, u16)>,
}

impl Network {
    /// The public machines; all where the host of the call allows private ones.
    pub fn new(host: &HostOptions) -> Self {
        Self { all: host.allow_private && !host.public_only, named: None }
    }

    /// Every machine.
    pub fn all() -> Self {
        Self { all: true, named: None }
    }

    /// The machines that a browser may reach: all, or only the public ones if the host of the call requires it.
    pub fn of_browser(host: &HostOptions) -> Self {
        Self { all: !host.public_only, named: None }
    }

    /// Whether no machine is refused.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Also permits the host and port of `given`, if that URL names a private machine by number or as `localhost`.
    /// Link-local addresses and metadata addresses of clouds stay refused.
    #[must_use]
    pub fn with(mut self, given: &Url) -> Self {
        let names_private = match given.host() {
            Some(Host::Domain(name)) => is_localhost(name),
            Some(Host::Ipv4(ip)) => !is_public(ip.into()) && !is_reserved(ip.into()),
            Some(Host::Ipv6(ip)) => !is_public(ip.into()) && !is_reserved(ip.into()),
            None => false,
        };
        let named = given.host().map(|host| host.to_owned()).zip(given.port_or_known_default());
        self.named = named.filter(|_| names_private);
        self
    }

    /// Whether a private machine was named, or all are allowed: what it answers is not of the public web.
    pub fn reaches_private(&self) -> bool {
        self.all || self.named.is_some()
    }

    /// Refuses a URL whose host is the number of a machine that may not be reached.
    ///
    /// # Errors
    ///
    /// [`ADDRESS_NOT_ALLOWED`].
    pub fn check(&self, url: &Url) -> Result<(), Error> {
        let ip: IpAddr = match url.host() {
            Some(Host::Ipv4(ip)) => ip.into(),
            Some(Host::Ipv6(ip)) => ip.into(),
            _ => return Ok(()),
        };
        let port = url.port_or_known_default().unwrap_or_default();
        if self.permits(url.host_str().unwrap_or_default(), port, ip) { Ok(()) } else { Err(refused(url, ip)) }
    }

    /// Refuses a URL whose host is a machine that may not be reached, by its number or by any address to which its name
    /// resolves. A name that this machine cannot resolve is not refused, because a proxy may resolve it.
    ///
    /// # Errors
    ///
    /// [`ADDRESS_NOT_ALLOWED`].
    pub fn check_resolved(&self, url: &Url) -> Result<(), Error> {
        if self.all {
            return Ok(());
        }
        self.check(url)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        let port = url.port_or_known_default().unwrap_or_default();
        let Ok(mut addresses) = (name, port).to_socket_addrs() else { return Ok(()) };
        let private = addresses.find(|at| !self.permits(name, port, at.ip()));
        private.map_or(Ok(()), |at| Err(refused(url, at.ip())))
    }

    /// Whether a connection for `host`, as a URL spells it, and `port` may go to `ip`.
    pub fn permits(&self, host: &str, port: u16, ip: IpAddr) -> bool {
        self.all
            || is_public(ip)
            || self.named.as_ref().is_some_and(|(named, named_port)| {
                let is_it = Host::parse(host).is_ok_and(|host| host == *named) && port == *named_port;
                is_it
                    && match named {
                        Host::Domain(_) => ip.is_loopback(),
                        Host::Ipv4(named) => ip == *named,
                        Host::Ipv6(named) => ip == *named,
                    }
            })
    }
}

/// The error for a URL whose host is at `ip`, which may not be reached.
pub fn refused(url: &Url, ip: IpAddr) -> Error {
    let shown: String = url.as_str().chars().take(200).collect();
    ADDRESS_NOT_ALLOWED
        .error(format!("{} is not a public address ({ip})", url.host_str().unwrap_or_default()))
        .detail("url", shown)
        .detail("address", ip.to_string())
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// Addresses that no URL of a caller opens either: link-local ones, where clouds keep the credentials of their
/// machines, and the other places that they use for it.
fn is_reserved(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_link_local() || ip == Ipv4Addr::new(100, 100, 100, 200) || ip == Ipv4Addr::new(192, 0, 0, 192)
        }
        IpAddr::V6(ip) => {
            let [a, b, ..] = ip.segments();
            a & 0xffc0 == 0xfe80 || (a, b) == (0xfd00, 0xec2) || embedded(ip).is_some_and(|ip| is_reserved(ip.into()))
        }
    }
}

/// Whether an address is of the public internet: the special-purpose ranges of IANA's registries (RFC 6890) are not.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(a == 0
        || a >= 224
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || (a == 100 && b & 0xc0 == 64)
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && b & 0xfe == 18))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(ip) {
        return is_public_v4(inner);
    }
    let [a, b, ..] = ip.segments();
    // Only 2000::/3 is given out, and of that not protocol assignments, documentation and 3fff::/20.
    a & 0xe000 == 0x2000 && !(a == 0x2001 && (b < 0x200 || b == 0xdb8)) && !(a == 0x3fff && b < 0x1000)
}

/// The IPv4 address in an IPv6 address that is translated to it: mapped, NAT64, 6to4.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let four = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(four(high, low))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn private_machines_are_refused_in_every_spelling() {
        for spelling in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://0x7f.0.0.0x1:8080/",
            "http://１２７.0.0.1/",
            "http://127.0.0.1./",
            "http://0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.64.0.1/",
            "http://100.100.100.200/",
            "http://198.18.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]/",
            "http://[::]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fc00::1]/",
            "http://[ff02::1]/",
            "http://[2001:db8::1]/",
            "http://user:pass@127.0.0.1/",
        ] {
            let error = Network::default().check(&url(spelling)).unwrap_err();
            assert!(error.is(ADDRESS_NOT_ALLOWED), "{spelling}");
            assert!(Network::all().check(&url(spelling)).is_ok());
        }
        for public in
            ["http://1.1.1.1/", "http://[2606:4700::1111]/", "http://[64:ff9b::101:101]/", "http://x.example/"]
        {
            assert!(Network::default().check(&url(public)).is_ok(), "{public}");
        }
    }

    #[test]
    fn a_name_is_refused_by_what_it_stands_for() {
        let local = url("http://localhost:8000/");
        assert!(Network::default().check(&local).is_ok());
        assert!(Network::default().check_resolved(&local).unwrap_err().is(ADDRESS_NOT_ALLOWED));
        assert!(Network::default().check_resolved(&url("http://10.0.0.1/")).is_err());
        assert!(Network::default().with(&local).check_resolved(&local).is_ok());
        assert!(Network::default().check_resolved(&url("http://no-such-name.invalid/")).is_ok());
        let only = HostOptions { public_only: true, allow_private: true, ..HostOptions::default() };
        assert!(Network::of_browser(&HostOptions::default()).is_all());
        assert!(!Network::of_browser(&only).is_all() && !Network::new(&only).is_all());
    }

    #[test]
    fn a_private_machine_that_is_named_is_that_one_alone() {
        let network = Network::default().with(&url("http://127.0.0.1:8000/docs/"));
        assert!(network.check(&url("http://127.0.0.1:8000/other")).is_ok());
        for other in ["http://127.0.0.1:8001/", "http://127.0.0.1/", "http://127.0.0.2:8000/", "http://[::1]:8000/"] {
            assert!(network.check(&url(other)).is_err(), "{other}");
        }
        let loopback = "127.0.0.1".parse().unwrap();
        assert!(!network.permits("localhost", 8000, loopback));
        let local = Network::default().with(&url("http://localhost:8000/"));
        assert!(local.permits("localhost", 8000, loopback) && local.permits("localhost", 8000, "::1".parse().unwrap()));
        assert!(!local.permits("localhost", 8000, "10.0.0.1".parse().unwrap()));
        assert!(!local.permits("evil.example", 8000, loopback));
        let public = Network::default().with(&url("http://intranet.example/"));
        assert!(!public.permits("intranet.example", 80, loopback));
        for never in
            ["http://169.254.169.254/", "http://[fe80::1]/", "http://[::ffff:a9fe:a9fe]/", "http://100.100.100.200/"]
        {
            assert!(Network::default().with(&url(never)).check(&url(never)).is_err(), "{never}");
        }
    }

    proptest! {
        #[test]
        fn a_spelling_of_an_address_changes_nothing(bits: u32, form in 0..5_u8) {
            let ip = Ipv4Addr::from(bits);
            let [a, b, c, d] = ip.octets();
            let text = match form {
                0 => format!("http://{bits}/"),
                1 => format!("http://0x{bits:x}/"),
                2 => format!("http://0{a:o}.0x{b:x}.{c}.{d}/"),
                3 => format!("http://{a}.{b}.{}/", u32::from(c) << 8 | u32::from(d)),
                _ => format!("http://[::ffff:{a}.{b}.{c}.{d}]/"),
            };
            prop_assert_eq!(Network::default().check(&url(&text)).is_ok(), is_public(ip.into()));
        }

        #[test]
        fn what_is_public_in_one_family_is_in_the_other(bits: u32) {
            let ip = Ipv4Addr::from(bits);
            prop_assert_eq!(is_public(ip.into()), is_public(ip.to_ipv6_mapped().into()));
        }
    }
}
