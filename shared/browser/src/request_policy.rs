//! The check of each request of a page, when the host of the call refuses private machines or the caller has a rule.
//!
//! The browser pauses each request, including redirects, until this check has resolved the name of its host. The
//! browser then resolves the name again, so the address of a loaded document is checked once more. Requests of
//! `WebSockets`, and of a service worker that an earlier page installed, cannot be intercepted and are not checked.

use std::{cell::RefCell, collections::HashMap, env, fmt, net::IpAddr, rc::Rc};

use ragmaker_address::{Network, refused};
use ragmaker_tool::Error;
use url::Url;

/// The variables that configure a proxy, which connects instead of the browser.
const PROXIES: [&str; 6] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

type Refusal = dyn Fn(&Url, bool) -> Option<Error>;

/// A rule of the caller for the requests of a page.
#[derive(Clone)]
pub struct RequestRule(Rc<Refusal>);

impl RequestRule {
    /// The rule `refusal`: the reason why a request for a URL is refused, where `true` says that it is for the page
    /// itself and not for a part of it.
    pub fn new(refusal: impl Fn(&Url, bool) -> Option<Error> + 'static) -> Self {
        Self(Rc::new(refusal))
    }
}

impl fmt::Debug for RequestRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestRule")
    }
}

/// The restriction of the requests of a page.
#[derive(Debug)]
pub(crate) struct RequestPolicy {
    network: Network,
    rule: Option<RequestRule>,
    /// The results for each host and port.
    known: RefCell<HashMap<(String, u16), Option<Error>>>,
    /// The reason why the page itself was refused.
    page: RefCell<Option<Error>>,
}

impl RequestPolicy {
    /// `None` if all machines may be accessed and there is no rule.
    pub(crate) fn new(network: &Network, rule: Option<&RequestRule>) -> Option<Self> {
        let (known, page) = (RefCell::default(), RefCell::default());
        let is_restricted = !network.is_all() || rule.is_some();
        is_restricted.then(|| Self { network: network.clone(), rule: rule.cloned(), known, page })
    }

    /// Whether a request for `url` is refused. `is_page` says that it is for the page itself.
    pub(crate) fn refuses(&self, url: &str, is_page: bool) -> bool {
        // Data and blob URLs involve no machine.
        let Some(url) = Url::parse(url).ok().filter(Url::has_host) else { return false };
        let machine = (url.host_str().unwrap_or_default().to_owned(), url.port_or_known_default().unwrap_or_default());
        let mut known = self.known.borrow_mut();
        let refusal = known.entry(machine).or_insert_with(|| self.network.check_resolved(&url).err()).clone();
        let refusal = refusal.or_else(|| self.rule.as_ref()?.0(&url, is_page));
        if is_page && refusal.is_some() {
            self.page.replace(refusal);
            return true;
        }
        refusal.is_some()
    }

    /// The reason why the page was refused, if it was.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.page.take()
    }

    /// Refuses the page at `url` if it came from the private address `address`, as the protocol writes it.
    pub(crate) fn check(&self, url: &Url, address: Option<&str>) -> Result<(), Error> {
        self.network.check_resolved(url)?;
        let address = address.map(|address| address.trim_matches(['[', ']']));
        let Some(ip) = address.and_then(|address| address.parse::<IpAddr>().ok()) else { return Ok(()) };
        let is_proxied = PROXIES.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
        let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        if is_proxied || self.network.permits(host, port, ip) { Ok(()) } else { Err(refused(url, ip)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragmaker_address::ADDRESS_NOT_ALLOWED;

    #[test]
    fn resolved_names_and_page_addresses_are_checked() {
        assert!(RequestPolicy::new(&Network::all(), None).is_none());
        let policy = RequestPolicy::new(&Network::default(), None).unwrap();
        assert!(policy.refuses("http://127.0.0.1:9/a", false) && policy.refusal().is_none());
        assert!(policy.refuses("http://localhost:9/a", true));
        assert!(policy.refusal().unwrap().is(ADDRESS_NOT_ALLOWED) && policy.refusal().is_none());
        for url in ["data:text/plain,a", "blob:null/1", "http://1.1.1.1/", "about:blank"] {
            assert!(!policy.refuses(url, true), "{url}");
        }
        let url = Url::parse("http://1.1.1.1/").unwrap();
        assert!(policy.check(&url, Some("1.1.1.1")).is_ok() && policy.check(&url, None).is_ok());
        if env::var_os("http_proxy").is_none() {
            assert!(policy.check(&url, Some("[::1]")).is_err() && policy.check(&url, Some("10.0.0.1")).is_err());
        }
    }

    #[test]
    fn a_rule_holds_for_the_page_and_its_parts() {
        let rule = RequestRule::new(|url, is_page| {
            let is_refused = if is_page { url.path() != "/a" } else { url.path() == "/no" };
            is_refused.then(|| ADDRESS_NOT_ALLOWED.error(url.path().to_owned()))
        });
        let policy = RequestPolicy::new(&Network::all(), Some(&rule)).unwrap();
        let refuses = |path: &str, is_page| policy.refuses(&format!("http://127.0.0.1:9{path}"), is_page);
        assert!(!refuses("/a", true) && !refuses("/b", false) && refuses("/no", false));
        assert!(policy.refusal().is_none());
        assert!(refuses("/b", true));
        assert_eq!(policy.refusal().unwrap().message(), "/b");
    }
}
