//! The open requests of a page, and how long each may take.

use std::{
    collections::{HashMap, HashSet},
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

/// What a page is doing, as far as its network shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkState {
    /// Nothing is open.
    Idle,
    /// What is open brings no content: an image, a connection for news, or another site that is silent
    /// beside a page with text.
    Open,
    /// It waits for content, or is about to be left.
    Busy,
    /// It waits for something that could bring content, and takes longer than content should.
    Stalled,
}

/// What a page has to read without what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Something.
    Dense,
    /// Little.
    Sparse,
}

/// What a page asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What its scripts fetch.
    Data,
    /// The same, when the answer has begun: the page may read it, or leave it unread for ever.
    Body,
    /// A script, or the document of a frame.
    Code,
    /// A style sheet.
    Style,
    /// A WebSocket or an event stream: until its first message, and not for long.
    Push,
    /// What brings no text, and is not waited for: images, fonts, media, beacons.
    Asset,
}

impl Kind {
    /// By what the protocol calls the type of a request.
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

    /// How long another site may take that has not answered anything yet.
    fn silent_limit(self) -> Duration {
        if self == Self::Data { LIMITS.silent_data } else { LIMITS.silent_code }
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

/// Whose host is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    /// The page's own site.
    First,
    /// Another site.
    Third,
    /// Another site that was silent on an earlier page.
    SilentThird,
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Request {
    kind: Kind,
    frame: String,
    /// When it began, or a part of its body came last.
    pub(super) since: Instant,
    /// What is still to come of its body, in bytes as they are sent, where the server said how many.
    left: Option<u64>,
    compressed: bool,
    /// The host that was asked.
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

    /// The host, if it is another site's that has not answered anything yet.
    fn silent_host(&self, answered: &HashSet<Host>) -> Option<&Host> {
        self.host.as_ref().filter(|host| self.party != Party::First && !answered.contains(host))
    }

    fn state(&self, text: Text, answered: &HashSet<Host>, now: Instant) -> NetworkState {
        let is_silent = self.silent_host(answered).is_some();
        if !self.has_begun && now.duration_since(self.since) < self.limit(text, is_silent) {
            NetworkState::Busy
        } else if self.kind.can_stall() && !(is_silent && text == Text::Dense) {
            NetworkState::Stalled
        } else {
            NetworkState::Open
        }
    }

    fn limit(&self, text: Text, is_silent: bool) -> Duration {
        let Patience { dense, sparse } = self.kind.patience();
        match (text, is_silent) {
            (Text::Dense, false) => dense,
            (Text::Dense, true) if self.party == Party::SilentThird => dense.min(LIMITS.silent_again),
            (Text::Dense, true) => dense.min(self.kind.silent_limit()),
            (Text::Sparse, _) => sparse,
        }
    }

    /// Whether the parser may wait for it in vain by now.
    fn blocks_parser(&self, now: Instant) -> bool {
        let limit = if self.party == Party::SilentThird { LIMITS.silent_again } else { LIMITS.silent_blocker };
        matches!(self.kind, Kind::Code | Kind::Style) && now.duration_since(self.since) >= limit
    }
}

/// The requests of the document that shows.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashMap<String, Request>,
    /// How often each thing was asked for, and each address for anything.
    asked: HashMap<String, u32>,
    /// The hosts that have answered a request of this page.
    answered: HashSet<Host>,
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
        if self.open.contains_key(id) {
            return;
        }
        // What is part of the page is not asked for; it may be a megabyte.
        let Some(there) = (!url.starts_with("data:")).then(|| Url::parse(url).ok()).flatten() else { return };
        if kind != Kind::Asset && self.is_polling(url, body) {
            return;
        }
        let host = there.host().map(|host| host.to_owned());
        let request = Request {
            kind,
            frame: frame.to_owned(),
            since: Instant::now(),
            left: None,
            compressed: false,
            party: match page {
                Some(page) if !same_site(page, &there) => {
                    if host.as_ref().is_some_and(|host| before.contains(host)) {
                        Party::SilentThird
                    } else {
                        Party::Third
                    }
                }
                _ => Party::First,
            },
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
        self.answered.insert(host);
    }

    /// A part of the body came.
    pub(super) fn received(&mut self, id: &str, params: &Value) {
        if let Some(request) = self.open.get_mut(id) {
            let bytes = params[if request.compressed { "encodedDataLength" } else { "dataLength" }].as_u64();
            request.since = Instant::now();
            request.left = request.left.map(|left| left.saturating_sub(bytes.unwrap_or_default()));
        }
    }

    /// A message came over a connection that stays open.
    pub(super) fn begun(&mut self, id: &str) {
        if let Some(request) = self.open.get_mut(id) {
            request.has_begun = true;
        }
    }

    pub(super) fn end(&mut self, id: &str) {
        self.open.remove(id);
    }

    pub(super) fn end_frame(&mut self, frame: &str) {
        self.open.retain(|_, request| request.frame != frame);
    }

    /// What the page waits for, by what it has to read without that.
    pub(super) fn state(&self, text: Text) -> NetworkState {
        let now = Instant::now();
        let open = self.open.values().filter(|request| !request.is_complete());
        let mut worst = NetworkState::Idle;
        for state in open.map(|request| request.state(text, &self.answered, now)) {
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
    pub(super) fn silent_blockers(&self) -> Vec<Host> {
        let now = Instant::now();
        let blocking = self.open.values().filter(|request| request.blocks_parser(now));
        blocking.filter_map(|request| request.silent_host(&self.answered).cloned()).collect()
    }

    /// The hosts of other sites that have not answered a request within the time that a page with text gives them.
    pub(super) fn silent(&self) -> impl Iterator<Item = &Host> {
        let now = Instant::now();
        let late = self.open.values().filter(move |request| {
            request.kind.brings_content() && now.duration_since(request.since) >= request.kind.silent_limit()
        });
        late.filter_map(|request| request.silent_host(&self.answered))
    }

    #[cfg(test)]
    pub(super) fn open_mut(&mut self) -> impl Iterator<Item = &mut Request> {
        self.open.values_mut()
    }
}
