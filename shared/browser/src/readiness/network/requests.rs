//! The open requests of a page, and the time limit of each.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use ragmaker_address::same_site;
use serde_json::Value;
use url::{Host, Url};

use super::{
    document::{headers, media_type},
    silent::SilentHosts,
};
use crate::limits::{LIMITS, RequestTimeout};

/// The state of a page according to its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkState {
    /// No open requests.
    Idle,
    /// The open requests cannot add content: images, connections for updates, or silent hosts of other sites in
    /// a page with text.
    Open,
    /// A request that may add content is open, or the page is about to be left.
    Busy,
    /// A request that could add content exceeds its time limit.
    Stalled,
}

/// The amount of text that a page has without its open requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextDensity {
    /// Enough text.
    Dense,
    /// Little text.
    Sparse,
}

impl TextDensity {
    /// The density that the page script reports in its facts.
    pub(crate) fn of(facts: &Value) -> Self {
        if facts["sparse"] == true { Self::Sparse } else { Self::Dense }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// Data that scripts fetch.
    Data,
    /// The same after the response began: the page may read the body or leave it unread.
    Body,
    /// A script, or the document of a frame.
    Code,
    /// A style sheet.
    Style,
    /// A WebSocket or an event stream, until its first message.
    Push,
    /// Images, fonts, media, beacons. They add no text and are not waited for.
    Asset,
}

impl RequestKind {
    /// The kind for the protocol's resource type.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Fetch" | "XHR" => Self::Data,
            "Script" | "Document" => Self::Code,
            "Stylesheet" => Self::Style,
            "EventSource" => Self::Push,
            "Image" | "Font" | "Media" | "TextTrack" | "Ping" => Self::Asset,
            _ => return None,
        })
    }

    fn patience(self) -> RequestTimeout {
        match self {
            Self::Data => LIMITS.data,
            Self::Body => LIMITS.body,
            Self::Code => LIMITS.code,
            Self::Style => LIMITS.style,
            Self::Push => LIMITS.stream,
            Self::Asset => RequestTimeout { dense: Duration::ZERO, sparse: Duration::ZERO },
        }
    }

    /// Whether a request of this kind can add content or delay it.
    fn brings_content(self) -> bool {
        self.can_stall() || self == Self::Style
    }

    /// Whether a slow request of this kind could have added content. A style sheet cannot, and an update
    /// connection is meant to stay open.
    fn can_stall(self) -> bool {
        matches!(self, Self::Data | Self::Body | Self::Code)
    }
}

/// The owner of the requested host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostOwner {
    /// The page's own site.
    OwnSite,
    /// Another site.
    OtherSite,
}

/// An open request.
#[derive(Debug)]
pub(super) struct Request {
    kind: RequestKind,
    frame: String,
    /// The time of its start, or of the last part of its body.
    since: Instant,
    /// The number of encoded bytes still to receive, if the server sent a length.
    left: Option<u64>,
    compressed: bool,
    /// Its URL.
    url: Url,
    host: Option<Host>,
    owner: HostOwner,
    /// Whether a first message was received, after which an update connection is not waited for.
    has_begun: bool,
}

impl Request {
    fn answered(&mut self, response: &Value) {
        if self.kind == RequestKind::Data {
            let headers = headers(response);
            self.kind =
                if media_type(response) == Some("text/event-stream") { RequestKind::Push } else { RequestKind::Body };
            self.since = Instant::now();
            self.left = headers["content-length"].as_str().and_then(|length| length.parse().ok());
            self.compressed = !headers["content-encoding"].is_null();
        }
    }

    /// Whether the whole response was received.
    fn is_complete(&self) -> bool {
        self.left == Some(0)
    }

    /// The state of the page because of this request. `known` is the record of its host, if it is of another
    /// site.
    fn state(&self, text: TextDensity, known: Option<HostRecord>, limit: SilenceLimit, now: Instant) -> NetworkState {
        let RequestTimeout { dense, sparse } = self.kind.patience();
        // A host that has not delivered anything yet is unlikely to have the page's content.
        let is_aside = text == TextDensity::Dense && known.is_some_and(|known| !known.brought);
        let patience = match (text, limit) {
            (TextDensity::Dense, _) if is_aside => dense.min(LIMITS.other_data),
            // A first message takes about as long as a response.
            (TextDensity::Dense, SilenceLimit::Dense(answer)) if self.kind == RequestKind::Push => dense.max(answer),
            (TextDensity::Dense, _) => dense,
            (TextDensity::Sparse, _) => sparse,
        };
        let is_silent = known.is_some_and(|known| known.is_silent(self.since, limit, now));
        if !self.has_begun && !is_silent && now.duration_since(self.since) < patience {
            NetworkState::Busy
        } else if self.kind.can_stall() && !is_aside {
            NetworkState::Stalled
        } else {
            NetworkState::Open
        }
    }

