//! Cookies, in the form in which they are taken from one profile to another.

use std::{collections::BTreeMap, time::SystemTime};

use serde::{Deserialize, Serialize};

/// A cookie, in the form of Playwright.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its domain; with a dot before it, the hosts below it receive it, too.
    pub domain: String,
    /// Its path.
    #[serde(default = "root")]
    pub path: String,
    /// When it ends, in seconds since 1970; -1 for a session cookie.
    #[serde(default = "session")]
    pub expires: f64,
    /// Whether scripts cannot read it.
    #[serde(default)]
    pub http_only: bool,
    /// Whether it is sent over HTTPS only.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

impl Cookie {
    /// Whether it has ended at `time`.
    #[must_use]
    pub fn has_ended(&self, time: SystemTime) -> bool {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.expires > 0.0 && self.expires <= since.as_secs_f64()
    }
}

fn root() -> String {
    "/".to_owned()
}

fn session() -> f64 {
    -1.0
}

/// How many cookies there are for each domain.
pub fn cookies_by_domain(cookies: &[Cookie]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for cookie in cookies {
        *counts.entry(cookie.domain.as_str()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of(domain: &str) -> Cookie {
        Cookie {
            name: "a".into(),
            value: "b".into(),
            domain: domain.into(),
            path: root(),
            expires: session(),
            http_only: false,
            secure: false,
            same_site: None,
        }
    }

    #[test]
    fn a_cookie_ends_at_its_time_and_a_session_cookie_never() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let ended = |expires| [8, 9, 10].map(|time| Cookie { expires, ..of("x") }.has_ended(at(time)));
        assert_eq!([ended(9.0), ended(-1.0), ended(0.0)], [[false, true, true], [false; 3], [false; 3]]);
    }

    #[test]
    fn cookies_are_counted_by_their_domain() {
        assert_eq!(cookies_by_domain(&[of(".x.example"), of("x")]), BTreeMap::from([(".x.example", 1), ("x", 1)]));
    }
}
