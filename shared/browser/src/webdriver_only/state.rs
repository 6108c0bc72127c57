//! The state of a session by WebDriver commands alone. A driver answers for the document that is open: the cookies that
//! it receives, and the storage of its origin. So a tab opens a file of each site, which most sites answer shortly.

use std::{thread, time::Instant};

use ragmaker_address::Domains;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::{Value, json};
use url::Url;

use super::{in_function, lock_commands};
use crate::{
    codes::NAVIGATION_FAILED,
    cookie::Cookie,
    error::{CommandError, navigation_failed},
    limits::{self, LIMITS},
    profile::{Lock, Profile},
    session::BrowserLease,
    storage::{CLEAR, READ, StateStore, StorageState, WRITE, items, site},
    webdriver::Driver,
};

/// The file that is opened to be on a site: it is short, and most sites have it.
const FILE: &str = "/robots.txt";

/// A script that returns the origin of the document and whether it has loaded.
const AT: &str = "return [location.origin, document.readyState === 'complete'];";

/// The state of a browser without a DevTools socket.
pub(crate) struct SiteStore<'a> {
    tab: StateTab,
    domains: &'a Domains,
    /// The site that the tab shows.
    here: Option<Url>,
}

impl<'a> SiteStore<'a> {
    /// Opens a tab in the browser of `lease`, for sites in `domains`.
    pub(crate) fn open(lease: &BrowserLease, domains: &'a Domains, deadline: Instant) -> Result<Self, Error> {
        Ok(Self { tab: StateTab::open(lease, deadline)?, domains, here: None })
    }

    /// Opens a site.
    fn go(&mut self, site: &Url) -> Result<(), Error> {
        if self.here.as_ref() == Some(site) {
            return Ok(());
        }
        ragmaker_address::check(site)?;
        self.domains.check(site)?;
        self.here = None;
        self.tab.go(site)?;
        self.here = Some(site.clone());
        Ok(())
    }

    /// Opens the site at `origin`. Returns whether it is open: that of an earlier page may be gone.
    fn revisit(&mut self, origin: &str) -> Result<bool, Error> {
        let Some(site) = site(origin) else { return Ok(false) };
        match self.go(&site) {
            Ok(()) => Ok(true),
            Err(error) if error.is(NAVIGATION_FAILED) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The site that takes `cookie`: one of `sites`, or else the one that the cookie names.
    fn site_of(cookie: &Cookie, sites: &[Url]) -> Option<Url> {
        let host = cookie.domain.trim_start_matches('.');
        let takes = |site: &&Url| {
            site.host_str().is_some_and(|own| own == host) && (site.scheme() == "https" || !cookie.secure)
        };
        let scheme = if cookie.secure { "https" } else { "http" };
        sites.iter().find(takes).cloned().or_else(|| site(&format!("{scheme}://{host}")))
    }
}

impl StateStore for SiteStore<'_> {
    fn read(&mut self, profile: &Profile) -> Result<StorageState, Error> {
        let mut state = StorageState::default();
        for origin in profile.origins() {
            if !self.revisit(&origin)? {
                continue;
            }
            state.origins.extend(items(&origin, self.tab.run(READ, &Value::Null)?));
            for cookie in self.tab.cookies()? {
                let same = |known: &Cookie| {
                    (&known.name, &known.domain, &known.path) == (&cookie.name, &cookie.domain, &cookie.path)
                };
                if !state.cookies.iter().any(same) {
                    state.cookies.push(cookie);
                }
            }
        }
        Ok(state)
    }

    fn add(&mut self, state: &StorageState, profile: &Profile) -> Result<(), Error> {
        let (named, noted) = (state.origins.iter().map(|of| &of.origin), profile.origins());
        let sites: Vec<Url> = named.chain(&noted).filter_map(|origin| site(origin)).collect();
        let mut cookies: Vec<&Cookie> = state.cookies.iter().collect();
        cookies.sort_by_key(|cookie| &cookie.domain);
        for cookie in cookies {
            if let Some(site) = Self::site_of(cookie, &sites) {
                self.go(&site)?;
                self.tab.add(cookie)?;
                profile.note_origin(&site.origin().ascii_serialization());
            }
        }
        for of in &state.origins {
            if let Some(site) = site(&of.origin) {
                self.go(&site)?;
                self.tab.run(WRITE, &json!(of.local_storage))?;
                profile.note_origin(&of.origin);
            }
        }
        Ok(())
    }

    fn clear(&mut self, profile: &Profile) -> Result<(), Error> {
        for origin in profile.origins() {
            if self.revisit(&origin)? {
                self.tab.run(CLEAR, &Value::Null)?;
                self.tab.remove_cookies()?;
            }
        }
        Ok(())
    }
}

/// A tab for the state of sites. It is closed when it is dropped.
struct StateTab {
    driver: Driver,
    /// The session's own tab.
    before: String,
    deadline: Instant,
    _commands: Lock,
}

impl StateTab {
    /// Opens a tab in the browser of `lease`.
    fn open(lease: &BrowserLease, deadline: Instant) -> Result<Self, Error> {
        let commands = lock_commands(lease.profile(), deadline)?;
        let running = &lease.running;
        let open = || {
            let driver = Driver::resume(&running.endpoint.webdriver, &running.launch_session, deadline)?;
            let before = driver.window(deadline)?;
            let opened = driver.post("window/new", json!({"type": "tab"}), deadline)?;
            driver.switch_to(opened["handle"].as_str().unwrap_or_default(), deadline)?;
            Ok((driver, before))
        };
        let (driver, before) = open().map_err(CommandError::into_error)?;
        Ok(Self { driver, before, deadline, _commands: commands })
    }