    /// Whether the parser may wait for this request.
    fn may_block_parser(&self) -> bool {
        matches!(self.kind, RequestKind::Code | RequestKind::Style)
    }
}

/// How long a host may be silent.
#[derive(Clone, Copy, Debug)]
pub(super) enum SilenceLimit {
    /// In a page with text.
    Dense(Duration),
    /// In a page with little text.
    Sparse,
}

/// The record of another site's host.
#[derive(Clone, Copy, Debug, Default)]
struct HostRecord {
    /// Whether it responded to anything, such as an image, a redirect or a probe.
    answered: bool,
    /// Whether it responded to a request of the page.
    brought: bool,
    /// The time of the probe.
    asked: Option<Instant>,
    /// The shorter time limit for a host that was silent on an earlier page, or that is contacted first after
    /// others were given up.
    doubt: Option<Duration>,
}

impl HostRecord {
    /// Whether it had enough time to respond and did not. `since` is the time of the page's request.
    fn is_silent(self, since: Instant, limit: SilenceLimit, now: Instant) -> bool {
        let (since, limit) = match (limit, self.doubt) {
            (SilenceLimit::Dense(_), Some(limit)) => (Some(since), limit),
            (SilenceLimit::Dense(limit), None) => (self.asked, limit),
            (SilenceLimit::Sparse, _) => (self.asked, LIMITS.probe_timeout_sparse),
        };
        !self.answered && since.is_some_and(|since| now.duration_since(since) >= limit)
    }
}

/// The requests of the current document.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashMap<String, Request>,
    /// How often each request was sent, and how often any request to each URL.
    asked: HashMap<String, u32>,
    hosts: HashMap<Host, HostRecord>,
    /// The time of the last part of any response.
    pub(super) came: Option<Instant>,
    /// Whether silent hosts were given up on this page.
    pub(super) gave_up: bool,
}

impl Requests {
    /// Adds a request, unless it is polling.
    ///
    /// `page` is the URL of the page, if it is known; `before` are the silent hosts of earlier pages.
    pub(super) fn begin(
        &mut self,
        (id, frame, kind): (&str, &str, RequestKind),
        (url, body): (&str, &str),
        page: Option<&Url>,
        before: &SilentHosts,
    ) {
        // The events of a redirect have the id of the original request.
        self.open.remove(id);
        // `data:` URLs are not requests, and may be very long.
        let Some(there) = (!url.starts_with("data:")).then(|| Url::parse(url).ok()).flatten() else { return };
        if kind != RequestKind::Asset && self.is_polling(url, body) {
            return;
        }
        let host = there.host().map(|host| host.to_owned());
        let owner = match page {
            Some(page) if !same_site(page, &there) => HostOwner::OtherSite,
            _ => HostOwner::OwnSite,
        };
        if let Some(host) = host.as_ref().filter(|_| owner == HostOwner::OtherSite) {
            let doubt = match (before.contains(host), self.gave_up) {
                (true, _) => Some(LIMITS.known_silent_wait),
                (_, true) => Some(LIMITS.reload_first_contact),
                _ => None,
            };
            self.hosts.entry(host.clone()).or_insert(HostRecord { doubt, ..HostRecord::default() });
        }
        let request = Request {
            kind,
            frame: frame.to_owned(),
            since: Instant::now(),
            left: None,
            compressed: false,
            owner,
            url: there,
            host,
            has_begun: false,
        };
        self.open.insert(id.to_owned(), request);
    }

    fn is_polling(&mut self, url: &str, body: &str) -> bool {
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let of_address = self.count(address.to_owned());
        let of_request = self.count(format!("{url} {body}"));
        of_request > LIMITS.same_request || of_address > LIMITS.same_address
    }

    /// Records that the call takes a step in the page. What the step requests is content, also if the page has requested
    /// it often enough for polling: each request is waited for once more, and the requests to each address are counted anew.
    pub(super) fn begin_step(&mut self) {
        for times in self.asked.values_mut() {
            *times = (*times).min(LIMITS.same_request - 1);
        }
    }

    fn count(&mut self, key: String) -> u32 {
        let times = self.asked.entry(key).or_default();
        *times += 1;
        *times
    }

    pub(super) fn answered(&mut self, id: &str, response: &Value) {
        if let Some(request) = self.open.get_mut(id) {
            request.answered(response);
        }
    }

    /// Records any response of the host, such as an image or a redirect.
    pub(super) fn host_responded(&mut self, host: Host) {
        let known = self.hosts.entry(host).or_default();
        (known.answered, known.brought) = (true, true);
    }

    /// Records the response of the host to a probe.
    pub(super) fn is_alive(&mut self, host: &Host) {
        if let Some(known) = self.hosts.get_mut(host) {
            known.answered = true;
        }
    }

