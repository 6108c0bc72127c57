//! The URLs that may be opened or fetched: http and https, of bounded length, in the allowed domains.

use std::{env, ffi::OsStr};

use ragmaker_tool::{ARGUMENT_ERROR, Code, Error};
use url::{Host, Url};

/// The URL is not one of those that are opened.
pub const URL_NOT_ALLOWED: Code = Code::new("URL_NOT_ALLOWED", "Give an http or https URL.");

/// The page is of a domain that may not be visited.
pub const DOMAIN_NOT_ALLOWED: Code = Code::new(
    "DOMAIN_NOT_ALLOWED",
    "Stay within the domains that details.allowed names; whoever runs the tool may allow more with --allow-domain or RAGMAKER_ALLOWED_DOMAINS.",
);

/// The environment variable with the domains that may be visited, separated by commas.
const ALLOWED_DOMAINS: &str = "RAGMAKER_ALLOWED_DOMAINS";

/// The codes of a tool that is given addresses.
pub const ERRORS: &[Code] = &[URL_NOT_ALLOWED, DOMAIN_NOT_ALLOWED];

/// The maximum size in bytes of an address: as many as servers take in one request. It is in every answer and
/// identifies the page in the catalog, so it cannot be shortened.
pub const MAX_BYTES: usize = 8000;

/// The maximum length in characters of a refused address that an error repeats.
const MAX_MESSAGE_CHARACTERS: usize = 200;

/// The URL in `text`, an argument `--url`.
///
/// # Errors
///
/// `ARGUMENT_ERROR` where it is not an absolute URL; as [`check`] otherwise.
pub fn parse(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text.trim()).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("{text:?} is not an absolute URL: {error}"))
            .remedy("Give an absolute URL, such as https://example.com/docs.")
            .detail("argument", "--url")
    })?;
    check(&url)?;
    Ok(url)
}

/// Refuses a URL that is neither http nor https, because a page must not lead to files, scripts or settings, and a URL
/// that is too long for an answer.
///
/// # Errors
///
/// [`URL_NOT_ALLOWED`].
pub fn check(url: &Url) -> Result<(), Error> {
    let shown = || url.as_str().chars().take(MAX_MESSAGE_CHARACTERS).collect::<String>();
    if !matches!(url.scheme(), "http" | "https") {
        return Err(URL_NOT_ALLOWED
            .error(format!("only http and https are opened, not {}", shown()))
            .detail("url", shown()));
    }
    let bytes = url.as_str().len();
    if bytes > MAX_BYTES {
        return Err(URL_NOT_ALLOWED
            .error(format!("the page's address has {bytes} bytes, more than {MAX_BYTES}: {}…", shown()))
            .remedy("Skip this page, or give a shorter address of it.")
            .detail("url", shown())
            .detail("bytes", bytes));
    }
    Ok(())
}

/// The domains whose pages may be opened. A domain includes all hosts below it.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    /// A page has to be within each of these lists that is not empty: what a model asks for never
    /// widens what it was allowed.
    lists: [Vec<Host>; 2],
}

impl Domains {
    /// The domains `named` in a call, within those of `RAGMAKER_ALLOWED_DOMAINS`.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` where one of them is not a domain: it must not mean all of them.
    pub fn new(named: &[String]) -> Result<Self, Error> {
        let allowed = env::var_os(ALLOWED_DOMAINS).unwrap_or_default();
        Ok(Self { lists: [hosts("--allow-domain", named)?, listed(&allowed)?] })
    }

