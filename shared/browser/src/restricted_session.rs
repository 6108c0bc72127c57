//! A session with the restrictions of the host: which pages may be opened in which browser.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use ragmaker_address::{Domains, Network as Machines};
use ragmaker_project::{Project, variables::BROWSER};
use ragmaker_tool::{ARGUMENT_ERROR, Error, Invocation};

use crate::{
    block_list::BlockList,
    kind::BrowserKind,
    limits::LIMITS,
    profile::Profile,
    remote::Remote,
    request_policy::RequestRule,
    session::{BrowserLease, BrowserReservation},
};

/// A session with the restrictions of the host.
#[derive(Clone, Debug)]
pub struct RestrictedSession {
    /// The session's profile.
    pub(crate) profile: Profile,
    /// The domains whose pages may be opened.
    pub(crate) domains: Domains,
    /// The machines that may be accessed.
    pub(crate) machines: Machines,
    /// The caller's rule for the requests of pages.
    pub(crate) rule: Option<RequestRule>,
    /// The filter lists for the requests of pages.
    pub(crate) block_list: Option<Rc<BlockList>>,
    /// The endpoint whose browsers are used instead of those of this machine.
    pub(crate) remote: Option<Rc<Remote>>,
    /// Whether the caller asks for another browser where one is lost.
    pub(crate) reserves: Cell<bool>,
}

impl RestrictedSession {
    /// The session called `session`, or the default one, with the options of the host.
    ///
    /// # Errors
    ///
    /// Those of [`Project::discover`], [`Profile::of`], [`Domains::new`] and [`BlockList::of`]; `ARGUMENT_ERROR`
    /// for an invalid URL of a WebDriver server.
    pub fn new(session: Option<&str>, invocation: &Invocation) -> Result<Self, Error> {
        let host = &invocation.host;
        let (domains, machines) = (Domains::new(&host.allow_domain)?, Machines::of_browser(host));
        let cache = Project::discover(host.project_root.as_deref())?.cache_folder();
        let block_list = BlockList::of(&host.block_list, &cache)?.map(Rc::new);
        let remote = Remote::of(host)?.map(Rc::new);
        Ok(Self {
            profile: Profile::of(&cache, session)?,
            domains,
            machines,
            rule: None,
            block_list,
            remote,
            reserves: Cell::new(false),
        })
    }

    /// Restricts the session to `machines`.
    #[must_use]
    pub fn restricted_to(self, machines: Machines) -> Self {
        Self { machines, ..self }
    }

    /// Restricts the requests of pages by `rule`, where the browser can be asked about each request.
    #[must_use]
    pub fn obeying(self, rule: Option<RequestRule>) -> Self {
        Self { rule, ..self }
    }

    /// Connects to the session's browser or starts one, and keeps it until the value is dropped, so that a
    /// series of visits starts it only once.
    ///
    /// # Errors
    ///
    /// [`SESSION_ERRORS`](crate::codes::SESSION_ERRORS).
    pub fn reserve_local(&self) -> Result<Option<BrowserReservation>, Error> {
        if self.remote.is_some() {
            return Ok(None);
        }
        BrowserLease::acquire(&self.profile, false, Instant::now() + LIMITS.call)
            .map(|in_use| Some(BrowserReservation::new(in_use)))
    }

    /// Starts a browser before the first visit, where browsers are remote: waiting for one must not
    /// block pages for callers that already have one. `give_up` returns whether to stop waiting.
    ///
    /// # Errors
    ///
    /// [`SESSION_ERRORS`](crate::codes::SESSION_ERRORS).
    pub fn reserve(&self, timeout: Option<Duration>, give_up: &dyn Fn() -> bool) -> Result<(), Error> {
        let Some(remote) = &self.remote else { return Ok(()) };
        self.reserves.set(true);
        let in_use = remote.acquire(&self.profile, false, Instant::now() + timeout.unwrap_or(LIMITS.call), give_up)?;
        self.release(in_use, None);
        Ok(())
    }

