//! A visit: everything that a call does with one page, from connecting to the browser to returning the content.
//! [`steps`] has what a call does in the page.

mod steps;

use std::{
    cell::Cell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use ragmaker_address::{Pattern, same_page};
use ragmaker_tool::{ARGUMENT_ERROR, Error};
use serde_json::Value;

use crate::{
    act::{Actor, DeclineConsent, ExpandPage},
    capture::Capture,
    codes::{BROWSER_LOST, NAVIGATION_FAILED, NO_PAGE, NOT_A_PAGE, SELECTOR_NOT_FOUND},
    consent::Consent,
    download,
    error::{CommandError, Failure, not_a_page},
    expansion::Expand,
    limits::{LIMITS, MAX_HTML},
    loading::{Load, Loading},
    navigation::{Navigation, Target},
    page::{Link, LoadedPage, Ready, WaitOutcome},
    readiness::{Network, PageScript, RequestedContent},
    responses::{JsonResponse, JsonResponses},
    restricted_session::RestrictedSession,
    screenshot,
    session::BrowserLease,
    tab::{ShownPage, Tab, TabPreference},
    webdriver_only::{self, VisitRequest, WebDriverActor, WebDriverVisit},
};

pub use self::steps::PageElements;

/// The maximum number of new tabs that a call tries.
const NEW_TABS: u32 = 8;

impl RestrictedSession {
    /// A visit of `target`: no window, text alone, nothing expanded, and the time that a call has by default.
    pub fn visit<'a>(&'a self, target: Target<'a>) -> Visit<'a> {
        Visit {
            session: self,
            target,
            visible: false,
            timeout: None,
            wait_for: None,
            load: Load::Text,
            expand: Expand::default(),
            capture: Capture::default(),
            takes_files: false,
            json_responses: None,
            declines_consent: false,
        }
    }
}

/// A visit to a page.
#[derive(Clone, Copy)]
pub struct Visit<'a> {
    /// The session.
    pub session: &'a RestrictedSession,
    /// The page.
    pub target: Target<'a>,
    /// Whether the browser has a window for a person, who also solves challenges.
    pub visible: bool,
    /// The timeout; 30 seconds by default.
    pub timeout: Option<Duration>,
    /// A selector to wait for, instead of the page's readiness.
    pub wait_for: Option<&'a str>,
    /// The parts of the page to load; everything if it is visible.
    pub load: Load,
    /// The kinds of content to expand before the page is read.
    pub expand: Expand,
    /// The requested screenshot and PDF. The page's images are loaded for them.
    pub capture: Capture<'a>,
    /// Whether a file in place of a page is taken, as [`LoadedPage::file`], instead of being an error.
    pub takes_files: bool,
    /// Which JSON answers of the page are taken, by their URLs. The page is loaded for that; without a DevTools socket,
    /// the answers are requested again instead.
    pub json_responses: Option<&'a Arc<Pattern>>,
    /// Whether a consent banner is declined first.
    pub declines_consent: bool,
}

