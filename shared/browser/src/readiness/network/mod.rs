//! The network state of a page, from the tab's events: the current document, the pending document, and the open
//! requests.
//!
//! The events come from the browser, not from the page. So bodies that are read in parts and requests of frames are
//! included, and the page cannot detect that it is observed.

mod document;
mod requests;
mod silent;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    mem,
    time::{Duration, Instant},
};

use serde_json::Value;
use url::{Host, Url};

use self::{
    document::NavigationDocument,
    requests::{RequestKind, Requests},
};
pub(crate) use self::{
    requests::{NetworkState, TextDensity},
    silent::SilentHosts,
};
use crate::cdp::HOST_ANSWERED;
use crate::limits::{LIMITS, Limits};

/// The navigation of a call.
///
/// The old page may start another navigation at the moment in which the call's document replaces it. That
/// navigation then wins.
#[derive(Debug, Default)]
struct CallNavigation {
    /// The request for the call's document, until it is committed.
    target: Option<String>,
    /// The last document that the old page requested since then.
    rival: Option<String>,
    superseded: bool,
}

impl CallNavigation {
    fn requested(&mut self, request: &str) {
        if self.target.as_ref().is_some_and(|target| target != request) {
            self.rival = Some(request.to_owned());
        }
    }

    fn committed(self, document: &str) -> Self {
        if self.target.as_deref() == Some(document) {
            return Self { target: None, superseded: false, ..self };
        }
        Self { superseded: self.superseded || self.rival.as_deref() == Some(document), ..self }
    }
}

/// The network of a tab.
#[derive(Debug)]
pub(crate) struct Network {
    /// The outermost frame.
    frame: String,
    shown: NavigationDocument,
    /// The URL of the current document.
    url: String,
    /// The pending document.
    coming: Option<NavigationDocument>,
    call_navigation: CallNavigation,
    /// Whether the document's load event is over.
    loaded: bool,
    /// Whether the frame has stopped loading, which follows its load event.
    stopped: bool,
    /// The deadline for leaving the page, if the page announced that.
    leaves_by: Option<Instant>,
    requests: Requests,
    silent: SilentHosts,
    /// Whether the page was loaded again without silent hosts.
    gave_up: bool,
    /// The probe of the page's own host, for comparison.
    control: Option<OwnHostProbe>,
}

/// A probe of the page's own host, which measures the present response time.
#[derive(Clone, Copy, Debug)]
struct OwnHostProbe {
    asked: Instant,
    took: Option<Duration>,
}

impl Network {
    /// The network state of the tab whose outermost frame is `frame`; `silent` are the silent hosts of its
    /// earlier pages.
    pub(crate) fn new(frame: &str, silent: SilentHosts) -> Self {
        Self {
            frame: frame.to_owned(),
            shown: NavigationDocument::default(),
            url: String::new(),
            coming: None,
            call_navigation: CallNavigation::default(),
            loaded: false,
            stopped: false,
            leaves_by: None,
            requests: Requests::default(),
            silent,
            gave_up: false,
            control: None,
        }
    }

    /// The document that shows; empty if it was loaded before events were received.
    pub(crate) fn current_document(&self) -> &NavigationDocument {
        &self.shown
    }

    /// The last requested document, received or not.
    pub(crate) fn latest(&self) -> &NavigationDocument {
        self.coming.as_ref().unwrap_or(&self.shown)
    }

    /// Sets the request of the navigation, before any event since is handled; `None` for a fragment of the
    /// current page.
    pub(crate) fn sent_to(&mut self, request: Option<&str>) {
        self.call_navigation = CallNavigation { target: request.map(str::to_owned), ..CallNavigation::default() };
    }

    /// Whether the old page started another navigation that won.
    pub(crate) fn is_superseded(&self) -> bool {
        self.call_navigation.superseded
    }

    /// Whether the current document, which the page script saw complete, is loaded and the consequences are known: the
    /// work of its code, if it `has_code`, and the next page if it `refreshes`.
    pub(crate) fn loaded(&self, has_code: bool, refreshes: bool) -> bool {
        let refreshes = refreshes || !self.shown.headers()["refresh"].is_null();
        !self.is_known() || if refreshes { self.stopped } else { self.loaded || !has_code }
    }

    /// Whether the current document was loaded while events were received.
    fn is_known(&self) -> bool {
        !self.url.is_empty()
    }