    /// Whether the pages of all domains may be opened.
    pub fn are_all(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// Refuses a page of any other domain.
    ///
    /// # Errors
    ///
    /// [`DOMAIN_NOT_ALLOWED`].
    pub fn check(&self, url: &Url) -> Result<(), Error> {
        let within = |list: &Vec<Host>| list.is_empty() || list.iter().any(|domain| contains(domain, url));
        let Some(list) = self.lists.iter().find(|list| !within(list)) else { return Ok(()) };
        let allowed: Vec<String> = list.iter().take(20).map(Host::to_string).collect();
        let host: String = url.host_str().unwrap_or_default().chars().take(MAX_MESSAGE_CHARACTERS).collect();
        Err(DOMAIN_NOT_ALLOWED
            .error(format!("pages of {host} may not be opened, only those of {}", allowed.join(", ")))
            .detail("url", url.as_str().chars().take(MAX_MESSAGE_CHARACTERS).collect::<String>())
            .detail("allowed", allowed))
    }
}

/// The hosts in the text of `RAGMAKER_ALLOWED_DOMAINS`.
fn listed(allowed: &OsStr) -> Result<Vec<Host>, Error> {
    let text = allowed.to_str().ok_or_else(|| {
        ARGUMENT_ERROR
            .error(format!("{ALLOWED_DOMAINS} is not UTF-8: {}", allowed.display()))
            .remedy("Name domains in UTF-8, or in their ASCII form (xn--…).")
            .detail("argument", ALLOWED_DOMAINS)
    })?;
    let domains: Vec<&str> = text.split(',').map(str::trim).filter(|domain| !domain.is_empty()).collect();
    hosts(ALLOWED_DOMAINS, &domains)
}

fn hosts(argument: &str, domains: &[impl AsRef<str>]) -> Result<Vec<Host>, Error> {
    let host = |domain: &str| {
        // Proxies and cookies write a leading dot or asterisk to include the hosts below a domain.
        Host::parse(domain.trim_start_matches('*').trim_start_matches('.')).map_err(|error| {
            ARGUMENT_ERROR
                .error(format!("{argument} cannot be {domain:?}: {error}"))
                .remedy("Name a domain, such as example.com, without scheme, port or path.")
                .detail("argument", argument)
        })
    };
    domains.iter().map(|domain| host(domain.as_ref())).collect()
}

fn contains(domain: &Host, url: &Url) -> bool {
    match (domain, url.host()) {
        (Host::Domain(domain), Some(Host::Domain(host))) => {
            let (domain, host) = (domain.trim_end_matches('.'), host.trim_end_matches('.'));
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        }
        (Host::Ipv4(domain), Some(Host::Ipv4(host))) => *domain == host,
        (Host::Ipv6(domain), Some(Host::Ipv6(host))) => *domain == host,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_web_is_opened() {
        assert!(parse(" https://例え.jp/a b?q=1#x ").is_ok());
        for bad in [
            "file:///etc/passwd",
            "chrome://version",
            "javascript:alert(1)",
            "data:text/html,x",
            "about:blank",
            "FILE:///x",
            "view-source:https://x.example",
            "blob:https://x.example/1",
        ] {
            assert!(parse(bad).unwrap_err().is(URL_NOT_ALLOWED), "{bad}");
        }
        let long = |bytes: usize| format!("https://x.example/{}", "a".repeat(bytes - "https://x.example/".len()));
        assert!(parse(&long(MAX_BYTES)).is_ok());
        let error = parse(&long(MAX_BYTES + 1)).unwrap_err();
        assert!(error.is(URL_NOT_ALLOWED) && error.details()["bytes"] == MAX_BYTES + 1, "{error}");
        for bad in ["", "example.com", "/x", "http://", "http://[::1"] {
            assert!(parse(bad).unwrap_err().is(ARGUMENT_ERROR), "{bad}");
        }
    }

    #[test]
    fn a_domain_is_its_hosts_and_no_others() {
        let domains = |named: &[&str]| Domains { lists: [hosts("--allow-domain", named).unwrap(), vec![]] };
        let opens = |named: &[&str], url: &str| domains(named).check(&Url::parse(url).unwrap()).is_ok();
        for (named, url) in [
            (&[][..], "https://anything.example/"),
            (&["example.com"], "https://example.com/x"),
            (&["example.com"], "http://docs.EXAMPLE.com:8080/"),
            (&["*.example.com"], "https://a.b.example.com./"),
            (&[".example.com"], "https://example.com/"),
            (&[".example.com"], "https://docs.example.com/"),
            (&["x.example", "例え.jp"], "https://xn--r8jz45g.jp/"),
            (&["127.0.0.1"], "http://127.0.0.1:9/"),
            (&["[::1]"], "http://[::1]:9/"),
        ] {
            assert!(opens(named, url), "{named:?} {url}");
        }
        for (named, url) in [
            (&["example.com"][..], "https://notexample.com/"),
            (&["example.com"], "https://example.com.evil.example/"),
            (&["example.com"], "https://evil.example/?example.com"),
            (&["example.com"], "https://example.com@evil.example/"),
            (&["127.0.0.1"], "http://127.0.0.1.evil.example/"),
            (&["docs.example.com"], "https://example.com/"),
            (&[".example.com"], "https://notexample.com/"),
        ] {
            assert!(!opens(named, url), "{named:?} {url}");
        }
        for bad in ["", ".", "*", "https://example.com", "example.com/x", "a b", "example.com:80"] {
            assert!(hosts("--allow-domain", &[bad]).is_err_and(|error| error.is(ARGUMENT_ERROR)), "{bad:?}");
        }
        let both = Domains { lists: [hosts("a", &["evil.example"]).unwrap(), hosts("b", &["example.com"]).unwrap()] };
        assert!(both.check(&Url::parse("https://evil.example/").unwrap()).is_err());
    }

    #[test]
    fn a_list_of_domains_that_cannot_be_read_does_not_allow_everything() {
        assert_eq!(listed(OsStr::new(" a.example ,, .b.example,")).unwrap().len(), 2);
        assert!(listed(OsStr::new("")).unwrap().is_empty());
        assert!(listed(OsStr::new("a b")).is_err());
        #[cfg(unix)]
        {
            let bytes = std::os::unix::ffi::OsStrExt::from_bytes(b"example.com\xFF");
            assert!(listed(bytes).unwrap_err().is(ARGUMENT_ERROR));
        }
    }

    proptest! {
        #[test]
        fn whatever_is_parsed_is_of_the_web(text in "\\PC{0,60}", scheme in "(https?|ftp|file|data|[a-z]{1,8})") {
            for text in [text.clone(), format!("{scheme}:{text}"), format!("{scheme}://{text}")] {
                if let Ok(url) = parse(&text) {
                    prop_assert!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{url}");
                    prop_assert!(url.as_str().len() <= MAX_BYTES);
                }
            }
        }

        #[test]
        fn a_host_is_allowed_exactly_when_it_ends_with_the_domain(
            host in "[a-c]{1,2}(\\.[a-c]{1,2}){0,3}\\.test", domain in "([a-c]{1,2}\\.){0,2}test"
        ) {
            let domains = Domains { lists: [hosts("--allow-domain", &[&domain]).unwrap(), vec![]] };
            let url = Url::parse(&format!("https://{host}/{domain}?{domain}")).unwrap();
            let ends = format!(".{host}").ends_with(&format!(".{domain}"));
            prop_assert_eq!(domains.check(&url).is_ok(), ends);
        }
    }
}
