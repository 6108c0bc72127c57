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
use crate::readiness::limits::{LIMITS, Patience};

/// The state of a page, as far as its network shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkState {
    /// Nothing is open.
    Idle,
    /// Open requests bring no content: an image, a connection for news, or another site that is silent
    /// beside a page with text.
    Open,
    /// It waits for content, or is about to be left.
    Busy,
    /// It waits for something that could bring content, and takes longer than content should.
    Stalled,
}

/// How much text a page has without the requests that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Something.
    Dense,
    /// Little.
    Sparse,
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Data that scripts fetch.
    Data,
    /// The same, when the answer has begun: the page may read it, or leave it unread for ever.
    Body,
    /// A script, or the document of a frame.
    Code,
    /// A style sheet.
    Style,
    /// A WebSocket or an event stream: until its first message, and not for long.
    Push,
    /// Images, fonts, media, beacons: they bring no text, and are not waited for.
    Asset,
}

impl Kind {
    /// By the protocol's name for the type of a request.
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

    fn patience(self) -> Patience {
        match self {
            Self::Data => LIMITS.data,
            Self::Body => LIMITS.body,
            Self::Code => LIMITS.code,
            Self::Style => LIMITS.style,
            Self::Push => LIMITS.push,
            Self::Asset => Patience { dense: Duration::ZERO, sparse: Duration::ZERO },
        }
    }

    /// Whether what brings a page's content may be of this kind, or hold that up.
    fn brings_content(self) -> bool {
        self.can_stall() || self == Self::Style
    }

    /// Whether a request that takes too long may have brought content: a style sheet brings none, and
    /// a push connection is meant to stay open.
    fn can_stall(self) -> bool {
        matches!(self, Self::Data | Self::Body | Self::Code)
    }
}

/// The owner of the host that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    /// The page's own site.
    First,
    /// Another site.
    Third,
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Request {
    kind: Kind,
    frame: String,
    /// The time at which it began, or the last part of its body came.
    since: Instant,
    /// The rest of its body, in bytes as they are sent, where the server said how many.
    left: Option<u64>,
    compressed: bool,
    /// Its URL.
    url: Url,
    host: Option<Host>,
    party: Party,
    /// Whether a first message has come, after which a connection stays open for news.
    has_begun: bool,
}

impl Request {
    fn answered(&mut self, response: &Value) {
        if self.kind == Kind::Data {
            let headers = headers(response);
            self.kind = if media_type(response) == Some("text/event-stream") { Kind::Push } else { Kind::Body };
            self.since = Instant::now();
            self.left = headers["content-length"].as_str().and_then(|length| length.parse().ok());
            self.compressed = !headers["content-encoding"].is_null();
        }
    }

    /// Whether all of it has come, read or not.
    fn is_complete(&self) -> bool {
        self.left == Some(0)
    }

    /// The state of the page on its account; `known` is the host, where it is another site's.
    fn state(&self, text: Text, known: Option<Known>, limit: SilenceLimit, now: Instant) -> NetworkState {
        let Patience { dense, sparse } = self.kind.patience();
        // A host that has not brought anything yet hardly has the page's content.
        let is_aside = text == Text::Dense && known.is_some_and(|known| !known.brought);
        let patience = match (text, limit) {
            (Text::Dense, _) if is_aside => dense.min(LIMITS.other_data),
            // A first message takes what an answer takes.
            (Text::Dense, SilenceLimit::Dense(answer)) if self.kind == Kind::Push => dense.max(answer),
            (Text::Dense, _) => dense,
            (Text::Sparse, _) => sparse,
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

    /// Whether the parser may wait for it.
    fn may_block_parser(&self) -> bool {
        matches!(self.kind, Kind::Code | Kind::Style)
    }
}

/// How long a host may be silent.
#[derive(Clone, Copy, Debug)]
pub(super) enum SilenceLimit {
    /// Where the page has something to read.
    Dense(Duration),
    /// Where it has little text.
    Sparse,
}

/// The knowledge about another site's host that the page has asked.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Whether it has answered something, be it an image, a redirect or what we asked it.
    answered: bool,
    /// Whether it has answered something that the page asked.
    brought: bool,
    /// The time of our question.
    asked: Option<Instant>,
    /// The little time that it gets if it was silent on an earlier page, or was asked first after others were
    /// given up.
    doubt: Option<Duration>,
}

impl Known {
    /// Whether it has had time to answer, and has not. `since` is when the page asked it.
    fn is_silent(self, since: Instant, limit: SilenceLimit, now: Instant) -> bool {
        let (since, limit) = match (limit, self.doubt) {
            (SilenceLimit::Dense(_), Some(limit)) => (Some(since), limit),
            (SilenceLimit::Dense(limit), None) => (self.asked, limit),
            (SilenceLimit::Sparse, _) => (self.asked, LIMITS.silent_answer_sparse),
        };
        !self.answered && since.is_some_and(|since| now.duration_since(since) >= limit)
    }
}

/// The requests of the document that shows.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashMap<String, Request>,
    /// How often each thing was asked for, and each address for anything.
    asked: HashMap<String, u32>,
    hosts: HashMap<Host, Known>,
    /// The time at which the last answer came, in part or whole.
    pub(super) came: Option<Instant>,
    /// Whether hosts were given up on this page before.
    pub(super) gave_up: bool,
}