    /// Whether a page that was loaded while events were received is about to be replaced.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_known() && self.awaits_document()
    }

    /// Whether any page is about to be replaced, also one that was loaded before events were received.
    pub(crate) fn is_to_be_left(&self) -> bool {
        self.awaits_document() || self.leaves_by.is_some_and(|until| Instant::now() < until)
    }

    fn awaits_document(&self) -> bool {
        self.pending_document().is_some()
    }

    /// The URL of the document that is to replace the current one.
    pub(crate) fn pending_document(&self) -> Option<&str> {
        // A document that will not come, such as a download, leaves the page as it is.
        let coming = self.coming.as_ref().filter(|document| document.failure.is_none());
        coming.map(|document| document.url.as_str())
    }

    /// The state of the page, which depends on the amount of text that it has already.
    pub(crate) fn state(&self, text: TextDensity) -> NetworkState {
        if self.is_to_be_left() {
            return NetworkState::Busy;
        }
        self.requests.state(text, self.silence_limit())
    }

    /// How long a silent host may take to respond, relative to the response times of the page's own host: on a
    /// busy machine, all responses are late.
    fn silence_limit(&self) -> Duration {
        let Limits { probe_timeout, probe_timeout_factor, probe_timeout_max, .. } = LIMITS;
        let now = self.control.map(|control| control.took.unwrap_or_else(|| control.asked.elapsed()));
        let own = self.shown.answer_time.max(now.unwrap_or_default());
        (own * probe_timeout_factor).clamp(probe_timeout, probe_timeout_max)
    }

    /// The hosts to probe, each with the URL of an unanswered request; and the page's own host beside the first
    /// of them.
    pub(crate) fn hosts_to_ask(&mut self) -> Vec<Url> {
        let mut urls = self.requests.hosts_to_ask();
        let needs_control = self.control.is_none() && (!urls.is_empty() || self.requests.awaits_first_message());
        if let Some(own) = needs_control.then(|| Url::parse(&self.url).ok()).flatten() {
            self.control = Some(OwnHostProbe { asked: Instant::now(), took: None });
            urls.push(own);
        }
        urls
    }

    /// The time since the last part of any response.
    pub(crate) fn since_answer(&self) -> Duration {
        self.requests.came.map_or(Duration::MAX, |came| came.elapsed())
    }

    /// The hosts for which the parser may be waiting: the completely received document can only wait for their
    /// scripts and style sheets.
    pub(crate) fn silent_blockers(&self) -> Vec<Host> {
        if self.shown.is_complete && !self.awaits_document() {
            self.requests.silent_blockers(self.silence_limit())
        } else {
            vec![]
        }
    }

    /// The known silent hosts, including those of open requests.
    pub(crate) fn silent_hosts(&self) -> SilentHosts {
        let mut hosts = self.silent.clone();
        self.requests.silent(self.silence_limit()).for_each(|host| hosts.add(host, false));
        hosts
    }

    /// Records that `hosts` are blocked from now on, and returns all blocked hosts.
    pub(crate) fn give_up(&mut self, hosts: &[Host]) -> Vec<&str> {
        for host in hosts {
            self.silent.add(host, true);
            self.gave_up = true;
        }
        self.silent.blocked()
    }

    /// The hosts of open requests, sorted, including that of an incomplete document.
    pub(crate) fn pending(&self) -> Vec<String> {
        let shown = Some(&self.shown).filter(|shown| !shown.request.is_empty() && !shown.is_complete);
        let documents = shown.into_iter().chain(&self.coming).filter(|document| document.failure.is_none());
        let documents =
            documents.filter_map(|document| Url::parse(&document.url).ok()?.host().map(|host| host.to_owned()));
        let hosts: BTreeSet<_> =
            self.requests.pending().cloned().chain(documents).map(|host| host.to_string()).collect();
        hosts.into_iter().take(LIMITS.pending).collect()
    }

    /// Records that the call takes a step in the page, whose requests are waited for although the page sent them before.
    pub(crate) fn begin_step(&mut self) {
        self.requests.begin_step();
    }

    /// Handles an event of the tab.
    pub(crate) fn handle(&mut self, method: &str, params: &Value) {
        let text = |key: &str| params[key].as_str().unwrap_or_default();
        let (request, frame) = (text("requestId"), text("frameId"));
        for response in [&params["response"], &params["redirectResponse"]] {
            // A response that this program generated instead of the host has no IP address.
            let came = response["remoteIPAddress"].as_str().is_some_and(|address| !address.is_empty());
            if let Some(url) = response["url"].as_str().filter(|_| came) {
                self.host_responded(url);
            }
        }
        match method {
            "Network.requestWillBeSent" => self.requested(text("type"), request, frame, params),
            "Network.webSocketCreated" => {
                self.requests.begin((request, "", RequestKind::Push), (text("url"), ""), None, &self.silent);
            }
            "Network.responseReceived" => match self.document(request) {
                Some(document) => {
                    document.response = params["response"].clone();
                    document.answer_time = document.asked.map(|asked| asked.elapsed()).unwrap_or_default();
                }
                None => self.requests.answered(request, &params["response"]),
            },
            HOST_ANSWERED => {
                if let Some(host) = Url::parse(text("url")).ok().and_then(|url| url.host().map(|host| host.to_owned()))
                {
                    let is_own = Url::parse(&self.url)
                        .is_ok_and(|own| own.host().map(|own| own.to_owned()).as_ref() == Some(&host));
                    if let Some(control) = self.control.as_mut().filter(|control| is_own && control.took.is_none()) {
                        control.took = Some(control.asked.elapsed());
                    }
                    self.silent.forget(&host);
                    self.requests.is_alive(&host);
                }
            }
            "Network.dataReceived" => self.requests.received(request, params),
            "Network.loadingFailed" => {
                self.requests.end(request);
                if let Some(document) = self.document(request) {
                    document.failure = params["errorText"].as_str().map(str::to_owned);
                }
            }
            "Network.loadingFinished" => match self.document(request) {
                Some(document) => document.is_complete = true,
                None => self.requests.end(request),
            },
            "Network.eventSourceMessageReceived" | "Network.webSocketFrameReceived" => self.requests.begun(request),
            "Network.webSocketFrameError" | "Network.webSocketClosed" => self.requests.end(request),
            "Page.frameDetached" => self.requests.end_frame(frame),
            // By a timer of the browser, or at once by a script.
            "Page.frameScheduledNavigation" if frame == self.frame => {
                self.will_leave(text("url"), params["delay"].as_f64().unwrap_or_default());
            }
            "Page.frameRequestedNavigation" if frame == self.frame && text("disposition") == "currentTab" => {
                self.will_leave(text("url"), 0.0);
            }
            "Page.loadEventFired" => self.loaded = true,
            "Page.frameStoppedLoading" if frame == self.frame => self.stopped = true,
            "Page.frameClearedScheduledNavigation" if frame == self.frame => self.leaves_by = None,
            "Page.frameNavigated" if params["frame"]["id"] == *self.frame => {
                let loader = params["frame"]["loaderId"].as_str().unwrap_or_default();
                let came = self.coming.take().filter(|coming| coming.request == loader);
                let url = params["frame"]["url"].as_str().unwrap_or_default().to_owned();
                let call_navigation = mem::take(&mut self.call_navigation).committed(loader);
                let silent = mem::take(&mut self.silent);
                let gave_up = self.gave_up;
                *self = Self {
                    shown: came.unwrap_or_default(),
                    url,
                    call_navigation,
                    gave_up,
                    ..Self::new(&self.frame, silent)
                };
                self.requests.gave_up = gave_up;
                self.requests.came = Some(Instant::now());
            }
            _ => {}
        }
    }

    fn requested(&mut self, kind: &str, request: &str, frame: &str, params: &Value) {
        if kind == "Document" && frame == self.frame {
            self.call_navigation.requested(request);
            // The events of a redirect have the id of the original request.
            let coming = self.coming.take().filter(|coming| coming.request == request).unwrap_or_default();
            let url = params["request"]["url"].as_str().unwrap_or_default().to_owned();
            self.coming =
                Some(NavigationDocument { request: request.to_owned(), url, asked: Some(Instant::now()), ..coming });
            return;
        }
        // Requests for worker scripts belong to no document, and their end is not reported.
        let of_a_document = params["loaderId"].as_str().is_some_and(|loader| !loader.is_empty());
        if let Some(kind) = RequestKind::of(kind).filter(|_| of_a_document) {
            let text = |key: &str| params["request"][key].as_str().unwrap_or_default();
            let page = Url::parse(&self.url).ok();
            let asked = (text("url"), text("postData"));
            self.requests.begin((request, frame, kind), asked, page.as_ref(), &self.silent);
        }
    }

    /// Records that the host of `url` responded.
    fn host_responded(&mut self, url: &str) {
        if let Some(host) = Url::parse(url).ok().and_then(|url| url.host().map(|host| host.to_owned())) {
            self.silent.forget(&host);
            self.requests.host_responded(host);
        }
    }

    fn will_leave(&mut self, url: &str, delay: f64) {
        let web = url.starts_with("http:") || url.starts_with("https:");
        // A page that reloads itself from time to time is not left.
        let again = delay > 0.0 && url == self.url;
        if let Ok(delay) = Duration::try_from_secs_f64(delay)
            && delay <= LIMITS.refresh_delay
            && web
            && !again
        {
            self.leaves_by = Some(Instant::now() + delay + LIMITS.navigation_grace);
        }
    }

    fn document(&mut self, request: &str) -> Option<&mut NavigationDocument> {
        self.coming.iter_mut().chain([&mut self.shown]).find(|document| document.request == request)
    }
}
