//! Servers of this machine, which are reached without the proxy: it cannot reach them, and many environments name one
//! without `NO_PROXY`.

use url::{Host, Url};

/// Whether the host of `url` is this machine.
pub fn is_on_this_machine(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_this_machine_are_recognised() {
        for (url, expected) in [
            ("http://127.0.0.1:11434/v1", true),
            ("http://LocalHost:8080/v1", true),
            ("http://[::1]:8080/v1", true),
            ("http://192.168.0.2:8080/v1", false),
            ("https://api.openai.com/v1", false),
            ("not a URL", false),
        ] {
            assert_eq!(is_on_this_machine(url), expected, "{url}");
        }
    }
}
