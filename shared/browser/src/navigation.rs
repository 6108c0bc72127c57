//! A navigation: sending a borrowed tab to the page, waiting until it is ready, and the page or failure that results.

use std::{
    cell::Cell,
    io::{self, BufRead, IsTerminal},
    rc::Rc,
    sync::mpsc,
    time::{Duration, Instant},
};

use ragmaker_address::Domains;
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::Value;
use url::{Host, Url};

use crate::{
    challenge,
    error::{CommandError, Failure, navigation_failed, not_a_page, not_loaded_again},
    facts::Facts,
    limits::LIMITS,
    loading::Loading,
    page::{LoadedPage, WaitOutcome},
    readiness::{Network, PageScript, Readiness, ReadyPage, WaitResult},
    request_policy::RequestPolicy,
    tab::Tab,
};

/// The page of a call.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// This URL, loaded again.
    Load(&'a Url),
    /// This URL, from a tab that shows it, or else loaded.
    Show(&'a Url),
    /// This URL, in the state in which a call acted in it, or else loaded.
    Acted(&'a Url),
    /// The page that the session used last.
    Latest,
}

impl<'a> Target<'a> {
    /// The page at `url`, loaded again with `reload`; without a URL, the page that the session used last.
    ///
    /// # Errors
    ///
    /// `ARGUMENT_ERROR` for `reload` without a URL.
    pub fn new(url: Option<&'a Url>, reload: bool) -> Result<Self, Error> {
        match url {
            None if reload => Err(ARGUMENT_ERROR
                .error("--reload needs an address")
                .remedy("Give --url as well, with the address of the page.")
                .detail("argument", "--reload")),
            None => Ok(Self::Latest),
            Some(url) if reload => Ok(Self::Load(url)),
            Some(url) => Ok(Self::Show(url)),
        }
    }
}

/// A navigation in its tab.
pub(crate) struct Navigation<'a> {
    pub(crate) target: Target<'a>,
    /// Whether the browser has a window for a person.
    pub(crate) visible: bool,
    /// The timeout of the call, if given.
    pub(crate) timeout: Option<Duration>,
    /// The selector to wait for.
    pub(crate) wait_for: Option<&'a str>,
    pub(crate) domains: &'a Domains,
    pub(crate) script: &'a PageScript,
    pub(crate) loading: Rc<Loading>,
    /// The requested URL.
    pub(crate) url: Url,
    pub(crate) tab: Tab,
    pub(crate) network: Network,
    pub(crate) deadline: Instant,
    /// Whether the tab shows a document of the server, not one of the browser.
    pub(crate) shows_page: bool,
    /// Whether the call began to act in the page, so it cannot be repeated in another tab.
    pub(crate) began: &'a Cell<bool>,
}

type PageAndContent = (LoadedPage, Value);

impl Navigation<'_> {
    /// Goes to the page, and reads it and the requested content.
    pub(crate) fn run(&mut self) -> Result<PageAndContent, Failure> {
        // The page of an earlier call may be hanging and block all commands to its tab, or a person may have
        // closed the tab.
        self.tab.socket.start_ping(LIMITS.ping);
        let (page, content) = match self.target {
            // The answers to a page that is there already were not seen.
            _ if self.tab.socket.collects_json() => self.load(&self.url.clone())?,
            Target::Load(url) => self.load(url)?,
            Target::Show(url) | Target::Acted(url) => match self.show(url)? {
                Some(shown) => self.reload_if_refused(shown)?,
                None => self.load(url)?,
            },
            Target::Latest => {
                if self.tab.shows_too_little(self.loading.load()) {
                    self.load(&self.url.clone())?
                } else {
                    let shown = self.wait(self.wait_for)?;
                    self.reload_if_refused(shown)?
                }
            }
        };
        if page.can_clear() { self.wait_out_challenge(page, content) } else { Ok((page, content)) }
    }

    /// Reads the page if the tab still shows it.
    fn show(&mut self, url: &Url) -> Result<Option<PageAndContent>, Failure> {
        if !self.tab.is_current || self.tab.shows_too_little(self.loading.load()) {
            return Ok(None);
        }
        let shown = self.wait(self.wait_for)?;
        let known = self.tab.shown().map(|page| &page.url);
        let same = known.into_iter().chain([url]).any(|url| ragmaker_address::same_page(url, &shown.0.url));
        Ok(same.then_some(shown))
    }

    /// The headers distinguish a challenge from a plain refusal, and they are not kept. So a refused page is
    /// loaded again.
    fn reload_if_refused(&mut self, shown: PageAndContent) -> Result<PageAndContent, Failure> {
        if shown.0.challenge.is_none() && challenge::suspicious(shown.0.http_status) {
            return self.load(&self.url.clone());
        }
        Ok(shown)
    }

    /// Loads the page again after an expansion that led to another one, and waits until it is idle. The state of a page in
    /// which steps were taken would be lost.
    pub(crate) fn load_again(&mut self) -> Result<(), Failure> {
        if self.tab.is_acted() {
            return Err(not_loaded_again(&self.url).into());
        }
        let url = self.url.clone();
        let (page, _) = self.load(&url)?;
        page.refusal().map_or(Ok(()), |error| Err(error.into()))
    }

    fn load(&mut self, url: &Url) -> Result<PageAndContent, Failure> {
        // The state of the current page is not valid for the next one.
        self.tab.is_current = false;
        if self.tab.reused && url.fragment().is_some() {
            // The browser follows a fragment of the current page without loading it.
            self.wait_for_ping()?;
            self.go("about:blank")?;
        }
        // The browser process answers this command itself. The commands after it go to the page's process,
        // whose answer is waited for.
        let deciding = self.tab.socket.decide_requests(self.loading.clone());
        deciding.map_err(|error| self.failure(error))?;
        let arguments = self.script.arguments(self.wait_for, false, false);
        let prepared = self.tab.socket.run_in_next_document(&self.script.body, &arguments);
        prepared.map_err(|error| self.failure(error))?;
        let silent = self.network.give_up(&[]);
        if !silent.is_empty() {
            let blocked = self.tab.socket.block(&silent);
            blocked.map_err(|error| self.failure(error))?;
        }
        self.tab.socket.start_ping(LIMITS.ping);
        self.wait_for_ping()?;
        let answer = self.go(url.as_str())?;
        let error = answer["errorText"].as_str();
        let is_download = answer["isDownload"] == true;
        if error.is_none() && !is_download {
            return self.wait(self.wait_for);
        }
        self.without_document(url, error, is_download)
    }

    /// The result of a load after which the browser shows no document of the server.
    fn without_document(
        &mut self,
        url: &Url,
        error: Option<&str>,
        is_download: bool,
    ) -> Result<PageAndContent, Failure> {
        let known = self.tab.socket.receive_known_events(self.deadline);
        known.map_err(|error| self.failure(error))?;
        self.handle_events();
        let document = self.network.latest();
        let (status, media) = (document.status(), document.media_type());
        // Chromium shows its own page for an error status without a body and for a missing HTTP password.
        if status >= 400 && !is_download {
            let headers = document.headers();
            self.shows_page = false;
            let facts = Facts::of_status(self.url.clone(), status);
            return Ok((LoadedPage::new(facts, &self.url, &headers, WaitOutcome::IDLE), Value::Null));
        }
        if let Some(refusal) = self.loading.request_policy().and_then(RequestPolicy::refusal) {
            return Err(refusal.into());
        }
        let error = refused_load(&self.url, url, status, media, error);
        Err(error.into())
    }

    /// Waits until the tab has executed its commands. A command that is pending when the tab changes to another
    /// process does not affect the new page.
    fn wait_for_ping(&mut self) -> Result<(), Failure> {
        self.tab.socket.wait_for_ping().map_err(|error| self.failure(error))
    }

    /// Navigates to `url`, and returns the browser's answer.
    fn go(&mut self, url: &str) -> Result<Value, Failure> {
        let (socket, deadline) = (&mut self.tab.socket, self.deadline);
        let answer = socket.navigate(url).and_then(|navigation| {
            match socket.navigated(navigation, deadline.min(Instant::now() + LIMITS.ping)) {
                // Either the server is slow, or the old page is busy with its unload handlers.
                Err(CommandError::Late) if self.tab.reused => {
                    let time = deadline.saturating_duration_since(Instant::now()) / LIMITS.reused_tab_divisor;
                    socket.navigated(navigation, Instant::now() + time).map_err(|error| match error {
                        CommandError::Late => CommandError::Unresponsive,
                        other => other,
                    })
                }
                Err(CommandError::Late) => socket.navigated(navigation, deadline),
                answer => answer,
            }
        });
        match answer {
            Ok(answer) => {
                let document = answer["loaderId"].as_str();
                self.network.sent_to(document);
                self.tab.socket.guard_history(document);
                Ok(answer)
            }
            // No part of the new page exists yet, so the page of an earlier call has crashed.
            Err(CommandError::Crashed) if self.tab.reused => Err(self.failure(CommandError::Unresponsive)),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Waits until the page in which the call acts is idle, and reads it.
    pub(crate) fn rest(&mut self) -> Result<PageAndContent, Failure> {
        // The end of an earlier wait is not valid after an action.
        self.tab.is_current = false;
        self.wait(None)
    }

    /// Waits until the page is ready, and reads it.
    fn wait(&mut self, wait_for: Option<&str>) -> Result<PageAndContent, Failure> {
        let mut reloads = 0;
        loop {
            let readiness = Readiness {
                earlier: self.tab.outcome().cloned(),
                may_reload: reloads < LIMITS.reloads,
                is_known: self.began.get() || self.tab.outcome().is_some(),
                reused: self.tab.reused,
                socket: &mut self.tab.socket,
                network: &mut self.network,
                script: self.script,
                url: &self.url,
                deadline: self.deadline,
            };
            match { readiness }.wait(wait_for)? {
                WaitResult::Ready(page) => return self.checked(*page),
                WaitResult::Blocked(hosts) => self.reload_without(&hosts)?,
            }
            reloads += 1;
        }
    }

    /// Loads the page again with `hosts` blocked, also for the tab's later pages. The protocol cannot end a
    /// single request, only the load of the whole page.
    fn reload_without(&mut self, hosts: &[Host]) -> Result<(), Failure> {
        let blocked = self.tab.socket.block(&self.network.give_up(hosts));
        blocked.map_err(|error| self.failure(error))?;
        self.tab.is_current = false;
        let url = self.url.clone();
        self.go(url.as_str()).map(drop)
    }

    /// Checks whether the page may be opened, because a redirect or a script may have changed the URL.
    fn checked(&mut self, page: ReadyPage) -> Result<PageAndContent, Failure> {
        let ReadyPage { outcome, facts, content } = page;
        self.handle_events();
        if facts.url.scheme() == "chrome-error" {
            if let Some(refusal) = self.loading.request_policy().and_then(RequestPolicy::refusal) {
                return Err(refusal.into());
            }
            // The page led to another one that could not be loaded.
            let failure = self.network.current_document().failure();
            let (url, net_error) = failure.unwrap_or((self.url.as_str(), "net::ERR_FAILED"));
            return Err(navigation_failed(url, net_error).into());
        }
        if let Some(reach) = self.loading.request_policy() {
            reach.check(&facts.url, self.network.current_document().address())?;
        }
        allowed(&facts, self.domains)?;
        let headers = self.network.current_document().headers();
        Ok((LoadedPage::new(facts, &self.url, &headers, outcome), content))
    }

    pub(crate) fn handle_events(&mut self) {
        for event in self.tab.socket.take_events() {
            self.network.handle(&event.method, &event.params);
        }
    }

    /// Waits until a challenge is cleared, by itself or by the person at the window, who may also press Enter
    /// in the terminal to continue.
    fn wait_out_challenge(&mut self, mut page: LoadedPage, mut content: Value) -> Result<PageAndContent, Failure> {
        let visible = self.visible;
        let time = if visible { self.timeout.unwrap_or(LIMITS.challenge_solved) } else { LIMITS.challenge_clears };
        let until = Instant::now() + time;
        if visible {
            self.deadline = self.deadline.max(until + LIMITS.call);
        }
        let enter = visible.then(enter_pressed).flatten();
        while page.can_clear() && Instant::now() < until && Instant::now() + LIMITS.challenge_pause < self.deadline {
            if enter.as_ref().is_some_and(|enter| enter.try_recv().is_ok()) {
                break;
            }
            std::thread::sleep(LIMITS.challenge_pause);
            (page, content) = self.wait(None)?;
        }
        match self.wait_for {
            Some(_) if page.challenge.is_none() => self.wait(self.wait_for),
            _ => Ok((page, content)),
        }
    }

    fn failure(&self, error: CommandError) -> Failure {
        Failure::of(error, &self.url)
    }
}

/// Refuses a page that may not be opened, or is none.
pub(crate) fn allowed(facts: &Facts, domains: &Domains) -> Result<(), Error> {
    ragmaker_address::check(&facts.url)?;
    domains.check(&facts.url)?;
    if facts.media_type == "application/pdf" {
        let error = "the URL is a PDF, not a page";
        // A step may have led to it.
        return Err(not_a_page(error, &facts.url, Some(&facts.media_type), facts.status).remedy(FILE_REMEDY));
    }
    Ok(())
}

/// The remedy for a file.
const FILE_REMEDY: &str = "Save it with ragmaker-browser-extract, if it is a PDF, an office document or a zip archive.";

/// The error for a load without a document.
///
/// `requested` is the URL of the call and `sent_to` that of the navigation. `status` and `media_type` are those
/// of the server's response, if there was one. `net_error` is Chromium's name of the cause, and `None` for a
/// download.
fn refused_load(
    requested: &Url,
    sent_to: &Url,
    status: u16,
    media_type: Option<&str>,
    net_error: Option<&str>,
) -> Error {
    match (net_error, status, media_type) {
        // Chromium aborts the load of a response without content and of a download.
        (Some("net::ERR_ABORTED") | None, 204 | 205, _) => {
            not_a_page("the server answered without content (status 204 or 205)", requested, media_type, status)
        }
        (Some("net::ERR_ABORTED") | None, _, Some(media_type)) => {
            let message = format!("the URL is a download of type {media_type}, not a page");
            not_a_page(&message, requested, Some(media_type), status).remedy(FILE_REMEDY)
        }
        (net_error, ..) => navigation_failed(sent_to.as_str(), net_error.unwrap_or("net::ERR_ABORTED")),
    }
}

/// A receiver that is notified when the person presses Enter in the terminal; `None` without a terminal.
fn enter_pressed() -> Option<mpsc::Receiver<()>> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    eprintln!("The window shows a bot challenge: solve it there, or press Enter to continue without a solution.");
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        if io::stdin().lock().read_line(&mut String::new()).is_ok() {
            let _ = send.send(());
        }
    });
    Some(receive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::{NAVIGATION_FAILED, NOT_A_PAGE};

    fn refused(status: u16, media_type: Option<&str>, net_error: Option<&str>) -> Error {
        let requested = Url::parse("https://x.example/short").unwrap();
        let sent_to = Url::parse("https://x.example/long").unwrap();
        refused_load(&requested, &sent_to, status, media_type, net_error)
    }

    #[test]
    fn an_answer_without_content_is_not_a_page() {
        for (status, media_type) in [(204, None), (205, None), (204, Some("text/html"))] {
            for net_error in [None, Some("net::ERR_ABORTED")] {
                let error = refused(status, media_type, net_error);
                assert!(error.is(NOT_A_PAGE) && error.message().contains("without content"), "{error}");
                assert_eq!(error.details()["url"], "https://x.example/short");
                assert_eq!(error.details()["http_status"], status);
            }
        }
    }

    #[test]
    fn a_download_is_named_by_its_type() {
        for net_error in [None, Some("net::ERR_ABORTED")] {
            let error = refused(200, Some("application/zip"), net_error);
            assert!(error.is(NOT_A_PAGE) && error.message().contains("application/zip"), "{error}");
            assert_eq!(error.details()["content_type"], "application/zip");
        }
    }

    #[test]
    fn any_other_failure_names_the_url_that_failed_and_the_cause() {
        for (media_type, net_error, named) in [
            (None, None, "net::ERR_ABORTED"),
            (None, Some("net::ERR_ABORTED"), "net::ERR_ABORTED"),
            (None, Some("net::ERR_CONNECTION_REFUSED"), "net::ERR_CONNECTION_REFUSED"),
            // The connection was lost in the middle of the response.
            (Some("text/html"), Some("net::ERR_CONTENT_LENGTH_MISMATCH"), "net::ERR_CONTENT_LENGTH_MISMATCH"),
        ] {
            let error = refused(0, media_type, net_error);
            assert!(error.is(NAVIGATION_FAILED), "{error}");
            assert_eq!(error.details()["url"], "https://x.example/long");
            assert_eq!(error.details()["net_error"], named);
        }
    }
}