    /// Records a part of the body.
    pub(super) fn received(&mut self, id: &str, params: &Value) {
        if let Some(request) = self.open.get_mut(id) {
            self.came = Some(Instant::now());
            let bytes = params[if request.compressed { "encodedDataLength" } else { "dataLength" }].as_u64();
            request.since = Instant::now();
            request.left = request.left.map(|left| left.saturating_sub(bytes.unwrap_or_default()));
        }
    }

    /// Records a message of an update connection.
    pub(super) fn begun(&mut self, id: &str) {
        if let Some(request) = self.open.get_mut(id) {
            self.came = Some(Instant::now());
            request.has_begun = true;
        }
    }

    pub(super) fn end(&mut self, id: &str) {
        if self.open.remove(id).is_some() {
            self.came = Some(Instant::now());
        }
    }

    pub(super) fn end_frame(&mut self, frame: &str) {
        self.open.retain(|_, request| request.frame != frame);
    }

    /// The URLs whose hosts are to be probed, each host once.
    pub(super) fn hosts_to_ask(&mut self) -> Vec<Url> {
        let now = Instant::now();
        let mut urls = vec![];
        for request in self.open.values().filter(|request| request.kind.brings_content()) {
            if let Some(known) = request.host.as_ref().and_then(|host| self.hosts.get_mut(host))
                && request.owner == HostOwner::OtherSite
                && !known.answered
                && known.asked.is_none()
                && now.duration_since(request.since) >= LIMITS.probe_after
            {
                known.asked = Some(now);
                urls.push(request.url.clone());
            }
        }
        urls
    }

    /// Whether an update connection has been waiting for its first message for some time.
    pub(super) fn awaits_first_message(&self) -> bool {
        let waits = |request: &Request| request.kind == RequestKind::Push && !request.has_begun;
        self.open.values().any(|request| waits(request) && request.since.elapsed() >= LIMITS.probe_after)
    }

    /// The record of the request's host, if it is of another site.
    fn known(&self, request: &Request) -> Option<HostRecord> {
        let host = request.host.as_ref().filter(|_| request.owner == HostOwner::OtherSite);
        host.and_then(|host| self.hosts.get(host).copied())
    }

    /// Whether the request's host is of another site and silent.
    fn is_silent(&self, request: &Request, limit: SilenceLimit, now: Instant) -> bool {
        self.known(request).is_some_and(|known| known.is_silent(request.since, limit, now))
    }

    /// The state of the page, depending on its amount of text. In a page with text, a host is silent after
    /// `limit`.
    pub(super) fn state(&self, text: TextDensity, limit: Duration) -> NetworkState {
        let now = Instant::now();
        let limit = if text == TextDensity::Dense { SilenceLimit::Dense(limit) } else { SilenceLimit::Sparse };
        let open = self.open.values().filter(|request| !request.is_complete());
        let mut worst = NetworkState::Idle;
        for state in open.map(|request| request.state(text, self.known(request), limit, now)) {
            match (worst, state) {
                (_, NetworkState::Busy) => return NetworkState::Busy,
                (_, NetworkState::Stalled) | (NetworkState::Idle, NetworkState::Open) => worst = state,
                _ => {}
            }
        }
        worst
    }

    /// The hosts of what is open.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Host> {
        self.open.values().filter(|request| !request.is_complete()).filter_map(|request| request.host.as_ref())
    }

    /// The hosts of other sites that have not responded in time to a request for a script or a style sheet.
    pub(super) fn silent_blockers(&self, limit: Duration) -> Vec<Host> {
        let now = Instant::now();
        let mut hosts = vec![];
        for request in self.open.values().filter(|request| request.may_block_parser()) {
            let age = now.duration_since(request.since);
            let is_silent = self.is_silent(request, SilenceLimit::Dense(limit), now);
            if request.owner == HostOwner::OtherSite && (is_silent || age >= LIMITS.parser_blocking) {
                hosts.extend(request.host.clone());
            } else if age < limit {
                // The parser may be waiting for this request instead. That does not last: the browser delays
                // requests while the parser waits for others.
                return vec![];
            }
        }
        hosts
    }

    /// The hosts of other sites that are silent in a page with text.
    pub(super) fn silent(&self, limit: Duration) -> impl Iterator<Item = &Host> {
        let (now, limit) = (Instant::now(), SilenceLimit::Dense(limit));
        let silent = self
            .open
            .values()
            .filter(move |request| request.kind.brings_content() && self.is_silent(request, limit, now));
        silent.filter_map(|request| request.host.as_ref())
    }

    /// Advances the time by `time`.
    #[cfg(test)]
    pub(super) fn pass(&mut self, time: Duration) {
        let times = self.open.values_mut().map(|request| &mut request.since);
        for at in times.chain(self.hosts.values_mut().filter_map(|known| known.asked.as_mut())) {
            *at = at.checked_sub(time).unwrap();
        }
    }
}