    /// The number of pages that can be visited in parallel, at most `wanted`: Firefox has one tab.
    pub fn max_parallel_pages(&self, wanted: usize) -> usize {
        if self.remote.is_none() && self.profile.kind() == BrowserKind::Firefox { 1 } else { wanted }
    }

    /// Connects to a browser, or starts or borrows one.
    pub(crate) fn acquire(&self, visible: bool, deadline: Instant) -> Result<BrowserLease, Error> {
        match &self.remote {
            Some(remote) => remote.acquire(&self.profile, visible, deadline, &|| false),
            None => BrowserLease::acquire(&self.profile, visible, deadline),
        }
    }

    /// Stops using the browser after a visit that ended with `error`. A remote one is kept for the next visit.
    pub(crate) fn release(&self, in_use: BrowserLease, error: Option<&Error>) {
        match &self.remote {
            Some(remote) if in_use.profile().is_temporary() && !error.is_some_and(|error| in_use.is_spent(error)) => {
                remote.keep(in_use);
            }
            _ => in_use.release(),
        }
    }

    /// The error for what WebDriver commands alone cannot do.
    pub(crate) fn no_socket(&self, what: &str) -> Error {
        let error =
            ARGUMENT_ERROR.error(format!("{what} a browser with a DevTools socket, which this one does not have"));
        match self.profile.kind() {
            BrowserKind::Firefox => error.remedy("Use Chromium: unset RAGMAKER_BROWSER.").detail("argument", BROWSER),
            BrowserKind::Chromium => error
                .remedy("Use a browser of this machine, or a grid that offers se:cdp.")
                .detail("argument", "--webdriver-url"),
        }
    }
}

#[cfg(test)]
mod tests {
    use ragmaker_tool::HostOptions;

    use super::*;

    /// A session of a project with these options.
    fn session(name: Option<&str>, change: impl FnOnce(&mut HostOptions)) -> Result<RestrictedSession, Error> {
        let folder = tempfile::tempdir().unwrap();
        let mut invocation = Invocation::default();
        invocation.host.project_root = folder.path().to_str().map(str::to_owned);
        change(&mut invocation.host);
        RestrictedSession::new(name, &invocation)
    }

    #[test]
    fn a_session_is_refused_before_a_browser_starts() {
        for name in ["", "..", ".hidden", "a/b", "a\\b", &"x".repeat(65), "a b", "a\0"] {
            let error = session(Some(name), |_| {}).unwrap_err();
            assert!(error.is(ARGUMENT_ERROR) && error.details()["argument"] == "--session", "{name:?} {error}");
        }
        let wrong: [fn(&mut HostOptions); 3] = [
            |host| host.webdriver_url = Some("not a URL".into()),
            |host| host.block_list = vec!["missing.txt".into()],
            |host| host.project_root = Some("/no/such/folder".into()),
        ];
        for change in wrong {
            assert!(session(Some("tides"), change).is_err());
        }
    }

    #[test]
    fn a_remote_session_is_not_reserved_here() {
        let remote =
            session(None, |host| host.webdriver_url = Some("http://me:secret@grid.example:4444".into())).unwrap();
        assert!(remote.reserve_local().unwrap().is_none());
        assert_eq!(remote.max_parallel_pages(4), 4);
        let shown = format!("{remote:?}");
        assert!(shown.contains("grid.example:4444") && !shown.contains("secret"), "{shown}");
        let local = session(None, |_| {}).unwrap();
        assert!(local.remote.is_none() && local.reserve(None, &|| true).is_ok());
    }

    #[test]
    fn what_needs_a_socket_says_how_to_get_one() {
        let error = session(None, |_| {}).unwrap().no_socket("PDFs need");
        assert!(error.message().starts_with("PDFs need a browser with a DevTools socket"), "{error}");
        assert!(error.is(ARGUMENT_ERROR) && !error.remediation().is_empty());
    }
}
