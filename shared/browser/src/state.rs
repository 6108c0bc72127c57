//! The state of a session: its cookies and the local storage of its pages, to be taken to another profile.
//!
//! The cookies are the browser's. Local storage belongs to an origin, and a browser lists no origins; the profile notes
//! those of its pages. To read the storage of one, a tab opens an empty page there: every request is answered here, so
//! no server is asked and no script of the site runs.

use std::{rc::Rc, time::Instant};

use ragmaker_address::Domains;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::{
    cdp::BrowserSocket,
    codes::NAVIGATION_FAILED,
    cookie::Cookie,
    error::CommandError,
    limits,
    loading::Loading,
    restricted_session::RestrictedSession,
    session::BrowserLease,
    tab::{Tab, TabPreference},
    webdriver_only::state::StateTab,
};

/// An item of local storage.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageItem {
    /// Its key.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The local storage of an origin.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// Its items.
    #[serde(default)]
    pub local_storage: Vec<StorageItem>,
}

/// The state of a session, in the form of Playwright's `storageState`. It has no `Debug`: values are secrets.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageState {
    /// The cookies.
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    /// The local storage of each origin that has any.
    #[serde(default)]
    pub origins: Vec<OriginStorage>,
}

impl RestrictedSession {
    /// The state of the session.
    ///
    /// # Errors
    ///
    /// [`SESSION_ERRORS`](crate::codes::SESSION_ERRORS), `BROWSER_LOST`; `ARGUMENT_ERROR` for a browser of a
    /// WebDriver server that ends with this call; `NAVIGATION_FAILED` for a site that a browser without a DevTools
    /// socket must open, and cannot.
    pub fn state(&self) -> Result<StorageState, Error> {
        self.with_store(|store| {
            let mut cookies = store.cookies()?;
            let mut origins = vec![];
            for origin in store.lease.profile().origins() {
                let items = store.in_origin(&origin, READ, &Value::Null)?;
                for cookie in store.cookies_here()? {
                    let same = |known: &Cookie| {
                        (&known.name, &known.domain, &known.path) == (&cookie.name, &cookie.domain, &cookie.path)
                    };
                    if !cookies.iter().any(same) {
                        cookies.push(cookie);
                    }
                }
                let local_storage: Vec<StorageItem> = Vec::deserialize(items).unwrap_or_default();
                if !local_storage.is_empty() {
                    origins.push(OriginStorage { origin, local_storage });
                }
            }
            Ok(StorageState { cookies, origins })
        })
    }

    /// Adds `state` to that of the session. What has the same name is replaced.
    ///
    /// # Errors
    ///
    /// As for [`Self::state`].
    pub fn add_state(&self, state: &StorageState) -> Result<(), Error> {
        self.with_store(|store| {
            store.add_cookies(state)?;
            for OriginStorage { origin, local_storage } in &state.origins {
                store.in_origin(origin, WRITE, &json!(local_storage))?;
                store.lease.profile().note_origin(origin);
            }
            Ok(())
        })
    }

    /// Removes all cookies and local storage from the session.
    ///
    /// # Errors
    ///
    /// As for [`Self::state`].
    pub fn clear_state(&self) -> Result<(), Error> {
        self.with_store(|store| {
            store.clear_cookies()?;
            for origin in store.lease.profile().origins() {
                store.in_origin(&origin, CLEAR, &Value::Null)?;
                store.clear_cookies_here()?;
            }
            Ok(())
        })
    }

    fn with_store<T>(&self, work: impl Fn(&mut Store<'_>) -> Result<T, Error>) -> Result<T, Error> {
        if self.remote.as_ref().is_some_and(|remote| !remote.keeps(&self.profile)) {
            return Err(ARGUMENT_ERROR
                .error("the session has no lasting browser on the WebDriver server, so its state would be lost after this call")
                .remedy("Run ragmaker-browser-open first, with the same --webdriver-url and --session.")
                .detail("argument", "--webdriver-url"));
        }
        let deadline = Instant::now() + limits::STATE_TIMEOUT;
        let lease = self.acquire(false, deadline)?;
        let tab = if lease.running.endpoint.devtools.is_some() {
            Ok(None)
        } else if self.machines.is_all() {
            StateTab::open(&lease, deadline).map(Some)
        } else {
            Err(self.no_socket("with --public-only, the state of a session needs"))
        };
        let result =
            tab.and_then(|tab| work(&mut Store { lease: &lease, domains: &self.domains, tab, here: None, deadline }));
        self.release(lease, result.as_ref().err());
        result
    }
}

const READ: &str = "return Object.entries(localStorage).map(([name, value]) => ({ name: name.toWellFormed(), value: value.toWellFormed() }));";
const WRITE: &str = "for (const { name, value } of arguments[0]) localStorage.setItem(name, value); return true;";
const CLEAR: &str = "localStorage.clear(); return true;";

/// The cookies and storages of a browser in use.
struct Store<'a> {
    lease: &'a BrowserLease,
    domains: &'a Domains,
    /// The tab that opens sites, for a browser without a DevTools socket.
    tab: Option<StateTab>,
    /// The origin that this tab shows.
    here: Option<Url>,
    deadline: Instant,
}