impl Visit<'_> {
    /// Goes to the page and returns the links that a person could follow, in the page's order, without
    /// duplicates.
    ///
    /// A running browser is used and stays open; otherwise, one is started and closed at the end.
    pub fn links(&self) -> Result<(LoadedPage, Vec<Link>), Error> {
        let (page, links) = self.take(RequestedContent::Links)?;
        Ok((page, Link::list(links.as_str().unwrap_or_default())))
    }

    /// Goes to the page and returns its HTML as rendered, or its text if it is not HTML. With a CSS `selector`,
    /// returns only the matching elements; `None` if there are none. XML with a syntax error is not a page.
    pub fn html(&self, selector: Option<&str>) -> Result<(LoadedPage, Option<String>), Error> {
        let (mut page, html) = self.take(RequestedContent::Html(selector))?;
        // The end may be a few bytes of a character before the limit.
        if html.as_str().is_some_and(|html| html.len() + 4 > MAX_HTML) {
            page.ready = Ready::Cap;
        }
        if let Some(broken) = page.broken().filter(|_| page.http_status < 400 && page.challenge.is_none()) {
            let message = format!("the page is XML with an error: {broken}");
            return Err(not_a_page(&message, &page.url, Some(&page.content_type), page.http_status));
        }
        Ok((page, if let Value::String(html) = html { Some(html) } else { None }))
    }

    fn take(&self, wanted: RequestedContent<'_>) -> Result<(LoadedPage, Value), Error> {
        let (taking, began) = (PageScript::new(wanted), Cell::new(false));
        if !self.expand.is_any() {
            let captured = |navigation: &mut Navigation<'_>, (page, content)| {
                Ok((screenshot::take(self.capture, navigation, page, &[])?, content))
            };
            return self.work(&taking, &began, captured, |visit, (page, content)| {
                Ok((webdriver_only::screenshot::take(visit, self.capture, page)?, content))
            });
        }
        let nothing = PageScript::new(RequestedContent::Nothing);
        let (mut page, (content, expanded)) = self.work(
            &nothing,
            &began,
            |navigation, (page, content)| {
                if page.file.is_some() {
                    return Ok((page, (content, None)));
                }
                let expanded = if page.refusal().is_none() {
                    let mut actor = Actor::new(navigation)?;
                    let expanded = actor.expand(self.expand)?;
                    actor.into_side_effects();
                    Some(expanded)
                } else {
                    None
                };
                navigation.script = &taking;
                let (page, content) = navigation.rest()?;
                Ok((screenshot::take(self.capture, navigation, page, &[])?, (content, expanded)))
            },
            |visit, (page, _)| {
                let of = |error| Failure::of(error, &page.url);
                let expanded = if page.refusal().is_none() {
                    Some(WebDriverActor::new(visit, &began).map_err(of)?.expand(self.expand)?)
                } else {
                    None
                };
                visit.script = &taking;
                let (page, content) = visit.rest()?;
                Ok((webdriver_only::screenshot::take(visit, self.capture, page)?, (content, expanded)))
            },
        )?;
        page.expanded = expanded;
        Ok((page, content))
    }

    /// Goes to the page, and calls `work` there: by its DevTools socket, or `plainly` by WebDriver commands alone.
    fn work<'s, T>(
        &'s self,
        script: &'s PageScript,
        began: &'s Cell<bool>,
        work: impl Fn(&mut Navigation<'s>, (LoadedPage, Value)) -> Result<(LoadedPage, T), Failure>,
        plainly: impl Fn(&mut WebDriverVisit<'s>, (LoadedPage, Value)) -> Result<(LoadedPage, T), Failure>,
    ) -> Result<(LoadedPage, T), Error> {
        if let Target::Load(url) | Target::Show(url) | Target::Acted(url) = self.target {
            self.session.domains.check(url)?;
            self.session.machines.check_resolved(url)?;
        }
        let deadline = Instant::now() + self.timeout.unwrap_or(LIMITS.call);
        let load = if self.visible || self.capture.is_any() { Load::Everything } else { self.load };
        let loading = Loading::new(load, self.session.block_list.clone());
        let loading = Rc::new(loading.restricted_to(&self.session.machines, self.session.rule.as_ref()));
        let mut retried = false;
        loop {
            let in_use = self.session.acquire(self.visible, deadline)?;
            // Another machine has other browsers.
            let was_open = in_use.was_open || in_use.running.endpoint.is_remote;
            let result = if in_use.running.endpoint.devtools.is_some() {
                self.in_tab((script, began), &loading, &in_use, deadline, &work)
            } else {
                self.plainly((script, began), &in_use, deadline, &plainly)
            };
            self.session.release(in_use, result.as_ref().err());
            let may_retry = was_open && !retried && !began.get() && !self.session.reserves.get();
            match result {
                // The open browser was lost, so a new one is started once.
                Err(error) if error.is(BROWSER_LOST) && may_retry => retried = true,
                result => return result,
            }
        }
    }

    /// The file in place of the page, if `failure` is that there is one.
    fn file(&self, navigation: &mut Navigation<'_>, failure: Failure) -> Result<(LoadedPage, Value), Failure> {
        let is_file = matches!(&failure, Failure::Page(error)
            if error.is(NOT_A_PAGE) && error.details().get("content_type").is_some_and(Value::is_string)
                && error.details().get("http_status").is_none_or(|status| *status != 204 && *status != 205));
        if !self.takes_files || !is_file {
            return Err(failure);
        }
        navigation.shows_page = false;
        let (url, status, file) = download::receive(navigation)?;
        Ok((LoadedPage::of_file(&url, status, file), Value::Null))
    }

    /// Declines the consent banner of the page, and reads the page again if that changed it.
    fn without_banner(
        &self,
        navigation: &mut Navigation<'_>,
        taken: (LoadedPage, Value),
    ) -> Result<((LoadedPage, Value), Option<Consent>), Failure> {
        if !self.declines_consent || taken.0.file.is_some() || taken.0.refusal().is_some() {
            return Ok((taken, None));
        }
        let mut actor = Actor::following(navigation)?;
        let consent = actor.decline_consent()?;
        actor.into_side_effects();
        let taken = if consent.clicked.is_empty() { taken } else { navigation.rest()? };
        Ok((taken, Some(consent)))
    }

    /// The JSON answers of the page in `tab` that the host's restrictions let pass.
    fn json_responses(&self, tab: &mut Tab, loading: &Loading, deadline: Instant) -> Option<JsonResponses> {
        let mut collected = tab.socket.take_json(deadline.min(Instant::now() + LIMITS.ping))?;
        let complete = collected.responses.len();
        collected.responses.retain(|JsonResponse { url, address, .. }| {
            let allowed = ragmaker_address::check(url).and_then(|()| self.session.domains.check(url));
            let reached = loading.request_policy().map_or(Ok(()), |reach| reach.check(url, address.as_deref()));
            allowed.and(reached).is_ok()
        });
        collected.left_out += complete - collected.responses.len();
        Some(collected)
    }

    /// Visits the page by WebDriver commands alone.
    fn plainly<'s, T>(
        &'s self,
        (script, began): (&'s PageScript, &'s Cell<bool>),
        in_use: &BrowserLease,
        deadline: Instant,
        work: &impl Fn(&mut WebDriverVisit<'s>, (LoadedPage, Value)) -> Result<(LoadedPage, T), Failure>,
    ) -> Result<(LoadedPage, T), Error> {
        let RestrictedSession { domains, machines, block_list, .. } = self.session;
        if !machines.is_all() {
            let error = self.session.no_socket("only public machines may be reached, and to keep a page to them needs");
            return Err(error.remedy(
                "Use Chromium on this machine, or let pages reach every machine with --allow-private, without --public-only.",
            ));
        }
        if block_list.is_some() {
            return Err(self.session.no_socket("--block-list needs"));
        }
        if let Some(needs) = webdriver_only::screenshot::unsupported(self.capture) {
            return Err(self.session.no_socket(needs));
        }
        let Self { target, visible, timeout, wait_for, load, .. } = *self;
        let request = VisitRequest { target, visible, timeout, wait_for, load, domains, script, deadline, began };
        webdriver_only::visit(request, in_use.profile(), &in_use.running, |visit, taken| {
            let (taken, banner) = self.without_banner_plainly(visit, began, taken)?;
            let (mut page, content) = work(visit, taken)?;
            page.consent = banner;
            let collect = |pattern| webdriver_only::responses::collect(visit, pattern, domains);
            page.json_responses = self.json_responses.map(collect).transpose()?;
            Ok((page, content))
        })
    }

    /// Declines the consent banner of the page, and reads the page again if that changed it.
    fn without_banner_plainly(
        &self,
        visit: &mut WebDriverVisit<'_>,
        began: &Cell<bool>,
        taken: (LoadedPage, Value),
    ) -> Result<((LoadedPage, Value), Option<Consent>), Failure> {
        if !self.declines_consent || taken.0.refusal().is_some() {
            return Ok((taken, None));
        }
        let of = |error| Failure::of(error, &taken.0.url);
        let consent = WebDriverActor::new(visit, began).map_err(of)?.decline_consent()?;
        let taken = if consent.clicked.is_empty() { taken } else { visit.rest()? };
        Ok((taken, Some(consent)))
    }

    fn in_tab<'s, T>(
        &'s self,
        (script, began): (&'s PageScript, &'s Cell<bool>),
        loading: &Rc<Loading>,
        in_use: &BrowserLease,
        deadline: Instant,
        work: &impl Fn(&mut Navigation<'s>, (LoadedPage, Value)) -> Result<(LoadedPage, T), Failure>,
    ) -> Result<(LoadedPage, T), Error> {
        let preference = match self.target {
            Target::Load(_) => TabPreference::Any,
            Target::Show(url) => TabPreference::Showing(url),
            Target::Acted(url) => TabPreference::Acted(url),
            Target::Latest => TabPreference::Latest,
        };
        let mut new_tabs = 0;
        loop {
            let no_page = || NO_PAGE.error("this session has no open page");
            let mut tab = Tab::borrow(in_use.profile(), &in_use.running, preference, deadline)?.ok_or_else(no_page)?;
            let collects = self.json_responses.map_or(Ok(()), |pattern| {
                // A tab that an earlier call left may be gone.
                let unresponsive = |error| if tab.reused { CommandError::Unresponsive } else { error };
                tab.socket.collect_json(pattern.clone()).map_err(unresponsive)
            });
            let url = match self.target {
                Target::Load(url) | Target::Show(url) | Target::Acted(url) => url,
                Target::Latest => &tab.shown().ok_or_else(no_page)?.requested,
            };
            let url = url.clone();
            new_tabs += u32::from(!tab.reused);
            let mut navigation = Navigation {
                target: self.target,
                visible: self.visible,
                timeout: self.timeout,
                wait_for: self.wait_for,
                domains: &self.session.domains,
                script,
                loading: loading.clone(),
                url: url.clone(),
                network: Network::new(tab.socket.frame(), tab.silent_hosts()),
                tab,
                deadline,
                shows_page: true,
                began,
            };
            let (mut before, mut banner) = (None, None);
            let went = collects.map_err(|error| Failure::of(error, &url)).and_then(|()| navigation.run());
            let result = went.or_else(|failure| self.file(&mut navigation, failure)).and_then(|taken| {
                before = Some((taken.0.url.clone(), navigation.tab.is_acted()));
                let (taken, declined) = self.without_banner(&mut navigation, taken)?;
                banner = declined;
                work(&mut navigation, taken)
            });
            let Navigation { mut tab, shows_page, network, .. } = navigation;
            tab.remember_silent(network.silent_hosts());
            let error = match result {
                Ok((mut page, content)) => {
                    page.consent = banner;
                    page.json_responses = self.json_responses(&mut tab, loading, deadline);
                    if shows_page {
                        in_use.profile().note_origin(&page.url.origin().ascii_serialization());
                    }
                    // If a call's actions led to another URL, the page is recorded under that URL.
                    let (shown_before, was_acted) = before.unwrap_or_else(|| (page.url.clone(), false));
                    let has_left = began.get() && !same_page(&shown_before, &page.url);
                    let shown = shows_page.then(|| ShownPage {
                        requested: if has_left { page.url.clone() } else { url },
                        url: page.url.clone(),
                        outcome: WaitOutcome { ready: page.ready, pending: page.pending.clone() },
                        load: loading.load(),
                        acted: began.get() || was_acted,
                    });
                    tab.give_back(shown, in_use.profile());
                    return Ok((page, content));
                }
                // The page that an earlier call left in the tab must not fail this call, so another tab is tried.
                // In a new tab, this is the browser's own empty page, to which a fast page may go back.
                Err(Failure::UnresponsiveTab(error)) => {
                    tab.dispose();
                    if new_tabs <= NEW_TABS {
                        continue;
                    }
                    return Err(error);
                }
                Err(Failure::Page(error)) => error,
            };
            if error.is(NAVIGATION_FAILED) || error.is(NOT_A_PAGE) {
                tab.give_back(None, in_use.profile());
            } else if error.is(ARGUMENT_ERROR) || error.is(SELECTOR_NOT_FOUND) {
                let (outcome, load) = (WaitOutcome::IDLE, loading.load());
                let acted = tab.is_acted();
                let shown = ShownPage { requested: url.clone(), url, outcome, load, acted };
                tab.give_back(Some(shown), in_use.profile());
            } else {
                // A page that did not answer may continue to hang, so its tab is closed.
                tab.dispose();
            }
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use ragmaker_address::{DOMAIN_NOT_ALLOWED, Domains, Network as Machines};

    #[test]
    fn a_forbidden_domain_is_refused_before_a_browser_starts() {
        let cache = tempfile::tempdir().unwrap();
        let profile = Profile::of(cache.path(), None).unwrap();
        let domains = Domains::new(&["docs.example.com".to_owned()]).unwrap();
        let session = RestrictedSession {
            profile,
            domains,
            machines: Machines::all(),
            rule: None,
            block_list: None,
            remote: None,
            reserves: Cell::new(false),
        };
        let url = ragmaker_address::parse("https://evil.example/docs.example.com").unwrap();
        for target in [Target::Load(&url), Target::Show(&url)] {
            let visit = session.visit(target);
            let error = visit.links().unwrap_err();
            assert!(error.is(DOMAIN_NOT_ALLOWED), "{error}");
            assert!(visit.html(None).unwrap_err().is(DOMAIN_NOT_ALLOWED));
        }
        assert!(!session.profile.folder().exists());
    }
}
