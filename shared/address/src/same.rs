//! When two URLs are the same page, and when two pages are of the same site.

use std::borrow::Cow;

use url::{Host, Url};

/// The address that identifies the page of `url`: without a fragment, unless an application routes by
/// it, without the user name and password of an http or https address, and with all equivalent spellings made one.
pub fn canonical(url: &Url) -> String {
    normalized(without_fragment(without_credentials(url).as_str()))
}

/// The address that identifies what a plain request for `url` gets: [`canonical`], and without the fragment of an
/// application too, because no fragment is sent.
pub fn page_key(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    canonical(&url)
}

/// `url` without the user name and the password of an http or https address: they belong to who asks, and not into a
/// knowledge base or a report. In other addresses, as those of ssh, the user is a part of the place.
pub fn without_credentials(url: &Url) -> Cow<'_, Url> {
    let has_some = !url.username().is_empty() || url.password().is_some();
    if !has_some || !matches!(url.scheme(), "http" | "https") {
        return Cow::Borrowed(url);
    }
    let mut bare = url.clone();
    // These fail only for addresses that cannot have any.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    Cow::Owned(bare)
}

/// Whether two URLs are the same page.
pub fn same_page(a: &Url, b: &Url) -> bool {
    canonical(a) == canonical(b)
}

/// Whether both URLs are of one host, or of hosts of which one is above the other (`docs.example.com`
/// and `example.com`); a leading `www.` does not count. Ports do not count either: an application and its API
/// are often two ports of one IP address or of `localhost`.
pub fn same_site(a: &Url, b: &Url) -> bool {
    match (a.host(), b.host()) {
        (Some(Host::Domain(x)), Some(Host::Domain(y))) => {
            let (x, y) = (x.trim_start_matches("www."), y.trim_start_matches("www."));
            let below = |low: &str, high: &str| low.strip_suffix(high).is_some_and(|rest| rest.ends_with('.'));
            x == y || below(x, y) || below(y, x)
        }
        (x, y) => x == y,
    }
}

fn without_fragment(url: &str) -> &str {
    match url.split_once('#') {
        Some((page, fragment)) if !fragment.starts_with(['/', '!']) => page,
        _ => url,
    }
}

/// `url` with escapes in capitals, and without unnecessary escapes (RFC 3986, sections 6.2.2.1 and 6.2.2.2). A URL with
/// an invalid escape stays unchanged.
fn normalized(url: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn one_page_has_one_spelling() {
        for (written, expected) in [
            ("https://x.example/%c3%a9?q=%2f#%61", "https://x.example/%C3%A9?q=%2F#a"),
            ("https://x.example/%7e%2D%41%20%25", "https://x.example/~-A%20%25"),
            ("https://x.example/%/%41", "https://x.example/%/%41"),
            ("https://x.example/%41%é", "https://x.example/%41%é"),
            ("https://x.example/%2561", "https://x.example/%2561"),
        ] {
            assert_eq!(normalized(written), expected);
            assert_eq!(normalized(expected), expected);
        }
    }

    #[test]
    fn an_address_has_no_credentials() {
        for (written, expected) in [
            ("https://user:pw@x.example:8443/a?b@c", "https://x.example:8443/a?b@c"),
            ("http://user@x.example/", "http://x.example/"),
            ("http://:pw@x.example/", "http://x.example/"),
            ("ssh://git@x.example/r.git", "ssh://git@x.example/r.git"),
        ] {
            assert_eq!(canonical(&url(written)), expected);
        }
    }

    #[test]
    fn a_place_on_a_page_is_the_page_and_a_route_is_not() {
        assert_eq!(canonical(&url("https://x.example/a#top")), "https://x.example/a");
        assert_eq!(canonical(&url("https://x.example/a#/users/1")), "https://x.example/a#/users/1");
        assert_eq!(canonical(&url("https://x.example/a#!users")), "https://x.example/a#!users");
        assert!(same_page(&url("https://x.example/%7Ea#x"), &url("https://X.example:443/~a")));
        assert!(!same_page(&url("https://x.example/a#/1"), &url("https://x.example/a#/2")));
        assert!(!same_page(&url("https://x.example/a"), &url("https://x.example/a?b")));
        assert_eq!(page_key(&url("https://x.example/%7ea#/users/1")), "https://x.example/~a");
    }

    #[test]
    fn same_site_is_the_host_and_those_above_and_below() {
        let same = |a: &str, b: &str| same_site(&url(a), &url(b));
        assert!(same("https://www.example.com/a", "http://example.com/b"));
        assert!(same("https://docs.example.com/", "https://example.com/"));
        assert!(same("https://example.com/", "https://docs.example.com:8443/"));
        assert!(!same("https://example.com/", "https://notexample.com/"));
        assert!(!same("https://example.com/", "https://example.com.evil.test/"));
        assert!(same("http://127.0.0.1:8000/", "http://127.0.0.1:8000/x"));
        assert!(same("http://127.0.0.1:8000/", "http://127.0.0.1:8001/x"));
        assert!(same("http://localhost:1/", "http://localhost:2/"));
        assert!(!same("http://localhost:1/", "http://127.0.0.1:1/"));
        assert!(!same("http://127.0.0.1:1/", "http://127.0.0.2:1/"));
    }

    proptest! {
        #[test]
        fn the_canonical_address_is_a_fixed_point(rest in "[ -~é日]{0,40}") {
            if let Ok(url) = Url::parse(&format!("https://x.example/{rest}")) {
                let once = canonical(&url);
                let again = Url::parse(&once).unwrap();
                prop_assert_eq!(&canonical(&again), &once);
                prop_assert!(same_page(&url, &again));
            }
        }

        #[test]
        fn a_fragment_makes_no_other_page(path in "[a-z/%0-9]{0,20}", fragment in "[a-z][ -~]{0,20}") {
            let plain = url(&format!("https://x.example/{path}"));
            let mut place = plain.clone();
            place.set_fragment(Some(&fragment));
            prop_assert!(same_page(&plain, &place));
        }

        #[test]
        fn same_site_is_symmetric_and_reflexive(
            a in "(www\\.)?[ab]{1,2}(\\.[ab]{1,2}){0,2}\\.test", b in "(www\\.)?[ab]{1,2}(\\.[ab]{1,2}){0,2}\\.test"
        ) {
            let (a, b) = (url(&format!("https://{a}/")), url(&format!("http://{b}:8080/")));
            prop_assert!(same_site(&a, &a));
            prop_assert_eq!(same_site(&a, &b), same_site(&b, &a));
        }
    }
}
