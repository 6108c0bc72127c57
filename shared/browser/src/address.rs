//! Which addresses are opened, and when two are the same page.

use std::{env, ffi::OsStr};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use url::{Host, Url};

use crate::codes::{DOMAIN_NOT_ALLOWED, URL_NOT_ALLOWED};

/// Where the one who runs an agent says which domains it may visit, separated by commas.
const ALLOWED_DOMAINS: &str = "RAGMAKER_ALLOWED_DOMAINS";

/// The URL in `text`, which has to be an http or https one.
pub fn parse(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text.trim()).map_err(|error| {
        ARGUMENT_ERROR
            .error(format!("--url can not be {text:?}: {error}"))
            .remedy("Give an absolute URL, such as https://example.com/docs.")
            .detail("argument", "--url")
    })?;
    allow(url.as_str())?;
    Ok(url)
}

/// The most bytes of an address that a page may have: as many as servers take in one request. It is
/// in every answer and names the page in the catalog, so it can not be shortened.
pub const LONGEST: usize = 8000;

/// Refuses what is not http or https, since a page must not lead to files, scripts or settings; and
/// what is longer than an answer could hold.
pub(crate) fn allow(url: &str) -> Result<(), Error> {
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let shown: String = url.chars().take(200).collect();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err(URL_NOT_ALLOWED.error(format!("only http and https are opened, not {shown}")).detail("url", shown));
    }
    if url.len() > LONGEST {
        return Err(URL_NOT_ALLOWED
            .error(format!("the page's address has {} bytes, more than {LONGEST}: {shown}…", url.len()))
            .remedy("Leave this page out, or give a shorter address of it.")
            .detail("url", shown)
            .detail("bytes", url.len()));
    }
    Ok(())
}

/// `url` as all its equivalent spellings are normalized: with escapes in capitals, and none where there need be
/// none (RFC 3986, sections 6.2.2.1 and 6.2.2.2). One with a percent sign that escapes nothing stays as it is.
pub fn normal(url: &str) -> String {
    let mut parts = url.split('%');
    let mut normal = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.map(char::from) {
            Some(c) if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~') => normal.push(c),
            Some(_) => normal.extend(["%", &part[..2].to_ascii_uppercase()]),
            None => return url.to_owned(),
        }
        normal.push_str(&part[2..]);
    }
    normal
}

/// The domains whose pages may be opened. A domain stands for all hosts below it as well.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    /// A page has to be within each of these lists that is not empty: what a model asks for never
    /// widens what it was allowed.
    lists: [Vec<Host>; 2],
}

impl Domains {
    /// Those `named` in a call, within those of `RAGMAKER_ALLOWED_DOMAINS`.
    pub fn new(named: &[String]) -> Result<Self, Error> {
        let allowed = env::var_os(ALLOWED_DOMAINS).unwrap_or_default();
        Ok(Self { lists: [hosts("--allow-domain", named)?, listed(&allowed)?] })
    }

    /// Refuses a page of any other domain.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Error> {
        let within = |list: &Vec<Host>| list.is_empty() || list.iter().any(|domain| holds(domain, url));
        let Some(list) = self.lists.iter().find(|list| !within(list)) else { return Ok(()) };
        let allowed: Vec<String> = list.iter().take(20).map(Host::to_string).collect();
        let host: String = url.host_str().unwrap_or_default().chars().take(200).collect();
        Err(DOMAIN_NOT_ALLOWED
            .error(format!("pages of {host} may not be opened, only those of {}", allowed.join(", ")))
            .detail("url", url.as_str().chars().take(200).collect::<String>())
            .detail("allowed", allowed))
    }
}

/// The hosts in the text of `RAGMAKER_ALLOWED_DOMAINS`. What can not be read must not mean all of them.
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
        // As proxies and cookies write that the hosts below it are meant as well.
        Host::parse(domain.trim_start_matches('*').trim_start_matches('.')).map_err(|error| {
            ARGUMENT_ERROR
                .error(format!("{argument} can not be {domain:?}: {error}"))
                .remedy("Name a domain, such as example.com, without scheme, port or path.")
                .detail("argument", argument)
        })
    };
    domains.iter().map(|domain| host(domain.as_ref())).collect()
}

fn holds(domain: &Host, url: &Url) -> bool {
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

/// The address of the page itself: without a fragment, unless an application routes by it.
pub fn page(url: &str) -> &str {
    match url.split_once('#') {
        Some((page, fragment)) if !fragment.starts_with(['/', '!']) => page,
        _ => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_has_one_spelling() {
        for (written, normal) in [
            ("https://x.example/%c3%a9?q=%2f#%61", "https://x.example/%C3%A9?q=%2F#a"),
            ("https://x.example/%7e%2D%41%20%25", "https://x.example/~-A%20%25"),
            ("https://x.example/%/%41", "https://x.example/%/%41"),
            ("https://x.example/%41%é", "https://x.example/%41%é"),
            ("https://x.example/%2561", "https://x.example/%2561"),
        ] {
            assert_eq!(super::normal(written), normal);
            assert_eq!(super::normal(normal), normal);
        }
    }

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
        assert!(parse(&long(LONGEST)).is_ok());
        let error = parse(&long(LONGEST + 1)).unwrap_err();
        assert!(error.is(URL_NOT_ALLOWED) && error.details()["bytes"] == LONGEST + 1, "{error}");
        for bad in ["", "example.com", "/x", "http://", "http://[::1"] {
            assert!(parse(bad).unwrap_err().is(ARGUMENT_ERROR), "{bad}");
        }
    }

    #[test]
    fn a_domain_is_its_hosts_and_no_other_s() {
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
    fn a_list_of_domains_that_can_not_be_read_does_not_allow_everything() {
        assert_eq!(listed(OsStr::new(" a.example ,, .b.example,")).unwrap().len(), 2);
        assert!(listed(OsStr::new("")).unwrap().is_empty());
        assert!(listed(OsStr::new("a b")).is_err());
        #[cfg(unix)]
        {
            let bytes = std::os::unix::ffi::OsStrExt::from_bytes(b"example.com\xFF");
            assert!(listed(bytes).unwrap_err().is(ARGUMENT_ERROR));
        }
    }

    #[test]
    fn a_place_on_a_page_is_the_page_and_a_route_is_not() {
        assert_eq!(page("https://x.example/a#top"), "https://x.example/a");
        assert_eq!(page("https://x.example/a#/users/1"), "https://x.example/a#/users/1");
        assert_eq!(page("https://x.example/a#!users"), "https://x.example/a#!users");
        assert_eq!(page("https://x.example/a"), "https://x.example/a");
    }
}
