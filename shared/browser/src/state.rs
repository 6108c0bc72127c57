//! The state of a session: its cookies and the local storage of its pages, to be taken to another profile.
//!
//! The cookies are the browser's. Local storage belongs to an origin, and a browser lists no origins; the profile notes
//! those of its pages. To read the storage of one, a tab opens an empty page there: every request is answered here, so
//! no server is asked and no script of the site runs. [`SiteStore`] does the same without a DevTools socket.

use std::{rc::Rc, time::Instant};

use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    cdp::BrowserSocket,
    cookie::Cookie,
    error::CommandError,
    limits,
    loading::Loading,
    profile::Profile,
    restricted_session::RestrictedSession,
    session::BrowserLease,
    storage::{CLEAR, READ, StateStore, StorageState, WRITE, items, site},
    tab::{Tab, TabPreference},
    webdriver_only::state::SiteStore,
};

impl RestrictedSession {
    /// The state of the session.
    ///
    /// # Errors
    ///
    /// [`SESSION_ERRORS`](crate::codes::SESSION_ERRORS), `BROWSER_LOST`; `ARGUMENT_ERROR` for a browser of a
    /// WebDriver server that ends with this call; `NAVIGATION_FAILED` for a site that a browser without a DevTools
    /// socket must open, and cannot.
    pub fn state(&self) -> Result<StorageState, Error> {
        self.with_store(|store, profile| store.read(profile))
    }

    /// Adds `state` to that of the session. What has the same name is replaced.
    ///
    /// # Errors
    ///
    /// As for [`Self::state`].
    pub fn add_state(&self, state: &StorageState) -> Result<(), Error> {
        self.with_store(|store, profile| store.add(state, profile))
    }

    /// Removes all cookies and local storage from the session.
    ///
    /// # Errors
    ///
    /// As for [`Self::state`].
    pub fn clear_state(&self) -> Result<(), Error> {
        self.with_store(|store, profile| store.clear(profile))
    }

    fn with_store<T>(&self, work: impl Fn(&mut dyn StateStore, &Profile) -> Result<T, Error>) -> Result<T, Error> {
        if self.remote.as_ref().is_some_and(|remote| !remote.keeps(&self.profile)) {
            return Err(ARGUMENT_ERROR
                .error("the session has no lasting browser on the WebDriver server, so its state would be lost after this call")
                .remedy("Run ragmaker-browser-open first, with the same --webdriver-url and --session.")
                .detail("argument", "--webdriver-url"));
        }
        let deadline = Instant::now() + limits::STATE_TIMEOUT;
        let lease = self.acquire(false, deadline)?;
        let result = if lease.running.endpoint.devtools.is_some() {
            work(&mut SocketStore { lease: &lease, deadline }, lease.profile())
        } else if self.machines.is_all() {
            SiteStore::open(&lease, &self.domains, deadline).and_then(|mut store| work(&mut store, lease.profile()))
        } else {
            Err(self.no_socket("with --public-only, the state of a session needs"))
        };
        self.release(lease, result.as_ref().err());
        result
    }
}

/// The state of a browser by its DevTools socket.
struct SocketStore<'a> {
    lease: &'a BrowserLease,
    deadline: Instant,
}

impl StateStore for SocketStore<'_> {
    fn read(&mut self, profile: &Profile) -> Result<StorageState, Error> {
        let answer = self.command("Storage.getCookies", &json!({}))?;
        let cookies = answer["cookies"].as_array().into_iter().flatten();
        let cookies = cookies.filter_map(|cookie| Cookie::deserialize(cookie).ok()).collect();
        let mut state = StorageState { cookies, origins: vec![] };
        for origin in profile.origins() {
            state.origins.extend(items(&origin, self.in_origin(&origin, READ, &Value::Null)?));
        }
        Ok(state)
    }

    fn add(&mut self, state: &StorageState, profile: &Profile) -> Result<(), Error> {
        let cookies: Vec<Value> = state.cookies.iter().map(parameter).collect();
        self.command("Storage.setCookies", &json!({"cookies": cookies}))?;
        for of in &state.origins {
            self.in_origin(&of.origin, WRITE, &json!(of.local_storage))?;
            profile.note_origin(&of.origin);
        }
        Ok(())
    }

    fn clear(&mut self, profile: &Profile) -> Result<(), Error> {
        self.command("Storage.clearCookies", &json!({}))?;
        profile.origins().iter().try_for_each(|origin| self.in_origin(origin, CLEAR, &Value::Null).map(drop))
    }
}

impl SocketStore<'_> {
    fn command(&self, method: &str, params: &Value) -> Result<Value, Error> {
        let mut browser =
            BrowserSocket::connect(&self.lease.running.endpoint, self.deadline).map_err(CommandError::into_error)?;
        browser.command(method, params).map_err(CommandError::into_error)
    }

    /// Runs the body of a function in an empty page of `origin`, and returns its result; null where there is no such
    /// page.
    fn in_origin(&self, origin: &str, body: &str, argument: &Value) -> Result<Value, Error> {
        let Some(page) = site(origin) else { return Ok(Value::Null) };
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