    /// Goes to the site at `origin`.
    fn go(&self, origin: &Url) -> Result<(), Error> {
        let until = self.deadline.min(Instant::now() + limits::ORIGIN_TIMEOUT);
        let url = origin.join(FILE).unwrap_or_else(|_| origin.clone());
        let expected = json!([origin.origin().ascii_serialization(), true]);
        let sent = self.driver.post("url", json!({"url": url.as_str()}), until);
        match sent {
            // The document may have loaded although the command did not end in time.
            Ok(_) | Err(CommandError::Late) => {}
            Err(CommandError::Failed(_)) => return Err(navigation_failed(url.as_str(), "net::ERR_FAILED")),
            Err(error) => return Err(error.into_error()),
        }
        while Instant::now() < until {
            match self.driver.post("execute/sync", json!({"script": AT, "args": []}), until) {
                Ok(at) if at == expected => return Ok(()),
                // The document is being replaced.
                Ok(_) | Err(CommandError::Failed(_) | CommandError::Late) => thread::sleep(LIMITS.webdriver_poll),
                Err(error) => return Err(error.into_error()),
            }
        }
        Err(navigation_failed(url.as_str(), "net::ERR_TIMED_OUT"))
    }

    /// The cookies that the document receives.
    fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        let answer = self.driver.get("cookie", self.deadline).map_err(CommandError::into_error)?;
        Ok(answer.as_array().into_iter().flatten().filter_map(cookie).collect())
    }

    /// Adds a cookie of the document's host.
    fn add(&self, cookie: &Cookie) -> Result<(), Error> {
        match self.driver.post("cookie", json!({"cookie": parameter(cookie)}), self.deadline) {
            // In its words, the browser may repeat the value.
            Err(CommandError::Failed(_)) => {
                let message = format!("the browser does not take the cookie {} of {}", cookie.name, cookie.domain);
                Err(ARGUMENT_ERROR.error(message).detail("argument", "--import"))
            }
            added => added.map(drop).map_err(CommandError::into_error),
        }
    }

    /// Removes the cookies that the document receives.
    fn remove_cookies(&self) -> Result<(), Error> {
        self.driver.delete("cookie", self.deadline).map_err(CommandError::into_error)
    }

    /// Runs the body of a function in the document.
    fn run(&self, body: &str, argument: &Value) -> Result<Value, Error> {
        let script = json!({"script": in_function(body), "args": [argument]});
        self.driver.post("execute/sync", script, self.deadline).map_err(CommandError::into_error)
    }
}

impl Drop for StateTab {
    fn drop(&mut self) {
        let until = Instant::now() + limits::STATE_TAB_CLOSE_TIMEOUT;
        // A browser that is gone has no tab.
        let _ = self.driver.close_window(until);
        let _ = self.driver.switch_to(&self.before, until);
    }
}

/// A cookie as WebDriver describes it.
fn cookie(described: &Value) -> Option<Cookie> {
    let text = |name: &str| described[name].as_str().map(str::to_owned);
    let secure = described["secure"] == true;
    Some(Cookie {
        name: text("name")?,
        value: text("value")?,
        domain: text("domain")?,
        path: text("path").unwrap_or_else(|| "/".to_owned()),
        expires: described["expiry"].as_f64().unwrap_or(-1.0),
        http_only: described["httpOnly"] == true,
        secure,
        same_site: text("sameSite").filter(|same_site| is_valid(same_site, secure)),
    })
}

/// Whether a cookie may have this attribute. Firefox names `None` for a cookie without one, and does not take it with
/// `None` unless it is secure.
fn is_valid(same_site: &str, secure: bool) -> bool {
    secure || same_site != "None"
}

/// A cookie as WebDriver takes it.
fn parameter(cookie: &Cookie) -> Value {
    let Cookie { name, value, domain, path, expires, http_only, secure, same_site } = cookie;
    let mut parameter = json!({"name": name, "value": value, "path": path, "httpOnly": http_only, "secure": secure});
    // Without a domain, it is that of the host alone.
    if domain.starts_with('.') {
        parameter["domain"] = domain.as_str().into();
    }
    if *expires > 0.0 {
        parameter["expiry"] = json!(*expires as i64);
    }
    if let Some(same_site) = same_site.as_ref().filter(|same_site| is_valid(same_site, *secure)) {
        parameter["sameSite"] = same_site.as_str().into();
    }
    parameter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_has_webdrivers_form() {
        let described = json!({"name": "a", "value": "b", "path": "/", "domain": ".x.example", "secure": true,
            "httpOnly": true, "expiry": 1_900_000_000_u64, "sameSite": "Lax"});
        let read = cookie(&described).unwrap();
        assert_eq!(parameter(&read), described);
        let host = Cookie { domain: "x.example".into(), expires: -1.0, same_site: None, ..read };
        let given = parameter(&host);
        assert!(given.get("domain").is_none() && given.get("expiry").is_none() && given.get("sameSite").is_none());
        assert!(cookie(&json!({"name": "a"})).is_none());
        let plain = json!({"name": "a", "value": "b", "domain": "x.example", "sameSite": "None"});
        assert_eq!(cookie(&plain).unwrap().same_site, None);
    }
}