impl Requests {
    /// Follows a request from its beginning on, unless it is polling.
    ///
    /// `page` is the URL of the page, where it is known, and `before` are the hosts that were silent before.
    pub(super) fn begin(
        &mut self,
        (id, frame, kind): (&str, &str, Kind),
        (url, body): (&str, &str),
        page: Option<&Url>,
        before: &SilentHosts,
    ) {
        // The events of a redirect carry the request's own id again.
        self.open.remove(id);
        // What is part of the page is not asked for; it may be a megabyte.
        let Some(there) = (!url.starts_with("data:")).then(|| Url::parse(url).ok()).flatten() else { return };
        if kind != Kind::Asset && self.is_polling(url, body) {
            return;
        }
        let host = there.host().map(|host| host.to_owned());
        let party = match page {
            Some(page) if !same_site(page, &there) => Party::Third,
            _ => Party::First,
        };
        if let Some(host) = host.as_ref().filter(|_| party == Party::Third) {
            let doubt = match (before.contains(host), self.gave_up) {
                (true, _) => Some(LIMITS.silent_again),
                (_, true) => Some(LIMITS.silent_beside),
                _ => None,
            };
            self.hosts.entry(host.clone()).or_insert(Known { doubt, ..Known::default() });
        }
        let request = Request {
            kind,
            frame: frame.to_owned(),
            since: Instant::now(),
            left: None,
            compressed: false,
            party,
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

    /// The host has answered something, be it an image or a redirect.
    pub(super) fn heard_of(&mut self, host: Host) {
        let known = self.hosts.entry(host).or_default();
        (known.answered, known.brought) = (true, true);
    }

    /// The host has answered what we asked it.
    pub(super) fn is_alive(&mut self, host: &Host) {
        if let Some(known) = self.hosts.get_mut(host) {
            known.answered = true;
        }
    }

    /// A part of the body came.
    pub(super) fn received(&mut self, id: &str, params: &Value) {
        if let Some(request) = self.open.get_mut(id) {
            self.came = Some(Instant::now());
            let bytes = params[if request.compressed { "encodedDataLength" } else { "dataLength" }].as_u64();
            request.since = Instant::now();
            request.left = request.left.map(|left| left.saturating_sub(bytes.unwrap_or_default()));
        }
    }

    /// A message came over a connection that stays open.
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

    /// The URLs whose hosts have been silent for a while and are to be asked for something small; each host once.
    pub(super) fn hosts_to_ask(&mut self) -> Vec<Url> {
        let now = Instant::now();
        let mut urls = vec![];
        for request in self.open.values().filter(|request| request.kind.brings_content()) {
            if let Some(known) = request.host.as_ref().and_then(|host| self.hosts.get_mut(host))
                && request.party == Party::Third
                && !known.answered
                && known.asked.is_none()
                && now.duration_since(request.since) >= LIMITS.silent_ask
            {
                known.asked = Some(now);
                urls.push(request.url.clone());
            }
        }
        urls
    }

    /// Whether a connection for news has waited a while for its first message.
    pub(super) fn awaits_first_message(&self) -> bool {
        let waits = |request: &Request| request.kind == Kind::Push && !request.has_begun;
        self.open.values().any(|request| waits(request) && request.since.elapsed() >= LIMITS.silent_ask)
    }

    /// The knowledge about the host that was asked, if it is another site's.
    fn known(&self, request: &Request) -> Option<Known> {
        let host = request.host.as_ref().filter(|_| request.party == Party::Third);
        host.and_then(|host| self.hosts.get(host).copied())
    }

    /// Whether the request is of another site's host that does not answer anything.
    fn is_silent(&self, request: &Request, limit: SilenceLimit, now: Instant) -> bool {
        self.known(request).is_some_and(|known| known.is_silent(request.since, limit, now))
    }

    /// The state of the page, by how much text it has. Where there is something to read, a host is
    /// silent after `limit`.
    pub(super) fn state(&self, text: Text, limit: Duration) -> NetworkState {
        let now = Instant::now();
        let limit = if text == Text::Dense { SilenceLimit::Dense(limit) } else { SilenceLimit::Sparse };
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

    /// The hosts of other sites that have not answered a request for a script or a style sheet in time.
    pub(super) fn silent_blockers(&self, limit: Duration) -> Vec<Host> {
        let now = Instant::now();
        let mut hosts = vec![];
        for request in self.open.values().filter(|request| request.may_block_parser()) {
            let age = now.duration_since(request.since);
            let is_silent = self.is_silent(request, SilenceLimit::Dense(limit), now);
            if request.party == Party::Third && (is_silent || age >= LIMITS.blocker) {
                hosts.extend(request.host.clone());
            } else if age < limit {
                // It may as well be this one that the parser waits for. For long it is not: the browser puts off
                // requests while the parser waits for others.
                return vec![];
            }
        }
        hosts
    }

    /// The hosts of other sites that do not answer within the time that a page with text gives them.
    pub(super) fn silent(&self, limit: Duration) -> impl Iterator<Item = &Host> {
        let (now, limit) = (Instant::now(), SilenceLimit::Dense(limit));
        let silent = self
            .open
            .values()
            .filter(move |request| request.kind.brings_content() && self.is_silent(request, limit, now));
        silent.filter_map(|request| request.host.as_ref())
    }

    /// Lets `time` pass.
    #[cfg(test)]
    pub(super) fn pass(&mut self, time: Duration) {
        let times = self.open.values_mut().map(|request| &mut request.since);
        for at in times.chain(self.hosts.values_mut().filter_map(|known| known.asked.as_mut())) {
            *at = at.checked_sub(time).unwrap();
        }
    }
}