impl Store<'_> {
    fn command(&self, method: &str, params: &Value) -> Result<Value, Error> {
        let mut browser =
            BrowserSocket::connect(&self.lease.running.endpoint, self.deadline).map_err(CommandError::into_error)?;
        browser.command(method, params).map_err(CommandError::into_error)
    }

    /// All cookies, where the browser tells of all.
    fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        if self.tab.is_some() {
            return Ok(vec![]);
        }
        let answer = self.command("Storage.getCookies", &json!({}))?;
        let cookies = answer["cookies"].as_array().into_iter().flatten();
        Ok(cookies.filter_map(|cookie| Cookie::deserialize(cookie).ok()).collect())
    }

    /// The cookies of the site that is open, where the browser tells of these alone.
    fn cookies_here(&self) -> Result<Vec<Cookie>, Error> {
        match &self.tab {
            Some(tab) if self.here.is_some() => tab.cookies(),
            _ => Ok(vec![]),
        }
    }

    fn add_cookies(&mut self, state: &StorageState) -> Result<(), Error> {
        if self.tab.is_none() {
            let cookies: Vec<Value> = state.cookies.iter().map(parameter).collect();
            return self.command("Storage.setCookies", &json!({"cookies": cookies})).map(drop);
        }
        let noted = self.lease.profile().origins();
        let origins: Vec<Url> =
            state.origins.iter().map(|of| &of.origin).chain(&noted).filter_map(|of| site(of)).collect();
        let mut cookies: Vec<&Cookie> = state.cookies.iter().collect();
        cookies.sort_by_key(|cookie| &cookie.domain);
        for cookie in cookies {
            let host = cookie.domain.trim_start_matches('.');
            let takes = |origin: &&Url| {
                let is_host = origin.host_str().is_some_and(|own| own == host);
                is_host && (origin.scheme() == "https" || !cookie.secure)
            };
            let scheme = if cookie.secure { "https" } else { "http" };
            let origin = origins.iter().find(takes).cloned().or_else(|| site(&format!("{scheme}://{host}")));
            if let Some(origin) = origin {
                self.go(&origin)?;
                self.tab.as_ref().map_or(Ok(()), |tab| tab.add(cookie))?;
                self.lease.profile().note_origin(&origin.origin().ascii_serialization());
            }
        }
        Ok(())
    }

    /// Removes all cookies, where the browser does that.
    fn clear_cookies(&self) -> Result<(), Error> {
        if self.tab.is_some() {
            return Ok(());
        }
        self.command("Storage.clearCookies", &json!({})).map(drop)
    }

    /// Removes the cookies of the site that is open.
    fn clear_cookies_here(&self) -> Result<(), Error> {
        match &self.tab {
            Some(tab) if self.here.is_some() => tab.remove_cookies(),
            _ => Ok(()),
        }
    }

    /// Opens a site in the tab.
    fn go(&mut self, origin: &Url) -> Result<(), Error> {
        if self.here.as_ref() == Some(origin) {
            return Ok(());
        }
        ragmaker_address::check(origin)?;
        self.domains.check(origin)?;
        self.here = None;
        self.tab.as_ref().map_or(Ok(()), |tab| tab.go(origin))?;
        self.here = Some(origin.clone());
        Ok(())
    }

    /// Runs the body of a function in an empty page of `origin`, and returns its result; null where there is no such
    /// page.
    fn in_origin(&mut self, origin: &str, body: &str, argument: &Value) -> Result<Value, Error> {
        let Some(page) = site(origin) else { return Ok(Value::Null) };
        if self.tab.is_some() {
            return match self.go(&page) {
                Ok(()) => self.tab.as_ref().map_or(Ok(Value::Null), |tab| tab.run(body, argument)),
                // A site of an earlier page may be gone, and one whose state is set must be there.
                Err(error) if error.is(NAVIGATION_FAILED) && argument.is_null() => Ok(Value::Null),
                Err(error) => Err(error),
            };
        }
        let until = self.deadline.min(Instant::now() + limits::ORIGIN_TIMEOUT);
        let tab = Tab::borrow(self.lease.profile(), &self.lease.running, TabPreference::New, until)?;
        let Some(mut tab) = tab else { return Ok(Value::Null) };
        let mut run = || {
            let socket = &mut tab.socket;
            socket.decide_requests(Rc::new(Loading::nothing()))?;
            // Otherwise, a worker of the site would answer.
            socket.ask(None, "Network.setBypassServiceWorker", &json!({"bypass": true}), until)?;
            let navigation = socket.navigate(page.as_str())?;
            socket.navigated(navigation, until)?;
            let script = socket.execute(body, &json!([argument]), until)?;
            socket.executed(script, until)
        };
        let result = run();
        // The next call finds no page that is not the site's.
        tab.dispose();
        result.map_err(CommandError::into_error)
    }
}

/// The site at an origin that may be opened.
fn site(origin: &str) -> Option<Url> {
    Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// A cookie as the browser's protocol takes it.
fn parameter(cookie: &Cookie) -> Value {
    let Cookie { name, value, domain, path, expires, http_only, secure, same_site } = cookie;
    let mut parameter = json!({
        "name": name, "value": value, "domain": domain, "path": path, "httpOnly": http_only, "secure": secure,
    });
    if *expires > 0.0 {
        parameter["expires"] = json!(expires);
    }
    if let Some(same_site) = same_site {
        parameter["sameSite"] = same_site.as_str().into();
    }
    parameter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_has_the_form_of_playwright_and_of_the_protocol() {
        let written = json!({"name": "a", "value": "b", "domain": ".x.example", "path": "/", "expires": -1.0,
            "httpOnly": true, "secure": false, "sameSite": "Lax"});
        let cookie = Cookie::deserialize(&written).unwrap();
        assert_eq!(serde_json::to_value(&cookie).unwrap(), written);
        assert!(parameter(&cookie)["expires"].is_null() && parameter(&cookie)["sameSite"] == "Lax");
        let short = Cookie::deserialize(&json!({"name": "a", "value": "b", "domain": "x", "expires": 9})).unwrap();
        assert_eq!((short.path.as_str(), &parameter(&short)["expires"]), ("/", &json!(9.0)));
    }
}
